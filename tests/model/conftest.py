"""What tests of the model speak of: a program read from text, its work under a launch, a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

from model.device import Device
from model.device_catalog import find_builtin
from model.launch.launch import Fill, Launch, Number
from model.opencl.options import BuildOptions
from model.opencl.program import Program, read_program
from model.work.analyse import analyse
from model.work.counts import AccessCount, OpKind
from model.work.work import Work
from model.work.work_counts import WorkCounts


@dataclass(frozen=True)
class Counted:
    """The work of the first kernel of a text under one launch."""

    work: Work
    counts: WorkCounts

    def ops(self, *kinds: OpKind) -> float:
        """How many operations of these kinds there are, over the whole launch."""
        return sum(o.count for o in self.counts.ops if o.kind in kinds)

    def accesses(self, buffer: str, *, store: bool | None = None) -> list[AccessCount]:
        return [a for a in self.counts.accesses if a.buffer == buffer and store in (None, a.is_store)]

    def access(self, buffer: str, *, store: bool | None = None) -> AccessCount:
        """The only access of `buffer`."""
        (found,) = self.accesses(buffer, store=store)
        return found

    @property
    def said(self) -> str:
        """All that was assumed, in one text."""
        found = (*self.work.assumptions, *self.work.parameters.values())
        return "\n".join(a.text.replace("{line}", str((a.line or 0) + 1)) for a in found)


Count = Callable[..., Counted]


@pytest.fixture(scope="session")
def read() -> Callable[..., Program]:
    def read_text(text: str, **defines: str) -> Program:
        return read_program(text, options=BuildOptions(tuple(defines.items())))

    return read_text


@pytest.fixture(scope="session")
def count() -> Count:
    """Count the first kernel of a text: `count(text, (1024,), (64,), n=1000, buffers={"x": 1000})`."""

    def count_text(
        text: str,
        size: tuple[int, ...] = (1024,),
        group: tuple[int, ...] | None = None,
        *,
        buffers: Mapping[str, int] | None = None,
        fills: Mapping[str, Fill] | None = None,
        images: Mapping[str, tuple[int, int, int]] | None = None,
        scalars: Mapping[str, Number] | None = None,
        flags: tuple[str, ...] = (),
        **more: Number,
    ) -> Counted:
        program = read_program(text, options=BuildOptions(flags=flags))
        kernel = program.kernels[0]
        work = analyse(program, kernel)
        launch = Launch(
            size,
            group,
            scalars=tuple({**(scalars or {}), **more}.items()),
            buffers=tuple((buffers or {}).items()),
            fills=tuple((fills or {}).items()),
            images=tuple((images or {}).items()),
            options=program.options,
        )
        return Counted(work, work.count(launch))

    return count_text


@pytest.fixture(scope="session")
def cpu() -> Device:
    device = find_builtin("generic-cpu")
    assert device is not None
    return device
