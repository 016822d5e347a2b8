"""A recorded launch as it is stored: by the names of a batch request, with its count and its times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cattrs import Converter

from model.errors import LaunchError
from model.launch.build_options import parse_build_options
from model.launch.expression import Expression, constant
from model.launch.fill import FillSpec, parse_named_fill
from model.launch.launch import Number, Origin
from model.launch.recorded import RecordedLaunch
from model.launch.spec import LaunchSpec


@dataclass(frozen=True, slots=True)
class RecordedEntry:
    """One distinct launch. Names are those of the kernel's parameters; `positional` has the arguments of unknown names.

    `options` are the build options as one text, their include folders absolute. `source` is the key of the program's
    text in `profiler.recording.sources`, "" if there is none; `file` is the workspace's file with the same text, while
    its hash is `file_sha256`. `notes` are sentences on what is not known.
    """

    kernel: str
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    offset: tuple[int, ...] = ()  # empty where it is 0
    args: tuple[tuple[str, Number], ...] = ()
    buffers: tuple[tuple[str, int], ...] = ()
    images: tuple[tuple[str, tuple[int, ...]], ...] = ()
    local_bytes: tuple[tuple[str, int], ...] = ()
    fills: tuple[tuple[str, str], ...] = ()
    positional: tuple[str, ...] = ()
    options: str = ""
    count: int = 0
    event_us: float | None = None
    total_us: float | None = None
    fingerprint: str = ""
    source: str = ""
    file: str = ""
    file_sha256: str = ""
    device_id: str = ""
    device_name: str = ""
    platform: str = ""
    driver: str = ""
    notes: tuple[str, ...] = ()

    @property
    def identity(self) -> RecordedEntry:
        """The launch alone, which equal launches of several recordings share."""
        return replace(self, count=0, event_us=None, total_us=None, notes=(), file="", file_sha256="")

    @property
    def weight(self) -> tuple[float, int, int]:
        """What launches are sorted by: their time, then their count, then their size."""
        return self.total_us or 0.0, self.count, math.prod(self.global_size)


def spec_of(entry: RecordedEntry) -> LaunchSpec:
    """Return the launch as a specification. Raises LaunchError for a damaged entry."""
    values: dict[str, tuple[Expression, ...]] = {}
    for name, value in (*entry.args, *entry.buffers, *entry.local_bytes):
        values[name] = (constant(value),)
    for name, size in entry.images:
        values[name] = tuple(map(constant, size))
    return LaunchSpec(
        global_size=tuple(map(constant, entry.global_size)),
        local_size=None if entry.local_size is None else tuple(map(constant, entry.local_size)),
        driver_chooses_local=entry.local_size is None,
        values=tuple(values.items()),
        fills=tuple(_fills(entry)),
        options=parse_build_options(entry.options),
        origin=Origin.RECORDED,
        notes=entry.notes,
    )


def recorded_launch(entry: RecordedEntry, recorded_at: float, command: str, source: str = "") -> RecordedLaunch:
    """Return the launch for predictions; `source` is the path of its program's text. Raises LaunchError."""
    return RecordedLaunch(
        kernel=entry.kernel,
        spec=spec_of(entry),
        count=entry.count,
        event_us=entry.event_us,
        total_us=entry.total_us,
        kernel_fingerprint=entry.fingerprint,
        device_id=entry.device_id,
        device_name=entry.device_name,
        recorded_at=recorded_at,
        command=command,
        source=source,
    )


def request_of(entry: RecordedEntry, file: str) -> dict[str, Any]:
    """Return a batch request for the launch, in `file`, with its count and times."""
    request: dict[str, Any] = {
        "file": file,
        "kernel": entry.kernel,
        "global": list(entry.global_size),
        "local": None if entry.local_size is None else list(entry.local_size),
        "args": dict(entry.args),
        "buffers": dict(entry.buffers),
        "images": {name: list(size) for name, size in entry.images},
        "local_bytes": dict(entry.local_bytes),
        "options": entry.options,
        "fill": dict(entry.fills),
        "device": entry.device_id or None,
        "count": entry.count,
        "event_us": entry.event_us,
        "total_us": entry.total_us,
        "device_name": entry.device_name,
    }
    if entry.offset:
        request["global_offset"] = list(entry.offset)
    if entry.positional:
        request["positional"] = list(entry.positional)
    if entry.notes:
        request["notes"] = list(entry.notes)
    return request


def entry_to_plain(entry: RecordedEntry) -> dict[str, Any]:
    """Return the entry as JSON can hold it; `entry_from_plain` reads it back."""
    plain: dict[str, Any] = _CONVERTER.unstructure(entry)
    return plain


def entry_from_plain(plain: Mapping[str, Any]) -> RecordedEntry:
    """Return the entry. Raises a cattrs error if it is malformed."""
    return _CONVERTER.structure(plain, RecordedEntry)


def _fills(entry: RecordedEntry) -> list[tuple[str, FillSpec]]:
    try:
        return [parse_named_fill(name, word) for name, word in entry.fills]
    except LaunchError:  # of a later version, or damaged: launches work without the contents of buffers
        return []


def _number(value: object, _: object) -> Number:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise ValueError(f"{value!r} is not a number")


_CONVERTER = Converter()
_CONVERTER.register_structure_hook_func(lambda kind: kind == Number, _number)
