"""A second try for a launch whose guessed buffers were too short: where the kernel reached says how long they must be.

Only lengths that nobody gave are touched, and never silently: the measurement's notes name them.
"""

from __future__ import annotations

from dataclasses import replace

from model.launch.launch import Assumption, Launch
from model.opencl.kernel import Kernel
from model.opencl.types import PointerType
from profiler.bounds import MAX_BYTES
from profiler.measurement import Measurement, MeasureRequest, OutOfBounds

MAX_TRIES = 6


def enlarged(request: MeasureRequest, error: OutOfBounds) -> MeasureRequest | None:
    """Return `request` with longer buffers for all that `error` saw overrun.

    None where that would not help or is not ours to decide: indices in front of a buffer, lengths that the user gave,
    sizes beyond reason.
    """
    if not error.overruns:
        return None
    guessed = {assumption.subject for assumption in request.launch.assumptions}
    lengths = dict(request.launch.buffers)
    launch = request.launch
    for name, lowest, highest in error.overruns:
        if name not in guessed or name not in lengths or lowest < 0:
            return None
        # At least twice as long: a kernel that walks past the end is stopped long before its furthest element.
        length = max(1 << highest.bit_length(), 2 * lengths[name])
        if length * _element_bytes(request.kernel, name) > MAX_BYTES:
            return None
        launch = _with_length(launch, name, length, highest)
    return replace(request, launch=launch)


def as_requested(measured: Measurement, original: MeasureRequest, tried: MeasureRequest) -> Measurement:
    """`measured` under the launch that was asked for, with a note on each buffer that was made longer for it."""
    if tried is original:
        return measured
    before = dict(original.launch.buffers)
    longer = {name for name, length in tried.launch.buffers if length != before.get(name)}
    notes = tuple(a.text for a in tried.launch.assumptions if a.subject in longer)
    return replace(
        measured,
        launch_key=original.launch.key,
        launch=original.launch.describe(),
        notes=(*measured.notes, *notes),
        has_longer_buffers=True,
    )


def as_long(request: MeasureRequest, before: MeasureRequest, after: MeasureRequest) -> MeasureRequest:
    """Return `request` with those buffers longer that became longer from `before` to `after`, if it had them alike."""
    short, launch = dict(before.launch.buffers), request.launch
    own = dict(launch.buffers)
    texts = {assumption.subject: assumption.text for assumption in after.launch.assumptions}
    for name, length in after.launch.buffers:
        if length != short.get(name) == own.get(name):
            launch = _with_text(launch, name, length, texts[name])
    return replace(request, launch=launch)


def _with_length(launch: Launch, name: str, length: int, index: int) -> Launch:
    text = f"`{name}` was made {length} elements long, because the kernel accesses `{name}[{index}]`"
    return _with_text(launch, name, length, text)


def _with_text(launch: Launch, name: str, length: int, text: str) -> Launch:
    return replace(
        launch,
        buffers=tuple((n, length if n == name else old) for n, old in launch.buffers),
        assumptions=(*(a for a in launch.assumptions if a.subject != name), Assumption(name, text)),
    )


def _element_bytes(kernel: Kernel, name: str) -> int:
    parameter = kernel.parameter(name)
    kind = parameter.type if parameter is not None else None
    return max(1, kind.pointee.size_bytes) if isinstance(kind, PointerType) else 1
