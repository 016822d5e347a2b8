"""A kernel's machine code on a CPU, as predictions by the analytical model take it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from model.compiled import CompiledFacts
from model.compiled_occupancy import OfflineFacts

if TYPE_CHECKING:
    from model.device import Device
    from model.launch.launch import Launch
    from model.opencl.kernel import Kernel


@dataclass(frozen=True, slots=True, eq=False)
class CpuCode:
    """Facts that are the same object as long as they are the same: comparing thousands of instructions takes long."""

    facts: CompiledFacts


KnownCode = OfflineFacts | CpuCode  # what is known of a kernel's code on a device
# What the device's compiler is known to make of a kernel under a launch; it is asked each time, and must be quick.
CodeOf = Callable[["Kernel", "Launch", "Device"], KnownCode | None]


def not_compiled(_kernel: Kernel, _launch: Launch, _device: Device) -> KnownCode | None:
    """Return None: no kernel was compiled."""
    return None
