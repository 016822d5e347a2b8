"""What fixes look at: a kernel's source, one launch of it, and the annotation that says so, if one does."""

from __future__ import annotations

from dataclasses import dataclass

from model.advice.fixes.kernel_source import KernelSource
from model.device import Device, DeviceType
from model.launch.annotation import Annotation
from model.launch.launch import Launch
from model.prediction import Prediction


@dataclass(frozen=True, slots=True)
class Setting:
    """`annotations` are all of the kernel's; `annotation` is the one of this launch, None where others give it."""

    source: KernelSource
    launch: Launch
    prediction: Prediction
    device: Device
    annotation: Annotation | None = None
    annotations: tuple[Annotation, ...] = ()

    @property
    def is_gpu(self) -> bool:
        return self.device.type is DeviceType.GPU

    def is_assumed(self, subject: str) -> bool:
        """Return whether "global", "local" or a parameter was assumed and not given."""
        return any(each.subject == subject for each in self.launch.assumptions)
