"""A request to analyse a document: all that its answer depends on, and which kernels of a long one come first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model.forecast import KernelChoice
from model.opencl.include_policy import Reach
from model.opencl.kernel import Kernel
from server.client.settings import Settings
from server.documents import Document
from server.snapshot import Analysis, Unsampled

if TYPE_CHECKING:
    from model.compiled import CompiledFacts, FactsKey
    from model.device import Device
    from server.analysis.sources import MeasuredLaunch
    from server.predictor.client import ModelClient


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """Everything an analysis depends on. `chosen` is a device id or empty; `found` are this machine's devices.

    `runs` were measured in this session, the newest last; what earlier ones measured is in the store. `compiled` is
    what compilers made of kernels in this session, by device. `learned` knows the learned model's answers.
    `number` grows with every request, so that an answer can be told to be the newest one's. `window` tells which lines
    are shown, as far as that is known by then.
    """

    number: int
    document: Document
    settings: Settings
    chosen: str
    found: tuple[Device, ...]
    runs: tuple[MeasuredLaunch, ...] = ()
    compiled: Mapping[str, Mapping[FactsKey, CompiledFacts]] = field(default_factory=dict)
    learned: ModelClient | None = None
    reach: Reach | None = None  # how far it may have files read; everywhere where the user trusts it
    store_news: int = 0  # grows with what this session's commands put into the store beside `runs`
    window: Callable[[], Window | None] = lambda: None


Window = tuple[int, int]  # first and last line, from 0
MOST_AT_ONCE = 16  # kernels of a document that is predicted whole: it takes no longer than a person notices
MOST_FIRST = 6  # some editors ask for the whole document, whatever of it they show


def visible_first(window: Callable[[], Window | None]) -> KernelChoice:
    """Return what chooses the kernels in `window`, the lines that are shown; all of them where there are few."""

    def choose(kernels: Sequence[Kernel]) -> Sequence[Kernel]:
        if len(kernels) <= MOST_AT_ONCE:
            return kernels
        top, bottom = window() or (0, 0)
        below = [kernel for kernel in kernels if kernel.range.end_line >= top]
        shown = [kernel for kernel in below if kernel.range.start_line <= bottom]
        return (shown or below[:1] or kernels[-1:])[:MOST_FIRST]

    return choose


def unsampled_in_order(analysis: Analysis, window: Callable[[], Window | None]) -> list[Unsampled]:
    """Return the launches of which work-items are to be run; in a long document those in `window` come first."""
    unsampled = [*analysis.unsampled.values(), *analysis.unsampled_runs]
    if not unsampled:
        return unsampled
    first = {kernel.name for kernel in visible_first(window)(analysis.forecast.kernels)}
    return sorted(unsampled, key=lambda each: each.kernel not in first)
