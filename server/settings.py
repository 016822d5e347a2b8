"""What the user can set in the editor (section `kernelcast`), every option with a default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from model.opencl.options import BuildOptions

Problem = str


@dataclass(frozen=True, slots=True)
class Settings:
    """One frozen set of options; the JSON names stand in `_OPTIONS`."""

    device: str = ""  # id; empty: kernelcast.toml's, else the most capable one found
    show_hints: bool = True
    measure_budget_s: float = 5.0  # of timed runs
    measure_time_limit_s: float = 60.0  # building, preparing and running together
    calibration_hints: bool = True  # the hover says how to calibrate
    include: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    build_flags: tuple[str, ...] = ()

    @property
    def options(self) -> BuildOptions:
        return BuildOptions(self.defines, self.include, self.build_flags)


@dataclass(frozen=True, slots=True)
class _Option:
    field: str
    expects: str
    read: Callable[[Any], Any]  # raises TypeError or ValueError for what cannot be


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 3600:
        raise ValueError
    return float(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError
    return tuple(_text(item) for item in value)


def _defines(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise TypeError
    return tuple((_text(name), str(content)) for name, content in value.items())


_OPTIONS = {
    "device": _Option("device", "a device id (see `kernelcast devices`)", _text),
    "hints.enabled": _Option("show_hints", "true or false", _flag),
    "hover.calibration": _Option("calibration_hints", "true or false", _flag),
    "measure.budgetS": _Option("measure_budget_s", "seconds, above 0 and at most 3600", _seconds),
    "measure.timeLimitS": _Option("measure_time_limit_s", "seconds, above 0 and at most 3600", _seconds),
    "build.include": _Option("include", "a list of folders", _texts),
    "build.defines": _Option("defines", 'an object such as {"TILE": "16"}', _defines),
    "build.flags": _Option("build_flags", 'a list such as ["-cl-fast-relaxed-math"]', _texts),
}


def read_settings(raw: object) -> tuple[Settings, tuple[Problem, ...]]:
    """Settings from what a client sends; each option that cannot be used is reported and keeps its default.

    Takes nested objects and dotted names alike, and null for "not set". Names it does not know are left alone: they
    may be the editor extension's own.
    """
    if raw is None:
        return Settings(), ()
    if not isinstance(raw, Mapping):
        return Settings(), ("The settings under `kernelcast` must be an object; the defaults are used.",)
    found: dict[str, Any] = {}
    problems = []
    for name, option in _OPTIONS.items():
        value = _lookup(raw, name)
        if value is None:
            continue
        try:
            found[option.field] = option.read(value)
        except (TypeError, ValueError):
            default = getattr(Settings(), option.field)
            problems.append(
                f"Setting `kernelcast.{name}` must be {option.expects}, not {value!r}; {default!r} is used instead."
            )
    return Settings(**found), tuple(problems)


def _lookup(raw: Mapping[str, object], name: str) -> object:
    if name in raw:
        return raw[name]
    head, _, rest = name.partition(".")
    inner = raw.get(head)
    return _lookup(inner, rest) if rest and isinstance(inner, Mapping) else None
