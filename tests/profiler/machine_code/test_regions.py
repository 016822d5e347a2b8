"""Machine code by loop and by line."""

from __future__ import annotations

from dataclasses import replace

from profiler.machine_code.instruction import Instruction
from profiler.machine_code.profile import regions_of

FILE = "kernel.cl"


def at(address: int, line: int, file: str = FILE, **more: object) -> Instruction:
    return replace(Instruction(address, "add", "f32", 8, place=(file, line)), **more)  # type: ignore[arg-type]


CODE = (
    at(0, 3),
    at(1, 5),
    at(2, 5, kind="fma"),
    at(3, 90, file="builtin.h"),
    at(4, 4, kind="branch", element="", target=1),
    at(5, 5, lanes=1, falls_through=False),
)


def test_a_line_in_a_loop_and_after_it_is_two_regions() -> None:
    found = {(each.loop, each.line): each for each in regions_of(CODE, FILE)}
    assert found.keys() == {(0, 2), (0, 4), (1, 3), (1, 4), (1, None)}
    assert {(of.kind, of.lanes, of.count) for of in found[1, 4].mix} == {("add", 8, 1), ("fma", 8, 1)}
    assert found[1, 4].instructions == 2
    assert [(of.kind, of.lanes) for of in found[0, 4].mix] == [("add", 1)]


def test_code_whose_compiler_noted_no_lines_has_no_regions() -> None:
    assert regions_of([replace(each, place=None) for each in CODE], FILE) == ()
    assert regions_of(CODE, "another.cl") == ()
