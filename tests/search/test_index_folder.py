"""An index on disk: the same when it is opened, and refused when anything about it is wrong."""

import json

import pytest
import torch

from clusters import KNOWN, clustered, numbered
from polymodal.base import files
from polymodal.base.errors import PolymodalError
from polymodal.search import Origin, Settings, answers, build, open_index, save
from polymodal.search.index_folder import save_calibration
from polymodal.search.tensors import write_embeddings

ORIGIN = Origin(model="abc", run="/runs/a", data="scenes", splits={"test": "123"})


def made(kind="exact", name="min_kl", **more):
    settings = Settings(kind=kind)
    return build(clustered(90), numbered(90), side="image", measure=name, settings=settings, **more)


def rewritten(folder, **changes):
    """Change the description."""
    path = folder / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def told(folder, name):
    """Describe a file anew, as one would who forges it."""
    about = json.loads((folder / "index.json").read_text())
    path = folder / name
    about["files"][name] = {"bytes": path.stat().st_size, "sha256": files.sha256(path)}
    rewritten(folder, files=about["files"])


@pytest.mark.parametrize("kind", ["exact", "flat", "ivf", "hnsw"])
@pytest.mark.parametrize("name", ["min_kl", "wasserstein"])
def test_an_opened_index_finds_the_same(tmp_path, kind, name):
    index = made(kind, name, calibration=KNOWN, origin=ORIGIN)
    save(index, tmp_path)
    again = open_index(tmp_path)
    queries = clustered(7, seed=1)
    for first, second in zip(index.search(queries, 5), again.search(queries, 5), strict=True):
        assert torch.equal(first, second)
    for what in ("side", "measure", "settings", "calibration", "origin"):
        assert getattr(again, what) == getattr(index, what)
    assert list(again.items) == list(index.items)


def test_points_and_reasons_survive_too(tmp_path):
    index = build(torch.eye(4), numbered(4), side="caption", measure="cosine",
                  calibration="nobody labelled it")  # fmt: skip
    save(index, tmp_path)
    again = open_index(tmp_path)
    assert torch.equal(again.embeddings, torch.eye(4))
    assert (again.calibration, again.origin) == ("nobody labelled it", None)


def test_a_calibration_of_an_earlier_version_is_left_aside(tmp_path):
    earlier = {"signal": "log_det", "values": [0.0], "chances": [0.9], "tells": True}
    earlier |= {"asked": "caption", "queries": 50, "items": 40, "split": "validation"}
    save(made(calibration=KNOWN), tmp_path)
    rewritten(tmp_path, calibration=earlier)
    index = open_index(tmp_path)
    (answer,) = answers(index, clustered(1, seed=1), ["a"], k=2)
    assert len(answer) == 2
    assert str(answer.sureness) == (
        "not known how sure: the index has the calibration of an earlier version, which claimed too "
        "much; repeat its `polymodal index` command to calibrate it again"
    )
    save_calibration(tmp_path, KNOWN)
    assert open_index(tmp_path).calibration == KNOWN


def test_an_index_is_not_overwritten(tmp_path):
    save(made(), tmp_path)
    with pytest.raises(PolymodalError, match="holds an index already"):
        save(made(), tmp_path)


def test_a_save_that_is_killed_leaves_no_index(tmp_path, monkeypatch):
    def killed(path, value):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            save(made("hnsw"), tmp_path)
    with pytest.raises(PolymodalError, match=r"no index in .*polymodal index RUN --out"):
        open_index(tmp_path)
    save(made("hnsw"), tmp_path)
    open_index(tmp_path)


def test_folders_without_an_index(tmp_path):
    with pytest.raises(PolymodalError, match="There is no index in"):
        open_index(tmp_path / "absent")
    (tmp_path / "parts-abc").mkdir()
    with pytest.raises(PolymodalError, match=r"is not finished\. Give the same `polymodal index`"):
        open_index(tmp_path)


@pytest.mark.parametrize("name", ["embeddings.safetensors", "items.jsonl", "lifts.safetensors",
                                  "lift-0.faiss", "lift-1.faiss"])  # fmt: skip
def test_damaged_files_are_refused(tmp_path, name):
    save(made("hnsw"), tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(PolymodalError, match=f"{name} should have {len(content)} bytes, not"):
        open_index(tmp_path)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(PolymodalError, match=f"{name} is damaged: its SHA-256"):
        open_index(tmp_path)
    path.unlink()
    with pytest.raises(PolymodalError, match=f"{name} is missing"):
        open_index(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"index\.json is damaged"),
        ("[]", "should have the format 'polymodal index 1', not None"),
        ('{"format": "polymodal index 9"}', "not 'polymodal index 9'"),
        ('{"format": "polymodal index 1"}', r"index\.json is damaged \(KeyError\('settings'\)\)"),
        ("\xff", r"index\.json is damaged"),
    ],
)
def test_descriptions_that_are_none(tmp_path, content, message):
    (tmp_path / "index.json").write_text(content, encoding="latin-1")
    with pytest.raises(PolymodalError, match=message):
        open_index(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"count": 91},
            "should hold 91 Gaussian embeddings of width 16 and as many items; found 90",
        ),
        ({"dim": 17}, "of width 17"),
        ({"embeddings": "point"}, "90 point embeddings"),
        ({"measure": "euclid"}, "Unknown similarity 'euclid'"),
        ({"side": "sound"}, "Unknown side 'sound'"),
        ({"settings": {"kind": "tree"}}, "must be one of exact, flat, ivf, hnsw"),
        ({"settings": {"knid": "flat"}}, "'knid'. Did you mean 'kind'"),
        ({"calibration": None}, "damaged"),
        ({"files": {}}, r"index\.json is damaged \(KeyError\('embeddings.safetensors'\)\)"),
    ],
)
def test_descriptions_that_do_not_fit(tmp_path, change, message):
    save(made(), tmp_path)
    rewritten(tmp_path, **change)
    with pytest.raises(PolymodalError, match=message):
        open_index(tmp_path)


def test_embeddings_that_are_not_finite(tmp_path):
    save(made(), tmp_path)
    bad = clustered(90)
    bad.mean[31, 0] = torch.nan
    write_embeddings(tmp_path / "embeddings.safetensors", bad)
    told(tmp_path, "embeddings.safetensors")
    with pytest.raises(PolymodalError, match="The embedding of '31' is not finite"):
        open_index(tmp_path)


def test_a_faiss_file_of_other_items(tmp_path):
    save(made("flat"), tmp_path / "a")
    other = build(clustered(80), numbered(80), side="image", measure="min_kl",
                  settings=Settings(kind="flat"))  # fmt: skip
    save(other, tmp_path / "b")
    (tmp_path / "a" / "lift-1.faiss").write_bytes((tmp_path / "b" / "lift-1.faiss").read_bytes())
    told(tmp_path / "a", "lift-1.faiss")
    with pytest.raises(
        PolymodalError,
        match=r"for each lift, not \[\(90, 34\), \(80, 34\)\]",
    ):
        open_index(tmp_path / "a")


def test_a_description_that_forgets_a_lift(tmp_path):
    save(made("flat"), tmp_path)
    about = json.loads((tmp_path / "index.json").read_text())
    del about["files"]["lift-1.faiss"]
    rewritten(tmp_path, files=about["files"])
    with pytest.raises(PolymodalError, match=r"for each lift, not \[\(90, 34\)\]"):
        open_index(tmp_path)
