"""An overrun in the user's words, with the line it comes from where the analysis can tell."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.errors import KernelcastError
from model.launch.scalars import name_of
from model.launch.source_hints import gather
from model.opencl.kernel import ParameterKind
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.expressions.symbolic import Expression
from model.work.regions.region import Access
from model.work.walk.access_extents import Extent
from model.work.work import Work
from profiler.bounds import Cause, Overrun
from profiler.inferred_args import guessed_among, index_fill, misleading
from profiler.measurement import MeasureRequest, OutOfBounds


def out_of_bounds(first: Overrun, overruns: Iterable[Overrun], request: MeasureRequest) -> OutOfBounds:
    """Return the error to raise, about `first`. The analysis only adds to it: what it cannot read does no harm."""
    path = Path(request.path) if request.path else None
    suspects: tuple[Access, ...] = ()
    margins: set[str] = set()
    with contextlib.suppress(KernelcastError):
        program = read_program(request.source, path, request.launch.options)
        work = analyse(program, program.kernel(request.kernel.name))
        suspects = tuple(_suspects(first, work, request))
        if first.index < 0:
            margins = {name_of(atom) for atom in gather(work).margins}
    lines = {access.line for access in suspects}
    line = lines.pop() + 1 if len(lines) == 1 else 0  # 0 for another file's
    fills = [index_fill(name, first.room.length, request) for name in _index_buffers(suspects, request)]
    guessed = guessed_among(_scalars(suspects), request)
    if not guessed and not _is_all_known(suspects):
        named = {fill.key for fill in fills}
        guessed = [guess for guess in misleading(request) if guess.key not in named]
    # In front of a buffer are those whom a margin that ids are checked against should have kept out.
    guessed = list(dict.fromkeys([*guessed_among(margins, request), *guessed]))
    cause = Cause(line or None, tuple(fills), tuple(guessed))
    reached = _reached(overruns)
    ends = next((low, high) for name, low, high in reached if name == first.room.name)
    return OutOfBounds(first.sentence(ends, cause), line=cause.line, overruns=reached)


def _reached(overruns: Iterable[Overrun]) -> tuple[tuple[str, int, int], ...]:
    indices: dict[str, list[int]] = defaultdict(list)
    for overrun in overruns:
        indices[overrun.room.name].append(overrun.index)
    return tuple((name, min(found), max(found)) for name, found in indices.items())


def _suspects(overrun: Overrun, work: Work, request: MeasureRequest) -> Iterator[Access]:
    """Yield the accesses of that buffer, of that kind, that may reach that far."""
    extents = work.walk(request.launch).extents
    for access in work.accesses():
        if access.buffer != overrun.room.name:
            continue
        if not access.is_atomic and overrun.is_store not in (None, access.is_store):
            continue
        if _may_reach(extents.get(id(access)), overrun.offset_bytes):
            yield access


def _may_reach(extent: Extent | None, offset_bytes: int) -> bool:
    if extent is None or not extent.is_known or extent.low is None or extent.high is None:
        return True
    return extent.low <= offset_bytes < extent.high


def _index_buffers(suspects: tuple[Access, ...], request: MeasureRequest) -> tuple[str, ...]:
    """Return the buffers that the index is read from, if it is read from some in all of the suspects."""
    known = {parameter.name for parameter in request.kernel.of_kind(ParameterKind.BUFFER)}
    read = [
        {str(leaf.arguments[0]) for leaf in access.offset.leaves if leaf.kind == "load"} & known
        for access in suspects
        if access.offset is not None
    ]
    return tuple(sorted(set().union(*read))) if read and all(read) else ()


def _is_all_known(suspects: tuple[Access, ...]) -> bool:
    """Return whether nothing but ids and scalars is in their indices, so that no other guess can be to blame."""
    offsets = [access.offset for access in suspects]
    return bool(offsets) and all(offset is not None and _is_known(offset) for offset in offsets)


def _is_known(offset: Expression) -> bool:
    symbols = [str(leaf.arguments[0]) for leaf in offset.leaves if leaf.kind == "symbol"]
    return len(symbols) == len(offset.leaves) and not any(name.startswith(("loop.", "phi.")) for name in symbols)


def _scalars(suspects: tuple[Access, ...]) -> set[str]:
    """Return the by-value arguments in their indices: `n`, `v.s1`, `p.width`."""
    leaves = {leaf for access in suspects if access.offset is not None for leaf in access.offset.leaves}
    symbols = (str(leaf.arguments[0]) for leaf in leaves if leaf.kind == "symbol")
    return {symbol.removeprefix("arg.") for symbol in symbols if symbol.startswith("arg.")}
