"""From a launch and its ranges to candidates, ranked by what they are predicted to take; nothing runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from model.errors import LaunchError
from model.forecast import Forecast
from model.launch.arithmetic import Number
from model.launch.choices import (
    Combination,
    combinations,
    local_sizes,
    names_of,
    refusal,
    size_choices,
    thinned,
)
from model.launch.driver_choice import on_device
from model.launch.expression import Expression, constant, parse_expression
from model.launch.fill import FillSpec, parse_fill
from model.launch.launch import Launch, Origin
from model.launch.spec import LaunchSpec
from model.launch.tuning import SIZES, TuneRange, Tuning
from model.opencl.options import BuildOptions
from server.cli.forecasts import Forecaster, Found
from server.cli.requests import Request

MOST_CANDIDATES = 2000
AUTO_LOCAL = Tuning((TuneRange("local"),))  # where nothing is said of what may be tried
DOES_NOT_READ = "cannot be predicted"


_AS_WRITTEN = Combination()


@dataclass(frozen=True, slots=True)
class Change:
    """What a candidate has other than the launch that is written. Sizes are None where they stay."""

    combination: Combination = _AS_WRITTEN
    global_size: tuple[int, ...] | None = None
    local: tuple[int, ...] | str | None = None  # "auto": the driver chooses

    @property
    def words(self) -> tuple[str, ...]:
        """Return it as an annotation writes it: `-DTILE=16`, `local=(8, 8)`; empty for the launch as it is."""
        sizes = [(key, size) for key, size in (("global", self.global_size), ("local", self.local)) if size is not None]
        return (
            *(f"-D{name}={text}" for name, text in self.combination.defines),
            *(f"{name}={text}" for name, text in self.combination.values),
            *(f"{key}={size_text(size)}" for key, size in sizes),
        )


def size_text(size: tuple[int, ...] | str) -> str:
    if isinstance(size, str):
        return size
    return str(size[0]) if len(size) == 1 else f"({', '.join(map(str, size))})"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A launch that may be faster, with its prediction.

    `imported_us` is what it took where somebody else measured it, and `scaled_us` that on the scale of predictions.
    """

    forecast: Forecast
    change: Change
    imported_us: float | None = None
    scaled_us: float | None = None

    @property
    def launch(self) -> Launch:
        assert self.forecast.launch is not None
        return self.forecast.launch

    @property
    def predicted_us(self) -> float:
        assert self.forecast.prediction is not None
        return self.forecast.prediction.own_us.p50

    @property
    def expected_us(self) -> float:
        """Return what it is ranked by: a time that was measured elsewhere, else the prediction."""
        return self.scaled_us if self.scaled_us is not None else self.predicted_us


@dataclass(frozen=True, slots=True)
class Search:
    """The launch as it is, and the candidates beside it, fastest first as expected.

    `left_out` counts those that cannot run, by the reason; `tuning` is what was searched.
    """

    found: Found
    baseline: Candidate
    candidates: tuple[Candidate, ...]
    tuning: Tuning
    left_out: dict[str, int] = field(default_factory=dict)
    unused: tuple[str, ...] = ()  # ranges of names that neither the source nor the launch mentions


def search(forecaster: Forecaster, request: Request, found: Found, base: Forecast, more: Tuning) -> Search:
    """Predict what the ranges of `base`, one of the forecasts `found` for `request`, allow; `more` come on top.

    Raises LaunchError where the launch is not known, or a range fits no candidate.
    """
    if base.launch is None or base.prediction is None or base.spec is None:
        raise LaunchError(base.problem.message if base.problem else "its launch is not known")
    tuning = base.spec.tuning.merged(more)
    if not tuning.ranges:
        tuning = AUTO_LOCAL.merged(tuning)
    space = _Space(forecaster, request, found, base, tuning)
    ranked = sorted(space.candidates(), key=lambda one: one.expected_us)
    baseline = Candidate(base, Change())
    return Search(found, baseline, tuple(ranked), tuning, dict(space.left_out), tuple(_unused(base, found, tuning)))


def _unused(base: Forecast, found: Found, tuning: Tuning) -> Iterator[str]:
    """Yield the names whose values make no difference, unless an included file may use them."""
    source, _ = base.compiled_from(found.text)
    assert base.spec is not None
    given = {name for name, _ in base.spec.values} | {name for one in _expressions(base.spec) for name in one.names}
    code = "\n".join(line for line in source.split("\n") if "kernelcast" not in line)
    for name in tuning.names:
        is_known = name in SIZES or name in given or base.kernel.parameter(name) is not None
        if not is_known and "#include" not in code and not re.search(rf"\b{re.escape(name)}\b", code):
            yield name


def _expressions(spec: LaunchSpec) -> Iterator[Expression]:
    yield from chain(spec.global_size or (), spec.local_size or (), *(parts for _, parts in spec.values))


class _Space:
    """Owns what is left out, and why."""

    def __init__(self, forecaster: Forecaster, request: Request, found: Found, base: Forecast, tuning: Tuning) -> None:
        assert base.launch is not None
        assert base.spec is not None
        self._forecaster, self._request, self._found, self._base = forecaster, request, found, base
        self._launch, self._spec, self._tuning = base.launch, base.spec, tuning
        own = next(f for f in found.forecasts if f.kernel.name == base.kernel.name)
        self._is_first = own is base  # requests are laid over the first launch that is written
        self.left_out: Counter[str] = Counter()

    def candidates(self) -> list[Candidate]:
        """Return all but the launch as it is; two that are the same launch count once."""
        known: dict[str, Number] = dict(self._launch.scalars)
        combos = combinations(self._tuning, self._spec, self._base.kernel, known)
        changes = [Change(combo, size) for combo in combos for size in self._global_sizes()]
        pairs = [
            pair for change, forecast in self._forecast(changes) for pair in self._with_local_sizes(change, forecast)
        ]
        pairs = thinned(pairs, MOST_CANDIDATES)
        device = self._found.device
        is_guessed = any(a.subject in dict(self._launch.local_bytes) for a in self._launch.assumptions)
        if is_guessed:  # how much local memory a work-group needs follows from its size
            made = list(self._forecast([change for change, _, _ in pairs]))
        else:
            forecasts = self._forecaster.at_each(self._found, [(f, launch) for _, f, launch in pairs])
            made = [(change, forecast) for (change, _, _), forecast in zip(pairs, forecasts, strict=True)]
        seen = {self._launch.key}
        found: list[Candidate] = []
        for change, forecast in made:
            if forecast.launch is None or forecast.prediction is None or forecast.launch.key in seen:
                continue
            seen.add(forecast.launch.key)
            local_mem_bytes = forecast.prediction.work.local_bytes_per_group
            if why := refusal(forecast.launch, forecast.kernel, device, local_mem_bytes):
                self.left_out[why] += 1
                continue
            found.append(Candidate(forecast, change))
        return found

    def _global_sizes(self) -> Sequence[tuple[int, ...] | None]:
        choices = size_choices(self._tuning, "global")
        if choices is None:
            return (None,)
        names = dict(self._launch.scalars)
        return tuple(tuple(size.evaluate_size(names) for size in choice.sizes) for choice in choices)

    def _forecast(self, changes: Sequence[Change]) -> Iterator[tuple[Change, Forecast]]:
        """Predict the kernel under each of these changes; what cannot be read or predicted is left out."""
        if not changes:
            return
        options = self._request.options
        others = tuple(define for define in options.defines if define[0] not in self._tuning.names)
        request = replace(
            self._request, kernel=self._base.kernel.name, options=replace(options, defines=others)
        )  # else what the call defines would beat what is to be tried
        forecasts = self._forecaster.forecast(request, [self._spec_of(change) for change in changes]).forecasts
        for change, forecast in zip(changes, forecasts, strict=True):
            if forecast.launch is None or forecast.prediction is None:
                self.left_out[forecast.problem.message if forecast.problem else DOES_NOT_READ] += 1
                continue
            yield change, forecast

    def _spec_of(self, change: Change) -> LaunchSpec:
        """Return what is laid over the launch as it is written.

        Guessed and recorded sizes and arguments are fixed: each candidate has to do the same work.
        """
        values = tuple((name, (parse_expression(text),)) for name, text in change.combination.values)
        local = change.local
        spec = LaunchSpec(
            global_size=None if change.global_size is None else _constants(change.global_size),
            local_size=_constants(local) if isinstance(local, tuple) else None,
            driver_chooses_local=local == "auto",
            values=values,
            options=BuildOptions(change.combination.defines),
        )
        is_written = self._launch.origin in (Origin.ANNOTATION, Origin.CONFIG, Origin.REQUEST)
        if not is_written or self._spec.is_silent:
            return pinned(self._launch).merged(spec)
        return spec if self._is_first else replace(self._spec, over=None).merged(spec)

    def _with_local_sizes(self, change: Change, forecast: Forecast) -> Iterator[tuple[Change, Forecast, Launch]]:
        assert forecast.launch is not None
        for local in self._local_sizes(forecast.launch, forecast):
            launch, now = forecast.launch, change
            if local is not _SAME:
                plain = replace(
                    launch,
                    local_size=local if isinstance(local, tuple) else None,
                    assumptions=tuple(a for a in launch.assumptions if a.subject != "local"),
                )
                launch = on_device(plain, self._found.device)
                now = replace(change, local=local)
            why = refusal(launch, forecast.kernel, self._found.device, 0) or self._breaks(launch, forecast)
            if why:
                self.left_out[why] += 1
            else:
                yield now, forecast, launch

    def _local_sizes(self, launch: Launch, forecast: Forecast) -> Iterator[tuple[int, ...] | str]:
        tuned = next((one for one in self._tuning.ranges if one.name == "local"), None)
        if tuned is None:
            yield _SAME
            return
        if tuned.is_auto:
            for size in local_sizes(launch, forecast.kernel, self._found.device):
                yield "auto" if size is None else size
            return
        names = names_of(launch, self._spec, forecast.kernel, self._found.device)
        for choice in tuned.choices:
            sizes = tuple(size.evaluate_size(names) for size in choice.sizes)
            if len(sizes) == len(launch.global_size):
                yield sizes
            else:
                self.left_out["another number of local than of global sizes"] += 1

    def _breaks(self, launch: Launch, forecast: Forecast) -> str:
        if not self._tuning.conditions:
            return ""
        names = names_of(launch, self._spec, forecast.kernel, self._found.device)
        broken = next((one for one in self._tuning.conditions if not one.holds(names)), None)
        return f"not {broken.text}" if broken is not None else ""


_SAME = "same"


def pinned(launch: Launch) -> LaunchSpec:
    """Return a spec that says all of the launch but its local size and build options."""
    values: list[tuple[str, tuple[Expression, ...]]] = [
        *((name, (constant(value),)) for name, value in chain(launch.scalars, launch.buffers, launch.local_bytes)),
        *((name, _constants(size)) for name, size in launch.images),
    ]
    fills: tuple[tuple[str, FillSpec], ...] = tuple((name, parse_fill(fill.written)) for name, fill in launch.fills)
    return LaunchSpec(global_size=_constants(launch.global_size), values=tuple(values), fills=fills)


def _constants(sizes: tuple[int, ...]) -> tuple[Expression, ...]:
    return tuple(constant(size) for size in sizes)
