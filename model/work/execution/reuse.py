"""Loads that a loop needs only once, because the iteration before has had the value in a register.

`s += row[x] * row[x + 1]` loads one element an iteration, not two. Source: LLVM's GVN, elimination of partially
redundant loads; like it, this looks no further than a subscript of one variable and a constant, one step ahead, and
only where nothing in between may have written there. In an unrolled loop all iterations are one piece of code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from model.opencl.types import AddressSpace
from model.work.execution.builder import Builder, PendingAccess, PendingLoop
from model.work.expressions.operations import substituted
from model.work.expressions.symbolic import ZERO, Atom, Expression
from model.work.regions.region import Access

Stepped = Collection[tuple[str, Expression]] | None  # buffer and offset of what is subscripted so; None for anything


def carried(
    body: Builder, around: Iterable[PendingAccess], counter: Atom, stepped: Stepped, unaliased: Collection[str]
) -> list[PendingAccess]:
    """Those of the body's loads that only its first iteration must make, as they are in that one.

    `around` is what the block around loads; `unaliased` are the buffers that no other pointer reaches. Without
    `stepped` the loop is unrolled. What the first iteration finds loaded by the block around is loaded anew in the
    others: LLVM completes it at the loop's end.
    """
    loads = [p for p in body.accesses if _steps(p.access, counter, stepped)]
    everything = list(_everything(body)) if loads else []
    if any(block.barriers for block in everything):
        return []
    stores = [a.access for block in everything for a in block.accesses if a.access.is_store]
    before = {(a.access.buffer, a.access.offset) for a in around}
    kept: set[int] = set()
    found: list[PendingAccess] = []
    for pending in loads:
        load = pending.access
        if id(pending) in kept or not _is_safe(load, stores, unaliased):
            continue
        sources = (p for p in body.accesses if _is_next(p.access, load, stepped))
        source = next((p for p in sources if stepped is None or p not in found), None)
        if source is not None and (load.buffer, _first(pending, counter).access.offset) not in before:
            if stepped is not None:
                kept.add(id(source))
            found.append(pending)
    body.accesses = [p for p in body.accesses if p not in found] if found else body.accesses
    return [_first(p, counter) for p in found]


def _everything(block: Builder) -> Iterator[Builder]:
    yield block
    for inner in block.inner:
        for part in (inner.body,) if isinstance(inner, PendingLoop) else (inner.then, inner.otherwise):
            yield from _everything(part)


def _steps(access: Access, counter: Atom, stepped: Stepped) -> bool:
    """Return whether a load goes through global memory element by element."""
    if access.is_store or access.is_atomic or access.is_image or access.offset is None:
        return False
    stride = access.offset.coefficient(counter)
    return (
        access.space in (AddressSpace.GLOBAL, AddressSpace.CONSTANT)
        and stride is not None
        and stride.constant == access.element_bytes
        and (stepped is None or (access.buffer, access.offset) in stepped)
    )


def _is_next(other: Access, load: Access, stepped: Stepped) -> bool:
    """Return whether `other` touches what `load` will load in the next iteration."""
    if other.buffer != load.buffer or other.element_bytes != load.element_bytes or other.is_atomic:
        return False
    assert load.offset is not None
    return (
        other.offset is not None
        and (stepped is None or (other.buffer, other.offset) in stepped)
        and (other.offset - load.offset).constant == load.element_bytes
    )


def _is_safe(load: Access, stores: list[Access], unaliased: Collection[str]) -> bool:
    """Return whether each store is known to be elsewhere, or to be just there."""
    assert load.offset is not None
    for store in stores:
        if store.buffer == load.buffer:
            if store.offset is None or (store.offset - load.offset).constant is None or store.is_atomic:
                return False
        elif store.space is AddressSpace.GLOBAL and not {store.buffer, load.buffer} & set(unaliased):
            return False
    return True


def _first(pending: PendingAccess, counter: Atom) -> PendingAccess:
    access = pending.access
    offset = substituted(access.offset, {counter: ZERO}) if access.offset is not None else None
    return pending._replace(access=replace(access, offset=offset))
