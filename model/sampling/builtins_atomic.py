"""Atomics in all spellings: of lanes that meet at one place each sees what those before it left (section 6.15.12)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import INT, VOID
from model.opencl.kernel import ParameterKind
from model.opencl.syntax import is_in_loop
from model.opencl.types import PointerType, ScalarKind, ScalarType
from model.sampling.code import Code, Place
from model.sampling.compiler import Compiler
from model.sampling.estimate import Draws
from model.sampling.places import assigned_as, load, stored
from model.sampling.tables import Function, table
from model.sampling.taint import read_through
from model.sampling.values import Array, Value, dtype_of

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes

_OPERATIONS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _target(c: Compiler, name: str, values: list[Code], node: Node) -> tuple[Code, ScalarType]:
    pointer = values[0] if values else None
    if pointer is None or not isinstance(pointer.type, PointerType) or not isinstance(pointer.type.pointee, ScalarType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    return pointer, pointer.type.pointee


def _fetch(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """Return what reads, changes and writes: gives what was there before."""
    pointer, kind = _target(c, name, values, node)
    word = name.removesuffix("_explicit").removeprefix("atomic_").removeprefix("atom_").removeprefix("fetch_")
    if word in ("inc", "dec"):
        one = dtype_of(kind).type(1)
        operand = Code(lambda _: one, kind, None, one)
        word = "add" if word == "inc" else "sub"
    elif len(values) > 1:
        operand = assigned_as(values[1], kind)
    else:
        raise c.refuse(f"`{name}` does not take these arguments", node)
    function = _OPERATIONS.get(word)
    if kind.kind is ScalarKind.FLOAT and word in ("and", "or", "xor"):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    access, dtype = c.access(node), dtype_of(kind)
    where, what = pointer.run, operand.run
    c.address_taints |= pointer.taint
    c.atomic_taints |= read_through(pointer.taint)
    for token in read_through(pointer.taint):
        c.flows.assigned(token, operand.taint)
    c.cost += 30
    is_ticket = _is_ticket(c, pointer, node) if word in ("add", "sub") and kind.kind is not ScalarKind.FLOAT else None

    def run(f: Lanes) -> Value:
        at, value = where(f), what(f)
        if is_ticket is not None and f.stands_for > 1 and is_ticket():
            value = value * dtype.type(round(f.stands_for))
        if access is not None:
            f.context.accesses[access].note(f, at, dtype.itemsize)
        active, addresses, operands = _active(f, at, value)
        before = _before(f, addresses, operands, function, dtype)
        if is_ticket is not None and is_ticket():
            _note_draw(f, node.start_byte, float(before.mean()))
        return _spread(f, active, before, dtype)

    return Code(run, kind, is_pure=False, taint=read_through(pointer.taint))


def _note_draw(f: Lanes, place: int, mean: float) -> None:
    draws = f.draws.get(place)
    if draws is None:
        f.draws[place] = Draws(mean, mean)
    else:
        draws.add(mean)


def _is_ticket(c: Compiler, pointer: Code, node: Node) -> Callable[[], bool] | None:
    """Return what tells, once all is compiled, whether a counter in global memory deals out the rounds of a loop.

    All work-items of the launch draw from it, and each lane also draws for those that are not run. None outside loops.
    """
    if not is_in_loop(node):
        return None
    drawn = read_through(pointer.taint)

    @cache
    def is_ticket() -> bool:
        buffers = {p.name for p in c.kernel.of_kind(ParameterKind.BUFFER)}
        return not buffers.isdisjoint(c.flows.buffers(drawn) & c.flows.buffers(c.ending_taints))

    return is_ticket


def _active(f: Lanes, at: Value, *values: Value) -> tuple[Value, ...]:
    active = np.flatnonzero(f.whole_mask())
    return (active, *(np.broadcast_to(v, (f.width,))[active] for v in (at, *values)))


def _spread(f: Lanes, active: Array, values: Array, dtype: np.dtype[Any]) -> Array:
    out = np.zeros(f.width, dtype)
    out[active] = values
    return out


def _before(f: Lanes, addresses: Array, operands: Array, function: Value, dtype: np.dtype[Any]) -> Array:
    """Apply `function` (None: exchange) one lane after the other at each address; gives what each lane found."""
    order = np.argsort(addresses, kind="stable")
    place, value = addresses[order], operands[order]
    begins = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
    ends = np.append(begins[1:], len(place))
    held = _load(f, place[begins], dtype)
    before = np.empty(len(place), dtype)
    left = np.empty(len(begins), dtype)
    single = ends - begins == 1
    alone = begins[single]
    before[alone] = held[single]
    left[single] = value[alone] if function is None else function(held[single], value[alone])
    for number in np.flatnonzero(~single):
        first, last = begins[number], ends[number]
        chain = np.concatenate((held[number : number + 1], value[first:last]))
        if function is np.subtract:
            chain[1:] = -chain[1:]
            chain = np.add.accumulate(chain, dtype=dtype)
        elif function is not None:
            chain = function.accumulate(chain)
        before[first:last] = chain[:-1]
        left[number] = chain[-1]
    _store(f, place[begins], left, dtype)
    out = np.empty(len(place), dtype)
    out[order] = before
    return out


class _Alone:
    """Stands for lanes where memory is read and written for some addresses only."""

    __slots__ = ("mask", "width")

    def __init__(self, width: int) -> None:
        self.width = width
        self.mask: Array | None = None

    def whole_mask(self) -> Array:
        return np.ones(self.width, np.bool_)


def _load(f: Lanes, addresses: Array, dtype: np.dtype[Any]) -> Array:
    return np.broadcast_to(f.memory.load(_Alone(len(addresses)), addresses, dtype), addresses.shape)


def _store(f: Lanes, addresses: Array, values: Array, dtype: np.dtype[Any]) -> None:
    f.memory.store(_Alone(len(addresses)), addresses, values, dtype)


def _exchange_if(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """`atomic_cmpxchg(p, old, new)`: one lane after the other.

    Lanes go in step, so those that meet at one place have all read it before the first of them writes; of work-items
    that run one after the other, each would have read what the one before it left. So where `old` is a variable, as in
    the loops that stand for an atomic addition of floats, each of these lanes finds what it expects. A constant `old`
    claims something, which only one of them can.
    """
    pointer, kind = _target(c, name, values, node)
    if len(values) < 3:
        raise c.refuse(f"`{name}` does not take these arguments", node)
    expected, new = assigned_as(values[1], kind), assigned_as(values[2], kind)
    access, dtype = c.access(node), dtype_of(kind)
    where, old_run, new_run = pointer.run, expected.run, new.run
    c.address_taints |= pointer.taint
    c.atomic_taints |= read_through(pointer.taint)
    for token in read_through(pointer.taint):
        c.flows.assigned(token, new.taint)
    c.cost += 40
    claims = expected.constant is not None

    def run(f: Lanes) -> Value:
        at, old, fresh = where(f), old_run(f), new_run(f)
        if access is not None:
            f.context.accesses[access].note(f, at, dtype.itemsize)
        active, addresses, olds, news = _active(f, at, old, fresh)
        return _spread(f, active, _compared(f, addresses, olds, news, dtype, claims), dtype)

    return Code(run, kind, is_pure=False, taint=read_through(pointer.taint))


def _compared(f: Lanes, addresses: Array, olds: Array, news: Array, dtype: np.dtype[Any], claims: bool) -> Array:
    unique, number = np.unique(addresses, return_inverse=True)
    held = np.array(_load(f, unique, dtype))
    if len(unique) == len(addresses) or not claims:
        before = held[number]
        finds = before == olds
        held[number[finds]] = news[finds]
    else:
        before = np.empty(len(addresses), dtype)
        f.meter.spend(len(addresses) // 4, 0)
        for lane, place in enumerate(number.tolist()):
            before[lane] = held[place]
            if held[place] == olds[lane]:
                held[place] = news[lane]
    _store(f, unique, held, dtype)
    return before


def _compare_exchange(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    """C11's: what was expected is replaced by what was found; gives whether they were equal."""
    pointer, kind = _target(c, name, values, node)
    if len(values) < 3 or not isinstance(values[1].type, PointerType):
        raise c.refuse(f"`{name}` does not take these arguments", node)
    place = Place(values[1].type.pointee, address=values[1].run, pointer=values[1].taint)
    expected = load(c, place)
    held: list[Any] = [None, None]
    found = _exchange_if(c, name, [pointer, Code(lambda _: held[0], kind), values[2]], node)
    put = stored(c, place, Code(lambda _: held[1], kind, taint=found.taint))
    old_run, exchange = assigned_as(expected, kind).run, found.run

    def run(f: Lanes) -> Value:
        held[0] = old_run(f)
        held[1] = exchange(f)
        equal = held[0] == held[1]
        put(f)
        return equal.astype(np.int32)

    return Code(run, INT, is_pure=False, taint=found.taint)


def _load_call(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    pointer, kind = _target(c, name, values, node)
    return load(c, Place(kind, address=pointer.run, pointer=pointer.taint, access=c.access(node)))


def _store_call(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    pointer, kind = _target(c, name, values, node)
    if len(values) < 2:
        raise c.refuse(f"`{name}` does not take these arguments", node)
    place = Place(kind, address=pointer.run, pointer=pointer.taint, access=c.access(node))
    return Code(stored(c, place, values[1]), VOID, is_pure=False)


def _flag(c: Compiler, name: str, values: list[Code], node: Node) -> Code:
    pointer, kind = _target(c, name, values, node)
    value = dtype_of(kind).type(1 if "test_and_set" in name else 0)
    found = _fetch(c, "atomic_exchange", [pointer, Code(lambda _: value, kind, None, value)], node)
    return found if "test_and_set" in name else Code(found.run, VOID, is_pure=False)


_WORDS = ("add", "sub", "xchg", "inc", "dec", "min", "max", "and", "or", "xor")
_FETCHED = ("add", "sub", "or", "xor", "and", "min", "max")
ATOMIC_FUNCTIONS: dict[str, Function] = {
    **table(_fetch, *(f"{prefix}{word}" for prefix in ("atomic_", "atom_") for word in _WORDS)),
    **table(_fetch, *(f"atomic_fetch_{word}{end}" for word in _FETCHED for end in ("", "_explicit"))),
    **table(_fetch, "atomic_exchange", "atomic_exchange_explicit"),
    **table(_exchange_if, "atomic_cmpxchg", "atom_cmpxchg"),
    **table(
        _compare_exchange,
        *(f"atomic_compare_exchange_{how}{end}" for how in ("strong", "weak") for end in ("", "_explicit")),
    ),
    **table(_load_call, "atomic_load", "atomic_load_explicit"),
    **table(_store_call, "atomic_store", "atomic_store_explicit", "atomic_init"),
    **table(_flag, *(f"atomic_flag_{what}{end}" for what in ("test_and_set", "clear") for end in ("", "_explicit"))),
}
