"""Versions of a source tree: a commit, a working tree or a plain folder, all asked in the same way.

`files` has the id of each file's content, Git's own, so that equal files are known without being read.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from model.opencl.project_files import FOLDERS_WITHOUT_SOURCES
from model.safe_read import read_plain
from server.diff.git import MAX_BLOB_BYTES, Entry, GitError, Repository

_MOST_LINKS = 8


class Tree(Protocol):
    """One version of the sources. Paths are relative to its root, with slashes."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def files(self) -> Mapping[str, str]:
        """Content ids by path."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not known of it, in sentences."""

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of files; without those that cannot be read."""

    def holding(self, words: Iterable[str]) -> set[str]:
        """Return the paths of files that hold one of these words, at least."""


@dataclass(frozen=True, slots=True)
class CommitTree:
    """The files of a commit, with those of submodules that are cloned."""

    name: str
    files: Mapping[str, str]
    notes: tuple[str, ...]
    entries: Mapping[str, Entry]
    parts: tuple[tuple[str, Repository, str], ...]  # path of a submodule with a slash, or "": repository and commit

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        wanted = {path: place for path in paths if (place := self._place(path)) is not None}
        found: dict[str, bytes] = {}
        for prefix, repository, _ in self.parts:
            own = {path: self.entries[place].oid for path, place in wanted.items() if self._part(place) == prefix}
            blobs = repository.blobs(own.values())
            found |= {path: blobs[oid] for path, oid in own.items() if oid in blobs}
        return found

    def holding(self, words: Iterable[str]) -> set[str]:
        words = list(words)
        return {
            f"{prefix}{path}" for prefix, repository, commit in self.parts for path in repository.holding(words, commit)
        }

    def _part(self, path: str) -> str:
        return max((prefix for prefix, _, _ in self.parts if path.startswith(prefix)), key=len)

    def _place(self, path: str) -> str | None:
        """Return the path of the file that a path means: a link's target if that lies in the tree, too."""
        for _ in range(_MOST_LINKS):
            entry = self.entries.get(path)
            if entry is None:
                return None
            if not entry.is_link:
                return path
            repository = next(each for prefix, each, _ in self.parts if prefix == self._part(path))
            target = os.fsdecode(repository.blobs([entry.oid]).get(entry.oid, b""))
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        return None


def commit_tree(repository: Repository, commit: str, name: str) -> CommitTree:
    """Return the tree of a commit. Raises GitError."""
    entries: dict[str, Entry] = {}
    parts: list[tuple[str, Repository, str]] = []
    notes: list[str] = []
    waiting = [("", repository, commit)]
    while waiting:
        prefix, owner, wanted = waiting.pop()
        try:
            found = owner.files(wanted)
        except GitError:
            if not prefix:
                raise
            notes.append(f"the submodule {prefix[:-1]} of {name} is not cloned, or lacks that commit: it is not read")
            continue
        parts.append((prefix, owner, wanted))
        for path, entry in found.items():
            if entry.is_submodule:
                if not owner.is_bare and is_plain(path) and (owner.folder / path / ".git").exists():
                    waiting.append((f"{prefix}{path}/", Repository(owner.folder / path), entry.oid))
            elif is_plain(path):
                entries[f"{prefix}{path}"] = entry
    files = {path: entry.oid for path, entry in entries.items()}
    return CommitTree(name, files, tuple(notes), entries, tuple(parts))


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The files of a folder as they are now; `repository` where Git knows it, which searches faster."""

    name: str
    folder: Path
    files: Mapping[str, str]
    notes: tuple[str, ...] = ()
    repository: Repository | None = None
    nested: tuple[str, ...] = ()  # paths of submodules, each with a slash

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        wanted = [path for path in paths if path in self.files]
        found = {path: content for path in wanted if (content := _read(self.folder / path)) is not None}
        if self.repository is None or len(found) == len(wanted):
            return found
        # A sparse checkout leaves files out of the working tree that are part of it all the same.
        absent = {path: self.files[path] for path in wanted if not os.path.lexists(self.folder / path)}
        blobs = self.repository.blobs(absent.values())
        return found | {path: blobs[oid] for path, oid in absent.items() if oid in blobs}

    def holding(self, words: Iterable[str]) -> set[str]:
        if self.repository is None:
            return set(self.files)
        # `git grep` looks into no other repository: these files are left to be read.
        return self.repository.holding(words, None) | {path for path in self.files if path.startswith(self.nested)}


def working_tree(repository: Repository) -> FolderTree:
    """Return the working tree: files that Git tracks, and new ones that it does not ignore. Raises GitError."""
    if repository.is_bare:
        raise GitError(f"{repository.folder} is bare, so it has no working tree: name two revisions, as BASE..HEAD")
    files: dict[str, str] = {}
    edited, index = repository.edited(), repository.index()
    notes: list[str] = []
    nested: list[str] = []
    for path, entry in index.items():
        if entry.is_submodule:
            if (repository.folder / path / ".git").exists():
                nested.append(f"{path}/")
                inner = working_tree(Repository(repository.folder / path))
                files |= {f"{path}/{each}": oid for each, oid in inner.files.items()}
                notes += inner.notes
            else:
                notes.append(f"the submodule {path} is not cloned: it is not read")
        elif path not in edited and is_plain(path):
            files[path] = entry.oid
    for path in (*edited, *repository.untracked()):
        if is_plain(path) and os.path.lexists(repository.folder / path):
            files[path] = _content_id(repository.folder / path)
    return FolderTree("the working tree", repository.folder, files, tuple(notes), repository, tuple(nested))


def folder_tree(folder: Path, name: str) -> FolderTree:
    """Return the files of a folder that may be sources; hidden folders and those of builds are left out."""
    found: dict[str, str] = {}
    for top, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".") and each not in FOLDERS_WITHOUT_SOURCES]
        for each in names:
            path = Path(top, each)
            relative = path.relative_to(folder).as_posix()
            if is_source(relative):
                found[relative] = _content_id(path)
    return FolderTree(name, folder, found)


OPENCL = frozenset({".cl", ".clh", ".clc", ".clcpp", ".ocl", ".opencl", ".hcl", ".inc", ".inl", ".ipp", ".h"})
_HOSTS = frozenset({".py", ".pyw", ".pyi", ".c", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx"})
CONFIG = "kernelcast.toml"


def is_source(path: str) -> bool:
    """Return whether a file of this name can hold kernels, or what kernels include."""
    pure = PurePosixPath(path)
    return pure.suffix.lower() in OPENCL | _HOSTS or pure.name == CONFIG


def is_plain(path: str) -> bool:
    """Return whether a path leads to a file below the root and nowhere else: a crafted tree may hold any name."""
    parts = path.split("/")
    is_foreign = os.sep != "/" and (os.sep in path or ":" in path)
    return not is_foreign and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)


def _read(path: Path) -> bytes | None:
    try:
        return read_plain(path, MAX_BLOB_BYTES)
    except OSError:
        return None


def _content_id(path: Path) -> str:
    """Return Git's id of a blob with a file's content; an id that no other file has if it cannot be read."""
    content = _read(path)
    if content is None:
        return f"unread {path}"
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
