"""The noise of a picture is its own, whatever else is drawn."""

import torch

from polymodal.systems.layout.layout_noise import random_noise, seeded_noise


def test_a_picture_s_noise_depends_on_the_seed_and_its_number_alone():
    three = seeded_noise(3, 4, seed=5, widths=(6, 2))
    one = seeded_noise(1, 2, seed=5, widths=(6, 2), first=2)
    assert torch.equal(one.picture[0], three.picture[2])
    assert torch.equal(one.objects[0], three.objects[2, :2])
    assert not torch.equal(three.picture[0], three.picture[1])
    other = seeded_noise(3, 4, seed=6, widths=(6, 2))
    assert not torch.equal(other.picture, three.picture)
    assert not torch.equal(
        seeded_noise(1, 4, seed=5, widths=(6, 2), first=1).picture, other.picture[:1]
    )


def test_truncated_noise_is_nearer_to_its_mean():
    noise = seeded_noise(2, 3, seed=0, widths=(4, 4))
    assert torch.equal(noise.scaled(0.5).objects, noise.objects / 2)
    assert not noise.scaled(0.0).picture.any()


def test_noise_of_training_follows_torch_s_generator():
    device = torch.device("cpu")
    found = []
    for _ in range(2):
        torch.manual_seed(3)
        found.append(random_noise(2, 3, widths=(4, 5), device=device))
    assert torch.equal(found[0].picture, found[1].picture)
    assert found[0].objects.shape == (2, 3, 5)
    assert 0.5 < torch.cat([found[0].picture.flatten(), found[0].objects.flatten()]).std() < 1.5
