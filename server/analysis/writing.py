"""Launches written out, to be put into the user's files when he asks for it; each is written on access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

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


class Annotations(Mapping[Slot, str]):
    """The annotation with all assumptions written out, for each launch that has none yet."""

    def __init__(self, forecast: FileForecast) -> None:
        self._forecast = forecast

    def __getitem__(self, slot: Slot) -> str:
        launch, kernel = self._wanted[slot]
        return write_annotation(launch, kernel)

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
            if each.launch is not None and each.launch.origin not in (Origin.ANNOTATION, Origin.REQUEST)
        }


class ConfigEdits(Mapping[Slot, ConfigEdit | None]):
    """What to add to the nearest `kernelcast.toml` for each recorded launch; None where nothing can be added to it.

    Without a `config` a new one is made in the `project`.
    """

    def __init__(self, forecast: FileForecast, path: Path, config: Config | None, project: Path) -> None:
        self._forecast = forecast
        self._path = path
        self._config = config or Config(project / CONFIG_NAME)
        self._is_new = config is None

    def __getitem__(self, slot: Slot) -> ConfigEdit | None:
        launch, kernel = self._wanted[slot]
        config = self._config
        table = write_table(launch, kernel, self._path, config.path.parent)
        added = addition(config.text, table, config.path)
        last_line = config.text[config.text.rfind("\n") + 1 :]
        return ConfigEdit(config.path, added, self._is_new, config.text.count("\n"), last_line) if added else None

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
            if each.launch is not None and each.launch.origin is Origin.RECORDED
        }
