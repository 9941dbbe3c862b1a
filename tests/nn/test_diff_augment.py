"""DiffAugment: what is changed, by how much, and what stands beside a picture."""

import torch

from polymodal.nn.diff_augment import CUT, SHIFT, DiffAugment, cut_out, moved, recoloured


def test_what_stands_beside_a_picture_is_moved_and_cut_as_it_is():
    torch.manual_seed(0)
    layer = torch.rand(8, 1, 16, 16) + 1
    seen = DiffAugment()(torch.cat([torch.rand(8, 3, 16, 16), layer, layer], 1))
    assert torch.equal(seen[:, 3], seen[:, 4])
    values = set(layer.flatten().tolist()) | {0.0}
    assert set(seen[:, 3].flatten().tolist()) <= values  # no colours


def test_pictures_are_moved_by_whole_pixels():
    torch.manual_seed(0)
    ramp = (torch.arange(256.0) + 1).view(1, 1, 16, 16).expand(64, 1, 16, 16)
    found, most = moved(ramp), round(16 * SHIFT)
    seen = set()
    for picture in found[:, 0]:
        rows, columns = picture.nonzero(as_tuple=True)
        at = picture[rows[0], columns[0]].item() - 1
        down, across = rows[0].item() - at // 16, columns[0].item() - at % 16
        assert max(abs(down), abs(across)) <= most
        seen.add((down, across))
        expected = torch.zeros(16, 16)
        for y in range(16):
            for x in range(16):
                if 0 <= y - down < 16 and 0 <= x - across < 16:
                    expected[y, x] = ramp[0, 0, int(y - down), int(x - across)]
        assert torch.equal(picture, expected)
    assert len(seen) > 10


def test_a_square_is_cut_out():
    torch.manual_seed(0)
    left = cut_out(torch.ones(64, 2, 16, 16))
    assert torch.equal(left[:, 0], left[:, 1])
    gone = (left[:, 0] == 0).sum((1, 2))
    assert gone.max() == (16 * CUT) ** 2
    assert gone.min() >= (16 * CUT / 2) ** 2
    assert (left[:, 0].var((1, 2)) > 0).all()


def test_colours_change_within_their_bounds_and_gradients_pass():
    torch.manual_seed(0)
    pictures = (torch.rand(256, 3, 4, 4) * 2 - 1).requires_grad_()
    found = recoloured(pictures)
    shift = (found - pictures).mean((1, 2, 3))
    assert shift.abs().max() <= 0.5
    assert shift.min() < -0.4
    assert shift.max() > 0.4
    grey = found.mean(1).std((1, 2)) / pictures.mean(1).std((1, 2))
    assert 0.5 <= grey.min() < 0.6
    assert 1.4 < grey.max() <= 1.5
    found.sum().backward()
    torch.testing.assert_close(pictures.grad, torch.ones_like(pictures), rtol=0, atol=1e-4)
