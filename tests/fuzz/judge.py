"""One input through the engine: is there an answer, soon, in bounded memory, and the same as from a fresh reading?"""

from __future__ import annotations

import resource
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from model.device_catalog import find_builtin
from model.engine import Engine, FileForecast
from model.faults import InternalError
from model.opencl.options import BuildOptions
from tests.fuzz.inputs import Input

MAX_CPU_S = 2.0  # for one version of at most MAX_INPUT_BYTES
MAX_MEMORY_BYTES = 1 << 30  # beyond what a worker needs before its first input


@dataclass(frozen=True)
class Verdict:
    """`problem` is empty when all is well; its first line says what is wrong and where, the same for the same fault."""

    problem: str
    cpu_s: float  # of the slowest version
    peak_mb: float  # of this process so far in this input
    kernels: int
    predictions: int


class TooSlow(BaseException):
    """Beyond every `except Exception`, so that nothing on the way swallows it."""


@contextmanager
def limited_cpu(seconds: float) -> Iterator[None]:
    """Raises TooSlow in here after so many seconds of CPU; a loop outside Python is ended by the parent process."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)  # again, should it ring where Python drops exceptions
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def limit_memory() -> None:
    """From here on this process gets MAX_MEMORY_BYTES more than it has: an input that wants more meets MemoryError."""
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY_BYTES, resource.RLIM_INFINITY))


def judge(one: Input, max_cpu_s: float = MAX_CPU_S) -> Verdict:
    """Never raises for what the engine does; `max_cpu_s` is for each version."""
    _forget_peak()
    slowest_s, kernels, predictions, problem = 0.0, 0, 0, ""
    engine = Engine()
    for number, text in enumerate(one.versions):
        began = time.process_time()
        try:
            with limited_cpu(max_cpu_s):
                answer = _answer(engine, one, text)
            slowest_s = max(slowest_s, time.process_time() - began)
            kernels += len(answer.kernels)
            predictions += sum(f.prediction is not None for f in answer.forecasts)
            problem = _unanswered(answer)
            if not problem and number:
                with limited_cpu(max_cpu_s):
                    problem = difference(answer, _answer(Engine(), one, text))
        except (Exception, TooSlow) as error:  # noqa: BLE001 -- whatever it is, it is a finding
            slowest_s = max(slowest_s, time.process_time() - began)
            problem = _described(error)
        if problem:
            problem += f"\nin version {number} of {len(one.versions)}"
            break
    return Verdict(problem, slowest_s, _peak_mb(), kernels, predictions)


def _answer(engine: Engine, one: Input, text: str) -> FileForecast:
    device = find_builtin(one.device)
    assert device is not None
    return engine.forecast(text, None, device, options=BuildOptions(defines=one.defines))


def _unanswered(answer: FileForecast) -> str:
    problems = (*answer.problems, *(f.problem for f in answer.forecasts if f.problem is not None))
    unforeseen = next((p.message for p in problems if p.code == InternalError.code), None)
    if unforeseen is not None:
        return f"an unexpected exception\n{unforeseen}"
    silent = [f.kernel.name for f in answer.forecasts if (f.prediction is None) == (f.problem is None)]
    if silent:
        return f"neither one prediction nor one problem\nfor {silent}"
    missing = {k.name for k in answer.kernels} - {f.kernel.name for f in answer.forecasts}
    return f"no forecast\nfor {sorted(missing)}" if missing else ""


def difference(incremental: FileForecast, fresh: FileForecast) -> str:
    """What the two say differently, in words; empty when a user could not tell them apart."""
    ours, theirs = seen(incremental), seen(fresh)
    for what in ours.keys() | theirs.keys():
        if ours.get(what) != theirs.get(what):
            both = f"{what}\nincremental {ours.get(what)}\nfresh       {theirs.get(what)}"
            return f"incremental differs from fresh: {what.rpartition('/')[2]}\n{both}"
    return ""


def seen(answer: FileForecast) -> dict[str, str]:
    """All that an answer shows, by name; numbers are rounded, since sums may be taken in another order."""
    shown: dict[str, str] = {
        "kernels": str([(k.name, k.name_range, k.range, k.has_errors) for k in answer.kernels]),
        "parameters": str([(k.name, k.parameters, k.attributes) for k in answer.kernels]),
        "problems": str(answer.problems),
        "annotation problems": str(answer.annotation_problems),
    }
    for number, forecast in enumerate(answer.forecasts):
        start = f"{number} {forecast.kernel.name}/"
        shown[start + "launch"] = str(forecast.launch)
        shown[start + "problem"] = str(forecast.problem)
        if (prediction := forecast.prediction) is not None:
            runtime = prediction.runtime_us
            shown[start + "runtime"] = " ".join(f"{us:.6g}" for us in (runtime.p10, runtime.p50, runtime.p90))
            shown[start + "assumptions"] = str(prediction.assumptions)
            shown[start + "lines"] = str([(one.line, f"{one.share:.4f}") for one in sorted(prediction.lines, key=str)])
            shown[start + "advice"] = str(prediction.advice)
    return shown


def _described(error: BaseException) -> str:
    """The kind of failure and the place of ours where it was raised, then the rest."""
    if isinstance(error, TooSlow):
        return "more CPU than allowed\n" + "".join(traceback.format_exception(error)[-12:])
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/model/" in f.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "outside the model"
    return f"{type(error).__name__} in {place}\n" + "".join(traceback.format_exception(error, limit=-25))


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets VmHWM, see proc(5)


def _peak_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next((int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
