"""A request to analyse a document: all that its answer depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from model.opencl.include_policy import Reach
from server.client.settings import Settings
from server.documents import Document

if TYPE_CHECKING:
    from model.compiled import CompiledFacts, FactsKey
    from model.device import Device
    from server.analysis.first_kernels import Window
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
