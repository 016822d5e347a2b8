"""Every command in the README runs as it stands there, in the order in which a newcomer types them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")

# These set a checkout up or run the whole suite, which holds this very test.
TARGETS = (
    "demo",
    "gpu",
    "test",
    "test-editors",
    "test-vsix",
    "check",
    "bench",
    "accuracy",
    "faults",
    "soak",
    "fuzz",
    "lowest",
    "audit",
    "oracles",
    "catalog",
    "packages",
    "families",
    "programs",
    "repeatability",
    "recalibration",
    "picture",
    "vsix",
    "clean",
    "help",
)
SET_UP = {f"make {target}" for target in TARGETS}
NEEDS_DEVICE = {"compile", "measure", "devices", "calibrate"}
WAITS_FOR_AN_EDITOR = {"serve"}


@dataclass(frozen=True)
class Block:
    """A fenced code block: its language, its text and the README's line it starts at."""

    language: str
    text: str
    line: int


def _blocks() -> list[Block]:
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [Block(m[1], m[2], README[: m.start()].count("\n") + 1) for m in fence.finditer(README)]


def _commands() -> list[str]:
    lines = (line for block in _blocks() if block.language == "sh" for line in block.text.splitlines())
    return [line.partition(" # ")[0].strip() for line in lines if line.strip() and not line.startswith("#")]


def _marks(command: str) -> list[pytest.MarkDecorator]:
    words = command.split()
    return [pytest.mark.device] if words[0] == "kernelcast" and words[1] in NEEDS_DEVICE else []


RUNNABLE = [
    pytest.param(command, marks=_marks(command), id=command)
    for command in _commands()
    if command.startswith("kernelcast ") and command.split()[1] not in WAITS_FOR_AN_EDITOR
]


def test_every_command_is_either_run_here_or_sets_up() -> None:
    known = {*SET_UP, *(command for command in _commands() if command.startswith("kernelcast "))}
    allowed = ("git clone ", "cd ", "export PATH=", ". .venv/", "code --install-extension ")
    assert [c for c in _commands() if c not in known and not c.startswith(allowed)] == []


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README's commands are typed into, without what they could spoil."""
    folder = tmp_path_factory.mktemp("read me")
    shutil.copytree(REPOSITORY / "tests/kernels", folder / "tests/kernels")
    return folder


@pytest.mark.parametrize("command", RUNNABLE)
def test_command_runs(command: str, checkout: Path) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=checkout,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr


def test_every_file_that_is_named_exists() -> None:
    named = set(re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)) | set(re.findall(r"tests/kernels/\w+\.cl", README))
    named |= set(re.findall(r'src(?:set)?="([^"]+)"', README))
    assert {name for name in named if not (REPOSITORY / name).exists()} == set()


def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`", README)) <= targets
    assert {command.split()[1] for command in SET_UP if command in README} <= targets


@pytest.mark.parametrize("block", [b for b in _blocks() if b.language == "toml"], ids=lambda b: f"line {b.line}")
def test_toml_is_valid(block: Block) -> None:
    tomllib.loads(block.text)


def test_annotations_are_understood(kernelcast: str, tmp_path: Path) -> None:
    """Every example in OpenCL C gets a prediction, and no complaint."""
    sources = [block for block in _blocks() if block.language == "c"]
    assert sources
    for block in sources:
        file = tmp_path / "readme.cl"
        file.write_text(block.text, encoding="utf-8")
        command = [kernelcast, "predict", file.name, "--format", "json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, f"line {block.line}: {done.stdout}{done.stderr}"
        assert not done.stderr, f"line {block.line}: {done.stderr}"
