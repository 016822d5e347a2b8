"""Temporary Git repositories, and `kernelcast diff` called in them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from server.cli.entry import main

SCALE = """// kernelcast: global=65536 local=64 n=65536
__kernel void scale(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  float s = 0.0f;
  for (int k = 0; k < TIMES; ++k) s += a[(i + k) % n];
  if (i < n) b[i] = s;
}
"""
COPY = """// kernelcast: global=65536 local=64 n=65536
__kernel void copy(__global const float *a, __global float *b, int n) {
  int i = get_global_id(0);
  if (i < n) b[i] = a[i];
}
"""
SLOW, FAST = SCALE.replace("TIMES", "4000"), SCALE.replace("TIMES", "1")
_GIT = ("git", "-c", "protocol.file.allow=always", "-c", "user.name=n", "-c", "user.email=n@example.org")


@dataclass(frozen=True)
class Repo:
    """A repository with a branch `main`."""

    folder: Path

    def git(self, *words: str) -> str:
        done = subprocess.run([*_GIT, *words], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, files: dict[str, str | bytes] | None = None) -> str:
        """Commit all that is there, and these files."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "a commit")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo_at() -> Callable[[Path], Repo]:
    def start(folder: Path) -> Repo:
        folder.mkdir(parents=True, exist_ok=True)
        repo = Repo(folder)
        repo.git("init", "-q", "-b", "main")
        return repo

    return start


@pytest.fixture
def repo(tmp_path: Path, repo_at: Callable[[Path], Repo]) -> Repo:
    return repo_at(tmp_path / "a repo")


@dataclass(frozen=True)
class Told:
    """What a call printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The list that `--format json` printed."""
        found: list[dict[str, Any]] = json.loads(self.out)
        return found

    @property
    def verdicts(self) -> dict[str, str]:
        return {each["kernel"]: each["verdict"] for each in self.changes}


Diff = Callable[..., Told]


@pytest.fixture
def diff(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Diff:
    """Calls `kernelcast diff` in the repository, for a device that need not be here."""

    def call(*words: str, form: str = "json", folder: Path | None = None, device: str = "generic-cpu") -> Told:
        monkeypatch.chdir(folder or repo.folder)
        monkeypatch.setenv("NO_COLOR", "1")
        capsys.readouterr()
        chosen = ["--device", device] if device else []
        try:
            status = main(["diff", *words, *chosen, "--format", form])
        except SystemExit as leaving:
            status = int(str(leaving.code))
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        return Told(status, told.out, told.err)

    return call


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return all files below a folder, Git's own as well."""
    paths = (Path(top, name) for top, _, names in os.walk(folder) for name in names)
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}
