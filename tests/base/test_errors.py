"""Messages that name the culprit, its neighbour and the choices."""

from polymodal.base.errors import PolymodalError, unknown


def test_the_nearest_is_named():
    error = unknown("system", "vsee", ["vse", "gaussian"])
    assert isinstance(error, PolymodalError)
    assert str(error) == "Unknown system 'vsee'. Did you mean 'vse'? Known: gaussian, vse."


def test_nothing_near_gives_no_hint():
    assert str(unknown("verb", "zzz", {"train": 1})) == "Unknown verb 'zzz'. Known: train."


def test_choices_may_be_read_once():
    assert "mean 'cube'? Known: cube, orb." in str(unknown("shape", "cub", iter(["orb", "cube"])))
