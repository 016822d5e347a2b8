"""Which bytes an access touches in a launch, a work-group or a work-item: the visits of a walk as strided sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from model.work.expressions.contents import held_at
from model.work.expressions.evaluate import evaluate
from model.work.expressions.intervals import slopes_of
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear import Linear, LinearReader, NotLinear
from model.work.expressions.linear_sums import Slopes
from model.work.expressions.numbers import Value
from model.work.expressions.symbolic import GLOBAL_ID, GROUP_ID, LOCAL_ID, Atom, Expression
from model.work.memory.scopes import Scope, Shape, typical, volume
from model.work.memory.strided import Strided, Touched, strided
from model.work.regions.region import Access
from model.work.walk.access_extents import MAX_KEPT, Point, Ranges, Visit

MAX_BOUND = 64  # values of ids and counters that are tried one by one where an index is not linear in them
MAX_DEPTH = 2
MAX_VISITS = 4  # of an access whose index is not linear
SHALLOW = 8  # deeper indices take long to evaluate
MAX_BOUND_DEEP = 8
_NEARLY = 1e-9


def touched(access: Access, visits: list[Visit], scope: Scope, known: LaunchBindings, shape: Shape) -> Touched | None:
    """None where the data decide the place, or nobody knows it."""
    offset = access.offset
    if offset is None or access.is_image:
        return None
    plain = slopes_of(offset, known)
    base, form = (0, offset) if plain is None else (plain.base, plain.slopes)
    key = (form, access.element_bytes, id(visits), scope)
    kept = shape.sets.get(key)
    if kept is None:
        is_known = plain is not None or is_placed(offset, known)
        found = _looked_at(access, offset, plain, visits, scope, known, shape) if is_known else None
        kept = shape.sets[key] = base, found
    start, found = kept
    return found if found is None or start == base else _moved(found, base - start)


def _moved(found: Touched, by: int) -> Touched:
    """Return the neighbour's access: all of it stands so many bytes further on."""
    return replace(found, sets=tuple(Strided(s.start + by, s.strides, s.width) for s in found.sets))


def _looked_at(
    access: Access,
    offset: Expression,
    plain: Slopes | None,
    visits: list[Visit],
    scope: Scope,
    known: LaunchBindings,
    shape: Shape,
) -> Touched | None:
    """As `touched`, visit by visit."""
    sets: list[Strided] = []
    is_exact = len(visits) < MAX_KEPT
    looked_at = visits if scope is Scope.LAUNCH else typical(visits, scope, shape)
    executed = looked_at[0][0] if len(looked_at) == 1 else sum(weight for weight, _, _ in looked_at)
    if plain is not None:
        found = _plain_sets(plain, looked_at, access.element_bytes, shape)
        if found is not None:
            sets, seen = found
            return _touched(sets, executed, seen, scope, visits, is_exact=is_exact)
    if len(looked_at) > MAX_VISITS and not _is_linear(offset, looked_at[0], known, shape):
        looked_at = [looked_at[(2 * j + 1) * len(looked_at) // (2 * MAX_VISITS)] for j in range(MAX_VISITS)]
        is_exact = False
    budget = max((MAX_BOUND if offset.depth <= SHALLOW else MAX_BOUND_DEEP) // max(1, len(looked_at) ** 2), 2)
    seen = 0.0
    for _, point, ranges in looked_at:
        for apart, fits in parted(offset, point, ranges, shape):
            is_exact = is_exact and fits
            at = evaluate(offset, known, point) if apart.keys().isdisjoint(offset.leaves) else None
            if isinstance(at, int):  # all is bound: one place
                sets.append(strided(at, (), max(1, access.element_bytes)))
                seen += volume(apart, shape)
                continue
            try:
                for reader, index, is_whole in _bound(offset, point, apart, known, shape, budget):
                    sets.append(_set(_joined(index, reader.ranges, shape), reader, access.element_bytes))
                    is_exact = is_exact and reader.is_exact and is_whole
                    seen += volume(reader.ranges, shape)
            except NotLinear:
                return None
    return _touched(sets, executed, seen, scope, visits, is_exact=is_exact)


def _touched(
    sets: list[Strided], executed: float, seen: float, scope: Scope, visits: list[Visit], *, is_exact: bool
) -> Touched:
    is_sampled = scope is Scope.GROUP and any(atom in point for _, point, _ in visits for atom in GLOBAL_ID)
    is_full = abs(executed - seen) <= _NEARLY * executed
    return Touched(tuple(sets), max(1.0, executed / seen) if seen else 1.0, is_exact and is_full and not is_sampled)


def is_placed(offset: Expression, known: LaunchBindings) -> bool:
    """Return whether the launch decides the place: nothing unknown, nothing loaded but what is known to be constant."""
    for leaf in offset.leaves:
        if leaf.kind == "unknown" and leaf not in known.parameters:
            return False
        if leaf.kind == "load":
            contents = held_at(leaf, known.contents)
            if contents is None or contents.fill is None or contents.fill.kind not in ("zeros", "const"):
                return False
    return True


# --- sets of visits whose ids are free of each other -----------------------------------------------------


def _plain_sets(plain: Slopes, visits: list[Visit], width: int, shape: Shape) -> tuple[list[Strided], float] | None:
    """Return the sets and how often they are executed; None where ids must be taken apart first (see `cut_ids`)."""
    uses = plain.parts.uses | _ANY_CUT
    sets: list[Strided] = []
    seen = 0.0
    known = shape.seen
    for _, point, ranges in visits:
        key = (id(point), id(ranges))
        found = known.get(key)
        if found is None:
            found = known[key] = _entangled(point, ranges, shape), volume(ranges, shape)
        if found[0] & uses:
            return None
        seen += found[1]
        base = plain.base
        strides: list[tuple[int, int]] = []
        for atom, slope in plain.slopes:
            value = point.get(atom)
            if value is not None:
                base += slope * round(value)
                continue
            span = ranges.get(atom)
            if span is None:
                return None
            base += slope * span[0]
            count = span[1] - span[0]
            if count > 1:
                strides.append((slope, count))
        sets.append(strided(base, strides, max(1, width)))
    return sets, seen


_ANY_CUT = 0b111 << 9


def _entangled(point: Point, ranges: Ranges, shape: Shape) -> int:
    """By dimension, which uses of ids (bits as in `Parts`) would have to be taken apart; bits 9 to 11: any index."""
    found = 0
    for d in range(3):
        whole, local, group = GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]
        if whole not in ranges:
            continue
        is_cut = bool(cut_ids(d, ranges, shape))
        has_both = local in ranges and group in ranges
        if has_both:
            fits = is_all(whole, d, ranges, shape)
            is_free = not is_cut
        else:
            start = point[group] * shape.local[d] if group in point else None
            low, high = ranges.get(local, (point.get(local, 0), point.get(local, 0) + 1))
            follows = start is not None and ranges[whole] == (start + low, start + high)
            fits = follows or is_all(whole, d, ranges, shape)
            is_free = (follows and local in ranges) or not ({local, group} & (ranges.keys() | point.keys()))
        found |= (not is_free) << d | (not fits) << (3 + d) | 1 << (6 + d) | (is_cut and not fits) << (9 + d)
    return found


# --- sets of one visit -----------------------------------------------------------------------------------


def _is_linear(offset: Expression, visit: Visit, known: LaunchBindings, shape: Shape) -> bool:
    _, point, ranges = visit
    try:
        LinearReader(known, point, ranges, related_ids(offset, point, ranges, shape)).read(offset)
    except NotLinear:
        return False
    return True


def _bound(
    offset: Expression, point: Point, ranges: Ranges, known: LaunchBindings, shape: Shape, budget: int, depth: int = 0
) -> Iterator[tuple[LinearReader, Linear, bool]]:
    """Yield the index of a visit, taken apart by the values of what it is not linear in.

    The last of each tells whether that is all of it. Raises NotLinear.
    """
    reader = LinearReader(known, point, ranges, related_ids(offset, point, ranges, shape))
    try:
        yield reader, reader.read(offset), True
    except NotLinear as obstacle:
        atoms = sorted(obstacle.atoms & ranges.keys(), key=lambda a: (ranges[a][1] - ranges[a][0], a.serial))
        if not atoms or depth >= MAX_DEPTH or not budget:
            raise
        low, high = ranges[atoms[0]]
        values = min(high - low, budget)
        for j in range(values):
            now, rest = _with_value(atoms[0], low + (high - low) * j // values, point, ranges, shape)
            for inner, index, is_whole in _bound(offset, now, rest, known, shape, budget // values, depth + 1):
                yield inner, index, is_whole and values == high - low


def _with_value(atom: Atom, value: int, point: Point, ranges: Ranges, shape: Shape) -> tuple[Point, Ranges]:
    now: Point = {**point, atom: value}
    rest = {a: r for a, r in ranges.items() if a is not atom}
    for d in range(3):
        if atom is GLOBAL_ID[d]:
            now[GROUP_ID[d]], now[LOCAL_ID[d]] = divmod(value, shape.local[d])
            rest.pop(GROUP_ID[d], None)
            rest.pop(LOCAL_ID[d], None)
        elif GROUP_ID[d] in now and LOCAL_ID[d] in now and GLOBAL_ID[d] not in now:
            now[GLOBAL_ID[d]] = now[GROUP_ID[d]] * shape.local[d] + now[LOCAL_ID[d]]
            rest.pop(GLOBAL_ID[d], None)
    return now, rest


def related_ids(offset: Expression, point: Point, ranges: Ranges, shape: Shape) -> dict[Atom, Linear]:
    """Return a global id in terms of group and local id, where the index (or the walk) speaks of these, too."""
    related: dict[Atom, Linear] = {}
    for d in range(3):
        whole, local, group = GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]
        if whole not in offset.leaves or whole in point:
            continue
        if not {local, group} & (offset.leaves | point.keys() | cut_ids(d, ranges, shape)):
            continue
        index = Linear(0)
        for atom, slope in ((group, shape.local[d]), (local, 1)):
            if atom in point:
                index = index.plus(Linear(round(point[atom])), slope)
            else:
                low, high = ranges.get(atom, (0, 1))
                index = index.plus(Linear(low, (((atom, 1), 1),) if high - low > 1 else ()), slope)
        related[whole] = index
    return related


def _joined(index: Linear, ranges: Ranges, shape: Shape) -> Linear:
    """`group * local size + lane` is the global id: its range may be cut where the others' are not."""
    slopes = dict(index.slopes)
    base = index.base
    for d in range(3):
        group, local = (GROUP_ID[d], 1), (LOCAL_ID[d], 1)
        size, low_high = shape.local[d], ranges.get(GLOBAL_ID[d])
        each = slopes.get(local)
        whole = ranges.get(LOCAL_ID[d]) == (0, size) and ranges.get(GROUP_ID[d]) == (0, shape.groups[d])
        if each is None or low_high is None or not whole or slopes.get(group) != each * size:
            continue
        del slopes[group], slopes[local]
        base += low_high[0] * each
        slopes[GLOBAL_ID[d], 1] = each
    return Linear(base, tuple(slopes.items()))


def _set(index: Linear, reader: LinearReader, width: int) -> Strided:
    return strided(index.base, [(slope, reader.count(digit)) for digit, slope in index.slopes], max(1, width))


def number_at(expression: Expression, known: LaunchBindings, point: Point, ranges: Ranges) -> Value | None:
    """Return the value with everything that is not bound in the middle of its range."""
    middle = {a: (low + high - 1) // 2 for a, (low, high) in ranges.items()}
    return evaluate(expression, known, {**middle, **point})


def parted(offset: Expression, point: Point, ranges: Ranges, shape: Shape) -> Iterator[tuple[Ranges, bool]]:
    """Parts of the ranges in which local and group ids are free of each other, and whether they are all there is."""
    parts: list[tuple[Ranges, bool]] = [(ranges, True)]
    for d in range(3):
        whole, local, group = GLOBAL_ID[d], LOCAL_ID[d], GROUP_ID[d]
        if whole not in ranges or not {local, group} & (offset.leaves | cut_ids(d, ranges, shape)):
            continue
        if local not in ranges or group not in ranges:
            start = point[group] * shape.local[d] if group in point else None
            low, high = ranges.get(local, (point.get(local, 0), point.get(local, 0) + 1))
            fits = start is not None and ranges[whole] == (start + low, start + high)
            parts = [(r, exact and (fits or is_all(whole, d, ranges, shape))) for r, exact in parts]
        elif not is_all(whole, d, ranges, shape):
            parts = [({**r, **cut}, exact) for r, exact in parts for cut in _pieces(d, r, shape)]
    yield from parts


def cut_ids(d: int, ranges: Ranges, shape: Shape) -> set[Atom]:
    sizes = ((LOCAL_ID[d], shape.local[d]), (GROUP_ID[d], shape.groups[d]))
    return {atom for atom, size in sizes if atom in ranges and ranges[atom] != (0, size)}


def is_all(atom: Atom, d: int, ranges: Ranges, shape: Shape) -> bool:
    return ranges[atom] == (0, shape.local[d] * shape.groups[d])


def _pieces(d: int, ranges: Ranges, shape: Shape) -> Iterator[Ranges]:
    """Yield the end of the first group, whole groups, and the beginning of the last one."""
    size = shape.local[d]
    low, high = ranges[GLOBAL_ID[d]]
    lanes, groups = ranges[LOCAL_ID[d]], ranges[GROUP_ID[d]]
    first, last = -(-low // size), high // size
    found = [(first, last, 0, size)] if first <= last else []
    if low % size:
        found.append((first - 1, first, low % size, size if first <= last else high % size))
    if high % size and first <= last:
        found.append((last, last + 1, 0, high % size))
    for start, end, lane, past in found:
        inside = (max(start, groups[0]), min(end, groups[1]))
        at = (max(lane, lanes[0]), min(past, lanes[1]))
        if inside[0] < inside[1] and at[0] < at[1]:
            whole = (inside[0] * size + at[0], (inside[1] - 1) * size + at[1])
            yield {GROUP_ID[d]: inside, LOCAL_ID[d]: at, GLOBAL_ID[d]: whole}
