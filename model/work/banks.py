"""Local memory in banks: how many passes the lanes of a warp need to read or write it at once.

32 banks of 4 bytes, neighbouring words in neighbouring banks; lanes on the same word share it. Wider accesses go in
phases: 8 bytes a half of the warp at a time, 16 bytes a quarter. Sources: "CUDA C++ Programming Guide", shared memory;
"AMD OpenCL Optimization Guide" and "AMD RDNA/CDNA performance guides", local data share (32 banks of 4 bytes).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from model.work.lanes import Warp

BANKS = 32
BANK_BYTES = 4


def conflict_degree(offsets: Sequence[int], element_bytes: int, banks: int = BANKS) -> float:
    """Passes over the fewest possible: 1 without conflicts, up to 32 where all lanes meet in one bank."""
    words = max(1, -(-element_bytes // BANK_BYTES))
    lanes = max(1, banks // words)  # that are served at once
    phases = [offsets[i : i + lanes] for i in range(0, len(offsets), lanes)]
    passes = [_passes(phase, words, banks) for phase in phases]
    return sum(passes) / len(passes) if passes else 1.0


def _passes(offsets: Sequence[int], words: int, banks: int) -> int:
    """Return the most different words that one bank has to give."""
    asked: dict[int, set[int]] = defaultdict(set)
    for offset in offsets:
        first = offset // BANK_BYTES
        for word in range(first, first + words):
            asked[word % banks].add(word)
    return max((len(different) for different in asked.values()), default=1)


def mean_conflict_degree(warps: Sequence[Warp], element_bytes: int) -> float | None:
    """Over the warps that execute an access; None where nobody knows where they stand."""
    total = sum(w.weight for w in warps)
    if not total:
        return None
    return sum(w.weight * conflict_degree(w.offsets, element_bytes) for w in warps) / total
