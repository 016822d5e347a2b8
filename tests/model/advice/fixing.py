"""Fixes of one code for a text with a single kernel, and the text after one."""

from __future__ import annotations

from model.advice.advice import AdviceCode
from model.advice.fixes.candidates import fix_candidates
from model.advice.fixes.fix import Fix, apply_edits
from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine

GPU, CPU = "nvidia-a100-pcie-40gb", "generic-cpu"


def fixes(text: str, code: AdviceCode, device: str | Device = CPU) -> list[Fix]:
    on = find_builtin(device) if isinstance(device, str) else device
    assert on is not None
    (forecast,) = Engine().forecast(text, None, on).forecasts
    assert forecast.prediction, forecast.problem
    return [fix for fix in fix_candidates(text, forecast, on) if fix.code is code]


def fixed(text: str, code: AdviceCode, device: str | Device = CPU, at: int = 0) -> str:
    """The text after the only fix of a code (or the one `at`), which must still be predicted."""
    found = fixes(text, code, device)
    assert found, f"no fix of {code}"
    after = apply_edits(text, found[at].edits)
    on = find_builtin(device) if isinstance(device, str) else device
    assert on is not None
    result = Engine().forecast(after, None, on)
    assert not result.annotation_problems
    assert result.forecasts[0].prediction
    assert not result.kernels[0].has_errors
    return after


def changed_lines(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ, where no line was added."""
    old, new = before.split("\n"), after.split("\n")
    assert len(old) == len(new)
    return [(a, b) for a, b in zip(old, new, strict=True) if a != b]
