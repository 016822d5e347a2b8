"""Other work-groups: a size that fills lanes and compute units, or the launch's size as a promise to the compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from model.advice.advice import AdviceCode
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import is_group_free
from model.advice.fixes.launch_edits import LaunchChange, launch_edits
from model.advice.situation import WAKING_US
from model.analytic.cpu_lanes import lanes_of
from model.analytic.operations import CPU_LANES

_WIDTHS = (32, 64, 128, 256)
_KERNEL = re.compile(r"(?:__)?kernel\b")


def other_group_size(setting: Setting) -> Iterator[Fix]:
    """Yield larger or smaller groups along dimension 0, for kernels that no size of a group decides anything about.

    Exact: such a kernel does the same in any groups. Wider ones are said as `local-size-multiple`, others as
    `too-few-groups`, and only where there are fewer groups than compute units and, on a CPU, time to wake the others.
    Where the driver chooses the size, only if its groups are known not to fill a vector.
    """
    source, launch = setting.source, setting.launch
    local = launch.local_size or _narrow_choice(setting)
    if local is None or setting.is_assumed("local") or not is_group_free(source):
        return
    items = prod(local)
    is_full = setting.prediction.work.work_groups >= setting.device.core_count
    is_short = not setting.is_gpu and setting.prediction.runtime_us.p50 < WAKING_US
    for width in _WIDTHS:
        others = tuple(1 for _ in local[1:])
        size = (width, *others)
        is_wider = width > local[0]
        if not is_wider and (width >= items or is_full or is_short):
            continue
        if size == local or launch.global_size[0] % width or width > setting.device.max_work_group_size:
            continue
        edits = launch_edits(setting, LaunchChange(local_size=size))
        if edits is not None:
            code = AdviceCode.LOCAL_SIZE_MULTIPLE if is_wider else AdviceCode.TOO_FEW_GROUPS
            promise = f"the host launches it with a local size of {_all(size)}"
            yield Fix(code, f"Launch work-groups of {_all(size)}", edits, promise)


def _narrow_choice(setting: Setting) -> tuple[int, ...] | None:
    """Return the least size, which any other widens, where Intel's runtime chooses groups that fill no vector."""
    launch, device = setting.launch, setting.device
    if launch.local_size is not None or not device.is_intels_cpu:
        return None
    items = launch.work_items // max(1, lanes_of(setting.prediction.work, device).groups)
    return (1,) * len(launch.global_size) if items < CPU_LANES else None


def required_group_size(setting: Setting) -> Iterator[Fix]:
    """`reqd_work_group_size` as in the launch: compilers then know the trip counts of loops over work-items.

    Not for PoCL, which compiles a kernel for the size of each launch anyway.
    """
    source, local = setting.source, setting.launch.local_size
    if (
        local is None
        or setting.device.is_pocl
        or setting.is_assumed("local")
        or source.kernel.attributes.reqd_work_group_size
    ):
        return
    if len({each.spec.local_size for each in setting.annotations}) > 1:
        return  # another launch has another size
    word = next(iter(_KERNEL.finditer(source.raw, source.start, source.body.start_byte)), None)
    if word is None:
        return
    x, y, z = (*local, 1, 1)[:3]
    yield Fix(
        AdviceCode.UNKNOWN_GROUP_SIZE,
        f"Require work-groups of {_all(local)}",
        (TextEdit(word.end(), word.end(), f" __attribute__((reqd_work_group_size({x}, {y}, {z})))"),),
        promise=f"the host launches it with a local size of {_all(local)} and no other",
    )


def _all(size: tuple[int, ...]) -> str:
    return "x".join(map(str, size))
