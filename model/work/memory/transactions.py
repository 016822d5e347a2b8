"""What a warp asks of memory at once: transactions of global memory, bank conflicts of local memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from model.work.memory.lanes import Warp

SECTOR_BYTES = 32
LINE_BYTES = 128


@dataclass(frozen=True, slots=True)
class Transactions:
    """What a warp asks for at once, on average over the warps that execute an access.

    `least_sectors` would do if the same distinct bytes stood side by side.
    """

    sectors: float
    lines: float
    least_sectors: float

    @property
    def factor(self) -> float:
        """Sectors fetched over sectors needed: 1 = coalesced, 8 = each lane of a 4-byte access its own sector."""
        return self.sectors / self.least_sectors if self.least_sectors else 1.0


def transactions(warps: Sequence[Warp], element_bytes: int) -> Transactions | None:
    """None where nobody knows where the lanes stand."""
    total = sum(w.weight for w in warps)
    if not total:
        return None
    parts = [(w.weight / total, *_fetched(w.offsets, max(1, element_bytes))) for w in warps]
    return Transactions(
        sum(p * s for p, s, _, _ in parts), sum(p * n for p, _, n, _ in parts), sum(p * b for p, _, _, b in parts)
    )


def gathered(element_bytes: int, lanes: int = 32) -> Transactions:
    """Return each lane somewhere else, as the data say."""
    each = -(-max(1, element_bytes) // SECTOR_BYTES)
    return Transactions(lanes * each, lanes, max(1, lanes * element_bytes // SECTOR_BYTES))


def fetched_in_lines(lines: float, element_bytes: int, lanes: int = 32) -> Transactions:
    """Return the transactions of a gather that touches so many lines of 64 bytes.

    Where lines are fewer than the lanes' own bytes would fill one by one, both sectors of a line are used.
    """
    least = max(1.0, lanes * element_bytes / SECTOR_BYTES)
    sectors = max(lines, min(2 * lines, least))
    return Transactions(sectors, lines if sectors <= lines else max(1.0, lines / 2), min(least, sectors))


def _fetched(offsets: Sequence[int], width: int) -> tuple[int, int, int]:
    """Sectors, lines, and the fewest sectors that hold as many bytes."""
    sectors = {s for o in offsets for s in range(o // SECTOR_BYTES, (o + width - 1) // SECTOR_BYTES + 1)}
    lines = {s * SECTOR_BYTES // LINE_BYTES for s in sectors}
    return len(sectors), len(lines), -(-_distinct(offsets, width) // SECTOR_BYTES)


def _distinct(offsets: Sequence[int], width: int) -> int:
    total, reached = 0, None
    for offset in sorted(set(offsets)):
        start = offset if reached is None or offset > reached else reached
        total += max(0, offset + width - start)
        reached = max(offset + width, reached or 0) if reached is not None else offset + width
    return total


BANKS = 32
BANK_BYTES = 4


def conflict_degree(offsets: Sequence[int], element_bytes: int, banks: int = BANKS) -> float:
    """Return passes over the fewest possible: 1 without conflicts, up to 32 where all lanes meet in one bank."""
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
