"""The outcome of a search as JSON and in words."""

from __future__ import annotations

from typing import Any

from model.launch.fill import written_fill
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from profiler.turns import Difference
from server.text.format import format_duration_us, format_things
from server.text.versions import faster_words
from server.tuning.trial import Tried, Tuned


def tuned_json(tuned: Tuned, file: str) -> dict[str, Any]:
    """Return the whole outcome; each `launch` is a request for `predict --batch` and `measure --batch`."""
    device, kernel = tuned.search.found.device, tuned.search.baseline.forecast.kernel
    return {
        "file": file,
        "kernel": kernel.name,
        "device": {"id": device.id, "name": device.name},
        "candidates": [_candidate(one, file, device.id) for one in tuned.tried],
        "best": tuned.best,
        "baseline": _candidate(tuned.tried[tuned.baseline], file, device.id),
        "tuned": str(tuned.search.tuning),
        "left_out": tuned.search.left_out,
        "unused": list(tuned.search.unused),
        "cancelled": tuned.was_cancelled,
    }


def _candidate(one: Tried, file: str, device_id: str) -> dict[str, Any]:
    version, ratio = one.version, one.ratio
    difference = version.difference if version is not None else None
    error = one.error
    return {
        "launch": request_json(one.candidate.launch, one.candidate.forecast.kernel, file, device_id),
        "changes": list(one.candidate.change.words),
        "predicted_us": one.candidate.predicted_us,
        "measured_us": one.measured_us,
        "imported_us": one.candidate.imported_us,
        "ci95_us": list(version.ci95_us) if version is not None and version.ci95_us is not None else None,
        "ratio": {"median": ratio.ratio, "low": ratio.low, "high": ratio.high} if ratio is not None else None,
        "equal": one.equal,
        "max_ulps": difference.max_ulps if difference is not None and difference.compared else None,
        "max_relative": difference.max_relative if difference is not None and difference.compared else None,
        "error": {"code": error.code, "message": error.message} if error is not None else None,
    }


def request_json(launch: Launch, kernel: Kernel, file: str, device_id: str) -> dict[str, Any]:
    """Return a batch request for a launch."""
    return {
        "file": file,
        "kernel": kernel.name,
        "defines": dict(launch.options.defines),
        "include": list(launch.options.include_dirs),
        "options": list(launch.options.flags),
        "global": list(launch.global_size),
        "local": list(launch.local_size) if launch.local_size is not None else None,
        "args": dict(launch.scalars),
        "buffers": dict(launch.buffers),
        "images": {name: list(size) for name, size in launch.images},
        "local_bytes": dict(launch.local_bytes),
        "fill": {name: written_fill(name, fill) for name, fill in launch.fills},
        "device": device_id,
    }


def changes_text(one: Tried) -> str:
    """`-DTILE=32 local=(8, 8)`."""
    return " ".join(one.candidate.change.words) or "as it is"


def results_text(one: Tried) -> str:
    """Return how a candidate's outputs compare with those of the launch as it is."""
    if one.error is not None:
        return one.error.code
    difference = one.version.difference if one.version is not None else None
    return difference_text(difference, is_accepted=bool(one.equal))


def difference_text(difference: Difference | None, *, is_accepted: bool) -> str:
    if difference is None or not difference.compared:
        return "not compared" if difference is not None else ""
    if difference.equal:
        return "equal"
    if difference.not_compared and not difference.differing:
        return f"`{difference.not_compared[0]}` not compared"
    apart = f"{format_things(difference.max_ulps, 'ulp')} apart" if difference.max_ulps is not None else "differ"
    return apart if is_accepted else f"wrong: {difference.example}"


def _imported_sentence(kernel: str, winner: Tried, base_us: float | None) -> str:
    now = winner.candidate.imported_us
    assert now is not None
    instead = f" instead of {format_duration_us(base_us)} ({faster_words(now / base_us)})" if base_us else ""
    return f"{kernel}: {changes_text(winner)} took {format_duration_us(now)}{instead} where it was measured"


def outcome_sentence(tuned: Tuned) -> str:
    """Say in one line what came of it."""
    kernel, winner = tuned.search.baseline.forecast.kernel.name, tuned.winner
    base = tuned.tried[tuned.baseline]
    if winner is None:
        if tuned.was_cancelled and not tuned.was_measured:
            return f"{kernel}: cancelled before anything was measured"
        if not tuned.search.candidates:
            return f"{kernel}: there is nothing else to try"
        tried = sum(one.measured_us is not None for one in tuned.tried) - 1
        if tuned.was_measured:
            return f"{kernel}: none of {format_things(max(0, tried), 'candidate')} is measurably faster"
        return f"{kernel}: the present launch is predicted to be the fastest"
    if winner.ratio is None or winner.measured_us is None or base.measured_us is None:
        was, now = base.candidate.predicted_us, winner.candidate.predicted_us
        if winner.candidate.imported_us is not None:
            return _imported_sentence(kernel, winner, base.candidate.imported_us)
        return (
            f"{kernel}: {changes_text(winner)} is predicted to take {format_duration_us(now)} "
            f"instead of {format_duration_us(was)} ({faster_words(now / was)})"
        )
    return (
        f"{kernel}: {changes_text(winner)} takes {format_duration_us(winner.measured_us)} instead of "
        f"{format_duration_us(base.measured_us)}, {faster_words(winner.ratio.ratio)}, results {results_text(winner)}"
    )
