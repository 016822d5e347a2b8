"""Figures as advice says them."""

from __future__ import annotations

from collections.abc import Sequence


def bytes_text(count: float) -> str:
    """`4.19 MB`; decimal prefixes."""
    for factor, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"


def sizes_text(sizes: Sequence[int]) -> str:
    """`16x16`, without dimensions of 1 at the end."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept))


def times_text(factor: float) -> str:
    """`16`, `4.4`."""
    return f"{factor:.0f}" if factor >= 10 or factor == int(factor) else f"{factor:.1f}"


def names_text(names: Sequence[str]) -> str:
    """`` `a`, `b` and `c` ``."""
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
