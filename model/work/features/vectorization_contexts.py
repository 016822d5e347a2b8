"""In which surrounding each operation and access stands: what CPU runtimes vectorise is decided by it.

A runtime for CPUs runs a work-group as a loop over its work-items. Whether that loop becomes vector code depends on
what stands in it: loops, with or without barriers, of a length that is known when; branches. Which surrounding a
runtime does vectorise is measured (`Rates.costs`), not written down here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, OpCount, OpKind, Pattern
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID
from model.work.features.seen_accesses import seen_as
from model.work.regions.flat_blocks import UNROLLED_TRIPS, Form, OpKey, Outline, Part, Seen, is_common
from model.work.regions.region import Access, Loop
from model.work.walk.sample import key_of
from model.work.walk.walk import Walk

FORESEEN_TRIPS = 8  # loops that are mostly shorter end as foreseen, where neighbours are alike
VECTOR_LANES = 16
_IDS = frozenset({*GLOBAL_ID, *GROUP_ID, *LOCAL_ID})
FULLY_UNROLLED_OPS = 300  # of a loop in all its rounds: longer ones stay loops (LLVM's `-unroll-threshold`)
_NEARLY_ALL = 0.95  # a guard that so many work-items pass is no branch


class Context(StrEnum):
    """Surroundings, in the words of `Cost.name`."""

    STRAIGHT = "straight"
    BRANCH = "branch"  # neighbouring work-items may differ in whether they enter
    UNROLLED = "unrolled"  # a short loop of constant length
    COUNTED = "counted"  # a loop whose length the launch decides, the same for all work-items
    REDUCED = "reduced"  # as `counted`, side by side over memory, and no float waits for the one before
    DATA = "data"  # a loop whose length the data or the work-item decide
    BARRIER = "barrier"  # directly in a loop with a barrier
    KEPT = "kept"  # in a loop without a barrier within one with: what it adds up outlives barriers


class Placed(NamedTuple):
    """An access and the form of its index."""

    access: AccessCount
    form: Form
    image: str = ""  # "nearest", "linear" or "write" where it is one
    is_call: bool = False  # of `vload` or `vstore`
    is_masked: bool = False  # in vector code, of those work-items that a branch or a guard lets in
    hidden: int = 0  # bit d: compilers may not see that dimension d's neighbours are consecutive: see `narrow_ids`
    varying: int = 0  # bit d: how far apart dimension d's neighbours are, only the launch tells

    @property
    def is_hidden(self) -> bool:
        """Whether compilers may not see that neighbours' addresses are consecutive."""
        return bool(self.hidden & 1)


class Shared(NamedTuple):
    """Some calls and divisions of a surrounding, whose results are the same in the first `dimensions` of a group.

    Of less than 0, they are in as many, but rest on sizes that are loaded.

    `is_guarded`: they are under a branch on which neighbours may differ, or in an unrolled loop.
    """

    op: OpCount
    dimensions: int
    is_guarded: bool


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """What vectors execute with all lanes masked off."""

    ops: tuple[OpCount, ...] = ()
    accesses: tuple[Placed, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextCount:
    """What a launch executes in one surrounding, `shared` once for each work-item, as the source has it.

    `chain_ops` are operations that wait for the one before, `surprises` the turns that a processor cannot foresee:
    the rarer side of branches that the data decide, and the ends of loops of which the data decide the length.
    `lane_wait` is how much longer a vector is busy than its lanes, which leave loops one after another.

    Beside all that stands what vectors execute of work-items whose ids keep them out: `off` where a compiler makes
    masks of branches, as PoCL's, and `unbound`, side by side of branches, where it makes masks of all that are no
    bounds, as Intel's.
    """

    context: Context
    ops: tuple[OpCount, ...]
    shared: tuple[Shared, ...]
    accesses: tuple[Placed, ...]
    chain_ops: float
    surprises: float
    off: SwitchedOff = SwitchedOff()
    unbound: tuple[SwitchedOff, ...] = ()
    lane_wait: float = 1.0


@dataclass(slots=True)
class _Off:
    """What vectors execute of work-items whose ids switch it off; operations by the number of their key."""

    ops: dict[int, float] = field(default_factory=dict)
    accesses: list[Placed] = field(default_factory=list)

    def add(self, part: Part, times: float, counted: Mapping[int, AccessCount], forms: dict[int, Seen]) -> None:
        """Add a part that is executed `times`."""
        is_unrolled = sum(each for _, each in part.unrolled) <= FULLY_UNROLLED_OPS
        for key, each in (*part.ops, *(part.unrolled if is_unrolled else ())):
            self.ops[key] = self.ops.get(key, 0.0) + each * times
        for access in part.accesses:
            count = counted.get(id(access))
            if count is None or (access.line in part.unrolled_lines and not is_unrolled):
                continue
            seen = seen_as(access, forms)
            if count.pattern is not Pattern.BROADCAST or seen.form is Form.OPAQUE:  # a lone place needs no vector
                count = replace(count, count=times)
                self.accesses.append(Placed(count, seen.form, "", False, True, access.hidden, seen.varying))

    def counted(self, keys: Sequence[OpKey]) -> SwitchedOff:
        return SwitchedOff(tuple(_op(keys[k], n) for k, n in self.ops.items() if n), tuple(self.accesses))


@dataclass(slots=True)
class _Found:
    """What was met in one surrounding; operations by the number of their key."""

    ops: dict[int, float] = field(default_factory=dict)
    shared: dict[tuple[int, int, bool], float] = field(default_factory=dict)  # key, dimensions, is_guarded
    accesses: list[Placed] = field(default_factory=list)
    chain_ops: float = 0.0
    surprises: float = 0.0
    off: _Off = field(default_factory=_Off)
    unbound: list[_Off] = field(default_factory=list)
    is_met: bool = False
    lanes_busy: float = 0.0
    vectors_busy: float = 0.0

    @property
    def lane_wait(self) -> float:
        return self.vectors_busy / self.lanes_busy if self.lanes_busy else 1.0


def contexts_of(outline: Outline, walk: Walk, counted: Mapping[int, AccessCount]) -> tuple[ContextCount, ...]:
    """Everything that `walk` met, by its surrounding. `counted` gives the counts by identity of the access."""
    found = {context: _Found() for context in Context}
    around: list[Context] = []  # by number of the part
    lives: list[float] = []  # by number of the part, how often lanes execute it that no id keeps out
    executions: list[float] = []  # the same, with those under a mask that is off
    unbound: list[float] = []  # the same, where all that is no bound is a mask
    guarded: list[bool] = []  # by number of the part, whether it is under a guard that nearly all work-items pass
    waits: list[float] = []  # by number of the part, how much longer vectors are in it than their lanes
    runs_of, masked = walk.runs, _masked_parts(outline, counted)
    looped: list[bool] = []  # by number of the part, whether it is in a loop
    straight_chain = 0.0
    for number, part in enumerate(outline.parts):
        runs = runs_of.get(id(part.block), 0.0)
        context, is_masked, is_decided, is_guarded, wait = Context.STRAIGHT, False, False, False, 1.0
        every = most = runs
        if part.parent >= 0:
            parent = runs_of.get(id(outline.parts[part.parent].block), 0.0)
            context, is_guarded, wait = around[part.parent], guarded[part.parent], waits[part.parent]
            if parent > 0:
                evenness = _evenness(part, walk)
                wait /= evenness
                context = _inside(part, context, runs, parent, evenness, found, counted)
                is_guarded |= part.parts_ways and context is not Context.BRANCH
                is_masked = context is Context.BRANCH and runs > 0 and masked[number]
                is_decided = is_masked and not part.is_bound and not _is_decided_by_ids(part)
                if is_masked:
                    context, every = around[part.parent], executions[part.parent]
                if is_decided:
                    runs = lives[part.parent]
                if part.branch is not None and runs > 0:
                    most = _unbound(part, runs, parent, unbound[part.parent], is_masked=is_masked)
        looped.append(part.parent >= 0 and (looped[part.parent] or part.loop is not None))
        if not looped[number]:
            straight_chain = max(straight_chain, part.block.chain * runs)
        is_guarded |= is_masked
        around.append(context)
        lives.append(runs)
        executions.append(max(every, runs))
        unbound.append(max(most, runs))
        guarded.append(is_guarded)
        waits.append(wait)
        if runs > 0:
            busy = runs * (sum(op.times for op in part.block.ops) + len(part.block.accesses))
            found[context].lanes_busy += busy
            found[context].vectors_busy += busy * min(wait, VECTOR_LANES)
            _add(part, context, runs, found, counted, outline.forms, is_masked=is_decided, is_guarded=is_guarded)
            own = found[around[part.parent] if part.branch is not None else context]
            own.is_met |= max(executions[number], unbound[number]) > runs
            if executions[number] > runs:
                own.off.add(part, executions[number] - runs, counted, outline.forms)
            if unbound[number] > runs:
                own.unbound.append(_Off())
                own.unbound[-1].add(part, unbound[number] - runs, counted, outline.forms)
    found[Context.STRAIGHT].chain_ops += straight_chain
    keys = outline.keys
    return tuple(
        ContextCount(
            context,
            tuple(_op(keys[k], n) for k, n in own.ops.items() if n),
            tuple(Shared(_op(keys[k], n), d, is_guarded) for (k, d, is_guarded), n in own.shared.items() if n),
            tuple(own.accesses),
            own.chain_ops,
            own.surprises,
            own.off.counted(keys),
            tuple(region.counted(keys) for region in own.unbound),
            own.lane_wait,
        )
        for context, own in found.items()
        if own.is_met
    )


def _op(key: OpKey, count: float) -> OpCount:
    kind, element, width, function = key
    return OpCount(kind, element, count, width, function)


def _inside(
    part: Part,
    outer: Context,
    runs: float,
    parent: float,
    evenness: float,
    found: Mapping[Context, _Found],
    counted: Mapping[int, AccessCount],
) -> Context:
    """Return the surrounding within a loop or a side of a branch, which stands in `outer`; its turns are noted down."""
    loop, branch = part.loop, part.branch
    if loop is not None:
        context = _within(loop, part, outer, counted)
        found[context].chain_ops += loop.chain * runs
        if loop.trips.has("load", "unknown"):
            found[context].surprises += parent * min(1.0, runs / parent / max(1.0, FORESEEN_TRIPS * evenness))
        return context
    assert branch is not None
    if part.is_then and not is_common(branch) and (branch.share is not None or branch.condition.has("load")):
        found[outer].surprises += max(0.0, min(runs, parent - runs))
    if outer not in (Context.STRAIGHT, Context.BARRIER) or not part.parts_ways:
        return outer
    return outer if runs / parent >= _NEARLY_ALL else Context.BRANCH


def _evenness(part: Part, walk: Walk) -> float:
    """Return the mean over the greatest number of iterations among neighbours, where running some work-items showed.

    Samples tell it of sub-groups of 32, which stand for vectors of half as many.
    """
    if part.loop is None or walk.seen is None:
        return 1.0
    seen = walk.seen.loops.get(key_of(part.loop))
    return min(1.0, max(1 / VECTOR_LANES, seen.efficiency)) if seen is not None else 1.0


def _add(
    part: Part,
    context: Context,
    runs: float,
    found: Mapping[Context, _Found],
    counted: Mapping[int, AccessCount],
    forms: dict[int, Seen],
    *,
    is_masked: bool,
    is_guarded: bool,
) -> None:
    for ops, is_unrolled in ((part.ops, False), (part.unrolled, True)):
        if ops:
            own = found[Context.UNROLLED if is_unrolled and context is Context.STRAIGHT else context]
            own.is_met = True
            total = own.ops
            for key, times in ops:
                total[key] = total.get(key, 0.0) + times * runs
    for key, times, dimensions, is_shared_guarded, is_unrolled in part.shared:
        same = found[Context.UNROLLED if is_unrolled and context is Context.STRAIGHT else context].shared
        at = key, dimensions, is_shared_guarded
        same[at] = same.get(at, 0.0) + times * runs
    for access in part.accesses:
        count = counted.get(id(access))
        if count is not None:
            is_unrolled = context is Context.STRAIGHT and access.line in part.unrolled_lines
            own = found[Context.UNROLLED if is_unrolled else context]
            own.is_met = True
            if is_masked:
                count = replace(count, count=runs)
            seen = seen_as(access, forms)
            under_mask = is_masked or is_guarded
            own.accesses.append(
                Placed(count, seen.form, seen.image, access.is_call, under_mask, access.hidden, seen.varying)
            )


def _unbound(part: Part, runs: float, parent: float, around: float, *, is_masked: bool) -> float:
    """Return how often vectors execute one side of a branch, where all branches but bounds are masks.

    Counted in work-items: the branch's block runs `parent` times, and vectors execute it `around` times.
    """
    if not part.parts_ways:
        return around * runs / parent
    is_run = not part.is_bound and (is_masked or _is_decided_by_ids(part))
    return around if is_run else runs


def _masked_parts(outline: Outline, counted: Mapping[int, AccessCount]) -> list[bool]:
    """Return of each part, as a side of a branch, whether vector code runs it for all work-items under a mask.

    Compilers do so with arithmetic, and with loads and stores of neighbours at the work-items' own place: what else an
    index adds may overflow. They do not with loops, calls, divisions of integers, or any other access. Source: LLVM's
    loop vectoriser, if-conversion; seen in what PoCL makes of each, and that it takes as long if few work-items enter.
    """
    masked = [_is_masked(part, outline, counted) for part in outline.parts]
    for number in range(len(outline.parts) - 1, 0, -1):  # inner parts come after outer ones
        if not masked[number]:
            masked[outline.parts[number].parent] = False
    return masked


def _is_decided_by_ids(part: Part) -> bool:
    branch = part.branch
    return branch is not None and part.parts_ways and branch.share is None and not branch.condition.has("load")


def _is_masked(part: Part, outline: Outline, counted: Mapping[int, AccessCount]) -> bool:
    branch = part.branch
    if branch is None:
        return False
    keys = (outline.keys[key] for key, _ in (*part.ops, *part.unrolled))
    if any(kind is OpKind.INT_DIVIDE or function for kind, _, _, function in keys):
        return False
    return all(_is_maskable(access, counted.get(id(access)), outline.forms) for access in part.accesses)


def _is_maskable(access: Access, count: AccessCount | None, forms: dict[int, Seen]) -> bool:
    if count is None:
        return True
    if access.offset is None or access.is_atomic or access.is_image or access.is_call:
        return False
    is_moved = bool(access.hidden & 1) and () in dict(access.offset.terms)
    return (
        count.pattern is Pattern.UNIT
        and not is_moved
        and access.space is not AddressSpace.PRIVATE
        and seen_as(access, forms).form is not Form.OPAQUE
    )


def _within(loop: Loop, part: Part, context: Context, counted: Mapping[int, AccessCount]) -> Context:
    if part.has_barrier:
        return Context.BARRIER
    if not _IDS.isdisjoint(loop.trips.leaves) or loop.trips.has("load", "unknown") or context is Context.DATA:
        return Context.DATA
    if context in (Context.BARRIER, Context.KEPT):
        return Context.KEPT
    if _reduces(loop, counted):
        return Context.REDUCED
    constant = loop.trips.constant
    if constant is not None and constant <= UNROLLED_TRIPS:
        return context if context is Context.COUNTED else Context.UNROLLED
    return Context.COUNTED


def _reduces(loop: Loop, counted: Mapping[int, AccessCount]) -> bool:
    """Return whether a compiler may turn the iterations of an innermost loop themselves into vectors."""
    if loop.chain or loop.body.inner or any(a.is_store or a.is_atomic for a in loop.body.accesses):
        return False
    steps = [counted[id(a)].step_bytes for a in loop.body.accesses if id(a) in counted]
    sizes = [a.element_bytes for a in loop.body.accesses if id(a) in counted]
    return bool(steps) and all(s is not None and 0 < s <= size for s, size in zip(steps, sizes, strict=True))
