"""Launches as text for the user's files, written only where one is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from model.forecast import FileForecast
from model.launch.annotation import write_annotation
from model.launch.config import Config
from model.launch.config_file import CONFIG_NAME
from model.launch.config_writing import addition, write_table
from model.launch.launch import Launch, Origin
from model.opencl.kernel import Kernel
from server.launch_view import Slot
from server.snapshot import ConfigEdit, slots

_Written = TypeVar("_Written")


class WrittenOnAccess(Mapping[Slot, _Written]):
    """Maps the launches that `is_wanted` to what `write` makes of them, on access."""

    def __init__(
        self,
        forecast: FileForecast,
        is_wanted: Callable[[Launch], bool],
        write: Callable[[Launch, Kernel], _Written],
    ) -> None:
        self._forecast, self._is_wanted, self._write = forecast, is_wanted, write

    def __getitem__(self, slot: Slot) -> _Written:
        return self._write(*self._wanted[slot])

    def __iter__(self) -> Iterator[Slot]:
        return iter(self._wanted)

    def __len__(self) -> int:
        return len(self._wanted)

    @cached_property
    def _wanted(self) -> dict[Slot, tuple[Launch, Kernel]]:
        return {
            slot: (each.launch, kernel)
            for kernel, own in slots(self._forecast)
            for slot, each in own
            if each.launch is not None and self._is_wanted(each.launch)
        }


def annotations_to_write(forecast: FileForecast) -> Mapping[Slot, str]:
    """Return the annotation with all assumptions written out, for each launch that has none yet."""
    return WrittenOnAccess(forecast, lambda launch: launch.origin is not Origin.ANNOTATION, write_annotation)


def config_edits_to_write(
    forecast: FileForecast, path: Path, config: Config | None, project: Path
) -> Mapping[Slot, ConfigEdit | None]:
    """Return what to add to the nearest `kernelcast.toml` for each recorded launch; None where nothing can be added.

    Without a `config` a new one is made in the `project`.
    """
    there = config or Config(project / CONFIG_NAME)

    def write(launch: Launch, kernel: Kernel) -> ConfigEdit | None:
        table = write_table(launch, kernel, path, there.path.parent)
        added = addition(there.text, table, there.path)
        last_line = there.text[there.text.rfind("\n") + 1 :]
        return ConfigEdit(there.path, added, config is None, there.text.count("\n"), last_line) if added else None

    return WrittenOnAccess(forecast, lambda launch: launch.origin is Origin.RECORDED, write)
