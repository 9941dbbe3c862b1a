"""Figure 4: what agrees with a text is counted as a loop counts it, and what is refused."""

import numpy as np
import pytest
import torch

from polymodal.base.errors import PolymodalError
from polymodal.studies.figures import conditional, figure4
from polymodal.studies.figures.conditional import Samples, samples
from polymodal.studies.figures.pixel_sheet import Word

TEXTS = [
    "large red metal cube left small blue rubber sphere",
    "small gray rubber cylinder behind large cyan metal cube",
]
OTHER = {"left": "right", "right": "left", "front": "behind", "behind": "front"}


@pytest.fixture(scope="module")
def system(two, vlvae):
    return vlvae(two["train"])


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(conditional, "MEASURED", 5)


def agreement(told: str, said: str) -> int:
    """How many words agree, in whichever order of the objects more do."""
    a, r, b = told.split()[:4], told.split()[4], told.split()[5:]
    most = 0
    for first, relation, second in ((a, r, b), (b, OTHER[r], a)):
        words = said.split()
        right = sum(
            x == y for x, y in zip([*first, *second], [*words[:4], *words[5:]], strict=True)
        )
        right += words[4] in OTHER and words[4] != OTHER[relation]
        most = max(most, right)
    return most


@pytest.mark.parametrize("by", ["aggregate", "true"])
def test_agreement_is_that_of_a_loop(system, tmp_path, by):
    scores = figure4(system, TEXTS, tmp_path / "a.png")
    shares = []
    for seed, text in enumerate(TEXTS):
        torch.manual_seed(seed)
        with torch.no_grad():
            z = system.latents(system.words.encode([text]).expand(5, -1), by)
            said, _ = system.said(z)
        spoken = [" ".join(system.words.words[n] for n in row) for row in said.tolist()]
        shares.append(100 * np.mean([agreement(text, one) for one in spoken]) / 9)
    assert scores[f"agreement_{by}"] == pytest.approx(np.mean(shares))
    assert scores[f"agreement_{by}_error"] == pytest.approx(np.std(shares, ddof=1) / 2**0.5)


def test_the_pictures_are_those_that_generate_gives(system, monkeypatch):
    monkeypatch.setattr(conditional, "MEASURED", conditional.SHOWN)
    for by in ("aggregate", "true"):
        found = samples(system, system.words.encode(TEXTS[:1])[0], by, seed=3)
        expected = system.generate(TEXTS[0], conditional.SHOWN, by=by, seed=3)
        assert (found.images == expected).all()
    assert len(found.words) == conditional.SHOWN


def test_agreement_of_words_by_hand():
    words = [[Word("red"), Word("cube", marked=True)], [Word("red"), Word("sphere")]]
    assert Samples(images=np.zeros((0, 8, 8, 3), np.uint8), words=words).agreement == 75


def test_the_picture_is_written_and_the_same_again(system, one, vlvae, tmp_path):
    for name in ("a.png", "b.png"):
        figure4(system, TEXTS, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    scores = figure4(vlvae(one["val"], shuffle=True), ["large red"], tmp_path / "c.png")
    assert set(scores) == {"agreement_aggregate", "agreement_true"}  # one text has no deviation


def test_what_cannot_be_asked_for_is_refused(system, two, vlvae, tmp_path):
    with pytest.raises(PolymodalError, match="Figure 4 needs one text or more"):
        figure4(system, [], tmp_path / "a.png")
    with pytest.raises(PolymodalError, match=r"Unknown word 'pink'.*Known: .*purple"):
        figure4(system, ["large pink metal cube"], tmp_path / "a.png")
    with pytest.raises(PolymodalError, match=r"has 4 words, but the shortest .* Say more"):
        figure4(system, ["large red metal cube"], tmp_path / "a.png")
    lacking = vlvae(two["train"], densities=("aggregate",))
    with pytest.raises(PolymodalError, match=r"has no q_true\(z\|y\)"):
        figure4(lacking, TEXTS, tmp_path / "a.png")
