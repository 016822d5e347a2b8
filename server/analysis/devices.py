"""Which device predictions are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.device_catalog import builtin_ids, find_builtin, named_builtins
from model.device_names import named
from model.launch.expression import suggestion

if TYPE_CHECKING:
    from model.device import Device

# Before anything is known of the machine. Every machine has a processor; its figures are marked `~`.
_FALLBACK = "generic-cpu"


def shipped_for(wanted: Sequence[str | None]) -> tuple[Device, ...]:
    """Return the shipped profiles that `pick_device` may need: reading them all takes a moment."""
    names = (*filter(None, wanted), _FALLBACK)
    by_id = [(name, find_builtin(name)) for name in names]
    return tuple(device for name, own in by_id for device in ((own,) if own is not None else named_builtins(name)))


def pick_device(
    wanted: Sequence[str | None], found: Sequence[Device], remembered: Sequence[Device], shipped: Sequence[Device]
) -> tuple[Device, str | None]:
    """Return the device and, if the one asked for is unknown, the id that nobody answers to.

    `wanted` in order of precedence, empty ones skipped. `found` are this machine's devices, `remembered` those that
    were calibrated here once, `shipped` the profiles from datasheets.
    """
    known = {device.id: device for device in (*shipped, *remembered, *found)}
    name = next((each for each in wanted if each), None)
    if name in known:
        return known[name], None
    if name:
        # A name that several have means the one that is here; boards of one chip that is not here, none of them.
        for own in (found, remembered, shipped):
            alike = [own[place] for place in named(name, [device.name for device in own])]
            if len(alike) == 1:
                return alike[0], None
    here = found or remembered
    best = max(here, key=lambda device: device.rates.fp32_gflop_s, default=None)
    return best or known.get(_FALLBACK) or shipped[0], name


def pick_others(
    names: Sequence[str], main: Device, found: Sequence[Device], remembered: Sequence[Device]
) -> tuple[tuple[Device, ...], tuple[str, ...]]:
    """Return the devices of these names but the main one, each once; and the names that no device answers to."""
    picked: dict[str, Device] = {}
    unknown = []
    for name in dict.fromkeys(filter(None, names)):
        device, missing = pick_device((name,), found, remembered, shipped_for((name,)))
        if missing is not None:
            unknown.append(name)
        elif device.id != main.id:
            picked.setdefault(device.id, device)
    return tuple(picked.values()), tuple(unknown)


def unknown_compared_message(name: str) -> str:
    """Return what to say of an id in a list of devices to compare with."""
    return (
        f"no device has the id `{name}`, so nothing is compared with it.{suggestion(name, builtin_ids())} "
        "`kernelcast devices --all` lists the ids"
    )
