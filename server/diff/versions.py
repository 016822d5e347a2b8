"""Which two versions a call means, revisions, the working tree or folders; and what predicts the kernels of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.embedded.languages import language_of
from model.launch.config import Config
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from server.cli.forecasts import Forecaster
from server.diff.git import GitError, Repository, repository_of
from server.diff.sides import Side
from server.diff.trees import CommitTree, Tree, commit_tree, folder_tree, working_tree


@dataclass(frozen=True, slots=True)
class Versions:
    """The old and the new tree; `root` is the folder of the user's that their paths begin at."""

    old: Tree
    new: Tree
    root: Path

    @property
    def names(self) -> tuple[str, str]:
        return self.old.name, self.new.name


def versions_of(words: Sequence[str], folder: Path) -> Versions:
    """Return what `BASE`, `BASE..HEAD`, `BASE HEAD`, two folders or nothing mean, said in `folder`.

    Raises GitError with what to say instead.
    """
    if len(words) > 2:
        raise GitError("name one revision, two, or two folders")
    if not all(words):
        raise GitError("a version is empty: name a revision, two, or two folders")
    if len(words) == 2 and all((folder / word).is_dir() for word in words):
        was, now = ((folder / word).resolve() for word in words)
        return Versions(folder_tree(was, words[0]), folder_tree(now, words[1]), now)
    repository = repository_of(folder)
    if len(words) == 2:
        old_name, new_name = words
    else:
        old_name, new_name = _range(words[0] if words else "HEAD", repository)
    try:
        old = _tree(repository, old_name)
    except GitError:
        if (folder / old_name).is_dir():
            raise GitError(f"`{old_name}` is a folder, and no revision: name two folders, OLD NEW") from None
        if (folder / old_name).is_file():
            raise GitError(
                f"`{old_name}` is a file, and no revision: `kernelcast compare OLD NEW` compares two files"
            ) from None
        raise
    return Versions(old, _tree(repository, new_name) if new_name else working_tree(repository), repository.folder)


def _range(word: str, repository: Repository) -> tuple[str, str]:
    """Return the names on both sides of `..`, the second "" where there is none; `...` begins at their ancestor."""
    for dots in ("...", ".."):
        old, found, new = word.partition(dots)
        if found and not old and not new:  # variables of a script that are not set would compare HEAD with itself
            raise GitError(f"`{word}` names no revision: name one at least, as BASE{dots}HEAD")
        if found:
            old, new = old or "HEAD", new or "HEAD"
            if dots == "...":
                old = repository.merge_base(repository.revision(old), repository.revision(new))
            return old, new
    return word, ""


def _tree(repository: Repository, name: str) -> CommitTree:
    commit = repository.revision(name)
    return commit_tree(repository, commit, name if name != commit else commit[:10])


_OPTIONS = re.compile(r"kernelcast:[^\n]*\s-")  # build options in an annotation


@dataclass(frozen=True, slots=True)
class Version:
    """One side with what predicts its kernels."""

    side: Side
    forecaster: Forecaster
    options: BuildOptions
    config_of: Callable[[str], Config | None]  # by the path of a file


def means_the_same(path: str, old: Version, new: Version) -> bool:
    """Return whether all kernels of an unchanged file mean the same with either version's includes.

    Nothing is analysed for it. Files for which a launch has build options of its own are not looked at.
    """
    text, other = (version.side.contents.texts([path]).get(path) for version in (old, new))
    if text is None or text != other or language_of(Path(path), text) is not None or _OPTIONS.search(text):
        return False
    found = []
    for version in (old, new):
        config = version.config_of(path)
        if config is not None and any(launch.spec.options != BuildOptions() for launch in config.launches):
            return False
        options = (config.options if config is not None else BuildOptions()).merged(version.options)
        program = read_program(text, version.side.path(path), options)
        if program.notes:
            return False  # what is missing may be found elsewhere in the project
        found.append({kernel.name: kernel.fingerprint for kernel in (*program.kernels, *program.included)})
    return found[0] == found[1]
