"""Map forecasts of an embedded program to the lines and ranges of its host file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from model.embedded.program import EmbeddedProgram
from model.errors import KernelcastError
from model.forecast import FileForecast, Forecast, Home, Problem
from model.launch.launch import Assumption
from model.opencl.kernel import Kernel, SourceRange

_NUMBER_SPREAD = 2.0
_Error = TypeVar("_Error", bound=KernelcastError)


@dataclass(frozen=True)
class HostText:
    """A host file, and where its lines start."""

    text: str
    line_starts: Sequence[int]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and byte of an offset."""
        line = bisect_right(self.line_starts, offset) - 1
        return line, len(self.text[self.line_starts[line] : offset].encode("utf-8", "replace"))


class Placing:
    """Puts forecasts of one program where the host has them; a forecast that stays there stays the same object."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._last: dict[int, tuple[Forecast, Forecast]] = {}

    def placed(self, found: FileForecast, program: EmbeddedProgram, host: HostText) -> FileForecast:
        """Return the whole answer about a program in the host's lines and ranges."""
        at = _Places(program, host)
        # A launch with macros of its own has a kernel of its own.
        kernels = {id(each): each for each in (*found.kernels, *(forecast.kernel for forecast in found.forecasts))}
        placed = {
            number: (at.kernel(each), Home(program.text, each, at.lines, self._part, at.assumptions(each)))
            for number, each in kernels.items()
        }
        before, self._last = self._last, {}
        forecasts = tuple(self._forecast(each, *placed[id(each.kernel)], at, before) for each in found.forecasts)
        problems = tuple(at.problem(each) for each in found.problems)
        annotation_problems = tuple(at.problem(each) for each in found.annotation_problems)
        return FileForecast(
            tuple(placed[id(each)][0] for each in found.kernels), forecasts, problems, annotation_problems
        )

    def _forecast(
        self, forecast: Forecast, kernel: Kernel, home: Home, at: _Places, before: dict[int, tuple[Forecast, Forecast]]
    ) -> Forecast:
        known = before.get(id(forecast))
        if known is not None and known[0] is forecast and known[1].kernel == kernel and known[1].home == home:
            made = known[1]
        else:
            prediction = forecast.prediction
            if prediction is not None:
                prediction = prediction.in_host(at.lines, home.assumed)
            problem = at.problem(forecast.problem) if forecast.problem is not None else None
            made = replace(forecast, kernel=kernel, prediction=prediction, problem=problem, home=home)
        self._last[id(forecast)] = forecast, made
        return made


class _Places:
    """Maps lines and ranges of a program to its host file."""

    def __init__(self, program: EmbeddedProgram, host: HostText) -> None:
        self.program = program
        self._host = host
        self.lines = tuple(host.place(program.host_start(start))[0] for start in program.line_starts)

    def range(self, where: SourceRange) -> SourceRange:
        start = self.program.host_start(self.program.offset_at(where.start_line, where.start_byte))
        end = self.program.host_end(self.program.offset_at(where.end_line, where.end_byte))
        return SourceRange(*self._host.place(start), *self._host.place(max(start, end)))

    def kernel(self, kernel: Kernel) -> Kernel:
        return replace(
            kernel,
            parameters=tuple(replace(each, range=self.range(each.range)) for each in kernel.parameters),
            name_range=self.range(kernel.name_range),
            signature_range=self.range(kernel.signature_range),
            range=self.range(kernel.range),
        )

    def problem(self, problem: Problem) -> Problem:
        where = self.range(problem.range) if problem.range is not None else None
        line = problem.line
        if line is not None and 1 <= line <= len(self.lines):
            line = self.lines[line - 1] + 1
        return replace(problem, line=line, range=where)

    def assumptions(self, kernel: Kernel) -> tuple[Assumption, ...]:
        """Return an assumption for each field in the kernel, and for each number filled in outside of it."""
        first, last = kernel.range.start_line, kernel.range.end_line
        found: dict[tuple[str, str], Assumption] = {}
        for each in self.program.filled:
            line = bisect_right(self.program.line_starts, each.offset) - 1
            if not first <= line <= last and not each.is_number:
                continue
            value = " ".join(each.stand_in.split())
            shown = f"`{value}` is assumed" if value else "nothing is assumed in its place"
            if each.is_recorded:
                shown = f"it was `{value}` in the recorded run" if value else "it was empty in the recorded run"
            text = f"`{each.name}` is filled in when the host program runs: {shown}"
            spread = _NUMBER_SPREAD if each.is_number else 1.0
            found.setdefault((each.name, each.stand_in), Assumption(each.name, text, spread, is_guess=each.is_number))
        return tuple(found.values())


def in_host(error: _Error, home: Home | None) -> _Error:
    """Return an error about a program's text with the line of its host."""
    if home is None or error.line is None:
        return error
    return error.at_line(home.line(error.line))
