"""The programs of a document: its own text, or what a host file has in literals. Lives in the analysis thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cachetools import LRUCache

from model.embedded.find import ProgramFinder
from model.embedded.languages import language_of
from model.embedded.placing import HostText, Placing
from model.embedded.program import EmbeddedProgram
from model.forecast import FileForecast

_FILES_KEPT = 64


@dataclass(frozen=True, slots=True)
class Part:
    """One program. `name` tells it from the others of its document; `program` is None for a document of OpenCL C."""

    text: str
    name: str = ""
    program: EmbeddedProgram | None = None


class Parts:
    """Remembers what each host file held last, so that an edit costs what it changes."""

    def __init__(self) -> None:
        self._finders: LRUCache[tuple[str, str], ProgramFinder] = LRUCache(_FILES_KEPT)
        self._placings: LRUCache[str, Placing] = LRUCache(16 * _FILES_KEPT)

    def of(self, name: str, path: Path | None, text: str, language_id: str = "") -> tuple[Part, ...]:
        """Return the programs of the document `name`, in the order of its text."""
        language = language_of(path, text, language_id)
        if language is None:
            return (Part(text),)
        key = name, str(language)
        finder = self._finders.get(key)
        if finder is None:
            finder = self._finders[key] = ProgramFinder(language)
        return tuple(Part(each.text, f"{name}#{place}", each) for place, each in enumerate(finder.programs(text)))

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

    def _placing(self, part: str) -> Placing:
        placing = self._placings.get(part)
        if placing is None:
            placing = self._placings[part] = Placing(part)
        return placing


def merged(placed: Sequence[FileForecast]) -> FileForecast:
    """Return the answers about all programs of a host file as one, in the order of its text."""
    return FileForecast(
        tuple(sorted((kernel for each in placed for kernel in each.kernels), key=lambda k: k.range)),
        tuple(sorted((forecast for each in placed for forecast in each.forecasts), key=lambda f: f.kernel.range)),
        tuple(problem for each in placed for problem in each.problems),
        tuple(problem for each in placed for problem in each.annotation_problems),
    )
