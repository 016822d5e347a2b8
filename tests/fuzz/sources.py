"""What inputs are made from: our own kernels, and those of packages that registries have, read when they are drawn."""

from __future__ import annotations

import functools
import random
from dataclasses import dataclass
from pathlib import Path

from tests.real_packages import DEBIAN, PYPI, Unreachable, unpacked

TESTS = Path(__file__).resolve().parent.parent
MAX_INPUT_BYTES = 64 * 1024  # what the bounds on time and memory are stated for


@dataclass(frozen=True)
class Sources:
    """`own` are of this project, `foreign` of packages; `missing` says which cannot be had, and why."""

    own: tuple[Path, ...]
    foreign: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()

    def draw(self, chance: random.Random, most_bytes: int = MAX_INPUT_BYTES) -> bytes:
        """A file, or a piece of it that starts at a line, of at most `most_bytes`; short pieces are more likely."""
        files = self.foreign if self.foreign and chance.random() < 0.5 else self.own
        text = _text(chance.choice(files))
        room = min(most_bytes, int(2 ** chance.uniform(10, 16)))
        if len(text) <= room:
            return text
        start = text.rfind(b"\n", 0, chance.randrange(len(text) - room + 1)) + 1
        return text[start : start + room]


@functools.lru_cache(maxsize=512)
def _text(file: Path) -> bytes:
    return file.read_bytes()


def own_sources() -> Sources:
    """Without any package: what a small run is made from."""
    return Sources(tuple(sorted((TESTS / "kernels").glob("*.cl")) + sorted((TESTS / "oracles/kernels").glob("*.cl"))))


def all_sources() -> Sources:
    """With every package that can be had on this machine; downloads those that are not there yet."""
    foreign: list[Path] = []
    missing: list[str] = []
    for requirement in (*PYPI, *DEBIAN):
        try:
            foreign += sorted(f for f in unpacked(requirement).rglob("*.*") if f.suffix in (".cl", ".h"))
        except Unreachable as reason:
            missing.append(str(reason))
    return Sources(own_sources().own, tuple(foreign), tuple(missing))
