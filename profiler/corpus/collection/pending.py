"""What is still to be measured: asked of the store each time, so that no kill can leave it wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from profiler.corpus.collection.order import balanced
from profiler.corpus.collection.plan import CollectPlan
from profiler.corpus.collection.store import CorpusStore, RowKey, building
from profiler.corpus.kernel import CorpusDevice

_UNLIMITED = 1 << 30
MOST_ATTEMPTS = 2  # of a row that others disturbed: those that still do would do so again


class Why(StrEnum):
    """Why something is due. What is due again comes after all that was never measured."""

    NEW = "new"
    AGAIN = "again"  # others disturbed it
    FLOOR = "floor"  # for the noise floor


@dataclass(frozen=True, slots=True)
class Chunk:
    """Kernels that are built and then measured together; of their launches those from place `first` to `last`."""

    kernel_ids: tuple[str, ...]
    first: int
    last: int  # excluded


# A launch is due unless it, or its whole kernel, is given up on this device, or does not build for it.
_GIVEN_UP = """EXISTS (SELECT 1 FROM failures f WHERE f.is_quarantined AND f.kernel_id = l.kernel_id
    AND ((f.device = :device AND f.launch_key IN (l.launch_key, ''))
        OR (f.device = :building AND f.launch_key IN (l.launch_key, ''))))"""
_HAS_ROW = """EXISTS (SELECT 1 FROM rows r WHERE r.device = :device AND r.kernel_id = l.kernel_id
    AND r.launch_key = l.launch_key AND r.repeat = 0)"""
_FROM = {
    Why.NEW: f"""SELECT l.kernel_id, l.launch_key, 0, l.place FROM launches l
        WHERE l.place < :most AND NOT {_HAS_ROW} AND NOT {_GIVEN_UP}""",
    Why.AGAIN: f"""SELECT l.kernel_id, l.launch_key, b.repeat, l.place FROM rows b
        JOIN launches l ON l.kernel_id = b.kernel_id AND l.launch_key = b.launch_key
        WHERE b.is_bad AND b.attempts < {MOST_ATTEMPTS} AND b.device = :device AND l.place < :most
        AND NOT {_GIVEN_UP}""",
    Why.FLOOR: f"""SELECT l.kernel_id, l.launch_key, 1, l.place FROM rows b
        JOIN launches l ON l.kernel_id = b.kernel_id AND l.launch_key = b.launch_key
        WHERE b.is_floor AND b.repeat = 0 AND b.device = :device AND l.place < :most AND NOT {_GIVEN_UP}
        AND NOT EXISTS (SELECT 1 FROM rows a
            WHERE (a.device, a.kernel_id, a.launch_key, a.repeat) = (b.device, b.kernel_id, b.launch_key, 1))""",
}


def next_chunk(store: CorpusStore, plan: CollectPlan) -> Chunk | None:
    """Return the first kernels, in balanced order, of which anything is due; None if nothing is.

    First of every kernel its first launches, then of every kernel the next ones, and so on.
    """
    due: dict[int, set[str]] = {}
    for device in plan.devices:
        for why in Why:
            query = f"SELECT DISTINCT kernel_id, place / {plan.launches} FROM ({_FROM[why]})"
            for kernel_id, turn in store.read(query, _names(plan, device)):
                due.setdefault(turn, set()).add(kernel_id)
    if not due:
        return None
    turn = min(due)
    chosen = [kernel_id for kernel_id in balanced(store.entries()) if kernel_id in due[turn]]
    return Chunk(tuple(chosen[: plan.chunk_kernels]), turn * plan.launches, (turn + 1) * plan.launches)


def due_in(store: CorpusStore, plan: CollectPlan, chunk: Chunk, device: CorpusDevice, why: Why) -> list[RowKey]:
    """Return what of a chunk is due on one device, in the chunk's order, the launches of a kernel side by side."""
    query = (
        f"SELECT * FROM ({_FROM[why]}) WHERE kernel_id = :kernel AND place >= :first AND place < :last ORDER BY place"
    )
    found = []
    for kernel_id in chunk.kernel_ids:
        names = {**_names(plan, device), "kernel": kernel_id, "first": chunk.first, "last": chunk.last}
        for _, launch_key, repeat, _ in store.read(query, names):
            found.append(RowKey(device.id, kernel_id, launch_key, repeat))
    return found


def wanted_rows(store: CorpusStore, plan: CollectPlan, device: CorpusDevice) -> int:
    """Return how many launches were never measured on it, and are not given up."""
    return store.count(f"SELECT count(*) FROM ({_FROM[Why.NEW]})", _names(plan, device))


def _names(plan: CollectPlan, device: CorpusDevice) -> dict[str, object]:
    most = plan.most_launches.get(device.id, _UNLIMITED)
    return {"device": device.id, "building": building(device), "most": most}
