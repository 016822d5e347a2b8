"""Kernels of a dataset with the launches that were measured, to be measured on another machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from profiler.corpus.dataset.cells import launch_from_cells
from profiler.corpus.dataset.reading import options_from, read_dataset
from profiler.corpus.facts.sources import find_sources, place_of, text_at
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch, Vary


def revisited(
    data: Path,
    folder: Path,
    origins: Collection[str],
    *,
    mirrors: Path | None,
    processes: int,
    say: Callable[[str], None],
) -> Iterator[CorpusKernel]:
    """Yield the kernels of `origins` (empty: of all) whose sources are found again as they were measured.

    Their launches were shown to stay inside their buffers, and need no further proof. Raises DatasetError.
    """
    dataset = read_dataset(data)
    kernels = [each for each in dataset.kernels.to_pylist() if not origins or each["origin"] in origins]
    launches: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for cells in dataset.launches.to_pylist():
        launches[cells["kernel_id"]].append(cells)
    known = find_sources(kernels, folder, mirrors=mirrors, processes=processes, say=say)
    for each in kernels:
        place = place_of(each, known)
        text = text_at(place) if place is not None else None
        if text is None:
            continue
        options = options_from(each["options"])
        own = sorted(launches[each["id"]], key=lambda cells: int(cells["place"]))
        yield CorpusKernel(
            each["id"], each["origin"], each["family"], each["group"], each["reference"], each["name"], text, options,
            launches=tuple(
                CorpusLaunch(launch_from_cells(cells, options), Vary(cells["vary"]), cells["data"], cells["checked"])
                for cells in own
            ),
            in_place=tuple(each["in_place"]),
            choices=tuple((name, value) for name, _, value in (choice.partition("=") for choice in each["choices"])),
        )  # fmt: skip
