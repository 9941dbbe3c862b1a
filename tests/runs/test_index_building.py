"""Indexes of runs: what is in them, and that a kill loses little."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch
import yaml

from polymodal.base.errors import PolymodalError
from polymodal.runs import index_building as building
from polymodal.runs import jobs
from polymodal.runs.feature_building import compute_features
from polymodal.runs.index_building import index_run, whole_name
from polymodal.runs.loading import load
from polymodal.search import Calibration, Settings, open_index, tensors
from polymodal.search.index_folder import EARLIER
from polymodal.systems.retrieval.gaussian import Config
from polymodal.training.training_config import Training
from toys import flat, train_squares, write_backbone, write_squares


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    return write_squares(tmp_path_factory.mktemp("squares"), train=16, val=24, test=16)


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    """A Gaussian model of the squares, at its start but for three steps."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    tiny = {"embed_dim": 16, "hidden": 16, "word_dim": 8, "convnet_width": 8}
    budget = {"max_steps": 3, "batch_size": 8, "accelerator": "cpu", "log_every": 1}
    data = f"folder:{squares},size=32"
    jobs.train("gaussian", Config(**tiny), Training(**budget), data=data, run=folder)
    return folder


def test_images_of_a_run(run, squares, tmp_path, capsys):
    index = index_run(run, tmp_path, split=("test", "val"))
    assert len(index) == 40
    first, last = index.items[0], index.items[39]
    assert (first.id, last.id) == ("test-000.png", "val-023.png")
    assert first.captions == ("a red square at the left", "something red")
    assert first.picture == str(squares / "test-000.png")
    assert last.metadata == {"split": "val", "record": 23}
    expected = load(run).encode_images([squares / "test-000.png", squares / "val-023.png"])
    torch.testing.assert_close(index.embeddings.mean[[0, 39]], expected.mean)
    torch.testing.assert_close(index.embeddings.log_var[[0, 39]], expected.log_var)
    assert (index.measure, index.side) == ("wasserstein", "image")
    assert index.origin.run == str(run.resolve())
    assert not list(tmp_path.glob("parts-*"))
    told = flat(capsys.readouterr().err)
    assert f'40 images are in {tmp_path}. Next: polymodal search {tmp_path} "a text"' in told


def test_captions_of_a_run(run, tmp_path, capsys):
    index = index_run(run, tmp_path, items="captions")
    assert len(index) == 32
    assert index.items[3].id == "test-001.png#1"
    assert index.items[3].captions == ("something green",)
    assert index.items[3].metadata == {"split": "test", "record": 1, "image": "test-001.png"}
    expected = load(run).encode_texts(["something green"])
    torch.testing.assert_close(index.embeddings[3:4].mean, expected.mean)
    assert f"polymodal search {tmp_path} --image FILE" in flat(capsys.readouterr().err)
    assert isinstance(index.calibration, Calibration)
    assert (index.calibration.asked, index.calibration.sizes) == ("image", (32,))


def test_the_calibration_is_that_of_validation_in_the_index(run, tmp_path):
    known = index_run(run, tmp_path).calibration
    assert isinstance(known, Calibration)
    assert (known.split, known.asked, known.queries) == ("validation", "caption", 48)
    assert known.sizes == (16,)
    assert open_index(tmp_path).calibration == known


def test_an_index_that_holds_the_queries_own_items_has_them_once(run, tmp_path, monkeypatch):
    there, calibrate = [], building.calibrate

    def noting(index, *split, ids, **how):
        there.append([index.items.ids.index(id) for id in ids])
        return calibrate(index, *split, ids=ids, **how)

    monkeypatch.setattr(building, "calibrate", noting)
    index_run(run, tmp_path / "images", split=("test", "val"))
    index_run(run, tmp_path / "captions", split=("test", "val"), items="captions")
    assert there == [list(range(16, 40)), list(range(32, 80))]


def test_an_index_of_an_earlier_version_is_calibrated_again(run, tmp_path, capsys):
    known = index_run(run, tmp_path).calibration
    about = json.loads((tmp_path / "index.json").read_text())
    about["calibration"] = {"signal": "log_det", "values": [0.0], "chances": [0.9]}
    (tmp_path / "index.json").write_text(json.dumps(about))
    assert open_index(tmp_path).calibration == EARLIER
    assert index_run(run, tmp_path).calibration == known
    assert open_index(tmp_path).calibration == known
    assert "how sure its answers are has been calibrated again" in flat(capsys.readouterr().err)


def test_a_killed_indexing_goes_on_where_it_was(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "ROWS", 5)
    embedded, embed = [], building.Records.embed

    def noting(self, system, places):
        if len(embedded) == 2:
            raise KeyboardInterrupt
        embedded.append(places)
        return embed(self, system, places)

    with monkeypatch.context() as patch:
        patch.setattr(building.Records, "embed", noting)
        with pytest.raises(KeyboardInterrupt):
            index_run(run, tmp_path)
        with pytest.raises(PolymodalError, match="is not finished"):
            open_index(tmp_path)
        embedded[:] = [None]
        with pytest.raises(KeyboardInterrupt):
            index_run(run, tmp_path)
        assert embedded == [None, range(10, 15)]
    index = index_run(run, tmp_path)
    whole = load(run).encode_dataset(jobs.open_data(index.origin.data)["test"])
    torch.testing.assert_close(index.embeddings.mean, whole.mean)


def test_parts_of_other_splits_are_not_taken(run, tmp_path, monkeypatch):
    monkeypatch.setattr(tensors, "ROWS", 8)
    expected = index_run(run, tmp_path / "whole", split=("test", "val"))
    done, embed = [], building.Records.embed

    def killed(self, system, places):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(places)
        return embed(self, system, places)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(building.Records, "embed", killed)
        index_run(run, tmp_path / "index", split=("val", "test"))
    index = index_run(run, tmp_path / "index", split=("test", "val"))
    assert index.items.ids == expected.items.ids
    assert torch.equal(index.embeddings.mean, expected.embeddings.mean)


def test_parts_that_a_kill_has_left_are_deleted(run, tmp_path, monkeypatch):
    def killed(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(building.shutil, "rmtree", killed)
        index_run(run, tmp_path)
    assert list(tmp_path.glob("parts-*"))
    index_run(run, tmp_path)
    assert not list(tmp_path.glob("parts-*"))


def test_vectors_that_milvus_has_lost_are_sent_again(run, tmp_path, capsys):
    pytest.importorskip("milvus_lite", reason="polymodal[milvus] is absent")
    settings = Settings(kind="hnsw", store=f"milvus:{tmp_path / 'a.db'}")
    with index_run(run, tmp_path / "index", settings=settings) as index:
        expected = index.search(index.embeddings, 3, side="image")[1]
    shutil.rmtree(tmp_path / "a.db")
    with (
        open_index(tmp_path / "index") as index,
        pytest.raises(PolymodalError, match=r"there is none\. Build the index first"),
    ):
        index.search(index.embeddings, 3, side="image")
    with index_run(run, tmp_path / "index", settings=settings) as index:
        assert index.nearest.store.count() == 16
        assert torch.equal(index.search(index.embeddings, 3, side="image")[1], expected)
    assert "is finished already" in capsys.readouterr().err


def test_a_finished_index_is_left_as_it_is(run, tmp_path, monkeypatch, capsys):
    index_run(run, tmp_path)
    stamp = (tmp_path / "index.json").stat().st_mtime_ns
    monkeypatch.delattr(building.Records, "embed")
    index_run(run, tmp_path)
    assert "is finished already" in capsys.readouterr().err
    assert (tmp_path / "index.json").stat().st_mtime_ns == stamp
    with pytest.raises(
        PolymodalError, match=r"holds another index, with another side and settings"
    ):
        index_run(run, tmp_path, items="captions", settings=Settings(kind="flat"))
    with pytest.raises(PolymodalError, match="with another origin"):
        index_run(run, tmp_path, split=("val",))


def test_other_data_and_no_validation(run, tmp_path, capsys):
    other = write_squares(tmp_path / "other", train=4, val=4, test=5)
    moved = tmp_path / "run"
    shutil.copytree(run, moved)
    config = yaml.safe_load((moved / "config.yaml").read_text())
    (moved / "config.yaml").write_text(yaml.safe_dump({**config, "data": "folder:gone,size=32"}))
    index = index_run(moved, tmp_path / "index", data=f"folder:{other},size=32")
    assert len(index) == 5
    assert "no word for how sure they are: the run's validation" in capsys.readouterr().err
    assert "gone: there is no such folder" in index.calibration
    with pytest.raises(PolymodalError, match="gone: there is no such folder"):
        index_run(moved, tmp_path / "again")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(kind="hnsw"), "needs FAISS"),
        (Settings(store="milvus:vectors"), r"file that ends in \.db"),
    ],
)
def test_mistakes_show_before_anything_is_embedded(run, tmp_path, monkeypatch, settings, message):
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.delattr(building.Retrieval, "encode_dataset")
    with pytest.raises(PolymodalError, match=message):
        index_run(run, tmp_path / "index", settings=settings)
    assert not (tmp_path / "index").exists()


def test_a_run_that_cannot_be_indexed_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "load", lambda *_: pytest.fail("it was loaded"))
    with pytest.raises(PolymodalError, match=r"cmdim, which cannot be indexed: .* gaussian or vse"):
        index_run(Path("cmdim-birds"), tmp_path)


def test_a_similarity_that_no_lift_has(run, tmp_path, monkeypatch):
    monkeypatch.setattr(building, "similarity_of", lambda system: "bhattacharyya")
    monkeypatch.delattr(building.Retrieval, "encode_dataset")
    with pytest.raises(PolymodalError, match=r"Choose --kind exact\.$"):
        index_run(run, tmp_path, settings=Settings(kind="hnsw"))


def test_data_are_kept_by_whole_paths(run, squares, tmp_path, monkeypatch):
    monkeypatch.chdir(squares.parent)
    index = index_run(run, tmp_path / "index", data=f"folder:{squares.name},size=32")
    assert index.origin.data == f"folder:{squares},size=32"
    assert index.items[0].picture == str(squares / "test-000.png")
    assert whole_name("folder:a, b") == f"folder:{squares.parent}/a, b"
    drawn = squares.parent / "drawn"
    drawn.mkdir()
    (drawn / "manifest.json").touch()
    assert whole_name("drawn") == str(drawn)
    assert whole_name("scenes,count=9") == "scenes,count=9"


def test_splits_that_are_not_there(run, tmp_path):
    with pytest.raises(
        PolymodalError, match=r"'tset'\. Did you mean 'test'\? Known: test, train, val"
    ):
        index_run(run, tmp_path, split=("tset",))
    with pytest.raises(PolymodalError, match="Name at least one split"):
        index_run(run, tmp_path, split=())


def test_features_are_used_where_the_run_was_trained_on_them(tmp_path, monkeypatch):
    data = f"folder:{write_squares(tmp_path / 'few', train=4, val=3, test=3)},size=32"
    encoder = str(write_backbone(tmp_path / "vit", "vit"))
    compute_features(data, tmp_path / "features", encoder)
    monkeypatch.chdir(tmp_path)
    train_squares(tmp_path, tmp_path / "run", data=data, features=Path("features"), batch_size=4)
    index = index_run(tmp_path / "run", tmp_path / "index", split=("val", "test"))
    assert index.origin.features == str(tmp_path / "features")
    pictures = load(tmp_path / "run").encode_images([item.picture for item in index.items])
    alike = torch.nn.functional.cosine_similarity(index.embeddings, pictures)
    assert alike.min() > 0.99  # features are kept as float16
    assert "6 queries are too few" in index.calibration


def test_worlds_have_ids_but_no_files(tmp_path):
    train_squares(
        tmp_path, tmp_path / "run", data="one-object,size=32,train=8,val=4,test=4", batch_size=4
    )
    index = index_run(tmp_path / "run", tmp_path / "index")
    assert index.items.ids == [f"one-object-0-{number:06d}" for number in range(12, 16)]
    assert index.items[0].picture is None
