"""The versions that Git has of a file, and the one in the working tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from server.diff.git import Repository, repository_of

WORKING_TREE = "now"
_ABBREVIATED = 9  # characters of a commit's id


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A file's text at a commit; `commit` is "now" for the working tree, whose `date` and `subject` are empty."""

    commit: str
    date: str  # ISO 8601, of the commit
    subject: str
    text: str


def file_versions(file: Path, most: int) -> tuple[FileVersion, ...]:
    """Return at most `most` versions of a file, the oldest first, the working tree's last if no commit has it.

    Renames are followed. Raises GitError.
    """
    repository = repository_of(file.resolve().parent)
    committed = list(_committed(repository, file.resolve(), most))[::-1]
    try:
        text = file.read_text("utf-8", "replace")
    except OSError:
        return tuple(committed)
    if not committed or committed[-1].text != text:
        committed.append(FileVersion(WORKING_TREE, "", "", text))
    return tuple(committed[-most:])


def _committed(repository: Repository, file: Path, most: int) -> Iterator[FileVersion]:
    """Yield the versions at the commits that changed the file, the newest first."""
    inside = os.path.relpath(file, repository.folder.resolve())
    # One record a commit: its line, and the name that the file had there.
    told = repository.git(
        "log", f"--max-count={most}", "--follow", "--name-only", "-z", "--format=%x01%H%x02%cI%x02%s", "--", inside
    ).decode("utf-8", "surrogateescape")
    for record in told.split("\x01")[1:]:
        head, *names = (part.strip("\n") for part in record.split("\0"))
        commit, date, subject = head.split("\x02", 2)
        name = next((each for each in names if each), inside)
        blobs = repository.git("show", f"{commit}:{name}", allowed=(0, 128))
        if blobs:
            shown = subject.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            yield FileVersion(commit[:_ABBREVIATED], date, shown, blobs.decode("utf-8", "replace"))
