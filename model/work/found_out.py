"""What running some of the work-items told, in sentences; and what it could not tell for want of the data."""

from __future__ import annotations

from collections.abc import Iterator

from model.launch.launch import Assumption, Launch
from model.opencl.kernel import Kernel, Parameter
from model.opencl.types import PointerType, ScalarType, StructType, VectorType
from model.work.execution.values import is_float
from model.work.expressions.symbolic import Atom, Expression
from model.work.regions.region import Access, Block, Branch, Loop
from model.work.walk.sample import Sample, key_of, numbered
from model.work.work import Work
from model.work.work_counts import WorkCounts

_SAMPLED_SPREAD = 1.05  # of means over a few thousand work-items
_BORROWED_SPREAD = 1.5  # of another launch's
_UNFINISHED_SPREAD = 1.5
_ORDERED_SPREAD = 4.0  # of what the last work-group is taken to do
_OPEN_ENDED_SPREAD = 10.0  # of a loop that no work-item left while there was time
_OPEN_LOOP_SPREAD, _OPEN_SPREAD = 3.0, 1.5  # where contents are anyone's guess, by whether a loop rests on them


def found_out(work: Work, launch: Launch, sample: Sample) -> Iterator[Assumption]:
    """By line what loops and branches were seen to do, and which buffer's contents that rests on."""
    spread = _SAMPLED_SPREAD if sample.is_complete else _UNFINISHED_SPREAD
    how = f"found by running {sample.items:,} of the work-items"
    if work.sample_of(launch) is not sample:
        spread, how = max(spread, _BORROWED_SPREAD), f"{how} of another launch"
    if not sample.is_complete:
        how = f"{how} for as long as there was time"
    trips: dict[int, tuple[float, float]] = {}
    shares: dict[int, tuple[float, float]] = {}
    for number, inner in numbered(work.root):
        if number not in sample.asked:
            continue
        if isinstance(inner, Loop) and (loop := sample.loops.get(number)) is not None:
            _add(trips, inner.line, loop.begun, loop.trips)
        elif isinstance(inner, Branch) and (branch := sample.branches.get(number)) is not None:
            if not branch.is_ordered:
                _add(shares, inner.line, branch.begun, branch.share)
            elif _does_something(inner.then if branch.share < 1 - branch.share else inner.otherwise):
                text = "an atomic operation decides the branch on line {line}: assumed for the last work-group alone"
                yield Assumption("share.{line}", text, _ORDERED_SPREAD, inner.line, is_guess=True)
    for line, (begun, total) in sorted(trips.items()):
        text = f"the loop on line {{line}} runs {_number(total / begun)} times on average: {how}"
        yield Assumption("loop.{line}", text, spread, line)
    for line, (begun, total) in sorted(shares.items()):
        text = f"{total / begun:.0%} of the work-items that come there go on at line {{line}}: {how}"
        yield Assumption("share.{line}", text, 1.0, line)
    for name in sample.rests_on:
        yield _open(work, launch, name)
    yield from (Assumption("sample", note) for note in sample.notes)
    if sample.open_ended:
        text = "hardly any work-item left that loop while it was run: it may run far longer, or never end"
        yield Assumption("sample", text, _OPEN_ENDED_SPREAD, is_guess=True)


def described(work: Work, counts: WorkCounts) -> frozenset[Atom]:
    """Return the names of shares and trip counts that the data decide, and of which the launch says what they are."""
    walk = counts.facts.paths.walk
    known: set[Atom] = set()
    others: set[Atom] = set()
    for _, inner in numbered(work.root):
        if isinstance(inner, Access):
            continue
        own = inner.trips.leaves if isinstance(inner, Loop) else {inner.share}
        came = inner.body if isinstance(inner, Loop) else inner.then
        is_known = key_of(inner) not in walk.assumed and (isinstance(inner, Branch) or bool(walk.runs.get(id(came))))
        (known if is_known else others).update(a for a in own if a is not None)
    return frozenset(known - others)


def not_found_out(sample: Sample) -> Iterator[Assumption]:
    """Why what was assumed stays assumed."""
    if sample.asked or sample.stopped:
        yield Assumption(
            "sample", f"running some of the work-items to find that out was not possible: {sample.stopped}"
        )


def _does_something(block: Block) -> bool:
    return bool(block.ops or block.accesses or block.inner)


def _add(sums: dict[int, tuple[float, float]], line: int, begun: float, each: float) -> None:
    before, total = sums.get(line, (0.0, 0.0))
    sums[line] = before + begun, total + begun * each


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _open(work: Work, launch: Launch, name: str) -> Assumption:
    what, line, is_loop = _decided_by(work, name)
    spread = _OPEN_LOOP_SPREAD if is_loop else _OPEN_SPREAD
    fills = " ".join(f"fill.{place}={_fill(work, launch, name)}" for place in _places(work, name))
    text = f"what `{name}` holds decides {what}; say it: `// kernelcast: {fills}`"
    return Assumption(name, text, spread, line, is_guess=is_loop)


def _decided_by(work: Work, name: str) -> tuple[str, int | None, bool]:
    """Return what the contents of `name` decide first, its line, and whether that is a loop."""
    branch: tuple[str, int | None, bool] | None = None
    access: tuple[str, int | None, bool] | None = None
    for _, inner in numbered(work.root):
        if isinstance(inner, Loop):
            leaves = [inner.trips, *([inner.leaves.before, inner.leaves.within] if inner.leaves is not None else [])]
            if any(_loads(e, name) for e in leaves):
                return "how often the loop on line {line} runs", inner.line, True
        elif isinstance(inner, Branch):
            if branch is None and _loads(inner.condition, name):
                branch = "who goes on at line {line}", inner.line, False
        elif access is None and isinstance(inner, Access) and inner.offset is not None and _loads(inner.offset, name):
            access = f"where in `{inner.buffer}` line {{line}} goes", inner.line, False
    return branch or access or ("what the kernel does", None, True)


def _loads(expression: Expression, name: str) -> bool:
    return any(_is_load(leaf, name) for leaf in expression.leaves)


def _is_load(leaf: Atom, name: str) -> bool:
    return leaf.kind == "load" and leaf.arguments[0] == name


def _places(work: Work, name: str) -> list[str]:
    """Return the members of `name` that loops, conditions and indices are read from, or `name` if it has no members."""
    found: dict[str, None] = {}
    for _, inner in numbered(work.root):
        match inner:
            case Loop():
                read = [inner.trips, *([inner.leaves.before, inner.leaves.within] if inner.leaves is not None else [])]
            case Branch():
                read = [inner.condition]
            case Access():
                read = [inner.offset] if inner.offset is not None else []
        loads = (leaf for expression in read for leaf in expression.leaves if _is_load(leaf, name))
        found.update((place, None) for load in loads if (place := place_of(work.kernel, load)))
    return sorted(found) or [name]


def place_of(kernel: Kernel, load: Atom) -> str:
    """`salt.iterations`: the buffer, and the member of its elements, that is loaded; empty for other memory."""
    name, offset = str(load.arguments[0]), load.arguments[1]
    parameter = kernel.parameter(name)
    if parameter is None or not isinstance(parameter.type, PointerType) or not isinstance(offset, Expression):
        return ""
    kind, path = parameter.type.pointee, [name]
    at = next((coefficient for monomial, coefficient in offset.terms if not monomial), 0) % max(1, kind.size_bytes)
    while isinstance(kind, StructType):
        inside = [
            (member, of, start)
            for (member, of), start in zip(kind.members, kind.offsets(), strict=True)
            if start <= at < start + max(1, of.size_bytes)
        ]
        if not inside:
            break
        member, kind, start = inside[0]
        path.append(member)
        at -= start
    return ".".join(path)


def _fill(work: Work, launch: Launch, name: str) -> str:
    """Words that would settle it, for its type."""
    parameter = _parameter(work.kernel, name)
    if parameter is not None and _holds_floats(parameter):
        return "uniform:0:1"
    indexed = (
        i.buffer for _, i in numbered(work.root) if isinstance(i, Access) and i.offset and _loads(i.offset, name)
    )
    lengths = dict(launch.buffers)
    return f"randint:0:{next((lengths[buffer] for buffer in indexed if buffer in lengths), 256)}"


def _holds_floats(parameter: Parameter) -> bool:
    kind = parameter.type.pointee if isinstance(parameter.type, PointerType) else None
    return isinstance(kind, ScalarType | VectorType) and is_float(kind)


def _parameter(kernel: Kernel, name: str) -> Parameter | None:
    found = kernel.parameter(name)
    return found if found is not None and isinstance(found.type, PointerType) else None
