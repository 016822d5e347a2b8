"""What fixes gain: each edited text is predicted as the original is, and the two times are compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.advice.advice import UNPROVEN, AdviceCode
from model.advice.fixes.candidates import fix_candidates
from model.advice.fixes.fix import Fix, apply_edits
from model.advice.situation import LEAST_GAIN
from model.device import Device
from model.engine import Engine
from model.forecast import FileForecast, Forecast
from model.launch.config import Config
from model.launch.launch import Launch
from model.launch.spec import LaunchSpec
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from model.recorded_choice import RecordedOf, nothing_recorded
from model.throughput.cpu_code import not_compiled
from server.analysis.composer import Composer, ForecastGroup
from server.analysis.sources import Sources, no_versions, nothing_compiled, nothing_measured


@dataclass(frozen=True, slots=True)
class FileContext:
    """A file as it is predicted: its text, and all else that its launches depend on."""

    text: str
    path: Path | None
    device: Device
    config: Config | None = None
    options: BuildOptions = BuildOptions()
    requests: Sequence[LaunchSpec] = ()
    reach: Reach | None = None
    recorded: RecordedOf = nothing_recorded


# From where on most edits were faster when they were measured: see the track record in the page on advice.
_LEAST_GAINS = {
    AdviceCode.LOCAL_SIZE_MULTIPLE: 0.1,
    AdviceCode.UNCOALESCED_ACCESS: 1 / 3,
    AdviceCode.NARROW_INDEX: 1 / 3,
}


@dataclass(frozen=True, slots=True)
class PredictedFix:
    """A fix, the whole text after it, and the launch before and after: predicted alike, by the models alone.

    `sources` are what is compiled before and after: the text, or the program that it holds as a host file. Of one,
    `host_line` is the kernel's line, from 1.

    `after_us` gains no more than both models see: what the learned model alone sees in an edit did not prove true. Of
    codes that are unproven anyway it is the whole prediction's.
    """

    fix: Fix
    text: str
    before: Forecast
    after: Forecast
    before_us: float
    after_us: float
    sources: tuple[str, str] = ("", "")
    host_line: int | None = None

    @property
    def line(self) -> int:
        """Return the kernel's line, from 1."""
        return self.host_line or self.after.kernel.name_range.start_line + 1

    @property
    def gain(self) -> float:
        """Return the share of the time that it saves; negative where it costs."""
        return 1 - self.after_us / self.before_us if self.before_us > 0 else 0.0

    @property
    def is_worth_it(self) -> bool:
        """Whether it is predicted to gain more than such predictions are off by."""
        return self.gain >= _LEAST_GAINS.get(self.fix.code, LEAST_GAIN)

    @property
    def speed_up(self) -> float:
        return self.before_us / self.after_us if self.after_us > 0 else 1.0


class FixPredictor:
    """Predicts edited texts with an engine of its own. Not for two threads at once."""

    def __init__(self, sources: Sources | None = None, engine: Engine | None = None) -> None:
        # Neither measurements nor compiled code: they are known of one of the two texts, and would compare a model's
        # time with a better one.
        sources = sources or Sources()
        self._sources = replace(
            sources,
            runs_of=nothing_measured,
            versions_of=no_versions,
            compiled_of=nothing_compiled,
            code_of=not_compiled,
        )
        self._engine = engine or Engine(asks=sources.ask is not None, is_taught=sources.is_taught)
        self._composer = Composer()

    def all_fixes(self, context: FileContext, kernel: str, launch: Launch) -> tuple[PredictedFix, ...]:
        """Return every fix of a launch that can be made and predicted, whether it helps or not."""
        found = self.forecast(context, kernel)
        launches = found.forecasts
        number = next((n for n, f in enumerate(launches) if f.launch is not None and f.launch.key == launch.key), None)
        if number is None or launches[number].prediction is None:
            return ()
        before = launches[number]
        fixes = fix_candidates(context.text, before, context.device, context.path, context.reach)
        edited = [(fix, apply_edits(context.text, fix.edits)) for fix in fixes]
        made = [(fix, text, self._edited(replace(context, text=text), found, number, fix)) for fix, text in edited]
        good = [(fix, text, after) for fix, text, after in made if after is not None]
        groups = [ForecastGroup([each], context.device) for each in (before, *(after for _, _, after in good))]
        first, *others = self._composer.composed(groups, self._sources)
        return tuple(
            _predicted(fix, (context.text, text), first[0], after)
            for (fix, text, _), (after,) in zip(good, others, strict=True)
            if after.prediction is not None
        )

    def fixes(
        self, context: FileContext, kernel: str, launch: Launch, ignored: Iterable[str] = ()
    ) -> tuple[PredictedFix, ...]:
        """Return the fixes worth showing, the most useful first.

        Of several ways to do the same (group sizes, factors of one loop) the best one.
        """
        off = set(ignored)
        found = [each for each in self.all_fixes(context, kernel, launch) if each.fix.code not in off]
        return tuple(best_of(each for each in found if each.is_worth_it))

    def _edited(self, context: FileContext, found: FileForecast, number: int, fix: Fix) -> Forecast | None:
        """Return the launch in the edited text; None where it cannot be read or is not the same any more."""
        before = found.forecasts[number]
        edited = self.forecast(context, before.kernel.name)
        if not edited.forecasts or len(edited.annotation_problems) > len(found.annotation_problems):
            return None
        made = edited.forecasts[number] if number < len(edited.forecasts) else edited.forecasts[0]
        if made.prediction is None or made.launch is None or before.launch is None or made.kernel.has_errors:
            return None
        is_same = made.launch.scalars == before.launch.scalars and made.launch.buffers == before.launch.buffers
        return made if is_same and made.launch.work_items * fix.items == before.launch.work_items else None

    def forecast(self, context: FileContext, kernel: str | None = None) -> FileForecast:
        return self._engine.forecast(
            context.text, context.path, context.device, config=context.config, options=context.options,
            requests=context.requests, kernel=kernel, reach=context.reach, recorded=context.recorded, part="fixes",
        )  # fmt: skip


def best_of(fixes: Iterable[PredictedFix]) -> Iterator[PredictedFix]:
    """Yield the most useful fix of each code and place, the most useful of all first."""
    seen = set[tuple[AdviceCode, int]]()
    for each in sorted(fixes, key=lambda one: one.after_us):
        place = (each.fix.code, 0 if each.fix.code in _OF_A_LAUNCH else each.fix.first_byte)
        if place not in seen:
            seen.add(place)
            yield each


_OF_A_LAUNCH = frozenset({AdviceCode.TOO_FEW_GROUPS, AdviceCode.LOCAL_SIZE_MULTIPLE})


def _predicted(fix: Fix, sources: tuple[str, str], before: Forecast, after: Forecast) -> PredictedFix:
    was, now = before.prediction, after.prediction
    assert was is not None
    assert now is not None
    before_us, ratio = was.own_us.p50, now.own_us.p50 / was.own_us.p50
    if fix.code not in UNPROVEN and now.analytic_us and was.analytic_us:
        ratio = max(ratio, now.analytic_us / was.analytic_us)
    return PredictedFix(fix, sources[1], before, after, before_us, ratio * before_us, sources)
