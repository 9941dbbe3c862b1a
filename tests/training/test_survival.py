"""Training that is killed, cut off or out of space, with real processes."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch

from polymodal.training.checkpoints import SafeCheckpoints
from toys import TINY, polymodal, start

WORLD = "scenes,size=32,train=60,val=10,test=10"
COMMAND = ["train", "vse", "--data", WORLD, "--max-steps", "200", "--batch-size", "8", *TINY,
           "--crop", "0.9", "--warmup", "50", "--checkpoint-every", "7", "--val-every", "60",
           "--accelerator", "cpu"]  # fmt: skip


def checkpoints(run: Path) -> list[Path]:
    return sorted((run / "checkpoints").glob("step-*.ckpt"))


def state(run: Path) -> dict:
    return SafeCheckpoints().load_checkpoint(checkpoints(run)[-1])


def assert_equal_runs(a: Path, b: Path) -> None:
    """The best weights byte for byte; the last weights and the optimizer's state bit for bit."""
    assert (a / "model.safetensors").read_bytes() == (b / "model.safetensors").read_bytes()
    mine, theirs = state(a), state(b)
    assert mine["global_step"] == theirs["global_step"] == 200
    for name, value in mine["state_dict"].items():
        assert torch.equal(value, theirs["state_dict"][name]), name
    moments = zip(
        mine["optimizer_states"][0]["state"].values(),
        theirs["optimizer_states"][0]["state"].values(),
        strict=True,
    )
    assert all(torch.equal(x[key], y[key]) for x, y in moments for key in ("exp_avg", "exp_avg_sq"))


def kill_after(process, run: Path, count: int) -> None:
    """Kill -9 a training at whatever step it is once a checkpoint of step ≥ `count` is there."""
    limit = time.monotonic() + 240
    while time.monotonic() < limit and process.poll() is None:
        found = checkpoints(run)
        if found and int(found[-1].stem[5:]) >= count:
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.003)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, "the training ended before it could be killed"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "whole"
    status, printed = polymodal(*COMMAND, "--run", str(run))
    assert status == 0, printed
    return run


@pytest.mark.slow
def test_killed_twice_and_resumed_equals_uninterrupted(uninterrupted, tmp_path):
    run = tmp_path / "killed"
    kill_after(start(*COMMAND, "--run", str(run)), run, 21)
    kill_after(start(*COMMAND, "--run", str(run)), run, 80)
    status, printed = polymodal(*COMMAND, "--run", str(run), fresh=True)  # whose hashes are others
    assert status == 0, printed
    assert "Going on from step" in printed
    assert_equal_runs(uninterrupted, run)


@pytest.mark.slow
def test_a_truncated_checkpoint_falls_back_and_says_so(uninterrupted, tmp_path):
    run = tmp_path / "cut"
    kill_after(start(*COMMAND, "--run", str(run)), run, 35)
    *_, before, last = checkpoints(run)
    last.write_bytes(last.read_bytes()[:-1000])
    status, printed = polymodal(*COMMAND, "--run", str(run))
    flat = " ".join(printed.split())
    assert status == 0, printed
    assert f"{last.name} is cut off or altered" in flat
    assert f"Going on from step {int(before.stem[5:])}" in flat
    assert_equal_runs(uninterrupted, run)


@pytest.mark.slow
def test_a_full_disk_stops_clearly_and_loses_nothing(uninterrupted, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if os.name != "posix" or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted only by root; the message is tested in test_files")
    try:
        run = disk / "run"
        kill_after(start(*COMMAND, "--run", str(run)), run, 14)
        ballast = disk / "ballast"
        with ballast.open("wb") as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(b"0" * 65536)
                file.flush()
        status, printed = polymodal(*COMMAND, "--run", str(run))
        assert status == 1
        assert "disk is full" in printed
        assert "Traceback" not in printed
        assert state(run)["global_step"] >= 14
        ballast.unlink()
        status, printed = polymodal(*COMMAND, "--run", str(run))
        assert status == 0, printed
        assert_equal_runs(uninterrupted, run)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_other_settings_are_refused_by_name(uninterrupted):
    status, printed = polymodal(*COMMAND, "--run", str(uninterrupted), "--margin", "0.3")
    assert status == 1
    assert "model.margin: 0.2 before, 0.3 now" in printed


def test_a_finished_run_is_left_as_it_is(uninterrupted):
    before = (uninterrupted / "metrics.json").read_bytes()
    status, printed = polymodal(*COMMAND, "--run", str(uninterrupted), "--log-every", "3")
    assert status == 0
    assert "finished already" in printed
    assert (uninterrupted / "metrics.json").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_in_plain_words(tmp_path, sign):
    run = tmp_path / "stopped"
    process = start(*COMMAND, "--run", str(run))
    limit = time.monotonic() + 240
    while time.monotonic() < limit and not checkpoints(run):
        time.sleep(0.01)
    process.send_signal(sign)
    printed, _ = process.communicate()
    assert process.returncode == 130, printed
    assert "stopped. The same command goes on" in printed
    assert "Traceback" not in printed
    assert not (run / "metrics.json").exists()
