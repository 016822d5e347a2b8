"""Expressions in which certain names are sure to occur: or what was loaded or waited for would be in vain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.writing.types import is_real

_TRIES = 8


def mixture(draw: Draw, hand: Hand, names: Sequence[str], type_: str, depth: int, beside: Sequence[str] = ()) -> str:
    """Return an expression over `names` and those `beside`, in which all `names` occur."""
    for _ in range(_TRIES):
        text = expression(draw, [*names, *beside], type_, depth)
        if all(re.search(rf"\b{name}\b", text) for name in names):
            return text
    if is_real(type_):
        share = hand.literal(float(f"{1 / max(2, len(names)):.2g}"), type_)
        return f"({' + '.join(names)}) * {share}"
    return f"({draw.choose((' ^ ', ' + ')).join([*names, '1'])})"
