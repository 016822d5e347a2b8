"""An audit that could ask nobody is no clean one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.dependencies.audit import CLEAN, FAULTY, UNKNOWN, verdict

FINE = {"name": "a", "version": "1", "vulns": []}
SKIPPED = {"name": "b", "skip_reason": "Dependency not found on PyPI"}
FAULT = {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3"]}]}


def test_faults_are_named_and_silence_is_not_taken_for_health(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict("lowest", [FINE, SKIPPED]) == CLEAN
    assert verdict("lowest", [FINE, FAULT]) == FAULTY
    assert "c 2: PYSEC-1, mended in 3" in capsys.readouterr().out
    assert verdict("lowest", [SKIPPED]) == verdict("lowest", []) == UNKNOWN


def test_every_dependency_has_a_lower_bound(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    every = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    assert [each for each in every if not re.fullmatch(r"[\w.-]+>=\d[\w.]*(,<\d[\w.]*)?", each)] == []
