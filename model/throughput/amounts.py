"""What source and machine code have in common, line by line: operations and elements moved, by kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from model.compiled import CodeRegion, InstructionCount
from model.opencl.builtins import BUILTINS
from model.opencl.types import AddressSpace
from model.throughput.cycles import bits_of
from model.work.counts import LineCount, OpKind
from model.work.work_counts import WorkCounts

# How far code and source agree on an operation's number: compilers merge loads, fold divisions by constants, and add
# integers for addresses and loops, which count where there is nothing else.
SURENESS = {"store": 1.0, "flops": 1.0, "atomic": 2.0, "call": 1.5, "divide": 1.0, "load": 0.5, "int_divide": 1.0,
            "compare": 0.3, "int_mul": 0.2, "integer": 0.02}  # fmt: skip
_OF_SOURCE = {
    OpKind.ADD: ("flops", 1.0), OpKind.MUL: ("flops", 1.0), OpKind.FMA: ("flops", 2.0), OpKind.DIVIDE: ("divide", 1.0),
    OpKind.SQRT: ("divide", 1.0), OpKind.SPECIAL: ("call", 1.0), OpKind.NATIVE: ("call", 1.0),
    OpKind.INT_DIVIDE: ("int_divide", 1.0), OpKind.COMPARE: ("compare", 1.0), OpKind.INT_MUL: ("int_mul", 1.0),
    OpKind.INTEGER: ("integer", 1.0),
}  # fmt: skip
_OF_CODE = {
    "add": ("flops", 1.0), "mul": ("flops", 1.0), "fma": ("flops", 2.0), "divide": ("divide", 1.0),
    "sqrt": ("divide", 1.0), "call": ("call", 1.0), "int_divide": ("int_divide", 1.0), "compare": ("compare", 1.0),
    "int_mul": ("int_mul", 1.0), "integer": ("integer", 1.0), "atomic": ("atomic", 1.0),
}  # fmt: skip
_INTEGER = frozenset({OpKind.INT_DIVIDE, OpKind.INT_MUL, OpKind.INTEGER})
_OTHER_CODE = frozenset({"int_divide", "int_mul", "integer", "call", "atomic"})  # of any element type
_MEMORY = {"load": "load", "gather": "load", "store": "store", "scatter": "store"}
_BUFFERS = frozenset({AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT, AddressSpace.LOCAL})
_WORD = 4.0  # bytes

Amounts = Mapping[str, float]


def wanted_by_line(work: WorkCounts) -> dict[int, Amounts]:
    """Return what the source does in the launch, for lines that do anything of a kind in `SURENESS`."""
    return {each.line: amounts for each in work.lines if (amounts := _of_source(each))}


def amounts_of(regions: Sequence[CodeRegion], loops: int, work: WorkCounts) -> list[dict[int, dict[str, float]]]:
    """Return what one round of each of so many `loops` does, by line."""
    sizes = {each.line: {is_store: _element_bytes(each, is_store) for is_store in (False, True)} for each in work.lines}
    found: list[dict[int, dict[str, float]]] = [defaultdict(lambda: defaultdict(float)) for _ in range(loops)]
    for region in regions:
        if region.line is None:
            continue
        size = sizes.get(region.line, {})
        for each in region.mix:
            for kind, amount in _of_instruction(each, size):
                found[region.loop][region.line][kind] += amount
    return [{line: dict(amounts) for line, amounts in own.items()} for own in found]


def _of_source(line: LineCount) -> Amounts:
    found: dict[str, float] = defaultdict(float)
    for op in line.ops:
        if op.kind in _OF_SOURCE and (op.element[0] == "f" or op.kind in _INTEGER):
            name, factor = _OF_SOURCE[op.kind]
            found[name] += op.count * factor
    for access in line.accesses:
        if access.is_atomic:
            found["atomic"] += access.count
        elif access.space in _BUFFERS:
            found["store" if access.is_store else "load"] += access.count * access.width
    return {kind: amount for kind, amount in found.items() if amount > 0}


def _element_bytes(line: LineCount, is_store: bool) -> float:
    """Return the size of what the line loads or stores, on average."""
    own = [a for a in line.accesses if a.is_store is is_store and a.space in _BUFFERS]
    elements = sum(a.count * a.width for a in own)
    return sum(a.count * a.element_bytes for a in own) / elements if elements else _WORD


def _of_instruction(each: InstructionCount, size: Mapping[bool, float]) -> list[tuple[str, float]]:
    """Return the amounts of an instruction; a call counts as what its function does.

    `size` is that of the source's elements by whether they are stored.
    """
    amount = float(each.count * each.lanes)
    if each.kind in _MEMORY:
        kind = _MEMORY[each.kind]
        return [] if each.space else [(kind, each.count * _moved(each, size.get(kind == "store", _WORD)))]
    if each.kind == "call" and each.element in BUILTINS:
        costs = [(_OF_SOURCE[OpKind(k)], n) for k, n in BUILTINS[each.element].costs if k in _OF_SOURCE]
        return [(kind, amount * n * factor) for (kind, factor), n in costs]
    if each.kind == "call" and each.element.startswith(("atomic", "atom_")):
        return [("atomic", amount)]
    if each.kind in _OF_CODE and (each.element[:1] == "f" or each.kind in _OTHER_CODE):
        kind, factor = _OF_CODE[each.kind]
        return [(kind, amount * factor)]
    return []


def _moved(each: InstructionCount, size: float) -> float:
    """Return the elements of `size` bytes that one such instruction moves; scalar ones hardly tell their width."""
    parts = each.lanes * bits_of(each) / 8 / size
    return parts if each.lanes > 1 else max(1.0, parts) if each.element == "f64" else 1.0
