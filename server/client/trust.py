"""What the editor says of the workspace: whether its user trusts who wrote what is in it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from pathlib import Path

from model.opencl.include_policy import Reach
from server.client.settings import Settings
from server.documents import path_of


class Trust(Enum):
    """Without trust nothing is run. Unless it is said, files are read in the workspace alone."""

    SAID = auto()
    UNSAID = auto()  # most editors know no such thing: what the user asks to be run is run
    REFUSED = auto()

    @property
    def in_words(self) -> str:
        unsaid = "trusted as far as the editor says, which is nothing"
        return {Trust.SAID: "trusted", Trust.UNSAID: unsaid, Trust.REFUSED: "not trusted"}[self]

    @staticmethod
    def said(option: object) -> Trust:
        """Return the trust that `initializationOptions.trusted` states; other values than true and false state none."""
        return Trust.SAID if option is True else Trust.REFUSED if option is False else Trust.UNSAID


def reach_of(trust: Trust, path: Path | None, folders: Iterable[str], settings: Settings) -> Reach | None:
    """Return how far a document may have files read; None where it may everywhere.

    What the user opened is the workspace's folders, and for a document outside of them its own; the include folders of
    the settings are the user's own choice. `settings` are those for all folders: a folder's own may be the workspace's.
    """
    if trust is Trust.SAID:
        return None
    opened = [found for found in map(path_of, folders) if found]
    if path is not None and not any(path.is_relative_to(folder) for folder in opened):
        opened.append(path.parent)
    chosen: list[Path] = []
    if trust is Trust.UNSAID:
        chosen = [folder for each in settings.include if (folder := _expanded(each)).is_absolute()]
    return Reach.of([*opened, *chosen])


def _expanded(folder: str) -> Path:
    try:
        return Path(folder).expanduser()
    except RuntimeError:  # `~somebody` whom this machine does not know
        return Path(folder)
