"""Where the source of a kernel of the dataset is to be had: its seed, or what was restored of a package."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from profiler.corpus.dataset.reading import options_from
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import GENERATOR
from profiler.corpus.origins.origin import read_origins
from profiler.corpus.origins.restore import Wanted, restore, restored_sources

SOURCE_COLUMNS = ("id", "origin", "family", "reference", "name", "options", "source_sha256")  # of the kernels' table


@dataclass(frozen=True, slots=True)
class Seed:
    """Small enough to be sent to the process that writes the source anew."""

    family: str
    number: int
    sha256: str


def find_sources(
    kernels: Collection[Mapping[str, Any]],
    folder: Path,
    *,
    mirrors: Path | None,
    processes: int,
    say: Callable[[str], None],
) -> dict[str, str]:
    """Find the texts of packages' kernels again, and return all that are in `folder`, by kernel id.

    `kernels` are rows of `SOURCE_COLUMNS`. What was found in an earlier call is not looked for again.
    """
    wanted: dict[str, list[Wanted]] = defaultdict(list)
    for each in kernels:
        if each["origin"] != GENERATOR:
            options = options_from(each["options"])
            wanted[each["origin"]].append(
                Wanted(each["id"], each["reference"], each["name"], options, each["source_sha256"])
            )
    restore(folder, read_origins(), wanted, mirrors=mirrors, processes=processes, on_progress=say)
    return restored_sources(folder)


def place_of(kernel: Mapping[str, Any], restored: Mapping[str, str]) -> str | Seed | None:
    """Of a kernel's `SOURCE_COLUMNS`: the text itself, or its seed; None where its package's text is not there."""
    if kernel["origin"] != GENERATOR:
        return restored.get(kernel["id"])
    return Seed(kernel["family"], int(kernel["reference"].rpartition("/")[2]), kernel["source_sha256"])


def text_at(place: str | Seed) -> str | None:
    """None where the generator of this version writes another source."""
    if isinstance(place, str):
        return place
    made = corpus_kernel(FAMILIES[place.family], place.number).source
    return made if hashlib.sha256(made.encode()).hexdigest() == place.sha256 else None
