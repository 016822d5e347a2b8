"""Settings of the editor (section `kernelcast`), every option with a default, and which of them a document has.

A document has those of its workspace folder where the client tells them apart, with folders for `#include` as the
compiler needs them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from model.advice.advice import UNPROVEN, AdviceCode
from model.opencl.options import BuildOptions
from server.documents import path_of
from server.text.fixes import ULPS

Problem = str

_LEAST_S, _MOST_S = 0.1, 3600
_BETWEEN = f"seconds, from {_LEAST_S} to {_MOST_S}"
_LONGEST_TOLD = 80
_ADVICE_LEVELS = ("off", "hint", "information")


@dataclass(frozen=True, slots=True)
class Settings:
    """One frozen set of options; what each means stands in `OPTIONS`."""

    device: str = ""  # id; empty: kernelcast.toml's, else the most capable one found
    compared_devices: tuple[str, ...] = ()  # ids; empty: kernelcast.toml's
    show_hints: bool = True
    second_device: bool = False  # hints show the first of the compared devices, too
    code_lens: bool = False  # "Measure | Report | Tune" above each kernel
    advice: str = "hint"  # three dots in VS Code, and in no list of problems: quiet enough to be on
    advice_ignored: tuple[str, ...] = tuple(sorted(UNPROVEN))
    measure_budget_s: float = 5.0  # of timed runs
    measure_time_limit_s: float = 60.0  # of the first run
    measure_on_save: bool = False  # kernels of trusted folders that were edited
    measure_on_save_budget_s: float = 15.0  # for all of them
    tolerance_ulps: int = ULPS  # between floating-point results before and after a fix
    calibration_hints: bool = True  # the hover says how to calibrate
    background_compiles: bool = True  # kernels of trusted folders are compiled when typing pauses
    include: tuple[str, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    build_flags: tuple[str, ...] = ()

    @property
    def options(self) -> BuildOptions:
        return BuildOptions(self.defines, self.include, self.build_flags)


@dataclass(frozen=True, slots=True)
class Option:
    """One option as the user meets it.

    The extension's manifest and Neovim's help say the same, which a test checks; the documentation is generated from
    it. `schema` is the JSON schema of its value; `expects` says the same in words, for messages.
    """

    name: str  # below `kernelcast.`
    field: str
    expects: str
    unit: str  # empty for what is no quantity
    description: str  # one sentence, Markdown
    schema: Mapping[str, object]
    read: Callable[[Any], Any]  # raises TypeError or ValueError for what cannot be

    @property
    def default(self) -> object:
        return self.of(Settings())

    def of(self, settings: Settings) -> object:
        """Its value, as JSON has it."""
        value = getattr(settings, self.field)
        if self.schema["type"] == "object":
            return dict(value)
        if isinstance(value, tuple):
            return list(value)
        return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _LEAST_S <= value <= _MOST_S:
        raise ValueError
    return float(value)


def _ulps(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value) or value < 0:
        raise ValueError
    return int(value)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError
    return tuple(_text(item) for item in value)


def _defines(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping):
        raise TypeError
    return tuple((_text(name), _text_or_number(content)) for name, content in value.items())


def _text_or_number(value: object) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else _text(value)


def _advice_level(value: object) -> str:
    if value not in _ADVICE_LEVELS:
        raise ValueError
    return _text(value)


def _advice_codes(value: object) -> tuple[str, ...]:
    return tuple(str(AdviceCode(code)) for code in _texts(value))


_SECONDS: Mapping[str, object] = {"type": "number", "minimum": _LEAST_S, "maximum": _MOST_S}
_TEXTS: Mapping[str, object] = {"type": "array", "items": {"type": "string"}}
_NAMED_TEXTS: Mapping[str, object] = {"type": "object", "additionalProperties": {"type": ["string", "number"]}}

OPTIONS = (
    Option(
        "device", "device", "a device id (see `kernelcast devices --all`)", "",
        "Id of the device that predictions and measurements are for, one of those that `kernelcast devices --all` "
        "lists; empty means the one in `kernelcast.toml`, else the fastest of this machine.",
        {"type": "string"}, _text,
    ),
    Option(
        "compareDevices", "compared_devices", 'a list of device ids such as ["nvidia-h200"]', "",
        "Ids of further devices on which the hover shows each kernel's time, of those that `kernelcast devices --all` "
        "lists; empty means those in `kernelcast.toml`.",
        _TEXTS, _texts,
    ),
    Option(
        "hints.enabled", "show_hints", "true or false", "",
        "Show next to each kernel, as an inlay hint, how long it takes.",
        {"type": "boolean"}, _flag,
    ),
    Option(
        "hints.secondDevice", "second_device", "true or false", "",
        "Show in the hint the time on the first of the compared devices as well.",
        {"type": "boolean"}, _flag,
    ),
    Option(
        "codeLens.enabled", "code_lens", "true or false", "",
        "Show `Measure | Report | Tune` above each kernel, as a code lens.",
        {"type": "boolean"}, _flag,
    ),
    Option(
        "advice", "advice", 'one of "off", "hint" and "information"', "",
        "Say beside the code what would make a kernel faster, as diagnostics of this severity: `hint`, `information`, "
        "or `off` for not at all.",
        {"type": "string", "enum": list(_ADVICE_LEVELS)}, _advice_level,
    ),
    Option(
        "adviceIgnore", "advice_ignored", f"a list of codes of advice: {', '.join(AdviceCode)}", "",
        "Codes of advice that you do not want; by default those that mostly did not make kernels faster, "
        "or of which too little is known.",
        {"type": "array", "items": {"type": "string", "enum": [str(code) for code in AdviceCode]}}, _advice_codes,
    ),
    Option(
        "hover.calibration", "calibration_hints", "true or false", "",
        "Say in the hover how to calibrate a device that is not calibrated.",
        {"type": "boolean"}, _flag,
    ),
    Option(
        "compile.inBackground", "background_compiles", "true or false", "",
        "Compile kernels of trusted folders when you stop typing, without running them, so that predictions know what "
        "the compiler made: by the chosen device's driver, or by an offline compiler for a GPU that is not here.",
        {"type": "boolean"}, _flag,
    ),
    Option(
        "measure.budgetS", "measure_budget_s", _BETWEEN, "seconds",
        "Seconds of timed runs for each launch that is measured; more of them make the figure steadier.",
        _SECONDS, _seconds,
    ),
    Option(
        "measure.timeLimitS", "measure_time_limit_s", _BETWEEN, "seconds",
        "Seconds after which a kernel's first run is ended, counting what the driver compiles at that moment.",
        _SECONDS, _seconds,
    ),
    Option(
        "measure.onSave", "measure_on_save", "true or false", "",
        "Measure edited kernels with known launches when their file is saved, in folders that the editor says are "
        "trusted.",
        {"type": "boolean"}, _flag,
    ),
    Option(
        "measure.onSaveBudgetS", "measure_on_save_budget_s", _BETWEEN, "seconds",
        "Seconds that measuring on save may take in all, builds included; kernels that do not fit wait for the next "
        "save.",
        _SECONDS, _seconds,
    ),
    Option(
        "measure.toleranceUlps", "tolerance_ulps", "a whole number from 0", "",
        "How far floating-point results may lie apart before and after a fix, in units in the last place; integers "
        "must be equal.",
        {"type": "integer", "minimum": 0}, _ulps,
    ),
    Option(
        "build.include", "include", "a list of folders", "",
        "Folders in which `#include` looks for headers; relative ones start at the workspace folder, and `~` is your "
        "home folder.",
        _TEXTS, _texts,
    ),
    Option(
        "build.defines", "defines", 'an object such as {"TILE": "16"}', "",
        'Macros that every kernel is built with, by name, such as `{"TILE": "16"}`.',
        _NAMED_TEXTS, _defines,
    ),
    Option(
        "build.flags", "build_flags", 'a list such as ["-cl-fast-relaxed-math"]', "",
        "Further build options for every kernel as the compiler takes them, such as `-cl-fast-relaxed-math`.",
        _TEXTS, _texts,
    ),
)  # fmt: skip


def read_settings(raw: object) -> tuple[Settings, tuple[Problem, ...]]:
    """Read the settings that a client sends; each option that cannot be used is reported and keeps its default.

    Takes nested objects and dotted names alike, and null for "not set". Names it does not know are ignored: they may be
    the editor extension's own.
    """
    if raw is None:
        return Settings(), ()
    if not isinstance(raw, Mapping):
        return Settings(), ("The settings under `kernelcast` must be an object; the defaults are used.",)
    found: dict[str, Any] = {}
    problems = []
    for option in OPTIONS:
        value = _lookup(raw, option.name)
        if value is None:
            continue
        try:
            found[option.field] = option.read(value)
        except (TypeError, ValueError):
            problems.append(
                f"Setting `kernelcast.{option.name}` must be {option.expects}, not {_told(value)}; "
                f"{_told(option.default)} is used instead."
            )
    return Settings(**found), tuple(problems)


def _told(value: object) -> str:
    """Return a value as JSON, shortened if long."""
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _LONGEST_TOLD else f"{written[:_LONGEST_TOLD]}…"


def _lookup(raw: Mapping[str, object], name: str) -> object:
    if name in raw:
        return raw[name]
    head, _, rest = name.partition(".")
    inner = raw.get(head)
    return _lookup(inner, rest) if rest and isinstance(inner, Mapping) else None


@dataclass(frozen=True, slots=True)
class ScopedSettings:
    """`by_folder` has the folders' URIs as the client writes them."""

    everywhere: Settings = field(default_factory=Settings)
    by_folder: Mapping[str, Settings] = field(default_factory=dict)

    def of(self, uri: str, path: Path | None, folders: Iterable[str]) -> Settings:
        folder = _folder_of(uri, folders)
        settings = self.by_folder.get(folder, self.everywhere)
        if not settings.include:
            return settings
        start = path_of(folder) or (path.parent if path else None)
        return replace(settings, include=tuple(_resolved(each, start) for each in settings.include))


def _folder_of(uri: str, folders: Iterable[str]) -> str:
    """Return the innermost one that holds the document, empty if none does."""
    return max((f for f in folders if uri.startswith(f"{f.rstrip('/')}/")), key=len, default="")


def _resolved(folder: str, start: Path | None) -> str:
    try:
        path = Path(folder).expanduser()
    except RuntimeError:  # `~somebody` whom this machine does not know
        return folder
    return str(start / path) if start else str(path)
