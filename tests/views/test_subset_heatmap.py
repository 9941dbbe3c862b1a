"""The heat map of subsets and classes: each cell in the colour of its score."""

import io

import numpy as np
from matplotlib import colormaps
from PIL import Image

from polymodal.views.subset_heatmap import HEAD, HIGH, cells, subset_heatmap


def colours(picture: np.ndarray, row: int) -> list[tuple[int, ...]]:
    """The fills of a row's cells, from left to right, by a line just under their upper edge."""
    line = picture[HEAD + row * HIGH + 3].tolist()
    found = [tuple(one) for one in line]
    paper = found[0]
    return [one for k, one in enumerate(found) if one != paper and one != found[k - 1]]


def test_a_cell_has_the_colour_of_its_score() -> None:
    scores = {
        "dice_t1": 10.0, "dice_t1_rim": 0.0, "dice_t1_core": 20.0,
        "dice_flair+t1": 70.0, "dice_flair+t1_rim": 100.0,
    }  # fmt: skip
    content = subset_heatmap(scores, ["t1", "flair"], ["rim", "core"], "a run")
    picture = np.asarray(Image.open(io.BytesIO(content)))

    def fill(value: float) -> tuple[int, ...]:
        return tuple(int(255 * part) for part in colormaps["viridis"](value / 100)[:3])

    assert colours(picture, 0) == [fill(10), fill(0), fill(20)]
    assert colours(picture, 1) == [fill(70), fill(100)]  # core was not measured
    assert len(picture) == HEAD + 2 * HIGH + 56  # no row of flair, which no item has alone


def test_one_class_has_one_column() -> None:
    names, values = cells({"dice_t1": 4.0, "dice_flair": 8.0}, ["flair", "t1"], ["tumour"])
    assert names == ["tumour"]
    assert values.tolist() == [[8.0], [4.0]]
