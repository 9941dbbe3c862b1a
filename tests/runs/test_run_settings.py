"""config.yaml: what is not as a training writes it is named by file and key, whoever reads it."""

import shutil

import pytest
import yaml

import polymodal
from polymodal.base.errors import PolymodalError
from polymodal.cli import main
from polymodal.runs.run_settings import read_config, read_settings
from toys import flat, train_squares

BAD = {
    "system: null": "'system' is missing or null",
    "data: null": "'data' is missing or null",
    "model: null": "'model' is missing or null",
    "training: {seed: null}": "'training' has no seed, a whole number",
    "system: [vse]": "'system' must be text, not ['vse']",
    "data: 3": "'data' must be text, not 3",
    "model: tiny": "'model' must be settings as 'name: value' lines, not 'tiny'",
    "training: 4": "'training' must be settings as 'name: value' lines, not 4",
    "features: [a]": "'features' must be text, not ['a']",
    "init: 1": "'init' must be text, not 1",
    "skip_bad: maybe": "'skip_bad' must be true or false, not 'maybe'",
    "parts: [judge]": "'parts' must be settings as 'name: value' lines, not ['judge']",
    "modle: {}": "'modle'. Did you mean 'model'?",
    "3: 4": "'3'. Known: data, features,",
}
"""What stands in a config.yaml, and what is said of it."""

ADVICE = "Bring back the file as the training wrote it, or train into another folder."


@pytest.fixture(scope="module")
def run(squares, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "a"
    train_squares(squares, folder)
    return folder


@pytest.fixture(scope="module")
def index(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "a"
    assert main(["index", str(run), "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def copied(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    return tmp_path / "run"


def spoil(run, text: str) -> None:
    """Change settings of a run."""
    path = run / "config.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | yaml.safe_load(text)))


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong_is_named_with_what_to_do(copied, text):
    spoil(copied, text)
    with pytest.raises(PolymodalError) as error:
        polymodal.load(copied)
    assert f"{copied}/config.yaml: {BAD[text]}" in str(error.value)
    assert str(error.value).endswith(ADVICE)


@pytest.mark.parametrize("name", ["system", "data", "model", "training"])
def test_what_is_missing_is_named(copied, name):
    path = copied / "config.yaml"
    found = yaml.safe_load(path.read_text())
    del found[name]
    path.write_text(yaml.safe_dump(found))
    with pytest.raises(PolymodalError, match=rf"config\.yaml: '{name}' is missing or null\. Bring"):
        polymodal.load(copied)


VERBS = {
    "evaluate": ["evaluate", "{run}"],
    "index": ["index", "{run}", "--out", "{run}/index"],
    "search": ["search", "{index}", "red", "--run", "{run}"],
    "train --init": ["train", "vse", "--data", "scenes", "--run", "{run}/b", "--init", "{run}"],
    "train --config": ["train", "vse", "--run", "{run}/b", "--config", "{run}/config.yaml"],
    "train": ["train", "vse", "--data", "scenes", "--run", "{run}"],
    "diagnose": ["diagnose", "{run}", "--out", "{run}/page"],
    "generate": ["generate", "{run}", "--text", "red", "--out", "{run}/a.png"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_names_it(copied, index, capsys, verb):
    spoil(copied, "data: [scenes]")
    assert main([part.format(run=copied, index=index) for part in VERBS[verb]]) == 1
    printed = flat(capsys.readouterr().err)
    assert "config.yaml: 'data' must be text, not ['scenes']." in printed
    assert "Correct the file." in printed if verb == "train --config" else ADVICE in printed


def test_what_earlier_versions_did_not_write_may_be_absent(copied):
    path = copied / "config.yaml"
    whole = read_config(path)
    path.write_text(
        yaml.safe_dump({key: whole[key] for key in ("system", "data", "model", "training")})
    )
    assert read_config(path) == whole
    assert main(["evaluate", str(copied)]) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [", "is not YAML"),
        (b"data: 2020-99-99", "is not YAML"),
        (b"[" * 10_000, "is not YAML"),
        (b"\xff\xfe\xfa", "is not YAML"),
        (b"", "'name: value' lines"),
        (b"- 1", "'name: value' lines"),
    ],
)
def test_broken_settings(copied, content, message):
    (copied / "config.yaml").write_bytes(content)
    with pytest.raises(
        PolymodalError, match=rf"(?s)config\.yaml .*{message}.* Bring back the file"
    ):
        polymodal.load(copied)


def test_an_absent_settings_file(tmp_path):
    with pytest.raises(PolymodalError, match="There is no settings file"):
        read_settings(tmp_path / "none.yaml")


def test_a_model_setting_that_is_a_number(copied):
    spoil(copied, "model: {3: 4}")
    with pytest.raises(PolymodalError, match=r"Unknown setting in .*config\.yaml: '3'\. Known:"):
        polymodal.load(copied)
