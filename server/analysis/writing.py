"""Launches written out, to be put into the user's files when he asks for it; each is written on access."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from model.forecast import FileForecast
from model.launch.annotation import write_annotation
from model.launch.config import Config
from model.launch.config_place import CONFIG_NAME
from model.launch.config_writing import addition, write_table
from model.launch.launch import Launch, Origin
from model.opencl.kernel import Kernel
from server.config_edit import ConfigEdit
from server.launch_view import Slot
from server.snapshot import slots

_Written = TypeVar("_Written")


class WrittenOnAccess(Mapping[Slot, _Written]):
    """What `write` makes of the launches with certain origins; made when it is asked for."""

    def __init__(
        self, forecast: FileForecast, origins: Collection[Origin], write: Callable[[Launch, Kernel], _Written]
    ) -> None:
        self._forecast, self._origins, self._write = forecast, origins, write

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
            if each.launch is not None and each.launch.origin in self._origins
        }


def annotations_to_write(forecast: FileForecast) -> Mapping[Slot, str]:
    """Return the annotation with all assumptions written out, for each launch that has none yet."""
    return WrittenOnAccess(forecast, (Origin.CONFIG, Origin.RECORDED, Origin.INFERRED), write_annotation)


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

    return WrittenOnAccess(forecast, (Origin.RECORDED,), write)
