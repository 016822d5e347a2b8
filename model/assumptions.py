"""All that a prediction takes for granted, and how far that makes it uncertain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from model.launch.launch import Assumption, Launch
from model.launch.plausible import implausible
from model.launch.scalars import UNUSED
from model.work.counts import AccessCount, Pattern
from model.work.found_out import described, found_out, not_found_out, place_of
from model.work.regions.region import DEFAULT_DATA_TRIPS, Branch
from model.work.work import Work
from model.work.work_counts import WorkCounts

_NAMED = 4
_STOOD_IN = 8
_STAND_IN_SPREAD = 1.3  # of other types and lengths than the host's
_UNDECIDED_SPREAD = 4.0
_UNFILLED_SPREAD = 32.0  # iteration counts in buffers of state, as key derivation has them, go to tens of thousands
_LOOP = "loop."  # begins the subjects of assumptions on how often a loop runs
_ESTIMATED_SPREAD = 2.0
_IMPLAUSIBLE_SPREAD = 4.0  # a signal for each division by zero, or no work at all
_GUESSED_SPREAD = 3.0  # of an argument that decides loops or branches
_IDLE = "with these arguments no work-item stores anything: compilers leave nothing to run"
_ESTIMATED = "how often the loop on line {line} runs was worked out for a few work-items only: they stand for all"


def assumptions_of(work: Work, counts: WorkCounts, launch: Launch) -> tuple[Assumption, ...]:
    """Return what the launch and the analysis took for granted and what only the data know.

    Once each: a branch in a loop is met twice. Where some work-items were run, what they told takes the place of what
    would have to be assumed.
    """
    undecided = _undecided(work, counts.undecided_loops) if counts.undecided_loops else ()
    estimated = (Assumption(f"{_LOOP}{{line}}", _ESTIMATED, _ESTIMATED_SPREAD, line) for line in counts.estimated_loops)
    found = (*work.assumptions, *_by_data(work, counts, launch), *undecided, *estimated)
    wrong = (*_overruns(work, counts, launch), *_implausible(work, launch), *_idle(work, counts))
    return (*_of_the_launch(launch, counts), *wrong, *dict.fromkeys(found))


def _overruns(work: Work, counts: WorkCounts, launch: Launch) -> Iterator[Assumption]:
    """Say which buffers and local pointers are too short for the launch."""
    ends: dict[str, float] = {}
    for access in counts.accesses:
        if access.end_bytes is not None and _is_reached(access, access.end_bytes, counts.work_items):
            ends[access.buffer] = max(access.end_bytes, ends.get(access.buffer, 0.0))
    bytes_of = {p.name: p.pointee_bytes for p in work.kernel.parameters}
    given = [(name, length, bytes_of.get(name, 1), "elements") for name, length in launch.buffers]
    for name, length, each, unit in [*given, *((name, size, 1, "bytes") for name, size in launch.local_bytes)]:
        reached = math.ceil(ends.get(name, 0.0) / each)
        if reached > length:
            text = f"`{name}` has {length} {unit}, and its index reaches {reached}: the launch cannot be measured"
            yield Assumption(name, text)


def _is_reached(access: AccessCount, end_bytes: float, work_items: int) -> bool:
    """Return whether no condition that the analysis cannot follow may keep work-items from `end_bytes`."""
    whole_rounds = access.count >= work_items and access.count % max(1, work_items) == 0
    return whole_rounds or (access.pattern is Pattern.UNIT and access.bytes >= end_bytes)


def _implausible(work: Work, launch: Launch) -> Iterator[Assumption]:
    """Say where scalars, given or guessed, make a launch that does not do what its kernel is for."""
    for reason in implausible(work, launch):
        yield Assumption("line {line}", reason.text, _IMPLAUSIBLE_SPREAD, reason.line)


def _idle(work: Work, counts: WorkCounts) -> Iterator[Assumption]:
    """Say that nothing is counted though the kernel has something to do under other arguments."""
    if not counts.ops and not counts.accesses and len(work.outline.parts) > 1:
        yield Assumption(work.kernel.name, _IDLE)


def _of_the_launch(launch: Launch, counts: WorkCounts) -> Iterator[Assumption]:
    """Yield what was guessed of a launch.

    Where conditions could not be read, arguments were taken to have no effect: running some work-items tells which do.
    """
    deciding = set(counts.sample.scalars) if counts.sample is not None else set()
    for each in launch.assumptions:
        if each.text.endswith(UNUSED) and each.subject.partition(".")[0] in deciding:
            text = (
                f"{each.text.removesuffix(UNUSED)}: nothing says how large it is, and it decides what the kernel does"
            )
            yield replace(each, text=text, spread=_GUESSED_SPREAD, is_guess=True)
        else:
            yield each


def _by_data(work: Work, counts: WorkCounts, launch: Launch) -> Iterator[Assumption]:
    sample = counts.sample
    if sample is not None and sample.stopped is None:
        yield from found_out(work, launch, sample)
        return
    known = described(work, counts)
    yield from (
        Assumption(p.name, p.text, p.spread, p.line, p.name.startswith(_LOOP))
        for a, p in work.parameters.items()
        if a not in known
    )
    if sample is not None:
        yield from not_found_out(sample)


def _undecided(work: Work, lines: Iterable[int]) -> Iterator[Assumption]:
    """Name the loops without a known bound, by line, and the buffer and fill that would give one."""
    named = {line: sorted(_read_for_trips(work, line)) for line in lines}
    for line, places in named.items():
        taken = f"assumed to run {DEFAULT_DATA_TRIPS} times"
        if not places:
            yield Assumption(
                f"{_LOOP}{{line}}",
                f"nothing says how often the loop on line {{line}} runs: {taken}",
                _UNDECIDED_SPREAD,
                line,
                is_guess=True,
            )
        for place in places:
            text = (
                f"`{place}` says how often the loop on line {{line}} runs, and nothing says what it holds: {taken}; "
                f"fill.{place}=const:1000 would say it"
            )
            yield Assumption(place.partition(".")[0], text, _UNFILLED_SPREAD, line, is_guess=True)


def _read_for_trips(work: Work, line: int) -> set[str]:
    """Return the buffers, with their members, that the trip counts of the loops on a line are read from."""
    found: set[str] = set()
    blocks = [work.root]
    while blocks:
        for inner in blocks.pop().inner:
            if isinstance(inner, Branch):
                blocks += (inner.then, inner.otherwise)
                continue
            blocks.append(inner.body)
            if inner.line == line:
                loads = (leaf for leaf in inner.trips.leaves if leaf.kind == "load")
                found.update(place for load in loads if (place := place_of(work.kernel, load)))
    return found


def doubt_of(assumptions: Iterable[Assumption]) -> float:
    """Return the logarithm of the factor that all of them may cost together, at least 0.

    Factors are taken for independent, so their logarithms add in squares.
    """
    return math.sqrt(sum(math.log(a.spread) ** 2 for a in assumptions))


def notes_on(found: Sequence[tuple[str, str]], stand_ins: Sequence[tuple[str, str]]) -> tuple[Assumption, ...]:
    """Return the assumptions that `found`, names or includes with their files, and defines are what is meant."""
    notes = [*_on_names([each for each in found if each[0].isidentifier()])]
    notes += [f"`{name}` was not found where it is looked for: {file} is read" for name, file in found if "." in name]
    stood_in = f"not declared: give {'it' if len(stand_ins) == 1 else 'them'} with -D"
    listed = ", ".join(f"`{name.partition('(')[0]}`={value}" for name, value in stand_ins[:_STOOD_IN])
    more = f" and {len(stand_ins) - _STOOD_IN} more" if len(stand_ins) > _STOOD_IN else ""
    guess = Assumption("-D", f"{listed}{more} ({stood_in})", _STAND_IN_SPREAD, is_guess=True)
    return (*(Assumption("file", note) for note in notes), *([guess] if stand_ins else []))


def _on_names(found: Sequence[tuple[str, str]]) -> Iterator[str]:
    names = [f"`{name}`" for name, _ in found]
    files = list(dict.fromkeys(Path(file).name for _, file in found))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    if names:
        yield (
            f"{', '.join(names[:_NAMED])}{more} {'is' if len(names) == 1 else 'are'} not declared here: "
            f"{' and '.join(files)} of this project {'declares' if len(files) == 1 else 'declare'} "
            f"{'it' if len(names) == 1 else 'them'}, read as if joined before this file"
        )
