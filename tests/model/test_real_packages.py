"""Kernels as they are out there: every one of two packages from PyPI gets an answer or a named reason."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.real_packages import PYPI, Unreachable, unpacked

LEAST_ANSWERED = 0.85

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


@pytest.fixture(scope="module", params=PYPI)
def outcome(request: pytest.FixtureRequest, kernelcast: str) -> Outcome:
    try:
        files = sorted(unpacked(request.param).rglob("*.cl"))
    except Unreachable as reason:
        pytest.skip(str(reason))
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
