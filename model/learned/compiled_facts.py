"""What a device's compiler made of a kernel, in numbers: an optional group of inputs (see `model.compiled`)."""

from __future__ import annotations

import math

from model.compiled import CompiledFacts

COMPILED_FACT_NAMES = ("registers", "vector_width_bits", "code_bytes")


def compiled_facts(facts: CompiledFacts) -> tuple[float, ...]:
    """In the order of COMPILED_FACT_NAMES. NaN where the driver does not tell."""
    return tuple(
        math.nan if size is None else math.log2(size + 1)
        for size in (facts.registers, facts.vector_width_bits, facts.code_bytes)
    )
