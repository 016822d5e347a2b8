"""Kernels that mean something else in the new version: what became of each, predicted or measured as a pair."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from model.device import Device
from model.errors import KernelcastError, NoSuchKernel
from model.forecast import Forecast
from model.launch.launch import Launch
from model.launch.spec import LaunchSpec
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.opencl.project_files import KERNEL_NAME
from model.prediction import Quantiles, Ratio
from profiler.side_by_side import SideBySide
from profiler.turns import Ratio as MeasuredRatio
from server.analysis.sources import Sources
from server.analysis.versions import predicted_ratio
from server.cli.comparing import Compared, Verdict
from server.cli.comparing import Side as ComparedSide
from server.cli.comparing import sentence as compared_sentence
from server.cli.forecasts import Found
from server.cli.requests import Request
from server.diff.affected import Affected, may_hold_kernels
from server.diff.matching import KernelVersion, Match, kernel_versions, matched
from server.diff.same_launch import counterparts, launch_note, under_same_launch
from server.diff.versions import Version, means_the_same

_CONFLICT = re.compile(r"^(?:<{7} .*|>{7} .*)$", re.M)
_UNCHANGED = Ratio(1.0, 1.0, 1.0)
# Runs both versions of a launch in turns; the name is what progress is shown for.
Measure = Callable[[tuple[ComparedSide, ComparedSide], str], SideBySide]


@dataclass(frozen=True, slots=True)
class Place:
    """A kernel in a file; `line` counts from 1."""

    kernel: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one launch of one kernel on one device.

    `at` is where the kernel stands now, or stood if it is gone. `ratio` and `measured` are the new time over the old
    one. `fingerprint` is of what the new version means; empty where there is none.
    """

    at: Place
    verdict: Verdict
    device: Device | None
    launch: Launch | None
    reason: str
    old: Place | None = None
    ratio: Ratio | None = None
    measured: MeasuredRatio | None = None
    equal: bool | None = None
    old_us: Quantiles | None = None
    new_us: Quantiles | None = None
    fingerprint: str = ""
    is_accepted: bool = False

    @property
    def middle(self) -> float | None:
        """Return the ratio to go by: measured if it was, else as predicted."""
        if self.measured is not None:
            return self.measured.ratio
        return self.ratio.p50 if self.ratio is not None else None


@dataclass(slots=True)
class _Read:
    """The kernels of one version on one device, and why those of some files are not known."""

    kernels: list[KernelVersion] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)  # of all files that were asked for


class Changes:
    """Compares two versions. `measure` runs a pair, where that is asked for."""

    def __init__(self, old: Version, new: Version, sources: Sources, tolerance: float) -> None:
        self._old, self._new, self._sources, self._tolerance = old, new, sources, tolerance

    def of(self, found: Affected, device: str | None, measure: Measure | None) -> Iterator[Change]:
        """Yield what became of the kernels in these files, as a device has it."""
        alike = {path for path in found.includers if means_the_same(path, self._old, self._new)}
        paths = sorted(found.all - alike)
        was, now = (_read(version, paths, device) for version in (self._old, self._new))
        yield from _unreadable(was, now)
        seen: set[tuple[object, ...]] = set()
        for match in matched(was.kernels, now.kernels):
            for change in self._of_match(match, was, now, measure):
                # A kernel that several files include is one kernel.
                key = (
                    change.at.kernel,
                    change.fingerprint,
                    change.old,
                    change.launch.describe() if change.launch else "",
                )
                if change.old is None or not change.fingerprint or key not in seen:
                    yield change
                seen.add(key)

    def _of_match(self, match: Match, was: _Read, now: _Read, measure: Measure | None) -> Iterator[Change]:
        old, new = match.old, match.new
        if new is None and old is not None:
            yield from _gone(old, now.problems.get(old.file))
        elif old is None and new is not None:
            yield from _new(new, was.problems.get(new.file))
        elif old is not None and new is not None:
            yield from self._pair(old, new, measure)

    def _pair(self, old: KernelVersion, new: KernelVersion, measure: Measure | None) -> Iterator[Change]:
        conflict = next((each for each in (new, old) if _CONFLICT.search(each.found.text)), None)
        for at, now in enumerate(new.forecasts):
            own = _own_launch(old.forecasts, now, at)
            if own.kernel.fingerprint == now.kernel.fingerprint and _is_built_alike(own, now):
                continue
            unknown = Change(
                _place(new), Verdict.UNKNOWN, new.found.device, now.launch, "", _place(old),
                new_us=_time(now), fingerprint=now.kernel.fingerprint,
            )  # fmt: skip
            if conflict is not None:
                yield replace(unknown, reason=f"{conflict.file} has the marks of a merge conflict")
                continue
            if now.prediction is None or now.launch is None or now.spec is None:
                reason = now.problem.message if now.problem else "the new version has no prediction"
                if own.kernel.fingerprint != now.kernel.fingerprint:
                    yield replace(unknown, reason=self._plain(reason))
                continue
            try:
                found, was = self._under_same_launch(old, new, own, now)
            except KernelcastError as error:
                if own.kernel.fingerprint != now.kernel.fingerprint:
                    yield replace(unknown, reason=self._plain(error.message))
                continue
            if was.kernel.fingerprint != now.kernel.fingerprint:
                yield self._compared(unknown, (old, found, was, own), (new, now), measure)

    def _under_same_launch(
        self, old: KernelVersion, new: KernelVersion, own: Forecast, now: Forecast
    ) -> tuple[Found, Forecast]:
        side = self._old.side

        def forecast_old(spec: LaunchSpec) -> Found:
            moved = replace(spec, options=side.options(spec.options, self._new.side.folder))
            request = Request(side.path(old.file), old.name, None, self._old.options, new.found.device.id)
            found = self._old.forecaster.forecast(request, [moved])
            same_part = [each for each in found.forecasts if each.part == own.part]
            return replace(found, forecasts=tuple(same_part) or found.forecasts)

        def at(found: Found, forecast: Forecast, launch: Launch) -> Forecast:
            return self._old.forecaster.at(found, forecast, [launch])[0]

        return under_same_launch(own, now, counterparts(own.kernel, now.kernel), forecast_old, at)

    def _compared(
        self,
        change: Change,
        old: tuple[KernelVersion, Found, Forecast, Forecast],
        new: tuple[KernelVersion, Forecast],
        measure: Measure | None,
    ) -> Change:
        (before, found, was, own), (after, now) = old, new
        device = after.found.device
        pairs = counterparts(was.kernel, now.kernel)
        notes = [*_moved(before, after), *pairs.notes]
        if now.launch is not None and (note := launch_note(own, now.launch)):
            notes.append(note)
        if before.name != after.name and _is_renamed_only(found, was, now, after):
            notes.append("nothing but its name changed")
            return replace(
                change, verdict=Verdict.UNCLEAR, ratio=_UNCHANGED, old_us=_time(was), reason="; ".join(notes)
            )
        sides = ComparedSide(Path(before.file), found, was), ComparedSide(Path(after.file), after.found, now)
        measured = measure(sides, after.name) if measure is not None else None
        ratio = predicted_ratio(now, was, device, self._sources)
        compared = Compared(*sides, device, ratio, measured, self._tolerance)
        told = compared_sentence(compared).partition(": ")[2]
        failed = [each.error.message for each in measured.versions if each.error is not None] if measured else []
        problems = dict.fromkeys(f"not measured: {self._plain(each)}" for each in failed)
        reason = "; ".join([told, *notes, *problems])
        return replace(
            change, verdict=compared.verdict, ratio=ratio, measured=compared.measured, equal=compared.equal,
            old_us=_time(was), reason=reason,
        )  # fmt: skip

    def _plain(self, message: str) -> str:
        return self._old.side.plain(self._new.side.plain(message))


def _read(version: Version, paths: Sequence[str], device: str | None) -> _Read:
    texts = version.side.contents.texts(paths)
    made = _Read(texts=texts)
    for path in paths:
        if problem := version.side.contents.problem(path):
            made.problems[path] = problem
        if path not in texts or not may_hold_kernels(path, texts[path]):
            continue
        request = Request(version.side.path(path), None, None, version.options, device)
        try:
            made.kernels += kernel_versions(path, version.forecaster.forecast(request))
        except NoSuchKernel:
            continue
        except KernelcastError as error:
            made.problems[path] = version.side.plain(error.message)
    return made


def _own_launch(old: Sequence[Forecast], now: Forecast, at: int) -> Forecast:
    """Return the old version's launch of the same name, else in the same place."""
    name = now.launch.name if now.launch is not None else None
    named = (each for each in old if name and each.launch is not None and each.launch.name == name)
    return next(named, old[min(at, len(old) - 1)])


def _is_built_alike(own: Forecast, now: Forecast) -> bool:
    built = [each.launch.options if each.launch is not None else BuildOptions() for each in (own, now)]
    return (built[0].defines, built[0].flags) == (built[1].defines, built[1].flags)


def _unreadable(was: _Read, now: _Read) -> Iterator[Change]:
    """Yield the kernels of new files that could not be analysed, as their text names them; the old names all others."""
    for path in sorted(now.problems.keys() - {each.file for each in was.kernels}):
        reason, text = now.problems[path], now.texts.get(path, "")
        fingerprint = hashlib.sha256(text.encode()).hexdigest()  # what the kernels mean is not known
        for found in KERNEL_NAME.finditer(text):
            line = text.count("\n", 0, found.start(1)) + 1
            yield Change(Place(found[1], path, line), Verdict.UNKNOWN, None, None, reason, fingerprint=fingerprint)


def _gone(old: KernelVersion, problem: str | None) -> Iterator[Change]:
    time = _time(old.forecasts[0])
    if problem is not None:
        yield Change(_place(old), Verdict.UNKNOWN, old.found.device, None, problem, _place(old), old_us=time)
        return
    yield Change(_place(old), Verdict.GONE, old.found.device, None, "it is in the old version only", _place(old))


def _new(new: KernelVersion, problem: str | None) -> Iterator[Change]:
    for each in new.forecasts:
        verdict = Verdict.NEW if problem is None else Verdict.UNKNOWN
        reason = problem or (each.problem.message if each.problem else "it is in the new version only")
        yield Change(
            _place(new), verdict, new.found.device, each.launch, reason, new_us=_time(each),
            fingerprint=each.kernel.fingerprint,
        )  # fmt: skip


def _place(version: KernelVersion) -> Place:
    return Place(version.name, version.file, version.line)


def _time(forecast: Forecast) -> Quantiles | None:
    return forecast.prediction.own_us if forecast.prediction is not None else None


def _moved(old: KernelVersion, new: KernelVersion) -> Iterator[str]:
    if old.name != new.name:
        yield f"it was `{old.name}`"
    if old.file != new.file:
        yield f"it was in {old.file}"


def _is_renamed_only(found: Found, was: Forecast, now: Forecast, new: KernelVersion) -> bool:
    """Return whether the old text means the same as the new one once the kernel has its new name."""
    if was.launch is None or now.launch is None:
        return False
    text, kernel = was.compiled_from(found.text)
    renamed = re.sub(rf"\b{re.escape(kernel.name)}\b", new.name, text)
    with suppress(NoSuchKernel):
        program = read_program(renamed, found.path, was.launch.options)
        return program.kernel(new.name).fingerprint == now.kernel.fingerprint
    return False
