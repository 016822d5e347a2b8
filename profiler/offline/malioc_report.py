"""The report of Arm's Mali Offline Compiler on one kernel, in JSON.

Source: Arm, "Mali Offline Compiler User Guide" (101863), chapters "Performance analysis" and "JSON reports": schemas
`performance` and `error`, each with a list `shaders`; a kernel has one variant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from model.compiled import PipeCycles

_PATHS = ("total_cycles", "shortest_path_cycles", "longest_path_cycles")


class UnreadableReport(Exception):
    """The text is no report of `malioc`, or lacks what its documentation promises."""


@dataclass(frozen=True, slots=True)
class MaliReport:
    """What the compiler says of one kernel; None where this version does not tell. With `errors` there is no kernel."""

    work_registers: int | None = None  # 32-bit registers of a work-item
    uniform_registers: int | None = None
    occupancy_percent: float | None = None  # of the threads that a core can hold
    spills: bool = False
    spill_bytes: int | None = None
    stack_bytes: int | None = None  # of a work-item, spilled values included
    local_bytes: int | None = None  # of a work-group
    half_arithmetic_percent: float | None = None
    pipes: tuple[PipeCycles, ...] = ()
    bound: tuple[str, ...] = ()  # pipes that limit the longest path, else all instructions
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def read_report(text: str) -> MaliReport:
    """Return what a report says of its first kernel. Raises UnreadableReport."""
    try:
        report = json.loads(text)
        shader = cast("Mapping[str, Any]", report["shaders"][0])
        warnings, errors = (tuple(map(str, shader.get(key) or ())) for key in ("warnings", "errors"))
        if errors or report["schema"]["name"] == "error":
            return MaliReport(errors=errors, warnings=warnings)
        return _performance(cast("Mapping[str, Any]", shader["variants"][0]), warnings)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnreadableReport(f"the report of malioc cannot be read: {error!r}") from error


def _performance(variant: Mapping[str, Any], warnings: tuple[str, ...]) -> MaliReport:
    found = {str(each["name"]): each["value"] for each in variant["properties"]}

    def number(*names: str) -> int | None:
        return next((int(found[name]) for name in names if found.get(name) is not None), None)

    half, occupancy = found.get("fp16_arithmetic"), found.get("thread_occupancy")
    performance = cast("Mapping[str, Any]", variant.get("performance") or {})
    spill_bytes = number("stack_spill_bytes")
    return MaliReport(
        work_registers=number("work_registers_used"),
        uniform_registers=number("uniform_registers_used"),
        occupancy_percent=float(occupancy) if occupancy is not None else None,
        spills=bool(found.get("has_stack_spilling")) or bool(spill_bytes),
        spill_bytes=spill_bytes,
        stack_bytes=number("stack_size", "stack_bytes"),
        local_bytes=number("shared_storage_bytes", "shared_storage_used", "shared_storage"),
        half_arithmetic_percent=float(half) if half is not None else None,
        pipes=_pipes(performance),
        bound=_bound(performance),
        warnings=warnings,
    )


def _pipes(performance: Mapping[str, Any]) -> tuple[PipeCycles, ...]:
    names = cast("Sequence[str]", performance.get("pipelines") or ())
    counts = [[_cycles(each) for each in performance[path]["cycle_count"]] for path in _PATHS] if names else []
    if any(len(each) != len(names) for each in counts):
        raise UnreadableReport("the report of malioc has other pipes than cycles")
    return tuple(PipeCycles(str(name), *cycles) for name, *cycles in zip(names, *counts, strict=True))


def _bound(performance: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the pipelines that bound a kernel, by the longest path that the compiler can follow.

    It writes null for one that it cannot, such as one through a loop without a known end.
    """
    for path in reversed(_PATHS):
        names = [str(each) for each in (performance.get(path) or {}).get("bound_pipelines") or () if each]
        if names and path != "shortest_path_cycles":
            return tuple(names)
    return ()


def _cycles(count: object) -> float | None:
    return float(count) if isinstance(count, int | float) else None
