"""What a launch rests on beside its own file: files of the project that were read before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.launch.launch import Assumption, Launch

_NAMED = 4


def with_note_on(found: Sequence[tuple[str, str]], launch: Launch) -> Launch:
    """Return the launch with the assumption that `found`, names with the files that declare them, are meant."""
    names = [f"`{name}`" for name, _ in found]
    files = list(dict.fromkeys(Path(file).name for _, file in found))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    said = "is" if len(names) == 1 else "are"
    text = (
        f"{', '.join(names[:_NAMED])}{more} {said} not declared here: {' and '.join(files)} of this project "
        f"{'declares' if len(files) == 1 else 'declare'} {'it' if len(names) == 1 else 'them'}, "
        "read as if joined before this file"
    )
    return replace(launch, assumptions=(Assumption("file", text), *launch.assumptions))
