"""TieNet: it learns to write and to tell, and its parts are what the paper says."""

import numpy as np
import pytest
import torch

from polymodal.data.batch_order import Order
from polymodal.data.vocabulary import END, START
from polymodal.nn.paired_places import rows_of
from polymodal.systems.medical import tienet
from toys import fall
from xrays import xrays

SMALL = {"convnet_width": 8, "word_dim": 8, "hidden": 16, "attentions": 2, "lr": 1e-2, "crop": 1.0}


def made(train, **settings):
    config = tienet.Config(**SMALL | settings)
    torch.manual_seed(0)
    system = tienet.build(config, tienet.learn(config, train))
    system.start(train)
    return system


def test_it_overfits_a_batch_and_tells_from_what_it_writes() -> None:
    train = xrays(64)
    system = made(train)
    examples = system.examples(train)
    assert fall(system, examples.batch(np.arange(16)), 30)[-1] < 1.0
    order, adam = Order(examples=64, batch_size=16, seed=0), system.configure_optimizers()
    for step in range(60):
        system.train()
        adam.zero_grad()
        system.training_step(examples.batch(order.at(step)), step)["loss"].backward()
        adam.step()
    scores = system.evaluate(xrays(40, seed=1))
    assert scores["auc_image"] > 85
    assert scores["auc_image+text"] > 85
    assert "auc_text" not in scores
    told = system.report([train[0].image])[0]
    assert told.startswith("the heart is normal")
    (found,) = system.classify([train[0].image])
    assert set(found) == {"finding0", "finding1"}


def test_what_is_told_is_what_the_paper_says() -> None:
    train = xrays(6)
    system = made(train).double().eval()
    batch = system.examples(train).batch(np.arange(6))
    places = rows_of(system.maps(batch))
    written = system.writer(places, batch.tokens, batch.lengths)
    found = system.tell(places, written)
    torch.testing.assert_close(written.looks.sum(2), torch.ones_like(written.looks[:, :, 0]))
    losses = system.report_loss(written, batch.tokens)
    for b in range(6):
        count = int(batch.lengths[b]) - 1
        states, looks = written.states[b, :count], written.looks[b, :count]
        weights = system.attend(states).softmax(0)
        text = torch.stack([(weights[:, r, None] * states).sum(0) for r in range(2)]).amax(0)
        salient = sum(weights[t].max() * looks[t] for t in range(count))
        image = (salient[:, None] * places[b]).sum(0)
        torch.testing.assert_close(found[b], system.head(torch.cat([text, image])))
        terms = [written.logits[b, t].log_softmax(0)[batch.tokens[b, t + 1]] for t in range(count)]
        assert losses[b].item() == pytest.approx(-sum(terms).item() / count, abs=1e-5)


def test_a_report_that_is_written_ends_and_is_read_as_it_was_written() -> None:
    train = xrays(6)
    system = made(train).eval()
    with torch.no_grad():
        system.writer.head.bias[END] += 0.3  # so that some reports end soon
        places = rows_of(system.maps(system.examples(train).batch(np.arange(6))))
        tokens, written = system.writer.write(places, 12)
        assert tokens[:, 0].eq(START).all()
        assert tokens.shape[1] <= 12
        for row, there in zip(tokens.tolist(), written.there.tolist(), strict=True):
            length = row.index(END) + 1 if END in row else len(row)
            assert sum(there) == length - 1
            assert not any(row[length:])
        lengths = written.there.sum(1) + 1
        read = system.writer(places, tokens, lengths)
        torch.testing.assert_close(read.states[read.there], written.states[written.there])


def test_items_without_a_report_take_no_part_in_training() -> None:
    train = xrays(12, lacking=3)
    system = made(train)
    examples = system.examples(train)
    some = np.flatnonzero(np.arange(12) % 3 != 0)
    whole = system.training_step(examples.batch(np.arange(12)), 0)["loss"]
    torch.testing.assert_close(whole, system.training_step(examples.batch(some), 0)["loss"])
    none = system.training_step(examples.batch(np.arange(0, 12, 3)), 0)["loss"]
    assert none == 0
    scores = system.evaluate(train)
    assert (scores["items_image"], scores["items_image+text"]) == (12, 8)
