"""A line to one Milvus collection: opened, asked and closed, with a message for all that can go wrong."""

import importlib
import logging
import os
import re
import weakref
from pathlib import Path
from typing import Any

from polymodal.base.errors import PolymodalError


class AnswerError(PolymodalError):
    """Milvus refused something, or did not answer in time."""


class Connection:
    """One collection of the Milvus in a file, or of a cluster."""

    def __init__(self, uri: str, collection: str, timeout: float) -> None:
        if "://" not in uri and not uri.endswith(".db"):
            raise PolymodalError(
                f"A Milvus store is a file that ends in .db, or an address such as "
                f"http://localhost:19530; found {uri!r}."
            )
        if not re.fullmatch(r"[A-Za-z_]\w{0,254}", collection, re.ASCII):
            raise PolymodalError(
                f"The name of a collection has letters, digits and _ only, and no digit first; "
                f"found {collection!r}."
            )
        self.path = None if "://" in uri else Path(uri).expanduser().absolute()
        self.uri, self.collection, self.timeout = str(self.path or uri), collection, timeout
        self.client: Any = None

    def __str__(self) -> str:
        """Where it leads, without the password."""
        return f"{re.sub('//.*@', '//…@', self.uri)}, collection {self.collection!r}"

    def open(self) -> None:
        """Connect, unless that is done, and start the embedded Milvus where it lies in a file."""
        if self.client is not None:
            return
        milvus = package("pymilvus")
        # whatever it raises it has also logged, with a traceback
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
        if self.path and not shared(self.path):
            check_file(self.path)
        try:
            self.client = self.connect(milvus)
        except (milvus.MilvusException, package("grpc").RpcError, ValueError) as error:
            raise AnswerError(
                f"{self}: it cannot be reached ({reason(error)}). Check the address and the token, "
                "and that Milvus runs there."
            ) from error
        OPEN.add(self)

    def connect(self, milvus: Any) -> Any:
        """A client. The embedded Milvus may be slow to start on a busy machine: it is started again, once."""
        token = os.environ.get("MILVUS_TOKEN", "")
        try:
            return milvus.MilvusClient(self.uri, token=token, timeout=self.timeout)
        except milvus.MilvusException:
            if not self.path or shared(self.path):
                raise
            self.release()
            return milvus.MilvusClient(self.uri, token=token, timeout=self.timeout)

    def close(self) -> None:
        """Disconnect, and stop the embedded Milvus if nobody else here needs it."""
        if self.client is None:
            return
        self.client.close()
        self.client = None
        OPEN.discard(self)
        if self.path and not shared(self.path):
            self.release()

    def release(self) -> None:
        """Stop the embedded Milvus."""
        package("milvus_lite").server_manager_instance.release_server(str(self.path))

    def ask(self, verb: str, *, timeout: float | None = None, **options: Any) -> Any:
        """Let the client do something with the collection."""
        if self.client is None:
            raise PolymodalError(f"{self}: it is closed. Call prepare or open first.")
        act = getattr(self.client, verb)
        try:
            return act(self.collection, timeout=timeout or self.timeout, **options)
        except (package("pymilvus").MilvusException, package("grpc").RpcError) as error:
            raise AnswerError(
                f"{self}: {verb.replace('_', ' ')} failed ({reason(error)})."
            ) from error


OPEN: weakref.WeakSet[Connection] = weakref.WeakSet()
"""Those of one file share one embedded Milvus, which the last to close stops."""


def shared(path: Path) -> bool:
    """Whether there is an open connection to a file."""
    return any(other.path == path for other in OPEN)


def check_file(path: Path) -> None:
    """Say why the embedded Milvus cannot open a file (to it a folder): pymilvus would only log it."""
    lite = package("milvus_lite")
    if path.is_file() or (path.is_dir() and any(path.iterdir()) and not (path / "LOCK").exists()):
        raise PolymodalError(f"{path} is there, but is no Milvus store. Choose another name.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lite.MilvusLite(str(path)).close()
    except lite.DataDirLockedError as error:
        raise PolymodalError(
            f"{path} is in use: the embedded Milvus serves one process at a time. Wait until the "
            "other is done, or run a Milvus server and give its address."
        ) from error
    except OSError as error:
        raise PolymodalError(f"{path} cannot be opened as a Milvus store: {error}.") from error


def package(name: str) -> Any:
    """A package that comes with the extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PolymodalError(
            f"Milvus needs the package {name}, which is not installed. Install it with: "
            "pip install 'polymodal[milvus]'."
        ) from error


def reason(error: Any) -> str:
    """What an error of pymilvus or gRPC says, on one line."""
    if isinstance(error, package("grpc").Call):
        text = f"{error.code().name}: {error.details()}"
    else:
        text = str(getattr(error, "message", error))
    return " ".join(text.split()).rstrip(".")
