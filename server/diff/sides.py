"""The two versions as folders on disk, outside of the user's: with all that their kernels include, and no more.

Both get the same configuration, the new version's: a launch and its build options are the same for both.
"""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from model.errors import ConfigError
from model.launch.config import Config, parse_config
from model.launch.config_file import MAX_BYTES, find_config
from model.opencl.options import BuildOptions
from model.safe_read import read_plain
from server.diff.affected import Affected, Contents, decoded, included
from server.diff.trees import CONFIG, OPENCL, Tree, is_plain

_MOST_PROJECT_FILES = 3000
_ROUNDS = 40
_MARK = ".git"  # the sign of a project: what the analysis looks up in the project ends here


@dataclass(frozen=True, slots=True)
class Side:
    """One version: `folder` holds what is needed of `tree`, which stands for `root` of the user's."""

    tree: Tree
    folder: Path
    root: Path
    contents: Contents

    def path(self, relative: str) -> Path:
        return self.folder / relative

    def relative(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def real(self, path: Path) -> Path:
        """Return where the user has a file of this folder."""
        return self.root / path.relative_to(self.folder) if path.is_relative_to(self.folder) else path

    def plain(self, message: str) -> str:
        """Return a message with paths below the root instead of those of this folder."""
        return message.replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), ".")

    def options(self, options: BuildOptions, root: Path) -> BuildOptions:
        """Return build options with include folders below `root` moved into this version.

        What the analysis found for the other version, files to be read first and stand-ins, is left out.
        """
        include_dirs = tuple(self._moved(each, root) for each in options.include_dirs)
        return replace(options, include_dirs=include_dirs, forced_includes=(), stand_ins=())

    def _moved(self, folder: str, root: Path) -> str:
        path = Path(os.path.normpath(folder))
        return str(self.folder / path.relative_to(root)) if path.is_relative_to(root) else folder


class Configurations:
    """The new version's `kernelcast.toml` files, for either side. Files that Git does not track count, too."""

    def __init__(self, new: Contents, root: Path) -> None:
        self._new, self._root = new, root
        self._texts: dict[str, str | None] = {}
        self._parsed: dict[tuple[str, Path], Config] = {}

    def of(self, relative: str, root: Path) -> Config | None:
        """Return the configuration for a file, read as if it stood below this root. Raises ConfigError."""
        for folder in PurePosixPath(relative).parents:
            place = (folder / CONFIG).as_posix()
            text = self._text(place)
            if text is not None:
                key = place, root
                if key not in self._parsed:
                    self._parsed[key] = _parsed(text, root / place, place)
                return self._parsed[key]
        above = find_config(self._root.parent)
        return _parsed(_read(above), above, str(above)) if above is not None else None

    def _text(self, place: str) -> str | None:
        if place not in self._texts:
            tracked = self._new.read([place]).get(place)
            if tracked is not None:
                self._texts[place] = decoded(tracked)
            else:
                self._texts[place] = _read(self._root / place) if os.path.isfile(self._root / place) else None
        return self._texts[place]


def _read(path: Path) -> str:
    try:
        return decoded(read_plain(path, MAX_BYTES))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None


def _parsed(text: str, path: Path, shown: str) -> Config:
    try:
        return parse_config(text.removeprefix("\ufeff"), path)
    except ConfigError as error:
        raise ConfigError(f"{shown}: {error.message}", line=error.line) from None


def write_sides(
    old: Contents, new: Contents, found: Affected, root: Path, folder: Path, include_dirs: Sequence[str]
) -> tuple[Side, Side]:
    """Write both versions below `folder`, a file that they share once, and return them."""
    sides = Side(old.tree, folder / "old", root, old), Side(new.tree, folder / "new", root, new)
    written: dict[str, Path] = {}
    generated = _Generated(root, include_dirs, old.tree.files.keys() | new.tree.files.keys())
    for side in sides:
        side.folder.mkdir()
        (side.folder / _MARK).touch()
        for path, content in _needed(side.contents, found.all, generated).items():
            target = side.path(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            oid = side.tree.files.get(path, path)
            if oid not in written or not _is_linked(written[oid], target):
                target.write_bytes(content)
                written[oid] = target
    return sides


def _is_linked(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Generated:
    """Finds includes that Git does not track, as builds write them: both versions get the ones that are there now."""

    root: Path
    include_dirs: Sequence[str]
    tracked: Iterable[str]

    def of(self, path: str, names: Iterable[str]) -> dict[str, bytes]:
        folders = [posixpath.dirname(path), *self.include_dirs]
        places = (posixpath.normpath(posixpath.join(folder, name)) for folder in folders for name in names)
        found = {}
        for place in places:
            if is_plain(place) and place not in self.tracked and os.path.isfile(self.root / place):
                try:
                    found[place] = read_plain(self.root / place, MAX_BYTES)
                except OSError:
                    continue
        return found


def _needed(side: Contents, wanted: Iterable[str], generated: _Generated) -> Mapping[str, bytes]:
    """Return the files of a version that its affected kernels can come to read."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in side.tree.files:
        by_name[posixpath.basename(path)].append(path)
    around = [path for path in side.tree.files if PurePosixPath(path).suffix.lower() in OPENCL]
    if len(around) > _MOST_PROJECT_FILES:
        around = [path for path in around if path.endswith((".cl", ".clh"))][:_MOST_PROJECT_FILES]
    found: dict[str, bytes] = side.read([*wanted, *around])
    waiting = dict(found)
    for _ in range(_ROUNDS):
        further: dict[str, bytes] = {}
        for path, content in waiting.items():
            named = included(decoded(content))
            names = {posixpath.basename(name) for name in named}
            further |= side.read(each for name in names for each in by_name.get(name, ()) if each not in found)
            further |= generated.of(path, [name for name in named if posixpath.basename(name) not in by_name])
        waiting = {path: content for path, content in further.items() if path not in found}
        if not waiting:
            break
        found |= waiting
    return found
