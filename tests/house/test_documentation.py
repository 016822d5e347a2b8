"""Every command in the README and in the documentation runs as written, page by page and in order."""

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
PAGES = (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs/pages").glob("*.md")))
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}

# These set a checkout up or run the whole suite, which holds this very test.
TARGETS = (
    "demo",
    "docs",
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
    "test-min-deps",
    "audit",
    "oracles",
    "catalog",
    "packages",
    "test-generator",
    "programs",
    "repeatability",
    "recalibration",
    "picture",
    "vsix",
    "clean",
    "help",
)
SET_UP = {f"make {target}" for target in TARGETS}
NEEDS_DEVICE = {"compile", "measure", "devices", "calibrate", "learn"}
MEASURING = {"--measure", "--export", "--import"}  # what is imported was measured and exported before
WAITS_FOR_AN_EDITOR = {"serve"}
# Beside the rest of the suite a machine may be too busy to teach anything: the command says so, and what to do.
TOO_BUSY = re.compile(
    r"kernelcast learn .*\nno kernel of the corpus is known on .*others used the machine while they were timed"
)


@dataclass(frozen=True)
class Block:
    """A fenced code block: its page, its language, its text and the line it starts at."""

    page: str
    language: str
    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def _blocks() -> list[Block]:
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [
        Block(page.name, m[1], m[2], text[: m.start()].count("\n") + 1)
        for page, text in TEXTS.items()
        for m in fence.finditer(text)
    ]


def _commands() -> list[str]:
    lines = (line for block in _blocks() if block.language == "sh" for line in block.text.splitlines())
    commands = (line.partition(" # ")[0].strip() for line in lines if line.strip() and not line.startswith("#"))
    return list(dict.fromkeys(commands))


def _marks(command: str) -> list[pytest.MarkDecorator]:
    words = command.split()
    runs_kernels = words[0] == "kernelcast" and bool({words[1]} & NEEDS_DEVICE or MEASURING & set(words))
    return [pytest.mark.device] if runs_kernels else []


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
    is_too_busy = TOO_BUSY.match(f"{command}\n{done.stdout}") is not None
    assert done.returncode == int(is_too_busy), f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    text = TEXTS[page]
    linked = set(re.findall(r"\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)", text)) | set(
        re.findall(r'src(?:set)?="([^"]+)"', text)
    )
    generated = {"cli.md", "settings.md", "json.md"}
    assert {name for name in linked - generated if not (page.parent / name).exists()} == set()
    kernels = set(re.findall(r"tests/kernels/\w+\.cl", text))
    assert {name for name in kernels if not (REPOSITORY / name).exists()} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", TEXTS[page])) <= targets
    assert {command.split()[1] for command in SET_UP if command in TEXTS[page]} <= targets


@pytest.mark.parametrize("block", [b for b in _blocks() if b.language == "toml"], ids=str)
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
        assert done.returncode == 0, f"{block}: {done.stdout}{done.stderr}"
        assert not done.stderr, f"{block}: {done.stderr}"


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", "docs/mkdocs.yml", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in ("cli.html", "settings.html", "json.html", "texts.html", "corpus-card.html"):
        assert (tmp_path / page).is_file()
