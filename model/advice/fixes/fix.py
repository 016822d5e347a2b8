"""A fix: text edits, what they do, and what must hold for them to be right; and what the rules for fixes look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model.advice.advice import AdviceCode
from model.advice.fixes.kernel_source import KernelSource
from model.device import Device, DeviceType
from model.launch.annotation import Annotation
from model.launch.launch import Launch
from model.prediction import Prediction


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace bytes [start, end) of the UTF-8 text by `text`; an insertion where both are the same."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """`title` is in the imperative, as a menu shows it; the edits are in the order of the text and do not overlap.

    `promise` says what the host program must do or guarantee for the edited kernel to be right; empty: nothing.
    `is_exact`: results stay the same to the last bit. `items`: how many work-items of the launch before one does after.
    """

    code: AdviceCode
    title: str
    edits: tuple[TextEdit, ...]
    promise: str = ""
    is_exact: bool = True
    items: int = 1

    @property
    def first_byte(self) -> int:
        return self.edits[0].start


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


def apply_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return `text` after `edits`; all else stays byte for byte. Raises ValueError if they overlap."""
    data = text.encode("utf-8", "surrogatepass")
    parts, at = list[bytes](), 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < at or edit.end < edit.start or edit.end > len(data):
            raise ValueError(f"edits overlap or lie outside of the text at byte {edit.start}")
        parts += [data[at : edit.start], edit.text.encode()]
        at = edit.end
    return b"".join([*parts, data[at:]]).decode("utf-8", "surrogatepass")
