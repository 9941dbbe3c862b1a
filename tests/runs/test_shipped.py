"""Models that come with the package: found by name, refused when they were altered."""

import json
import shutil

import pytest
import torch

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.runs import jobs
from polymodal.runs import shipped as models
from polymodal.runs.run_folder import Run
from polymodal.runs.shipping import portable, ship
from polymodal.systems.vlvae.vlvae import Config
from polymodal.training.training_config import Training
from vlvaes import TINY, train_vlvae

TEXT = "something red"


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_vlvae(squares, folder)
    return folder


@pytest.fixture
def shipped(run, tmp_path, monkeypatch):
    """A package that ships one model, seen from an empty folder."""
    monkeypatch.setattr(models, "SHIPPED", tmp_path / "package")
    ship(run, "squares", limits="It knows squares alone.")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "package" / "squares"


def test_a_shipped_model_is_loaded_by_its_name(shipped, run):
    assert models.names() == ["squares"]
    system = polymodal.load("squares")
    assert not system.training
    assert {value.dtype for value in system.parameters()} == {torch.float32}
    assert system.generate(TEXT, 2).shape == (2, 16, 16, 3)


def test_pictures_survive_packing(squares, tmp_path):
    """Of 32×32: at 16×16 instance norm divides by the deviation of four numbers, which may be none."""
    jobs.train(
        "vlvae",
        Config(**TINY),
        Training(max_steps=8, batch_size=8, accelerator="cpu"),
        data=f"folder:{squares},size=32",
        run=tmp_path / "run",
    )
    before = polymodal.load(tmp_path / "run")
    folder = ship(tmp_path / "run", "small", limits="It knows squares alone.", into=tmp_path)
    after = polymodal.load(folder)
    for seed in range(3):
        first, second = (one.generate(TEXT, 32, seed=seed) for one in (before, after))
        assert first.std(0).mean() > 1  # grey levels of 256: they are not all the same
        away = abs(first.astype(int) - second)
        assert away.max() < 4
        assert away.mean() < 0.1 * first.std(0).mean()
    assert before.sample(16).texts == after.sample(16).texts


def test_a_shipped_config_names_no_folder_of_the_machine():
    settings = {"system": "a", "init": None, "features": "/home/me/f", "parts": {"b": "/home/me/r"}}
    told = portable(settings)
    assert told == {"system": "a", "init": None, "features": "f", "parts": {"b": "r"}}


def test_a_run_in_a_folder_of_that_name_goes_first(shipped, run, squares):
    shutil.copytree(run, "squares")
    own = Run(models.find("squares"))
    assert own.folder.resolve() != shipped.resolve()
    assert own.weights().popitem()[1].dtype == torch.float32
    shutil.rmtree("squares")
    shutil.copytree(squares, "squares")  # no run: the name still means the model
    assert models.find("squares") == shipped


def test_a_run_directory_is_found_by_its_path(run):
    assert models.find(run) == run
    assert models.find(str(run)) == run


def test_an_unknown_name_lists_those_there_are(shipped):
    with pytest.raises(PolymodalError) as error:
        polymodal.load("sqares")
    assert str(error.value) == (
        "sqares is no run: there is no such directory. Unknown shipped model 'sqares'. Did you mean "
        "'squares'? Known: squares. Give the directory of a run that `polymodal train` left, or the "
        "name of a model that comes with Polymodal."
    )


def test_a_folder_without_a_run_is_said_to_be_none(shipped, tmp_path):
    with pytest.raises(PolymodalError, match=r"is no run: it has no config\.yaml"):
        polymodal.load(tmp_path / "here")


@pytest.mark.parametrize("name", models.HASHED)
def test_an_altered_file_is_refused(shipped, name):
    content = bytearray((shipped / name).read_bytes())
    content[-1] ^= 1
    (shipped / name).write_bytes(content)
    with pytest.raises(PolymodalError, match=rf"is not as it was shipped: .*{name} is missing or"):
        polymodal.load("squares")
    (shipped / name).unlink()
    if name != "config.yaml":
        with pytest.raises(PolymodalError, match=r"Install Polymodal again\."):
            polymodal.load("squares")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"sha256": {}}', '{"sha256": 3}'])
def test_a_manifest_that_vouches_for_nothing_is_refused(shipped, content):
    (shipped / "manifest.json").write_text(content)
    with pytest.raises(PolymodalError, match=r"is not as it was shipped"):
        polymodal.load("squares")


def test_the_manifest_has_the_hashes_of_what_is_loaded(shipped):
    import hashlib

    hashes = json.loads((shipped / "manifest.json").read_text())["sha256"]
    for name in models.HASHED:
        assert hashes[name] == hashlib.sha256((shipped / name).read_bytes()).hexdigest()
    assert {path.name for path in shipped.iterdir()} == {*models.HASHED, "card.md", "manifest.json"}


@pytest.mark.parametrize("name", models.names())
def test_what_is_shipped_is_whole_and_small(name):
    folder = models.checked(models.SHIPPED / name)
    assert (folder / "model.safetensors").stat().st_size <= 6_000_000
    assert polymodal.load(name) is not None
