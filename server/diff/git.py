"""Read a Git repository by its plumbing commands; nothing in it, or in its working tree, is ever written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.errors import KernelcastError

MAX_BLOB_BYTES = 16 << 20
_LINK, SUBMODULE = "120000", "160000"
_SETTINGS = ("--no-pager", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "--literal-pathspecs")
# Git would refresh the index on the way, ask for passwords, or take another repository than the one of this folder.
_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

_OF_HOOKS = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_PAGER"})


class GitError(KernelcastError):
    """Git is missing, or refuses; the message says why."""

    code = "git"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a revision, or of the index: its mode and the id of its content."""

    mode: str
    oid: str

    @property
    def is_link(self) -> bool:
        return self.mode == _LINK

    @property
    def is_submodule(self) -> bool:
        return self.mode == SUBMODULE


@dataclass(frozen=True, slots=True)
class Repository:
    """`folder` is the root of the working tree; of a bare repository, its Git folder."""

    folder: Path
    is_bare: bool = False

    def git(self, *words: str, stdin: bytes | None = None, allowed: Sequence[int] = (0,)) -> bytes:
        """Return what a Git command prints. Raises GitError with Git's own sentence."""
        return run_git(self.folder, words, stdin, allowed)

    def revision(self, name: str) -> str:
        """Return the id of the commit that `name` means. Raises GitError."""
        try:
            return _text(self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")).strip()
        except GitError:
            raise GitError(self._missing(name)) from None

    def merge_base(self, one: str, other: str) -> str:
        try:
            return _text(self.git("merge-base", one, other)).split("\n")[0]
        except GitError:
            shallow = self._advice_if_shallow()
            raise GitError(f"the two revisions have no common ancestor here{shallow}") from None

    def _missing(self, name: str) -> str:
        if name == "HEAD":
            return f"{self.folder} has no commit yet, so there is nothing to compare with"
        return f"`{name}` is not a revision of {self.folder}{self._advice_if_shallow()}"

    def _advice_if_shallow(self) -> str:
        try:
            is_shallow = _text(self.git("rev-parse", "--is-shallow-repository")).strip() == "true"
        except GitError:
            is_shallow = False
        return (
            "; the clone is shallow: fetch more of its history first, `git fetch --unshallow` or `fetch-depth: 0` in CI"
            if is_shallow
            else ""
        )

    def files(self, commit: str) -> dict[str, Entry]:
        """Return all files of a commit by path; submodules are entries of their own."""
        rows = _records(self.git("ls-tree", "-r", "-z", "--full-tree", commit))
        found = (row.partition(b"\t") for row in rows)
        heads = ((head.split(b" "), os.fsdecode(path)) for head, _, path in found)
        return {path: Entry(_text(head[0]), _text(head[2])) for head, path in heads}

    def index(self) -> dict[str, Entry]:
        """Return the files of the index by path; of a conflict one of its sides."""
        found = (row.partition(b"\t") for row in _records(self.git("ls-files", "--stage", "-z", "--full-name")))
        heads = ((head.split(b" "), os.fsdecode(path)) for head, _, path in found)
        return {path: Entry(_text(head[0]), _text(head[1])) for head, path in heads}

    def edited(self) -> set[str]:
        """Return the paths whose files in the working tree are not what the index has, deleted ones included."""
        words = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all")
        return {os.fsdecode(path) for path in _records(self.git(*words))}

    def untracked(self) -> set[str]:
        """Return the paths of files that Git neither tracks nor ignores."""
        words = ("ls-files", "--others", "--exclude-standard", "-z", "--full-name")
        return {os.fsdecode(path) for path in _records(self.git(*words))}

    def holding(self, words: Iterable[str], commit: str | None) -> set[str]:
        """Return the paths of files that hold one of these words, in a commit or in the working tree."""
        patterns = "".join(f"{word}\n" for word in sorted(words) if word and "\n" not in word).encode(
            "utf-8", "replace"
        )
        if not patterns:
            return set()
        where = ["--untracked"] if commit is None else [commit]
        # With `color.ui=always` colours would be part of the paths.
        options = ("--no-color", "-l", "-z", "-a", "-F", "-f", "-")
        told = self.git("grep", *options, *where, stdin=patterns, allowed=(0, 1))
        paths = {os.fsdecode(path) for path in _records(told)}
        return paths if commit is None else {path.partition(":")[2] for path in paths}

    def blobs(self, oids: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of blobs by id; without those that are missing, or larger than 16 MiB."""
        asked = "".join(f"{oid}\n" for oid in dict.fromkeys(oids)).encode()
        if not asked:
            return {}
        sizes = (row.split() for row in self.git("cat-file", "--batch-check", stdin=asked).splitlines())
        wanted = [row[0] for row in sizes if len(row) == 3 and row[1] == b"blob" and int(row[2]) <= MAX_BLOB_BYTES]
        if not wanted:
            return {}
        return dict(_contents(self.git("cat-file", "--batch", stdin=b"\n".join(wanted) + b"\n")))


def repository_of(folder: Path) -> Repository:
    """Return the repository that a folder lies in. Raises GitError if there is none."""
    if shutil.which("git") is None:
        raise GitError("Git is not installed, or not on the PATH; two folders can be compared without it")
    if not folder.is_dir():
        raise GitError(f"{folder} is not a folder")
    try:
        told = _text(run_git(folder, ("rev-parse", "--is-bare-repository", "--absolute-git-dir")))
    except GitError as error:
        if "not a git repository" in error.message:
            raise GitError(f"{folder} is in no Git repository; two folders can be compared without one") from None
        raise
    is_bare, git_dir = told.rstrip("\n").split("\n", 1)
    if is_bare == "true":
        return Repository(Path(git_dir), is_bare=True)
    top = _path(run_git(folder, ("rev-parse", "--show-toplevel")))
    return Repository(Path(top))


def run_git(folder: Path, words: Sequence[str], stdin: bytes | None = None, allowed: Sequence[int] = (0,)) -> bytes:
    """Run Git in a folder and return what it prints. Raises GitError."""
    command = ["git", "-C", str(folder), *_SETTINGS, *words]
    try:
        done = subprocess.run(
            command, input=stdin, stdin=subprocess.DEVNULL if stdin is None else None, capture_output=True, check=False,
            env={**_environment(os.environ), **_ENVIRONMENT},
        )  # fmt: skip
    except FileNotFoundError:
        raise GitError("Git is not installed, or not on the PATH; two folders can be compared without it") from None
    except OSError as error:
        raise GitError(f"Git cannot be started: {error.strerror}") from None
    if done.returncode not in allowed:
        said = _text(done.stderr).strip().removeprefix("fatal: ").split("\n")[0]
        raise GitError(f"`git {words[0]}` failed in {folder}: {said or f'status {done.returncode}'}")
    return done.stdout


def _environment(mine: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what Git sets for hooks: it would name the hook's repository for every folder."""
    return {name: value for name, value in mine.items() if name not in _OF_HOOKS}


def _contents(told: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield id and content of each object in the output of `git cat-file --batch`."""
    at = 0
    while at < len(told):
        end = told.index(b"\n", at)
        oid, _, size = told[at:end].split(b" ")
        start, at = end + 1, end + 1 + int(size) + 1
        yield _text(oid), told[start : at - 1]


def _records(told: bytes) -> list[bytes]:
    return [each for each in told.split(b"\0") if each]


def _path(told: bytes) -> str:
    return os.fsdecode(told.removesuffix(b"\n"))


def _text(told: bytes) -> str:
    return told.decode("utf-8", "replace")
