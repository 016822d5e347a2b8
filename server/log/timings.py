"""How long each stage takes, in bounded memory: the last few hundred times of each, with their count and longest."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

KEPT = 512
MOST_STAGES = 64


@dataclass(frozen=True, slots=True)
class StageFacts:
    """`p50_ms` and `p95_ms` are of the last `KEPT` times, `max_ms` of all."""

    stage: str
    count: int
    p50_ms: float
    p95_ms: float
    max_ms: float


@dataclass(slots=True)
class _Stage:
    count: int = 0
    longest_s: float = 0.0
    last_s: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))


class Timings:
    """Safe for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stages: dict[str, _Stage] = {}

    def add(self, stage: str, seconds: float) -> None:
        with self._lock:
            known = self._stages.get(stage)
            if known is None:
                if len(self._stages) >= MOST_STAGES:
                    return
                known = self._stages[stage] = _Stage()
            known.count += 1
            known.longest_s = max(known.longest_s, seconds)
            known.last_s.append(seconds)

    @contextmanager
    def during(self, stage: str) -> Iterator[None]:
        """Time the block as one run of `stage`, also where it fails or is cancelled."""
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - began_s)

    def facts(self) -> tuple[StageFacts, ...]:
        """Return the figures in the order in which the stages first came."""
        with self._lock:
            known = [(name, each.count, each.longest_s, sorted(each.last_s)) for name, each in self._stages.items()]
        return tuple(
            StageFacts(name, count, _share(times, 0.5), _share(times, 0.95), longest_s * 1000)
            for name, count, longest_s, times in known
        )


def _share(times_s: list[float], share: float) -> float:
    """Return the smallest time that so large a share does not exceed [ms]."""
    return times_s[math.ceil(share * len(times_s)) - 1] * 1000


class Watch:
    """One piece of work that goes from stage to stage; `laps_s` has each by name."""

    def __init__(self, timings: Timings) -> None:
        self._timings = timings
        self.laps_s: dict[str, float] = {}

    def lap(self, stage: str, seconds: float) -> None:
        self._timings.add(stage, seconds)
        self.laps_s[stage] = self.laps_s.get(stage, 0.0) + seconds

    @contextmanager
    def whole(self, stage: str) -> Iterator[None]:
        began_s = time.perf_counter()
        try:
            yield
        finally:
            self.lap(stage, time.perf_counter() - began_s)


class Phases:
    """Tells the phases of a measurement apart by what its progress bar says."""

    KNOWN = ("waiting", "building", "checking bounds", "filling buffers", "warming up", "timing")

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._phase, self._since_s = "", time.perf_counter()

    def hear(self, text: str) -> None:
        phase = next((each for each in self.KNOWN if text.startswith(each)), "")
        if phase and phase != self._phase:
            self.end()
            self._phase = phase

    def end(self) -> None:
        now_s = time.perf_counter()
        if self._phase:
            self._watch.lap(f"measure: {self._phase}", now_s - self._since_s)
        self._phase, self._since_s = "", now_s
