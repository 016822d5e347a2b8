"""Which work-items are run: whole sub-groups, or whole work-groups, spread evenly over the NDRange."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import ceil, prod

import numpy as np

from model.launch.driver_choice import effective_local_size
from model.launch.launch import Launch
from model.opencl.kernel import Kernel
from model.sampling.sample import SUBGROUP
from model.sampling.values import Array


@dataclass(frozen=True, slots=True)
class Shape:
    """The NDRange; groups at its end may be cut off."""

    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    groups: tuple[int, int, int]
    work_dim: int

    @property
    def group_items(self) -> int:
        return prod(self.local_size)

    @property
    def subgroups(self) -> int:
        """Of one group."""
        return ceil(self.group_items / SUBGROUP)


def shape_of(launch: Launch, kernel: Kernel) -> Shape:
    local = effective_local_size(launch, kernel)
    sizes = [(launch.global_size[d] if d < len(launch.global_size) else 1) for d in range(3)]
    own = [max(1, local[d]) if d < len(local) else 1 for d in range(3)]
    own = [min(a, max(1, b)) for a, b in zip(own, sizes, strict=True)]
    groups = [max(1, ceil(a / b)) for a, b in zip(sizes, own, strict=True)]
    return Shape(
        (sizes[0], sizes[1], sizes[2]), (own[0], own[1], own[2]), (groups[0], groups[1], groups[2]),
        len(launch.global_size),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chosen:
    """The items of one run, in the order of their sub-groups: ids by dimension, numbers of groups and sub-groups."""

    global_id: tuple[Array, Array, Array]
    local_id: tuple[Array, Array, Array]
    group_id: tuple[Array, Array, Array]
    local_linear: Array
    group: Array  # number of the group in this run
    subgroup: Array  # number of the sub-group in this run

    @property
    def count(self) -> int:
        return len(self.group)


_BASES = (2, 3, 5)  # of the sequence of Halton, by dimension
_GOLDEN = 0.6180339887498949
_NEARLY_ALL = 0.5  # of the sub-groups or groups: rather than draw those that are left, take all
_MOST_POINTS = 1 << 16  # of the sequence
_CELLS = 512  # by such a part of each side, points are moved about: round numbers of items would all be alike in binary


def _radical_inverse(numbers: Array, base: int) -> Array:
    """Return the digits of whole numbers behind the point, the lowest first."""
    found, digit, rest = np.zeros(len(numbers)), 1.0 / base, numbers.copy()
    while rest.any():
        found += digit * (rest % base)
        rest //= base
        digit /= base
    return found


def spread(total: tuple[int, ...], first: int, count: int) -> Array:
    """Rows `first` .. of a sequence that fills a box of whole numbers evenly; a column for each dimension.

    The last dimension, of sub-groups in a group, is a finer step of the one before it that has any extent.
    """
    at = np.arange(first + 1, first + count + 1)
    points = np.zeros((count, len(total)), np.int64)
    used = [d for d, size in enumerate(total[:-1]) if size > 1] or [0]
    sizes = np.array([total[d] for d in used], np.float64)
    sizes[-1] *= total[-1]
    golden = at * _GOLDEN % 1.0
    columns = [golden] if len(used) == 1 else [_radical_inverse(at, base) for base in _BASES[: len(used)]]
    moved = [(column + at * _GOLDEN * (d + 1) % 1.0 / _CELLS) % 1.0 for d, column in enumerate(columns)]
    fractions = np.stack(moved if len(used) > 1 else columns, axis=1)
    points[:, used] = (fractions * sizes).astype(np.int64)
    points[:, -1] = points[:, used[-1]] % total[-1]
    points[:, used[-1]] //= total[-1]
    return points


def batches(shape: Shape, *, whole_groups: bool, first_items: int, most_items: int) -> Iterator[Chosen]:
    """Ever more items; all of them at once where they are few."""
    if prod(shape.global_size) <= first_items:
        yield everything(shape)
        return
    boxes = (*shape.groups, 1 if whole_groups else shape.subgroups)
    each = shape.group_items if whole_groups else min(SUBGROUP, shape.group_items)
    seen: dict[tuple[int, ...], None] = {}
    at, wanted, given = 0, first_items, 0
    while given < most_items and len(seen) < prod(boxes):
        before = len(seen)
        missing = before + ceil(wanted / each)
        if missing > _NEARLY_ALL * prod(boxes):
            seen.update((key, None) for key in _every_unit(boxes))
        while len(seen) < missing and len(seen) < prod(boxes) and at < _MOST_POINTS:
            points = spread(boxes, at, min(256, missing - len(seen)))
            at += len(points)
            seen.update((key, None) for key in map(tuple, points.tolist()))
        if len(seen) == before:
            return
        units = sorted(islice(seen, before, None), key=lambda unit: unit[::-1])
        chosen = _items(shape, np.array(units, np.int64), whole_groups=whole_groups)
        yield chosen
        given += chosen.count
        wanted = given * 2


def _every_unit(boxes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    grid = np.stack(np.unravel_index(np.arange(prod(boxes)), boxes), axis=1)
    return map(tuple, grid.tolist())


def everything(shape: Shape) -> Chosen:
    """Return every item of the launch."""
    boxes = (*shape.groups, 1)
    grid = np.stack(np.unravel_index(np.arange(prod(boxes)), boxes[::-1]), axis=1)[:, ::-1]
    return _items(shape, grid.astype(np.int64), whole_groups=True)


def _items(shape: Shape, units: Array, *, whole_groups: bool) -> Chosen:
    """`units`: group ids by dimension, and the number of the sub-group in it."""
    width = shape.group_items if whole_groups else min(SUBGROUP, shape.group_items)
    lane = np.arange(width, dtype=np.int64)
    linear = (units[:, 3:4] * SUBGROUP + lane[None, :]).reshape(-1)
    groups = [np.repeat(units[:, d], width) for d in range(3)]
    number = np.repeat(np.arange(len(units)), width)
    size = shape.local_size
    local = [linear % size[0], linear // size[0] % size[1], linear // (size[0] * size[1])]
    ids = [g * s + i for g, s, i in zip(groups, size, local, strict=True)]
    inside = linear < shape.group_items
    for d in range(3):
        inside &= ids[d] < shape.global_size[d]
    keep = np.flatnonzero(inside)
    groups, local, ids = ([each[keep] for each in part] for part in (groups, local, ids))
    linear, number = linear[keep], number[keep]
    per_group = -(-width // SUBGROUP)
    subgroup = number * per_group + (linear // SUBGROUP if whole_groups else 0)
    _, subgroup = np.unique(subgroup, return_inverse=True)
    return Chosen(
        (ids[0], ids[1], ids[2]), (local[0], local[1], local[2]), (groups[0], groups[1], groups[2]), linear, number,
        subgroup.astype(np.int64),
    )  # fmt: skip
