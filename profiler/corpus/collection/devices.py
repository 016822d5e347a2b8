"""The devices of a collection by their names, and the processors that one of them gets."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from model.errors import UnknownDevice
from profiler.corpus.kernel import CorpusDevice
from profiler.device_worker.processors import allowed_processors

DEFAULT_DEVICES = ("pocl", "intel", "pocl-1core", "intel-1core")
_SHORT = {"intel": "intel-cpu"}
_LIMITED = re.compile(r"(?P<name>.+)-(?P<processors>[1-9]\d*)cores?")
_OF_MACHINE = "/"  # between a machine's name and its device's
_TOPOLOGY = Path("/sys/devices/system/cpu")


def on_machine(machine: str, name: str) -> str:
    """Name a device of a dataset that holds several machines' (`xeon-2/pocl-1core`); the first one has no name."""
    return f"{machine}{_OF_MACHINE}{name}" if machine else name


def corpus_device(name: str, here: Collection[str] | None) -> CorpusDevice:
    """`pocl`, `intel-1core` ... with the id of one that is `here`, as `kernelcast devices` names them.

    Raises UnknownDevice. `here` None: it may be anywhere, `machine/pocl` included, whose id names the machine as well.
    """
    if here is None and _OF_MACHINE in name:
        machine, _, own = name.rpartition(_OF_MACHINE)
        device = corpus_device(own, None)
        return CorpusDevice(name, on_machine(machine, device.device_id), device.processors)
    known = here or ()
    limited = None if name in known else _LIMITED.fullmatch(name)
    whole = limited["name"] if limited else name
    device_id = whole if whole in known else _SHORT.get(whole, whole)
    if here is not None and device_id not in here:
        raise UnknownDevice(
            f"no device answers to `{name}`; there are: {', '.join(sorted(here)) or 'none'}; "
            "with -1core behind it, one may use a single processor"
        )
    return CorpusDevice(name, device_id, int(limited["processors"]) if limited else None)


def processor_slots(processors: int, most: int) -> tuple[tuple[int, ...], ...]:
    """Up to `most` sets of so many processors, none in two of them; those that share a core come last.

    One empty set where the system cannot tell, or has too few.
    """
    order = _whole_cores_first(sorted(allowed_processors()))
    count = min(most, len(order) // processors)
    slots = tuple(tuple(order[at * processors : (at + 1) * processors]) for at in range(count))
    return slots or ((),)


def _whole_cores_first(processors: Sequence[int]) -> list[int]:
    """Of each core its first processor, then the second ones."""
    seen: dict[str, int] = {}
    rank = {}
    for processor in processors:
        core = _siblings(processor)
        rank[processor] = seen.get(core, 0)
        seen[core] = rank[processor] + 1
    return sorted(processors, key=lambda each: (rank[each], each))


def _siblings(processor: int) -> str:
    try:
        return (_TOPOLOGY / f"cpu{processor}/topology/thread_siblings_list").read_text("ascii").strip()
    except OSError:
        return str(processor)


def usable_processors() -> int:
    return len(allowed_processors()) or os.cpu_count() or 1
