"""What a launch rests on beside its own file: files of the project that were read before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from model.launch.launch import Assumption, Launch

_NAMED = 4


def with_note_on(found: Sequence[tuple[str, str]], launch: Launch) -> Launch:
    """Return the launch with the assumption that `found`, names or includes with their files, are what is meant."""
    notes = [*_on_names([each for each in found if each[0].isidentifier()])]
    notes += [f"`{name}` was not found where it is looked for: {file} is read" for name, file in found if "." in name]
    return replace(launch, assumptions=(*(Assumption("file", note) for note in notes), *launch.assumptions))


def _on_names(found: Sequence[tuple[str, str]]) -> Iterator[str]:
    names = [f"`{name}`" for name, _ in found]
    files = list(dict.fromkeys(Path(file).name for _, file in found))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    if names:
        yield (
            f"{', '.join(names[:_NAMED])}{more} {'is' if len(names) == 1 else 'are'} not declared here: "
            f"{' and '.join(files)} of this project {'declares' if len(files) == 1 else 'declare'} "
            f"{'it' if len(names) == 1 else 'them'}, read as if joined before this file"
        )
