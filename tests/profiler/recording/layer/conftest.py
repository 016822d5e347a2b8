"""Programs under the layer, and what it wrote about them."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from profiler.recording.layer import layer_library
from profiler.recording.running import recording_environment
from tests.profiler.recording.layer.programs import bundled_loader, compile_launcher, loader_environment

SLOT = struct.Struct("<QQd29d")


@dataclass(frozen=True, slots=True)
class Log:
    """What one process wrote."""

    entries: list[dict[str, Any]]
    slots: list[tuple[float, ...]]  # count, timed, sum_us, samples_us ...

    def of(self, record: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["record"] == record]

    @property
    def counts(self) -> list[int]:
        """Return the counts of each launch, by number."""
        return [int(self.slots[entry["id"]][0]) for entry in self.of("launch")]


@dataclass(frozen=True, slots=True)
class Ran:
    """A program that has ended, and its logs."""

    status: int
    out: str
    err: str
    folder: Path
    logs: list[Log] = field(default_factory=list)

    @property
    def log(self) -> Log:
        """The only one."""
        assert len(self.logs) == 1, self.err
        return self.logs[0]


def read_log(path: Path) -> Log:
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    slots = list(SLOT.iter_unpack(path.with_suffix(".counts").read_bytes()))
    return Log(entries, slots)


@pytest.fixture(scope="session")
def loader() -> Path:
    """The ICD loader that PyOpenCL's wheel brings: C programs can use it, too."""
    found = bundled_loader()
    if found is None:
        pytest.skip("PyOpenCL is not from a wheel that brings an ICD loader")
    return found


@pytest.fixture(scope="session")
def launcher(loader: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in C that uses OpenCL; see `launcher.c`."""
    return compile_launcher(loader, tmp_path_factory.mktemp("launcher") / "launcher")


@pytest.fixture(scope="session")
def environment(loader: Path) -> dict[str, str]:
    """What a program needs to find PoCL, beside the caller's environment."""
    return loader_environment(loader)


@pytest.fixture
def run(environment: dict[str, str]) -> Callable[..., str]:
    """Run a program without the layer and return its output."""

    def run(*words: str | Path) -> str:
        return subprocess.run(
            list(map(str, words)), env=environment, capture_output=True, text=True, timeout=120, check=True
        ).stdout

    return run


@pytest.fixture
def record(environment: dict[str, str], tmp_path: Path) -> Callable[..., Ran]:
    """Run a program under the layer."""

    def record(words: Sequence[str | Path], added: Mapping[str, str] | None = None, layer: Path | None = None) -> Ran:
        folder = tmp_path / "recording"
        folder.mkdir(mode=0o700)
        library = layer or layer_library()
        settings = recording_environment(environment, folder, layer=library, socket=None, profile=False)
        ran = subprocess.run(
            list(map(str, words)), env={**settings, **(added or {})}, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        logs = [read_log(path) for path in sorted(folder.glob("*.jsonl"))]
        return Ran(ran.returncode, ran.stdout, ran.stderr, folder, logs)

    return record
