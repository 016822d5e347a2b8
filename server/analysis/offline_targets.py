"""Under which id and version the store keeps what the offline compilers made for a GPU."""

from __future__ import annotations

from dataclasses import replace

from model.compile_targets import TARGETS
from model.device import Device
from model.gpu_targets import target_of
from profiler.measurement import MeasureError


class OfflineTargets:
    """Asks the offline compilers for their versions once for each target."""

    def __init__(self) -> None:
        self._drivers: dict[str, str | None] = {}

    def stand_in(self, device: Device) -> Device | None:
        """Return `device` with its target for an id; None without a target or where nothing can compile for it."""
        target = target_of(device)
        if target is None:
            return None
        if target not in self._drivers:
            self._drivers[target] = _driver(target)
        driver = self._drivers[target]
        return replace(device, id=target, driver=driver) if driver is not None else None


def _driver(target: str) -> str | None:
    from profiler.offline.compiling import offline_driver  # noqa: PLC0415  only where a GPU is chosen

    try:
        return offline_driver(TARGETS[target])
    except MeasureError:  # not installed, most likely: `kernelcast doctor` says so
        return None
