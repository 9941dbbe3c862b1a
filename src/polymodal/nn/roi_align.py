"""RoI-align: features of a box from the maps of its whole picture (He et al., 2017)."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional


def roi_align(
    maps: Float[Tensor, "b c h w"], boxes: Float[Tensor, "b r 4"], side: int, samples: int = 2
) -> Float[Tensor, "b r c side side"]:
    """Each box as side × side cells: a cell is the mean of samples × samples points spread evenly in it,
    each interpolated between the four values of the maps around it.

    A value of the maps stands in the middle of its own share of the picture; beyond the outermost ones
    they go on as they are.

    Args:
        maps: of whole pictures.
        boxes: x0, y0, x1, y1 in sides of the picture.
        side: cells of a side.
        samples: points of a side of a cell.
    """
    b, r, _ = boxes.shape
    n = side * samples
    within = (torch.arange(n, device=boxes.device, dtype=maps.dtype) + 0.5) / n
    low, size = boxes[..., None, :2], (boxes[..., 2:] - boxes[..., :2])[..., None, :]
    points = (low + within[:, None] * size) * 2 - 1  # b r n 2, from -1 to 1
    across = points[..., None, :, 0].expand(b, r, n, n)
    down = points[..., :, None, 1].expand(b, r, n, n)
    grid = torch.stack([across, down], -1).view(b, r * n, n, 2)
    sampled = functional.grid_sample(maps, grid, padding_mode="border", align_corners=False)
    cells = sampled.view(b, maps.shape[1], r, side, samples, side, samples).mean((4, 6))
    return cells.transpose(1, 2)
