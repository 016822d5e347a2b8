"""Which device predictions are for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.device import Device

# Before anything is known of the machine. Every machine has a processor; its figures are marked `~`.
_FALLBACK = "generic-cpu"


def pick_device(
    wanted: Sequence[str | None], found: Sequence[Device], remembered: Sequence[Device], shipped: Sequence[Device]
) -> tuple[Device, str | None]:
    """The device and, if the one asked for is unknown, the id that nobody answers to.

    `wanted` in order of precedence, empty ones skipped. `found` are this machine's devices, `remembered` those that
    were calibrated here once, `shipped` the profiles from datasheets.
    """
    known = {device.id: device for device in (*shipped, *remembered, *found)}
    name = next((each for each in wanted if each), None)
    if name in known:
        return known[name], None
    here = found or remembered
    best = max(here, key=lambda device: device.rates.fp32_gflop_s, default=None)
    return best or known.get(_FALLBACK) or shipped[0], name
