"""Kernels as they are out there: every one of two packages from PyPI gets an answer or a named reason."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGES = ("pyclesperanto-prototype==0.24.6", "silx==3.1.3")
LEAST_ANSWERED = 0.85
# Kept between runs in the virtual environment, as everything that set-up downloads.
CACHE = Path(sys.prefix) / "real-packages"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(r"\b(?:__)?kernel\b[^;{}]*?\bvoid\s+(?:__attribute__\s*\(\(.*?\)\)\)?\s*)?(\w+)\s*\(", re.DOTALL)


@dataclass(frozen=True)
class Outcome:
    """What `kernelcast predict` said of one package: the answers and errors by (file, kernel)."""

    files: tuple[Path, ...]
    answered: frozenset[tuple[str, str]]
    errors: tuple[dict[str, object], ...]
    status: int
    stderr: str

    @property
    def unanswered(self) -> set[tuple[str, str]]:
        """Kernels without any prediction; an error of a whole file stands for each kernel that its text shows."""
        lost = set()
        for error in self.errors:
            file, kernel = str(error["file"]), error.get("kernel")
            lost |= {(file, str(name)) for name in ([kernel] if kernel else kernels_in(Path(file)))}
        return lost - self.answered


def kernels_in(file: Path) -> list[str]:
    """Found without Kernelcast's own parser: names after `kernel void`, outside comments."""
    return _KERNEL.findall(_COMMENT.sub(" ", file.read_text(encoding="utf-8", errors="replace")))


def _unpacked(requirement: str) -> Path:
    folder = CACHE / requirement
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        done = subprocess.run(
            [*command, "--dest", str(CACHE), requirement], capture_output=True, text=True, timeout=300, check=False
        )
        name, _, version = requirement.replace("-", "_").partition("==")
        wheels = list(CACHE.glob(f"{name}-{version}-*.whl"))
        if done.returncode != 0 or not wheels:
            pytest.skip(f"{requirement} cannot be downloaded: {(done.stderr.strip().splitlines() or ['no wheel'])[-1]}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(folder.with_suffix(".part"), [n for n in wheel.namelist() if n.endswith((".cl", ".h"))])
        folder.with_suffix(".part").rename(folder)
    return folder


@pytest.fixture(scope="module", params=PACKAGES)
def outcome(request: pytest.FixtureRequest, kernelcast: str) -> Outcome:
    files = sorted(_unpacked(request.param).rglob("*.cl"))
    command = [kernelcast, "predict", "--format", "json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return Outcome(
        tuple(files),
        frozenset((answer["file"], answer["kernel"]) for answer in answers if "runtime_us" in answer),
        tuple(answer for answer in answers if "error" in answer),
        done.returncode,
        done.stderr,
    )


def test_nothing_crashes(outcome: Outcome) -> None:
    assert "Traceback" not in outcome.stderr
    assert outcome.status in {0, 1}, outcome.stderr


def test_every_kernel_is_answered_or_named(outcome: Outcome) -> None:
    spoken_of = outcome.answered | outcome.unanswered
    silent = [
        f"{file.name}: {kernel}"
        for file in outcome.files
        for kernel in kernels_in(file)
        if (str(file), kernel) not in spoken_of and not _is_made_by_macros(file, kernel)
    ]
    assert silent == []


def _is_made_by_macros(file: Path, kernel: str) -> bool:
    """A name that is a macro, or under an `#if`, is not what the compiler sees."""
    text = file.read_text(encoding="utf-8", errors="replace")
    before = text[: text.rfind(kernel)]
    conditionals = len(re.findall(r"^\s*#\s*if", before, re.MULTILINE)) - len(
        re.findall(r"^\s*#\s*endif", before, re.MULTILINE)
    )
    return conditionals > 0 or re.search(rf"#\s*define\s+{kernel}\b", text) is not None


def test_every_error_says_what_is_wrong(outcome: Outcome) -> None:
    errors = [answer["error"] for answer in outcome.errors]
    assert [e for e in errors if not (isinstance(e, dict) and e.get("code") and e.get("message"))] == []


def test_most_kernels_get_an_answer(outcome: Outcome, record_property: Callable[[str, object], None]) -> None:
    answered, unanswered = len(outcome.answered), len(outcome.unanswered)
    codes = Counter(e["code"] for a in outcome.errors if isinstance(e := a["error"], dict))
    counts = f"{answered} of {answered + unanswered} kernels in {len(outcome.files)} files; errors: {dict(codes)}"
    print(counts)
    record_property("answered", counts)
    assert answered >= LEAST_ANSWERED * (answered + unanswered), counts
