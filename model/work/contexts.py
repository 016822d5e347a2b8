"""In which surrounding each operation and access stands: what CPU runtimes vectorise is decided by it.

A runtime for CPUs runs a work-group as a loop over its work-items. Whether that loop becomes vector code depends on
what stands in it: loops, with or without barriers, of a length that is known when; branches. Which surrounding a
runtime does vectorise is measured (`Rates.costs`), not written down here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from model.work.counts import AccessCount, OpCount, OpKind
from model.work.region import Access, Block, Branch, Loop
from model.work.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID
from model.work.walk import Walk

UNROLLED_TRIPS = 64  # longer loops of constant length stay loops
FORESEEN_TRIPS = 8  # loops that are mostly shorter end as foreseen
_IDS = frozenset({*GLOBAL_ID, *GROUP_ID, *LOCAL_ID})
_LINEAR = frozenset({"symbol", "convert"})
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


class Form(StrEnum):
    """How a compiler sees the index of an access, wherever it leads."""

    PLAIN = "plain"  # sums of ids, counters and constants
    OFFSET = "offset"  # with a scalar argument in it: `x[row * width + i]`
    OPAQUE = "opaque"  # with a function of ids that hides which addresses are neighbours: `x[clamp(i - 1, 0, n)]`


class Placed(NamedTuple):
    """An access and the form of its index: compilers that must mind the overflow of 32-bit indices see consecutive
    addresses in the `offset` form, but not in the `plain` one."""

    access: AccessCount
    form: Form
    image: str = ""  # "nearest", "linear" or "write" where it is one


@dataclass(frozen=True, slots=True)
class ContextCount:
    """What a launch executes in one surrounding.

    `chain_ops` are operations that wait for the one before, `surprises` the turns that a processor cannot foresee:
    the rarer side of branches that the data decide, and the ends of loops of which the data decide the length.
    """

    context: Context
    ops: tuple[OpCount, ...]
    accesses: tuple[Placed, ...]
    chain_ops: float
    surprises: float


class _Parts:
    def __init__(self, walk: Walk, counted: Mapping[int, AccessCount], unrolled: frozenset[int]) -> None:
        self.walk, self.counted, self.unrolled = walk, counted, unrolled
        self.ops: dict[Context, dict[tuple[OpKind, str, int, str], float]] = defaultdict(lambda: defaultdict(float))
        self.accesses: dict[Context, list[Placed]] = defaultdict(list)
        self.chains: dict[Context, float] = defaultdict(float)
        self.surprises: dict[Context, float] = defaultdict(float)

    def add(self, block: Block, context: Context) -> None:
        runs = self.walk.runs.get(id(block), 0.0)
        if runs <= 0:
            return
        for line, kind, element, count, width, function in block.ops:
            self.ops[self._at(line, context)][kind, element, width, function] += count * runs
        for access in block.accesses:
            if id(access) in self.counted:
                placed = Placed(self.counted[id(access)], _form(access), _image(access))
                self.accesses[self._at(access.line, context)].append(placed)
        for inner in block.inner:
            if isinstance(inner, Loop):
                within = self._within(inner, context)
                self.chains[within] += inner.chain * self.walk.runs.get(id(inner.body), 0.0)
                if inner.trips.has("load", "unknown"):
                    trips = self.walk.runs.get(id(inner.body), 0.0) / runs
                    self.surprises[within] += runs * min(1.0, trips / FORESEEN_TRIPS)
                self.add(inner.body, within)
                continue
            if inner.share is not None or inner.condition.has("load"):
                entered = self.walk.runs.get(id(inner.then), 0.0)
                self.surprises[context] += max(0.0, min(entered, runs - entered))
            for side in (inner.then, inner.otherwise):
                self.add(side, self._side(inner, side, context, runs))

    def _at(self, line: int, context: Context) -> Context:
        """Straight-line code that was a loop in the source."""
        return Context.UNROLLED if context is Context.STRAIGHT and line in self.unrolled else context

    def _within(self, loop: Loop, context: Context) -> Context:
        if has_barrier(loop.body):
            return Context.BARRIER
        if loop.trips.leaves & _IDS or loop.trips.has("load", "unknown") or context is Context.DATA:
            return Context.DATA
        if context in (Context.BARRIER, Context.KEPT):
            return Context.KEPT
        if self._reduces(loop):
            return Context.REDUCED
        constant = loop.trips.constant
        if constant is not None and constant <= UNROLLED_TRIPS:
            return context if context is Context.COUNTED else Context.UNROLLED
        return Context.COUNTED

    def _reduces(self, loop: Loop) -> bool:
        """Whether a compiler may turn the iterations of an innermost loop themselves into vectors."""
        if loop.chain or loop.body.inner or any(a.is_store or a.is_atomic for a in loop.body.accesses):
            return False
        steps = [self.counted[id(a)].step_bytes for a in loop.body.accesses if id(a) in self.counted]
        sizes = [a.element_bytes for a in loop.body.accesses if id(a) in self.counted]
        return bool(steps) and all(s is not None and 0 < s <= size for s, size in zip(steps, sizes, strict=True))

    def _side(self, branch: Branch, side: Block, context: Context, runs: float) -> Context:
        if context not in (Context.STRAIGHT, Context.BARRIER) or not differs(branch):
            return context
        entered = self.walk.runs.get(id(side), 0.0) / runs
        return context if entered >= _NEARLY_ALL else Context.BRANCH


def contexts_of(
    root: Block, walk: Walk, counted: Mapping[int, AccessCount], unrolled: frozenset[int]
) -> tuple[ContextCount, ...]:
    """Everything that `walk` met, by its surrounding. `counted` gives the counts by identity of the access,
    `unrolled` the lines of loops that stand in `root` iteration by iteration."""
    parts = _Parts(walk, counted, unrolled)
    parts.add(root, Context.STRAIGHT)
    return tuple(
        ContextCount(
            context,
            tuple(OpCount(k, e, n, w, f) for (k, e, w, f), n in parts.ops[context].items() if n),
            tuple(parts.accesses[context]),
            parts.chains[context],
            parts.surprises[context],
        )
        for context in Context
        if context in parts.ops or context in parts.accesses
    )


def _form(access: Access) -> Form:
    if access.offset is None:
        return Form.OPAQUE
    atoms = {atom for monomial, _ in access.offset.terms for atom in monomial}
    if any(atom.kind not in _LINEAR and atom.leaves & _IDS for atom in atoms):
        return Form.OPAQUE
    symbols = (str(leaf.arguments[0]) for leaf in access.offset.leaves if leaf.kind == "symbol")
    return Form.OFFSET if any(name.startswith("arg.") for name in symbols) else Form.PLAIN


def _image(access: Access) -> str:
    if not access.is_image:
        return ""
    return "write" if access.is_store else "linear" if access.is_between_texels else "nearest"


def has_barrier(block: Block) -> bool:
    """Whether a barrier stands anywhere within."""
    if block.barriers:
        return True
    parts = [p for i in block.inner for p in ([i.body] if isinstance(i, Loop) else [i.then, i.otherwise])]
    return any(has_barrier(p) for p in parts)


def differs(branch: Branch) -> bool:
    """Whether neighbouring work-items may take different sides."""
    return branch.share is not None or any(a in branch.condition.leaves for a in (*GLOBAL_ID, *LOCAL_ID))
