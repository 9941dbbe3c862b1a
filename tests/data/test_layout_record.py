"""What a layout may be given as."""

import numpy as np
import pytest

from polymodal.base.errors import PolymodalError
from polymodal.data.layout_record import Layout, as_layouts

BALL = Layout(("ball",), np.array([[0.1, 0.1, 0.5, 0.5]], np.float32))


def test_one_or_several():
    assert as_layouts(BALL) == [BALL]
    assert as_layouts((BALL, BALL)) == [BALL, BALL]


@pytest.mark.parametrize("given", ["layout.json", ["layout.json"], [{"objects": []}]])
def test_what_is_no_layout_is_refused(given):
    with pytest.raises(PolymodalError, match="read_layout reads one of a file"):
        as_layouts(given)
    with pytest.raises(PolymodalError, match="There is no layout"):
        as_layouts([])
