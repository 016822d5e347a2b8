"""Times that were measured elsewhere, from Kernel Tuner's cache files and from T4 results files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from model.errors import LaunchError
from server.tuning.exchange import Entry, parameters, values_of
from server.tuning.search import Candidate, Search

_UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6, "": 1e3, "milliseconds": 1e3, "seconds": 1e6}


@dataclass(frozen=True, slots=True)
class Results:
    """What a file holds; `device_name` is empty if it does not say where that was measured."""

    entries: tuple[Entry, ...]
    device_name: str = ""


def read_results(file: Path) -> Results:
    """Read a cache or T4 file. Raises LaunchError where it is neither."""
    try:
        text = file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise LaunchError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from None
    for closed in (text, text.removesuffix(",") + "}}"):  # Kernel Tuner leaves the file of an unfinished search open
        try:
            found = json.loads(closed)
        except (ValueError, RecursionError):
            continue
        entries = _read(found) if isinstance(found, dict) else None
        if entries is not None:
            metadata = found.get("metadata")
            name = (metadata if isinstance(metadata, dict) else found).get("device_name")
            return Results(tuple(entries), name if isinstance(name, str) else "")
    raise LaunchError(f"{file} is neither a cache file of Kernel Tuner nor a T4 results file")


def _read(found: dict[str, Any]) -> list[Entry] | None:
    match found:
        case {"cache": dict(cache), "tune_params_keys": list(names)}:
            known = [name for name in names if isinstance(name, str)]
            return [_from_cache(one, known) for one in cache.values() if isinstance(one, dict)]
        case {"results": list(results)}:
            metadata = found.get("metadata")
            unit = metadata.get("timeunit") if isinstance(metadata, dict) else None
            return [_from_t4(one, str(unit or "")) for one in results if isinstance(one, dict)]
    return None


def _from_cache(one: dict[str, Any], names: Sequence[str]) -> Entry:
    values = {name: one[name] for name in names if isinstance(one.get(name), int | float | str)}
    return Entry(values, None if "__error__" in one else _microseconds(one.get("time"), "ms"))


def _from_t4(one: dict[str, Any], unit: str) -> Entry:
    given = one.get("configuration")
    values = {k: v for k, v in given.items() if isinstance(v, int | float | str)} if isinstance(given, dict) else {}
    wanted = next((name for name in _list(one.get("objectives")) if isinstance(name, str)), "time")
    measurements = [each for each in _list(one.get("measurements")) if isinstance(each, dict)]
    measured = [each for each in measurements if each.get("name") == wanted]
    if one.get("invalidity", "correct") != "correct" or not measured:
        return Entry(values, None)
    return Entry(values, _microseconds(measured[0].get("value"), measured[0].get("unit") or unit))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _microseconds(value: object, unit: object) -> float | None:
    scale = _UNITS_US.get(unit) if isinstance(unit, str) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or scale is None:
        return None
    try:
        time_us = value * scale
    except OverflowError:  # JSON's whole numbers may be of any size
        return None
    return time_us if isfinite(time_us) and time_us > 0 else None


def with_results(space: Search, results: Results, file: Path) -> tuple[Search, int]:
    """Return the search with these times beside its predictions, and how many of them are of no candidate.

    Candidates are ranked anew: where a time is known, by that, divided by what predictions are off by in the median.
    Raises LaunchError where the file does not tell what a time is of.
    """
    times, others = _matched(space, results.entries, file)
    known = [one for one in (space.baseline, *space.candidates) if id(one) in times]
    if not known:
        return space, others
    scale = median(one.predicted_us / times[id(one)] for one in known)

    def timed(one: Candidate) -> Candidate:
        time_us = times.get(id(one))
        return one if time_us is None else replace(one, imported_us=time_us, scaled_us=scale * time_us)

    ranked = sorted(map(timed, space.candidates), key=lambda one: one.expected_us)
    return replace(space, baseline=timed(space.baseline), candidates=tuple(ranked)), others


def _matched(space: Search, entries: Sequence[Entry], file: Path) -> tuple[dict[int, float], int]:
    """Return the times by the `id` of their candidate, and the number of those without one."""
    timed = [one for one in entries if one.time_us is not None]
    if not timed:
        raise LaunchError(f"{file} holds no times")
    tuned = parameters(space)
    names = list(dict.fromkeys(name for one in timed for name in one.configuration))
    missing = next((name for name in tuned if name not in names), None)
    if missing is not None:
        raise LaunchError(f"{file} has no `{missing}`, which is tuned here; it has {', '.join(names) or 'no names'}")
    knows = values_of(space, space.baseline)
    unknown = [name for name in names if name not in tuned and knows(name) is None]
    for name in unknown:
        if len({_plain(one.configuration.get(name)) for one in timed}) > 1:
            raise LaunchError(f"{file} has several values of `{name}`, which is not tuned here: add --tune {name}=...")
    compared = [name for name in names if name not in unknown]
    by_values: dict[tuple[str, ...], float] = {}
    for one in timed:
        assert one.time_us is not None
        by_values[tuple(_plain(one.configuration.get(name)) for name in compared)] = one.time_us
    times: dict[int, float] = {}
    used = set()
    for candidate in (space.baseline, *space.candidates):
        value_of = values_of(space, candidate)
        key = tuple(_plain(value_of(name)) for name in compared)
        if key in by_values:
            times[id(candidate)] = by_values[key]
            used.add(key)
    return times, len(by_values) - len(used)


def _plain(value: object) -> str:
    """Return a value so that `16`, `16.0` and `"16"` are the same."""
    try:
        return repr(float(str(value)))
    except ValueError:
        return str(value)
