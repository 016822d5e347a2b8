"""A launch on several devices in words: for hovers, tables in terminals, reports and hints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from server.text.format import factor_words, format_duration_us, format_interval, shown_name
from server.text.hint import basis_sign, guess_mark
from server.text.layout import Section, in_columns
from server.text.versions import ratio_json

if TYPE_CHECKING:
    from model.prediction import Prediction, Ratio
    from server.analysis.elsewhere import DeviceTime

_NAME_LENGTH = 24
_HINT_NAME_LENGTH = 14
_HEAD = ("device", "time", "80 % range", "bound by", "against {name}")
# What says little beside the rest of a device's name: makers, trademarks, and what kind of thing it is.
_MAKER = re.compile(
    r"\((?:r|tm|c)\)|[®™]|\b(?:NVIDIA|AMD|Intel|Apple|Qualcomm|ARM|GeForce|Radeon|Graphics|Processor|CPU|GPU)\b", re.I
)


def ratio_words(ratio: Ratio) -> str:
    """Return `1.2 to 3x faster`, `1.5x faster to 2x slower`: the interval, as the middle alone would claim too much."""
    if factor_words(1 / ratio.p90) != "1" and ratio.p90 < 1:
        return f"{_span(1 / ratio.p90, 1 / ratio.p10)} faster"
    if factor_words(ratio.p10) != "1" and ratio.p10 > 1:
        return f"{_span(ratio.p10, ratio.p90)} slower"
    faster, slower = (factor_words(max(each, 1.0)) for each in (1 / ratio.p10, ratio.p90))
    if faster == slower == "1":
        return "as fast"
    if slower == "1":
        return f"up to {faster}x faster"
    return f"up to {slower}x slower" if faster == "1" else f"{faster}x faster to {slower}x slower"


def _span(low: float, high: float) -> str:
    least, most = factor_words(low), factor_words(high)
    if least == most:
        return f"{most}x"
    return f"{least} to {most}x"


def time_words(prediction: Prediction) -> str:
    """Return `≈ 3.2 ms?`, as a hint has it."""
    return f"{basis_sign(prediction)} {format_duration_us(prediction.runtime_us.p50)}{guess_mark(prediction)}"


def short_name(name: str, length: int = _HINT_NAME_LENGTH) -> str:
    """Return `H200` for NVIDIA H200, `RTX 4090` for NVIDIA GeForce RTX 4090; cut if it is longer still."""
    words = " ".join(_MAKER.sub(" ", shown_name(name)).split()) or name
    return words if len(words) <= length else f"{words[: length - 1].rstrip()}…"


def names_apart(rows: Sequence[DeviceTime], length: int | None = None) -> list[str]:
    """Return the devices' names, short ones if a length is given; the ids of those that would have the same."""
    found = [shown_name(row.device.name) if length is None else short_name(row.device.name, length) for row in rows]
    alike = Counter(found)
    return [name if alike[name] == 1 else row.device.id for name, row in zip(found, rows, strict=True)]


def cells(row: DeviceTime, length: int | None = None) -> tuple[str, str, str, str, str]:
    """Return a device's name, its time, the interval, what bounds it, and its ratio to the main device.

    Without a prediction the last says why.
    """
    name = shown_name(row.device.name) if length is None else short_name(row.device.name, length)
    prediction = row.prediction
    if prediction is None:
        return name, "-", "", "", row.problem
    q, ratio = prediction.runtime_us, row.ratio
    against = ratio_words(ratio) if ratio is not None else ""
    return name, time_words(prediction), format_interval(q.p10, q.p90), str(prediction.bound), against


def devices_section(rows: Sequence[DeviceTime]) -> Section:
    """Return a row for each device but the first, which all else in a hover is about."""
    return Section("Other devices", figures=_in_columns(rows, 1)) if len(rows) > 1 else Section("")


def devices_table(rows: Sequence[DeviceTime]) -> tuple[str, ...]:
    """Return a row for each device, the main one first, in lines."""
    return _in_columns(rows)


def _in_columns(rows: Sequence[DeviceTime], first: int = 0) -> tuple[str, ...]:
    head = (*_HEAD[:-1], _HEAD[-1].format(name=names_apart(rows, _HINT_NAME_LENGTH)[0]))
    named = zip(names_apart(rows, _NAME_LENGTH), rows, strict=True)
    return in_columns([head, *((name, *cells(row)[1:]) for name, row in list(named)[first:])])


def device_json(row: DeviceTime) -> dict[str, Any]:
    """Return a row as `kernelcast compare --devices --format json` has it."""
    prediction = row.prediction
    q = prediction.runtime_us if prediction is not None else None
    return {
        "device": {"id": row.device.id, "name": row.device.name},
        "runtime_us": {"p10": q.p10, "p50": q.p50, "p90": q.p90} if q is not None else None,
        "bound": str(prediction.bound) if prediction is not None else None,
        "basis": str(prediction.basis) if prediction is not None else None,
        "ratio": ratio_json(row.ratio) if row.ratio is not None else None,
        "error": {"code": "launch", "message": row.problem} if prediction is None else None,
    }


def second_device(rows: Sequence[DeviceTime]) -> str:
    """Return `H200 ≈ 0.6 ms`, the first of the other devices that can run the launch; empty if none can."""
    found = next((row for row in rows[1:] if row.prediction is not None), None)
    if found is None or found.prediction is None:
        return ""
    return f"{short_name(found.device.name)} {time_words(found.prediction)}"
