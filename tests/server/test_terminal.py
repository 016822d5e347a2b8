"""What people see: sentences that hang below themselves, and no blanks at the ends of lines in files."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from server.cli.terminal import hung, listed, out

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SENTENCE = "the data decide which work-items enter line 14: assumed for 84 % of them"


def shown(what: object, width: int) -> list[str]:
    page = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    page.print(what)
    assert isinstance(page.file, io.StringIO)
    return [line.rstrip() for line in page.file.getvalue().splitlines()]


def test_a_sentence_that_wraps_stays_behind_its_dash() -> None:
    assert shown(listed([SENTENCE, "short"]), 40) == [
        "  - the data decide which work-items",
        "    enter line 14: assumed for 84 % of",
        "    them",
        "  - short",
    ]


def test_a_value_that_wraps_stays_behind_its_name() -> None:
    assert shown(hung([("Compiled  ", "256-bit vectors, 32 vector registers, no spills")]), 44) == [
        "  Compiled  256-bit vectors, 32 vector",
        "            registers, no spills",
    ]


def test_files_get_each_sentence_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    out().print(listed([SENTENCE * 10]))
    assert capsys.readouterr().out == f"  - {SENTENCE * 10}\n"


def test_no_line_of_a_file_ends_in_blanks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cl").write_text("kernel void scale(global float *x) { x[get_global_id(0)] *= 2; }\n")
    for call in (
        ["devices", "--show", "generic-cpu"],
        ["devices", "--all"],
        ["predict", "k.cl", "--device", "generic-cpu"],
        ["doctor"],
    ):
        lines = run(*call).stdout.splitlines()
        assert lines
        assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("call", ["devices --all", "devices --show generic-cpu"])
def test_a_table_whose_reader_leaves_early_is_no_error(kernelcast: str, call: str) -> None:
    with subprocess.Popen(
        [sys.executable, kernelcast, *call.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, said = process.communicate(timeout=60)
    assert said == b""
    assert process.returncode == 141
