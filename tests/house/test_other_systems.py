"""What other systems lack costs a sentence, never a traceback: predictions go on, devices say why they do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = "tests/kernels/pair_distance.cl"
MESSAGES = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    },
    {"jsonrpc": "2.0", "method": "initialized", "params": {}},
    {"jsonrpc": "2.0", "id": 2, "method": "shutdown"},
    {"jsonrpc": "2.0", "method": "exit"},
)


def without_posix(repository: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `kernelcast` without what Windows lacks."""
    command = [sys.executable, str(repository / "tests/house/without_posix.py"), *arguments]
    return subprocess.run(command, cwd=repository, input=stdin, capture_output=True, timeout=120, check=False)


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(repository))


@pytest.mark.parametrize("command", ["predict", "report"])
def test_what_opens_no_device_works(repository: Path, tmp_path: Path, command: str) -> None:
    more = ("-o", str(tmp_path / "report.html")) if command == "report" else ()
    done = without_posix(repository, command, KERNEL, "--device", "generic-cpu", *more)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"pair_distance" in (done.stdout if command == "predict" else (tmp_path / "report.html").read_bytes())


@pytest.mark.parametrize("arguments", [("devices",), ("measure", KERNEL, "--device", "pocl")])
def test_what_opens_a_device_says_why_it_cannot(repository: Path, arguments: tuple[str, ...]) -> None:
    done = without_posix(repository, *arguments)
    assert done.returncode == 1
    assert b"cannot be used on Windows itself" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_diagnosis_names_it(repository: Path) -> None:
    done = without_posix(repository, "doctor")
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"WSL 2" in done.stdout


def test_the_server_starts_and_leaves(repository: Path) -> None:
    bodies = [json.dumps(message).encode() for message in MESSAGES]
    said = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies)
    done = without_posix(repository, "serve", "--stdio", stdin=said)
    assert done.returncode == 0, done.stderr.decode()
    assert b'"inlayHintProvider"' in done.stdout
    assert b"Traceback" not in done.stderr
