"""The packages and repositories that kernels are taken from, as `origins.json` lists them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

TABLE = Path(__file__).with_name("origins.json")
MOST_KERNELS = 600  # of one origin: none may dominate


class OriginKind(StrEnum):
    PYPI = "pypi"
    DEBIAN = "debian"
    REPOSITORY = "repository"
    INSTALLED = "installed"  # generates its kernels at run time, and is among our own dependencies


@dataclass(frozen=True, slots=True)
class Origin:
    """`place` is the package's name, or a repository's URL; `version` that of the package, or the commit."""

    name: str
    kind: OriginKind
    place: str
    version: str
    licence: str
    field: str  # what its kernels are for: images, linear algebra ...
    most_kernels: int = MOST_KERNELS

    @property
    def folder_name(self) -> str:
        return f"{self.name.replace('/', '+')}@{self.version[:12]}"


def read_origins(table: Path = TABLE) -> tuple[Origin, ...]:
    entries = json.loads(table.read_text(encoding="utf-8"))
    return tuple(Origin(**{**entry, "kind": OriginKind(entry["kind"])}) for entry in entries)
