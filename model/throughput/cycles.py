"""How many cycles a core takes for a mix of instructions that do not wait for each other, unit by unit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from model.compiled import InstructionCount
from model.throughput.processors import Microarchitecture

# What instructions compete for. `issue` is one slot of all that a core begins in a cycle; what is `alone` lets nothing
# run beside it: library functions with their saved registers, and atomics.
PORTS = ("issue", "load", "store", "divide", "shuffle", "float", "multiply", "branch", "integer", "vector",
         "alone")  # fmt: skip
_AT = {name: at for at, name in enumerate(PORTS)}
_ATOMIC_CYCLES = 20.0  # of a locked instruction on a line that the core owns; uops.info: 18 to 20 since Haswell
_FLOAT_ADD = ("add", "compare", "simple", "convert")
_WIDE_MULTIPLY = {"i32": 2.0, "i64": 3.0}  # operations that a packed multiplication is made of
Doubles = npt.NDArray[np.float64]


def pressure_of(mix: Iterable[InstructionCount], instructions: float, core: Microarchitecture) -> Doubles:
    """Return the cycles that these instructions keep each of PORTS busy; library functions cost nothing here."""
    ports = np.zeros(len(PORTS))
    ports[_AT["issue"]] = instructions / core.issued
    for each in mix:
        for port, cycles in _ports(each, core):
            ports[_AT[port]] += each.count * cycles
    return ports


def bits_of(each: InstructionCount) -> int:
    """Return the width of one element; 32 where the instruction does not tell."""
    return int(each.element[1:]) if each.element[1:].isdigit() else 32


def _ports(each: InstructionCount, core: Microarchitecture) -> tuple[tuple[str, float], ...]:
    """Return what one such instruction occupies, and for how long."""
    bits = each.lanes * bits_of(each)
    is_float = each.element[:1] == "f"
    match each.kind:
        case "call" | "move":
            return ()
        case "atomic":
            return (("alone", _ATOMIC_CYCLES),)
        case "load":
            return (("load", 1 / core.load.of(bits)),)
        case "store":
            return (("store", 1 / core.store.of(bits)),)
        case "gather":
            return (("load", each.lanes * core.gather_cycles), ("issue", each.lanes / core.issued))
        case "scatter":
            return (("store", each.lanes * core.scatter_cycles), ("issue", 2 * each.lanes / core.issued))
        case "divide" | "sqrt":
            by_width = core.divide_f64_cycles if each.element == "f64" else core.divide_f32_cycles
            return (("divide", by_width.of(bits)),)
        case "int_divide":
            return (("divide", core.divide_i64_cycles if each.element == "i64" else core.divide_i32_cycles),)
        case "shuffle":
            return (("shuffle", 1 / core.shuffle.of(bits)), ("vector", 1 / core.vector_integer.of(bits)))
        case "mul" | "fma" | "native":
            return (("float", 1 / core.multiply.of(bits)), ("vector", 1 / core.vector_integer.of(bits)))
        case kind if kind in _FLOAT_ADD and is_float:
            return (("float", 1 / core.add.of(bits)), ("vector", 1 / core.vector_integer.of(bits)))
        case "int_mul" if each.lanes > 1:
            parts = _WIDE_MULTIPLY.get(each.element, 1.0)
            return (("float", parts / core.multiply.of(bits)), ("vector", parts / core.vector_integer.of(bits)))
        case "int_mul":
            return (("multiply", 1.0), ("integer", 1 / core.integer))
        case "branch":
            return (("branch", 1 / core.branch), ("integer", 1 / core.integer))
        case _ if each.lanes > 1 or is_float:
            return (("vector", 1 / core.vector_integer.of(bits)),)
        case _:
            return (("integer", 1 / core.integer),)
