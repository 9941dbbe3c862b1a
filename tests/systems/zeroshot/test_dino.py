"""DINO: its loss number by number, a teacher that follows, a centre that keeps answers apart."""

import math

import numpy as np
import pytest
import torch

from learners import LEARNERS, made
from patches import TRAIN


def small(**changes):
    return made("dino", **{**LEARNERS["dino"], **changes}).train()


def batch_of(system):
    return system.examples(TRAIN).batch(np.arange(0, 96, 6))


def moved(system, batch, steps, each=lambda: None):
    """Take some steps."""
    adam = system.configure_optimizers()
    for step in range(steps):
        each()
        torch.manual_seed(step)
        adam.zero_grad()
        system.training_step(batch, step)["loss"].backward()
        adam.step()


def taught(system, looks):
    """What the teacher tells of looks, before the centre is taken off."""
    with torch.no_grad():
        return [system.teacher_head(system.teacher(look.seen).whole) for look in looks]


def shares(row, temperature):
    """A softmax."""
    powers = [math.exp(number / temperature) for number in row]
    return [power / sum(powers) for power in powers]


def test_the_loss_is_that_of_the_paper():
    """Of either look the student says what the teacher says of the other; the centre follows after."""
    system = small(outputs=6, temperature=0.2, teacher_temperature=0.05, centre_momentum=0.7)
    system.centre.copy_(torch.linspace(-0.2, 0.3, 6))
    old = system.centre.tolist()
    batch = batch_of(system)
    torch.manual_seed(1)
    found = system.step(batch)["loss"].item()
    torch.manual_seed(1)
    looks = [system.see(batch.images) for _ in range(2)]
    assert not torch.equal(looks[0].seen, looks[1].seen)
    with torch.no_grad():
        told = [system.head(look.whole).double().tolist() for look in looks]
    known = [answer.double().tolist() for answer in taught(system, looks)]
    terms = [
        -sum(p * math.log(q) for p, q in zip(sure, shares(said, 0.2), strict=True))
        for mine, others in ((told[0], known[1]), (told[1], known[0]))
        for said, row in zip(mine, others, strict=True)
        for sure in [shares(np.subtract(row, old), 0.05)]
    ]
    assert found == pytest.approx(np.mean(terms), rel=1e-5)
    centre = 0.7 * np.array(old) + 0.3 * np.mean(known[0] + known[1], axis=0)
    assert system.centre.numpy() == pytest.approx(centre, abs=1e-6)


def test_the_teacher_is_the_moving_average_of_the_student():
    system = small(momentum=0.8)
    batch = batch_of(system)
    pairs = (("encoder.", "teacher."), ("head.", "teacher_head."))

    def weights(prefix):
        names = [name for name, _ in system.named_parameters() if name.startswith(prefix)]
        return {name.removeprefix(prefix): system.get_parameter(name) for name in names}

    average = {own: {k: v.double() for k, v in weights(own).items()} for own, _ in pairs}

    def follow():
        for own, mean in average.items():
            for name, now in weights(own).items():
                mean[name] = 0.8 * mean[name] + 0.2 * now.detach().double()

    moved(system, batch, 4, follow)
    for own, teacher in pairs:
        assert average[own]
        for name, mean in average[own].items():
            found = system.get_buffer(teacher + name)
            torch.testing.assert_close(found.double(), mean, rtol=0, atol=1e-6)
            assert not torch.equal(found, weights(own)[name])


def test_the_teacher_is_not_learned_but_kept():
    system = small()
    (group,) = system.configure_optimizers().param_groups
    learned = {id(weight) for weight in group["params"]}
    assert learned == {id(weight) for weight in system.parameters()}
    assert not any(name.startswith("teacher") for name, _ in system.named_parameters())
    kept = system.state_dict()
    assert {"centre", "teacher.layers.0.0.weight", "teacher_head.directions"} <= kept.keys()
    moved(system, batch_of(system), 1)
    for module, teacher in ((system.encoder, system.teacher), (system.head, system.teacher_head)):
        assert module.state_dict().keys() == teacher.state_dict().keys()
        assert all(weight.grad is not None for weight in module.parameters())
        assert not any(weight.requires_grad for weight in teacher.state_dict().values())


def test_the_teacher_begins_from_another_run_too():
    first, second = made("fc"), small()
    torch.nn.init.normal_(first.encoder.layers[0][0].weight)
    second.begin_from(first.state_dict(), first.learned)
    for name, value in first.encoder.state_dict().items():
        assert torch.equal(second.teacher.state_dict()[name], value)


@pytest.mark.slow
@pytest.mark.parametrize("centred", [True, False])
def test_without_a_centre_all_images_are_told_alike(centred):
    system = small(slim=16, dim=32, lr=1e-3, momentum=0.8)
    batch = system.examples(TRAIN).batch(np.arange(0, 96, 4))
    moved(system, batch, 60, (lambda: None) if centred else system.centre.zero_)
    if not centred:
        system.centre.zero_()
    (told,) = taught(system, [system.see(batch.images)])
    mean = ((told - system.centre) / system.config.teacher_temperature).softmax(1).mean(0)
    answers = mean.square().sum().reciprocal()  # how many different ones, as Hill counts
    assert answers > 3 if centred else answers < 1.1
