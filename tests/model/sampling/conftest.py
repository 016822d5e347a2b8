"""What tests of sampled execution speak of: a text, its launch, and what was counted where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from model.launch.launch import Fill, Launch, Number
from model.opencl.kernel import Kernel
from model.opencl.program import Program, read_program
from model.sampling.run import interpreted_buffers, sample_launch
from model.sampling.sample import AccessCounts, RawSample, SampleBudget, SiteCounts

PLENTY = SampleBudget(lane_steps=1 << 50, seconds=60.0)


@dataclass(frozen=True)
class Sampled:
    """A sample of the first kernel of a text. Sites are named by how their source begins."""

    program: Program
    kernel: Kernel
    raw: RawSample

    def at(self, source: str) -> SiteCounts:
        """The sum of all sites whose source begins like this, by whichever calls they were reached."""
        found = [counts for site, counts in self.raw.sites.items() if self._text(site).startswith(source)]
        assert found, (source, [self._text(site)[:30] for site in self.raw.sites])
        return SiteCounts(*(sum(getattr(c, n) for c in found) for n in ("begun", "taken", "completed", "lane_slots")))

    def access(self, source: str) -> AccessCounts:
        (found,) = [counts for site, counts in self.raw.accesses.items() if self._text(site) == source]
        return found

    def _text(self, site: object) -> str:
        function = self.program.functions[site.function]  # type: ignore[attr-defined]
        return function.masked.text[site.start_byte : site.end_byte]  # type: ignore[attr-defined]


Sample = Callable[..., Sampled]


def launch_of(
    size: tuple[int, ...],
    group: tuple[int, ...] | None,
    buffers: Mapping[str, int],
    fills: Mapping[str, Fill],
    scalars: Mapping[str, Number],
    local_bytes: Mapping[str, int],
) -> Launch:
    return Launch(
        size,
        group,
        scalars=tuple(scalars.items()),
        buffers=tuple(buffers.items()),
        fills=tuple(fills.items()),
        local_bytes=tuple(local_bytes.items()),
    )


@pytest.fixture(scope="session")
def sample() -> Sample:
    """Sample the first kernel of a text: `sample(text, (1024,), (64,), buffers={"x": 1024}, n=7)`."""

    def run(
        text: str,
        size: tuple[int, ...] = (256,),
        group: tuple[int, ...] | None = (64,),
        *,
        buffers: Mapping[str, int] | None = None,
        fills: Mapping[str, Fill] | None = None,
        local_bytes: Mapping[str, int] | None = None,
        budget: SampleBudget = PLENTY,
        **scalars: Number,
    ) -> Sampled:
        program = read_program(text)
        kernel = program.kernels[0]
        launch = launch_of(size, group, buffers or {}, fills or {}, scalars, local_bytes or {})
        return Sampled(program, kernel, sample_launch(program, kernel, launch, None, budget))

    return run


@pytest.fixture(scope="session")
def buffers_after() -> Callable[..., dict[str, bytes]]:
    """What buffers hold when all work-items have run."""

    def run(
        text: str,
        size: tuple[int, ...] = (256,),
        group: tuple[int, ...] | None = (64,),
        *,
        buffers: Mapping[str, int] | None = None,
        fills: Mapping[str, Fill] | None = None,
        **scalars: Number,
    ) -> dict[str, bytes]:
        program = read_program(text)
        launch = launch_of(size, group, buffers or {}, fills or {}, scalars, {})
        return interpreted_buffers(program, program.kernels[0], launch)

    return run


@pytest.fixture(scope="session")
def ints_after(buffers_after: Callable[..., dict[str, bytes]]) -> Callable[..., list[int]]:
    """What the buffer `out` of ints holds when all work-items have run."""

    def run(text: str, **launch: object) -> list[int]:
        return np.frombuffer(buffers_after(text, **launch)["out"], np.int32).tolist()

    return run
