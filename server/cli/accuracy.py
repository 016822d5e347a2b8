"""Show the accuracy of predictions on a device, for the commands that show devices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from model.device import Device
from model.learned.device_accuracy import accuracy_from
from model.learned.learned import UnusableModel
from server.analysis.store_cache import StoreCache
from server.text.accuracy import accuracy_words, figure_words


def accuracy_lines(device: Device, *, after_learning: bool = False) -> tuple[str, ...]:
    """Return lines for a terminal; none without measurements."""
    try:
        found = accuracy_from(StoreCache().lessons(device))
    except UnusableModel as error:
        return (f"the accuracy of predictions is not known: {error.message}",)
    if found is None:
        return ()
    return tuple(figure_words(found)) if after_learning else accuracy_words(found)


def accuracy_json(device: Device) -> dict[str, Any] | None:
    """Return the same as JSON; None without measurements. Raises UnusableModel."""
    found = accuracy_from(StoreCache().lessons(device))
    return asdict(found) if found is not None else None
