"""Which device predictions are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from model.device_catalog import find_builtin, named_builtins
from model.device_names import named

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
