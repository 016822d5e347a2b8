"""The programs of a document: its own text, or what a host file has in literals. Lives in the analysis thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from cachetools import LRUCache, TTLCache

from model.embedded.find import ProgramFinder
from model.embedded.languages import language_of
from model.embedded.placing import HostText, Placing
from model.embedded.program import EmbeddedProgram
from model.embedded.refill import refilled
from model.forecast import FileForecast
from model.opencl.project_files import KERNEL_NAME
from model.recorded_choice import RecordedOf, nothing_recorded
from model.safe_read import read_plain

_FILES_KEPT = 64
_TEXTS_KEPT, _TEXTS_TRIED, _MOST_BYTES = 64, 16, 1 << 20
_READ_AGAIN_S = 60.0  # a text that could not be read may be there by then


@dataclass(frozen=True, slots=True)
class Part:
    """One program. `name` tells it from others with the same path; `program` is None for a document of OpenCL C."""

    text: str
    name: str = ""
    program: EmbeddedProgram | None = None


class Parts:
    """Remembers what each host file held last, so that an edit costs what it changes."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._recorded: TTLCache[str, str | None] = TTLCache(_TEXTS_KEPT, _READ_AGAIN_S, clock_s)
        self._finders: LRUCache[tuple[str, str], ProgramFinder] = LRUCache(_FILES_KEPT)
        self._placings: LRUCache[str, Placing] = LRUCache(16 * _FILES_KEPT)

    def of(
        self,
        name: str,
        path: Path | None,
        text: str,
        language_id: str = "",
        recorded: RecordedOf = nothing_recorded,
    ) -> tuple[Part, ...]:
        """Return the programs of the document `name`, in the order of its text.

        What they are completed with when they run is taken from launches of their kernels that were `recorded`.
        """
        language = language_of(path, text, language_id)
        if language is None:
            return (Part(text, "" if path is not None else name),)
        key = name, str(language)
        finder = self._finders.get(key)
        if finder is None:
            finder = self._finders[key] = ProgramFinder(language)
        programs = [refilled(each, self._texts(each, recorded)) for each in finder.programs(text)]
        return tuple(Part(each.text, f"{name}#{place}", each) for place, each in enumerate(programs))

    def _texts(self, program: EmbeddedProgram, recorded: RecordedOf) -> Iterator[str]:
        """Yield the recorded texts of programs that have kernels of the same names, if this one is to be completed."""
        names = KERNEL_NAME.findall(program.text) if program.filled else []
        launches = (launch for each in (recorded(names) if names else {}).values() for launch in each)
        for source in islice(dict.fromkeys(launch.source for launch in launches if launch.source), _TEXTS_TRIED):
            try:
                text = self._recorded[source]
            except KeyError:
                text = self._recorded[source] = _read(source)
            if text is not None:
                yield text

    def together(
        self, name: str, text: str, feed_starts: Sequence[int], found: Sequence[tuple[Part, FileForecast]]
    ) -> FileForecast:
        """Return one answer about the whole document `name`, in its own lines, which begin at `feed_starts`.

        A text in which no kernel can be read is no program: most likely it is prose.
        """
        if len(found) == 1 and found[0][0].program is None:
            return found[0][1]
        placed = [
            self._placing(part.name).placed(forecast, part.program, HostText(text, feed_starts))
            for part, forecast in found
            if part.program is not None and forecast.kernels
        ]
        return merged(placed)

    def forget(self, name: str) -> None:
        """Drop what is kept of a document that was closed."""
        for finder in [key for key in self._finders if key[0] == name]:
            del self._finders[finder]
        for part in [part for part in self._placings if part.rpartition("#")[0] == name]:
            del self._placings[part]

    def _placing(self, part: str) -> Placing:
        placing = self._placings.get(part)
        if placing is None:
            placing = self._placings[part] = Placing(part)
        return placing


def _read(source: str) -> str | None:
    try:
        return read_plain(Path(source), _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def merged(placed: Sequence[FileForecast]) -> FileForecast:
    """Return the answers about all programs of a host file as one, in the order of its text."""
    return FileForecast(
        tuple(sorted((kernel for each in placed for kernel in each.kernels), key=lambda k: k.range)),
        tuple(sorted((forecast for each in placed for forecast in each.forecasts), key=lambda f: f.kernel.range)),
        tuple(problem for each in placed for problem in each.problems),
        tuple(problem for each in placed for problem in each.annotation_problems),
    )
