"""Processes of Python that need not import torch again: forks of one that has imported everything.

They are real processes, with an end, an output and signals of their own; only their imports are shared.
Run as a program, this file is the process that they are forks of.
"""

import atexit
import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

MOST = 1 << 20
"""Bytes that a request may have: arguments and the environment."""

possible = sys.platform == "linux" and hasattr(os, "pidfd_open")


class Fork:
    """A process that a warm one has forked, with what tests use of `subprocess.Popen`.

    Its arguments are those of Python: `-m MODULE` or `-c CODE`, and more.
    """

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        out, write_out = os.pipe()
        told, write_told = os.pipe()
        request = {"arguments": list(arguments), "environment": environment, "at": str(Path.cwd())}
        try:
            socket.send_fds(server(), [json.dumps(request).encode()], [write_out, write_told])
        finally:
            os.close(write_out)
            os.close(write_told)
        self.stdout = os.fdopen(out, encoding="utf-8")
        self._told = os.fdopen(told, encoding="utf-8")
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit status, minus the signal that ended it, or None while it lives."""
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._told, selectors.EVENT_READ)
                if selector.select(0):
                    self.wait()
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._told.readline())
            self._told.close()
        return self.returncode

    def communicate(self) -> tuple[str, None]:
        """What it printed until its end."""
        with self.stdout:
            printed = self.stdout.read()
        self.wait()
        return printed, None

    def send_signal(self, sign: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sign)


@cache
def server() -> socket.socket:
    """Where to ask for forks: of a process that ends with this one."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        # threads do not survive a fork: one thread is all that the libraries may have
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env={**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
        )

    def close() -> None:
        mine.close()
        process.wait()

    atexit.register(close)
    return mine


def warm_context(method: str) -> Any:
    """What `multiprocessing.get_context` gives, but with processes that are forks of a warm one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["polymodal.studies.reproduction.workers"])
    return context


def import_everything() -> None:
    """Import what any verb may need, and compute nothing."""
    import polymodal

    for module in pkgutil.walk_packages(polymodal.__path__, "polymodal."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:
                if (error.name or "").startswith("polymodal"):
                    raise
    importlib.import_module("torch.utils.tensorboard")
    threads = list(Path("/proc/self/task").iterdir())
    if len(threads) > 1:
        raise RuntimeError(f"{len(threads)} threads live after the imports; a fork would lose them")


def serve(asked: socket.socket) -> list[str]:
    """Fork whenever that is asked for, and tell of each fork's end; in a fork, give its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the tests, and their end this
    told: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(asked, selectors.EVENT_READ)
        while True:
            for event, _ in selector.select():
                if event.fileobj is not asked:
                    pid = event.data
                    selector.unregister(event.fileobj)
                    os.close(event.fd)
                    tell(told[pid], os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                    os.close(told.pop(pid))
                    continue
                message, given, _, _ = socket.recv_fds(asked, MOST, 2)
                if not message:
                    for pid in told:
                        os.kill(pid, signal.SIGKILL)
                    os._exit(0)
                out, end = given
                pid = os.fork()
                if not pid:
                    for descriptor in (end, *told.values(), *watched(selector, asked)):
                        os.close(descriptor)
                    asked.close()
                    return become(json.loads(message), out)
                os.close(out)
                told[pid] = end
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
                tell(end, pid)


def watched(selector: selectors.BaseSelector, asked: socket.socket) -> list[int]:
    """The descriptors of forks that live."""
    return [key.fd for key in selector.get_map().values() if key.fileobj is not asked]


def tell(descriptor: int, number: int) -> None:
    """A number to a test, which may have gone."""
    with contextlib.suppress(BrokenPipeError):
        os.write(descriptor, f"{number}\n".encode())


def become(request: dict, out: int) -> list[str]:
    """Take on what a process of its own would have been started with."""
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(out)
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["at"])
    sys.path[0] = request["at"]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.modules["numpy"].random.seed()  # as `random` does by itself
    return request["arguments"]


def leave(end: SystemExit) -> None:
    """End as the interpreter does, but for the taking down of all modules, which copies their memory."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code or 0)


def run(kind: str, what: str, *arguments: str) -> None:
    """As Python does with `-c CODE` or `-m MODULE` and arguments."""
    sys.argv = [kind, *arguments]
    if kind == "-c":
        exec(what, {"__name__": "__main__"})
        raise SystemExit
    runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    import_everything()
    gc.freeze()  # collections of a fork need not walk, and copy, what it shares
    given = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        run(*given)
    except SystemExit as end:
        leave(end)
