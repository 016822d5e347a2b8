"""Programs of a package: each kernel that PoCL builds is given a launch, without any annotation, and measured."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType

from model.errors import KernelcastError
from model.launch.expression import constant
from model.launch.inference import complete
from model.launch.launch import Launch, Origin
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.program import Program, read_program
from model.work.analyse import analyse
from profiler.measure import MeasureLimits, measure_all
from profiler.measurement import MeasureError, MeasureRequest
from tests.oracles.compiler.building import built
from tests.oracles.compiler.programs import Source
from tests.packages.busyness import Busyness, busyness

RESULTS = Path(__file__).parent / "results"
ANALYSIS_LIMIT_S = 60
SMALLER = 8
NOTHING_TO_CHECK = "neither buffers nor images"
REPEATS, BUDGET_S = 1, 0.2  # figures do not matter here
LIMITS = MeasureLimits(build_s=120.0, first_run_s=90.0)  # machines that run this are busy


@dataclass(frozen=True)
class Result:
    """What became of one kernel. `outcome` is `measured` or the code of the error that `message` belongs to."""

    package: str
    program: str
    kernel: str
    fingerprint: str
    outcome: str
    message: str = ""
    launch_key: str = ""
    launch: str = ""
    arguments: str = ""  # sizes and fills, for a reader
    checked: str = ""  # how it was shown that nothing is accessed out of bounds
    median_us: float = 0.0
    log: str = ""
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stores: float = 0.0  # see `busyness`
    idle_lines: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """The same for the same code under the same launch."""
        return hashlib.sha256(f"{self.package} {self.fingerprint} {self.launch_key}".encode()).hexdigest()[:24]


@dataclass(frozen=True)
class _Todo:
    source: Source
    kernel: Kernel
    launch: Launch
    busyness: Busyness


class _TooLate(Exception):
    """The analysis takes longer than ANALYSIS_LIMIT_S."""


def results_of(
    sources: Sequence[Source], device_id: str, known: dict[str, Result], wanted: str = "", *, is_small: bool = False
) -> Iterator[Result]:
    """What becomes of each kernel of `sources`; those in `known` under the same launch are not run again.

    `wanted`: only kernels whose name holds it. `is_small`: with an eighth of the inferred global size to each side.
    """
    todo: list[_Todo] = []
    for source in sources:
        answer = built([source], workers=1)[0]
        if answer.error:
            continue
        program = read_program(source.text, source.path, source.options)
        for kernel in program.kernels:
            if kernel.name in answer.kernels and wanted in kernel.name:
                made = _planned(program, kernel, source, is_small=is_small)
                if isinstance(made, Result):
                    yield made
                elif (again := known.get(_result(source, kernel, "", launch=made.launch).key)) is not None:
                    yield again
                else:
                    todo.append(made)
    yield from _measured(todo, device_id)


def _planned(program: Program, kernel: Kernel, source: Source, *, is_small: bool) -> _Todo | Result:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLate

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(ANALYSIS_LIMIT_S)
    try:
        work = analyse(program, kernel)
        spec = LaunchSpec(options=source.options, origin=Origin.INFERRED)
        if is_small:
            usual = complete(kernel, work, spec).global_size
            spec = replace(spec, global_size=tuple(constant(max(16, side // SMALLER)) for side in usual))
        launch = complete(kernel, work, spec)
        return _Todo(source, kernel, launch, busyness(work, launch))
    except KernelcastError as error:
        return _result(source, kernel, "no_launch", f"{type(error).__name__}: {error.message}")
    except _TooLate:
        return _result(source, kernel, "no_launch", f"not analysed within {ANALYSIS_LIMIT_S} s")
    finally:
        signal.alarm(0)


def _measured(todo: list[_Todo], device_id: str) -> Iterator[Result]:
    """All in one process, which is far faster than one for each."""
    requests = [
        MeasureRequest(one.source.text, str(one.source.path), one.kernel, one.launch, device_id, BUDGET_S, REPEATS)
        for one in todo
    ]
    for one, outcome in zip(todo, measure_all(requests, limits=LIMITS), strict=True):
        source, kernel, launch = one.source, one.kernel, one.launch
        if isinstance(outcome, MeasureError):
            yield _result(source, kernel, outcome.code, outcome.message, launch, log=outcome.log[-2000:])
        else:
            has_memory = kernel.of_kind(ParameterKind.BUFFER, ParameterKind.IMAGE)
            checked = outcome.checked or ("" if has_memory else NOTHING_TO_CHECK)
            yield _result(
                source, kernel, "measured", "", launch,
                median_us=outcome.median_us, checked=checked, notes=outcome.notes, busyness=one.busyness,
            )  # fmt: skip


def _result(
    source: Source,
    kernel: Kernel,
    outcome: str,
    message: str = "",
    launch: Launch | None = None,
    *,
    median_us: float = 0.0,
    checked: str = "",
    log: str = "",
    notes: tuple[str, ...] = (),
    busyness: Busyness | None = None,
) -> Result:
    return Result(
        source.package, source.name, kernel.name, kernel.fingerprint, outcome, message,
        launch.key if launch else "", launch.describe() if launch else "", _arguments(launch) if launch else "",
        checked, median_us, log,
        tuple(a.text for a in launch.assumptions) if launch else (), notes,
        busyness.stores if busyness else 0.0, busyness.idle_lines if busyness else (),
    )  # fmt: skip


def _arguments(launch: Launch) -> str:
    parts = [f"{n}={v}" for n, v in (*launch.scalars, *launch.buffers, *launch.images, *launch.local_bytes)]
    return " ".join([*parts, *(f"fill.{n}={f}" for n, f in launch.fills)])


def write(result: Result) -> None:
    """Append, in one piece, so that several processes may."""
    RESULTS.mkdir(exist_ok=True)
    line = json.dumps(asdict(result)) + "\n"
    descriptor = os.open(RESULTS / f"{result.package}.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def read(package: str) -> dict[str, Result]:
    """All that is kept of a package, by key; the latest counts."""
    path = RESULTS / f"{package}.jsonl"
    kept: dict[str, Result] = {}
    of_several = ("assumptions", "notes", "idle_lines")
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            result = Result(**{**values, **{name: tuple(values[name]) for name in of_several}})
            kept[result.key] = result
    return kept
