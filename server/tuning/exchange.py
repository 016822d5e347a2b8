"""Results of a search in Kernel Tuner's formats: its cache files, and T4, the results format of auto-tuning in common.

Both hold a value for each tuned name, and milliseconds. Local sizes have Kernel Tuner's own names, `block_size_x` to
`block_size_z`, all 0 where the driver chooses; global sizes are `global_size_x` to `global_size_z`. T4's schema is
https://github.com/odgaard/TuningSchema, version 1.0.0; a cache file is what Kernel Tuner's `util.process_cache` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.errors import LaunchError
from model.launch.choices import names_of
from model.launch.expression import Expression, ExpressionError, parse_expression
from model.launch.launch import Number
from server.tuning.search import Candidate, Search
from server.tuning.trial import Tried, Tuned

SCHEMA_VERSION = "1.0.0"
CACHE, T4 = "cache", "t4"
FORMATS = (CACHE, T4)
T4_SUFFIX = ".t4.json"
Value = int | float | str
_AXES = "xyz"
_BLOCK, _GLOBAL = "block_size_", "global_size_"
# What an error of ours is to either format.
_INVALIDITY = {"build_failed": "compile", "timed_out": "timeout"}
_CACHE_ERRORS = {"compile": "CompilationFailedConfig", "correct": ""}
_ANY_CACHE_ERROR = "RuntimeFailedConfig"


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one candidate. `invalidity` is T4's word; `time_us` is None unless that is `correct`."""

    configuration: Mapping[str, Value]
    time_us: float | None
    runtimes_us: tuple[float, ...] = ()
    invalidity: str = "correct"
    measured_at: str = ""


def format_of(file: Path, wanted: str | None) -> str:
    """Return the format to write: the one that is named, or by the end of the file's name."""
    return wanted or (T4 if file.name.lower().endswith(T4_SUFFIX) else CACHE)


def exported(tuned: Tuned, form: str) -> dict[str, Any]:
    """Return all that was measured, as Kernel Tuner has it. Raises LaunchError where a value of it is not known."""
    entries = [_entry(tuned.search, one) for one in tuned.tried if one.version is not None]
    return (t4_json if form == T4 else cache_json)(tuned.search, entries)


def _entry(space: Search, one: Tried) -> Entry:
    version = one.version
    assert version is not None
    values = configuration(space, one.candidate)
    if version.median_us is None or one.error is not None:
        code = one.error.code if one.error is not None else ""
        return Entry(values, None, invalidity=_INVALIDITY.get(code, "runtime"))
    at = version.measurement.measured_at if version.measurement is not None else ""
    if one.equal is False and one.candidate is not space.baseline:
        return Entry(values, None, version.turns_us, "correctness", at)
    return Entry(values, version.median_us, version.turns_us, measured_at=at)


def cache_json(space: Search, entries: Iterable[Entry]) -> dict[str, Any]:
    """Return a cache file of Kernel Tuner, which its `tune_cache` simulates searches from."""
    entries = list(entries)
    names = parameters(space)
    return {
        "device_name": space.found.device.name,
        "kernel_name": space.baseline.forecast.kernel.name,
        "problem_size": list(space.baseline.launch.global_size),
        "tune_params_keys": names,
        "tune_params": {name: list(dict.fromkeys(one.configuration[name] for one in entries)) for name in names},
        "objective": "time",
        "cache": {",".join(str(one.configuration[name]) for name in names): _cached(one) for one in entries},
    }


def _cached(one: Entry) -> dict[str, Any]:
    error = _CACHE_ERRORS.get(one.invalidity, _ANY_CACHE_ERROR)
    return {
        **one.configuration,
        "time": one.time_us / 1000 if one.time_us is not None else error,
        "times": [run / 1000 for run in one.runtimes_us],
        **dict.fromkeys(("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"), 0),
        "timestamp": one.measured_at,
        **({"__error__": error} if error else {}),
    }


def t4_json(space: Search, entries: Iterable[Entry]) -> dict[str, Any]:
    """Return a results file as T4's schema has it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "metadata": {
            "timeunit": "milliseconds",
            "device_name": space.found.device.name,
            "kernel_name": space.baseline.forecast.kernel.name,
        },
        "results": [
            {
                "timestamp": one.measured_at,
                "configuration": dict(one.configuration),
                "objectives": ["time"],
                "times": {"runtimes": [run / 1000 for run in one.runtimes_us]},
                "invalidity": one.invalidity,
                "correctness": 0 if one.invalidity == "correctness" else 1,
                "measurements": [{"name": "time", "value": one.time_us / 1000, "unit": "ms"}]
                if one.time_us is not None
                else [],
            }
            for one in entries
        ],
    }


def parameters(space: Search) -> list[str]:
    """Return the names of what is tuned, as a configuration has them."""
    axes = _AXES[: len(space.baseline.launch.global_size)]
    names: list[str] = []
    for name in space.tuning.names:
        prefix = {"local": _BLOCK, "global": _GLOBAL}.get(name)
        names += [name] if prefix is None else [f"{prefix}{axis}" for axis in axes]
    return names


def configuration(space: Search, candidate: Candidate) -> dict[str, Value]:
    """Return the value of each tuned name. Raises LaunchError where the launch as it is leaves one open."""
    value_of = values_of(space, candidate)
    found = {}
    for name in parameters(space):
        value = value_of(name)
        if value is None:
            raise LaunchError(f"`{name}` has no value in the present launch: give it one, as in -D{name}=1")
        found[name] = value
    return found


def values_of(space: Search, candidate: Candidate) -> Callable[[str], Value | None]:
    """Return what tells the value that a candidate has for a name; None where it has none."""
    launch, change = candidate.launch, candidate.change
    spec = space.baseline.forecast.spec
    assert spec is not None
    numbers: dict[str, Number] = names_of(launch, spec, candidate.forecast.kernel, space.found.device)
    texts = dict(launch.options.defines) | dict(change.combination.defines) | dict(change.combination.values)
    local = () if change.local == "auto" else launch.local_size or ()

    def value_of(name: str) -> Value | None:
        prefix, axis = name[:-1], _AXES.find(name[-1:])
        if prefix in (_BLOCK, _GLOBAL) and axis >= 0:
            sizes = launch.global_size if prefix == _GLOBAL else local or (0,) * len(launch.global_size)
            return sizes[axis] if axis < len(sizes) else 1
        return _value(texts[name]) if name in texts else numbers.get(name)

    return value_of


def _value(text: str) -> Value:
    try:
        parsed: Expression = parse_expression(text)
        return parsed.evaluate({})
    except ExpressionError:
        return text
