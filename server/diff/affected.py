"""Which files can hold kernels that changed: those that differ, and those that include or use something of these."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from model.embedded.languages import may_hold_program
from model.opencl.project_files import ProjectFile, project_file
from server.diff.trees import OPENCL, Tree, is_source

_INCLUDED = re.compile(r"^[ \t]*#[^\n]*?[\"<]([^\"<>\n]+)[\">]", re.M)
_COMMENT_OR_TEXT = re.compile(
    r"(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|//(?:\\\n|[^\n])*|/\*.*?\*/", re.DOTALL
)
_ROUNDS = 40  # as deep as includes may be nested
_SAMPLE_BYTES = 8000  # Git itself looks for a zero byte so far


@dataclass(slots=True)
class Contents:
    """What was read of one tree so far."""

    tree: Tree
    known: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those files that can be read."""
        wanted = list(dict.fromkeys(paths))
        new = [path for path in wanted if path not in self.known and path in self.tree.files]
        if new:
            found = self.tree.read(new)
            self.known |= {path: found.get(path) for path in new}
        return {path: content for path in wanted if (content := self.known.get(path)) is not None}

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the texts of those files that can be read and are no binary ones."""
        return {path: decoded(data) for path, data in self.read(paths).items() if not is_binary(data)}

    def problem(self, path: str) -> str:
        """Return why a file of the tree has no text; empty where it has one, or is not in the tree."""
        if path not in self.tree.files:
            return ""
        content = self.read([path]).get(path)
        if content is None:
            return f"{path} of {self.tree.name} cannot be read: it is missing, larger than 16 MiB or not a regular file"
        return f"{path} is binary: it is not read" if is_binary(content) else ""


@dataclass(frozen=True, slots=True)
class Affected:
    """Paths of one or both trees. `changed` differ in more than comments and spacing.

    `includers` are unchanged and include a changed one; `users` use what one defines. `problems` say which files that
    differ have no text, and why.
    """

    changed: frozenset[str]
    users: frozenset[str]
    includers: frozenset[str]
    problems: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        return self.changed | self.users | self.includers


def affected(old: Contents, new: Contents) -> Affected:
    """Return the files whose kernels may mean something else in the new tree."""
    before, after = old.tree.files, new.tree.files
    differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    differing = {path for path in differing if is_source(path)}
    was, now = old.texts(differing), new.texts(differing)
    problems = [problem for path in sorted(differing) for side in (old, new) if (problem := side.problem(path))]
    changed = {path for path in was.keys() | now.keys() if not _reads_alike(path, was.get(path), now.get(path))}
    users: set[str] = set()
    for side, texts in ((old, was), (new, now)):
        users |= _users(side, {path: text for path, text in texts.items() if path in changed})
    includers = _includers(old, new, changed | users) - changed - users
    return Affected(frozenset(changed), frozenset(users), frozenset(includers), tuple(dict.fromkeys(problems)))


def may_hold_kernels(path: str, text: str) -> bool:
    """Return whether it is worth analysing: OpenCL C may include its kernels, all other files name them."""
    return may_hold_program(text) or (PurePosixPath(path).suffix.lower() == ".cl" and "#" in text)


def included(text: str) -> set[str]:
    """Return all files that directives of a text name, in macros as well, as they are written."""
    return {name.replace("\\", "/") for name in _INCLUDED.findall(text)}


def included_names(text: str) -> set[str]:
    """Return the base names of these files."""
    return {posixpath.basename(name) for name in included(text)} - {""}


def is_binary(content: bytes) -> bool:
    return b"\0" in content[:_SAMPLE_BYTES]


def decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _reads_alike(path: str, was: str | None, now: str | None) -> bool:
    """Return whether two texts differ in comments and spacing alone, line by line: a directive ends with its line."""
    if was is None or now is None:
        return False
    return PurePosixPath(path).suffix.lower() in OPENCL and _lines(was) == _lines(now)


def _lines(text: str) -> list[str]:
    plain = _COMMENT_OR_TEXT.sub(lambda found: found["text"] or " ", text)
    return [words for line in plain.split("\n") if (words := " ".join(line.split()))]


def _includers(old: Contents, new: Contents, changed: Iterable[str]) -> set[str]:
    """Return the files that include a changed one, directly or through others."""
    found: set[str] = set()
    names = {posixpath.basename(path) for path in changed if _is_includable(path)}
    asked: set[str] = set()
    for _ in range(_ROUNDS):
        names -= asked
        if not names:
            break
        asked |= names
        new_ones: set[str] = set()
        for side in (old, new):
            texts = side.texts(path for path in side.tree.holding(names) if is_source(path))
            new_ones |= {path for path, text in texts.items() if not names.isdisjoint(included_names(text))}
        names = {posixpath.basename(path) for path in new_ones - found}
        found |= new_ones
    return found


def _is_includable(path: str) -> bool:
    return not path.endswith((".py", ".pyw", ".pyi", ".toml"))


def _users(side: Contents, changed: Mapping[str, str]) -> set[str]:
    """Return the files that use a name which only a changed file defines: a host may join the two before it builds."""
    defined = {name for path, text in changed.items() if (file := _opencl(path, text)) for name in file.defines}
    if not defined:
        return set()
    paths = [path for path in side.tree.holding(defined) if path not in changed and _is_opencl(path)]
    files = {path: _opencl(path, text) for path, text in side.texts(paths).items()}
    return {path for path, file in files.items() if file and (file.words & defined) - file.defines}


def _opencl(path: str, text: str) -> ProjectFile | None:
    return project_file(path, text) if _is_opencl(path) else None


def _is_opencl(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in OPENCL
