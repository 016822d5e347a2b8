"""What an editor asks about a whole program and hears of it. Plain data, light enough for the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from model.device import Device


@dataclass(frozen=True, slots=True)
class ProgramOrder:
    """The newest recording of the project that `folder` is in, with kernels as `texts` and the project's files are now.

    `texts` are open documents, saved or not. `devices` are known to the editor; the first one is its own.
    """

    folder: Path
    texts: Mapping[Path, str]
    devices: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class ProgramPage:
    """A page that needs nothing beside it."""

    title: str
    html: str
