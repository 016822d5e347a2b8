"""The memory accesses of a launch in numbers: how many of which pattern where, and how far they reach."""

from __future__ import annotations

import math

from model.opencl.types import AddressSpace
from model.work.counts import AccessCount, Pattern
from model.work.regions.flat_blocks import Form
from model.work.work_counts import WorkCounts

_SPACES = {
    AddressSpace.GLOBAL: "global",
    AddressSpace.GENERIC: "global",
    AddressSpace.CONSTANT: "constant",
    AddressSpace.LOCAL: "local",
    AddressSpace.PRIVATE: "private",
}
_NAMES = ("global", "constant", "local", "private")
_STEPS = ("none", "same", "next", "line", "far")  # from one round of the innermost loop to the next
LINE_BYTES = 64
NEAR_BYTES, MIDDLE_BYTES = 32 << 10, 1 << 20  # what nearest caches hold, and what the next ones do

ACCESS_AMOUNTS = (
    *(f"{space}.{what}.{pattern}" for space in _NAMES for what in ("load", "store") for pattern in Pattern),
    *(f"global.{what}.bytes" for what in ("load", "store")),
    *(f"global.new.{what}" for what in ("load", "store")),
    *(f"global.step.{step}" for step in _STEPS),
    *(f"global.form.{form}" for form in Form),
    *(f"global.hidden.{what}" for what in ("load", "store")),
    *(f"global.size.{size}" for size in (1, 2, 4, 8, 16)),
    *(f"global.from.{where}" for where in ("near", "middle", "far")),
    "global.atomic",
    "global.atomic.crowded",
    "local.atomic",
    "global.store.crowded",
    "image.nearest",
    "image.linear",
    "image.write",
    "stride.lines",
    "gather.lines",
)
ACCESS_SIZES = (
    "access.sites", "access.buffers", "access.largest", "access.gathered", "access.strided", "access.stride",
    "access.local_stride", "access.group_footprint",
)  # fmt: skip


def add_accesses(counts: WorkCounts, amounts: dict[str, float], sizes: dict[str, float]) -> None:
    """Add ACCESS_AMOUNTS over the launch, and ACCESS_SIZES."""
    buffers: set[str] = set()
    weighted = total = 0.0
    for access in counts.accesses:
        space = _SPACES.get(access.space, "global")
        if access.is_atomic:
            _add_atomic(access, space, amounts)
            continue
        what = "store" if access.is_store else "load"
        amounts[f"{space}.{what}.{access.pattern}"] += access.count
        if space == "local":
            sizes["access.local_stride"] = max(sizes["access.local_stride"], abs(access.stride_bytes))
        if space not in ("global", "constant"):
            continue
        buffers.add(access.buffer)
        _add_global(access, what, amounts)
        sizes["access.largest"] = max(sizes["access.largest"], access.footprint_bytes)
        if access.pattern is Pattern.GATHERED:
            sizes["access.gathered"] = max(sizes["access.gathered"], access.footprint_bytes)
        if access.pattern is Pattern.STRIDED:
            sizes["access.strided"] = max(sizes["access.strided"], access.footprint_bytes)
            weighted += access.count * math.log2(abs(access.stride_bytes) + 1)
            total += access.count
    for part in counts.contexts:
        for placed in part.accesses:
            if placed.image:
                amounts[f"image.{placed.image}"] += placed.access.count
            elif placed.access.space in (AddressSpace.GLOBAL, AddressSpace.GENERIC, AddressSpace.CONSTANT):
                amounts[f"global.form.{placed.form}"] += placed.access.count
                if placed.is_hidden and placed.access.pattern is Pattern.UNIT:
                    what = "store" if placed.access.is_store else "load"
                    amounts[f"global.hidden.{what}"] += placed.access.count
    sizes["access.sites"] = len(counts.accesses)
    sizes["access.buffers"] = len(buffers)
    sizes["access.stride"] = 2 ** (weighted / total) if total else 0.0
    sizes["access.group_footprint"] = counts.global_footprint_bytes / max(1, counts.work_groups)


def _add_atomic(access: AccessCount, space: str, amounts: dict[str, float]) -> None:
    if space == "local":
        amounts["local.atomic"] += access.count
        return
    amounts["global.atomic"] += access.count
    addresses = max(1.0, access.footprint_bytes / max(1, access.element_bytes))
    amounts["global.atomic.crowded"] += access.count / addresses


def _add_global(access: AccessCount, what: str, amounts: dict[str, float]) -> None:
    amounts[f"global.{what}.bytes"] += access.bytes
    amounts[f"global.new.{what}"] += min(access.bytes, access.footprint_bytes)
    amounts[f"global.step.{_step(access)}"] += access.count
    amounts[f"global.size.{_size(access.element_bytes)}"] += access.count
    reach = access.footprint_bytes
    where = "near" if reach <= NEAR_BYTES else "middle" if reach <= MIDDLE_BYTES else "far"
    amounts[f"global.from.{where}"] += access.count
    if access.is_store:
        # Cores that write to the same lines take these from each other.
        amounts["global.store.crowded"] += access.count / max(1.0, access.footprint_bytes / LINE_BYTES)
    if access.pattern is Pattern.STRIDED:
        amounts["stride.lines"] += access.count * min(1.0, abs(access.stride_bytes) / LINE_BYTES)
    elif access.pattern is Pattern.GATHERED and reach > NEAR_BYTES:
        amounts["gather.lines"] += access.count


def _step(access: AccessCount) -> str:
    step = access.step_bytes
    if step is None:
        return "none"
    if step == 0:
        return "same"
    return "next" if abs(step) <= access.element_bytes else "line" if abs(step) < LINE_BYTES else "far"


def _size(element_bytes: int) -> int:
    return next((size for size in (1, 2, 4, 8) if element_bytes <= size), 16)
