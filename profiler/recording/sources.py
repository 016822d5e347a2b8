"""Keep the sources of recorded programs by content in the user-data folder, and find them in the workspace."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from model.embedded.find import find_programs
from model.embedded.languages import language_of, may_hold_program
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.opencl.project_files import FOLDERS_WITHOUT_SOURCES
from model.safe_read import read_plain

FOLDER = "recordings"
FILE_NAME = "program.cl"
_SUFFIXES = (".cl", ".clh", ".clc", ".ocl", ".opencl", ".cl.in")
MAX_FILES = 2000
MAX_BYTES = 4 << 20


def source_key(text: bytes, headers: Collection[tuple[str, bytes]] = ()) -> str:
    """Return the key of a program's text and the headers that were passed with it."""
    digest = hashlib.sha256(text)
    for name, header in sorted(headers):
        digest.update(b"\0" + name.encode() + b"\0" + header)
    return digest.hexdigest()


class Sources:
    """Owns the folder of sources beside the store."""

    def __init__(self, data_folder: Path) -> None:
        self.folder = data_folder / FOLDER

    def path(self, key: str) -> Path:
        return self.folder / key[:2] / key / FILE_NAME

    def keep(self, key: str, text: bytes, headers: Collection[tuple[str, bytes]] = ()) -> Path:
        """Write the text and its headers, unless they are there; return the text's path."""
        path = self.path(key)
        for name, header in headers:
            inner = PurePosixPath(name)
            if not inner.is_absolute() and ".." not in inner.parts:  # never write outside of the folder
                _write(path.parent.joinpath(*inner.parts), header)
        _write(path, text)
        return path

    def forget(self, keys: Collection[str]) -> None:
        """Remove the texts of these keys with their headers."""
        for folder in (self.path(key).parent for key in keys):
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):  # the folder above has others
                folder.parent.rmdir()


class Workspace:
    """Finds programs below a project's folder by content, in OpenCL C files and in literals of host files."""

    def __init__(self, folder: Path, sources: Sources) -> None:
        self._folder, self._copies = folder, sources.folder
        self._by_sha256: dict[str, Path] | None = None
        self._texts: list[tuple[Path, bytes]] = []

    def file_with(self, text: bytes) -> Path | None:
        """Return the file that holds exactly this text."""
        return self._files().get(hashlib.sha256(text).hexdigest())

    def file_with_kernel(self, name: str, fingerprint: str, options: BuildOptions) -> Path | None:
        """Return the first file whose kernel of this name means the same under these options."""
        self._files()
        word = name.encode()
        for path, text in self._texts:
            if word in text:
                kernel = read_program(text.decode("utf-8", "replace"), path, options).by_name.get(name)
                if kernel is not None and kernel.fingerprint == fingerprint:
                    return path
        return None

    def _files(self) -> dict[str, Path]:
        if self._by_sha256 is None:
            self._by_sha256 = {}
            found = _program_files(self._folder, self._copies)
            for path in sorted(found, key=lambda each: not each.name.endswith(_SUFFIXES)):  # before copies in hosts
                with contextlib.suppress(OSError):
                    for text in _programs(path, read_plain(path, MAX_BYTES)):
                        self._texts.append((path, text))
                        self._by_sha256.setdefault(hashlib.sha256(text).hexdigest(), path)
        return self._by_sha256


def file_sha256(path: Path) -> str:
    """Return the hash of a file's content; "" where it cannot be read."""
    try:
        return hashlib.sha256(read_plain(path, MAX_BYTES)).hexdigest()
    except OSError:
        return ""


def _programs(path: Path, content: bytes) -> Iterator[bytes]:
    """Yield the text of an OpenCL C file, or the programs in a host file's literals."""
    text = content.decode("utf-8", "replace")
    language = language_of(path, text)
    if language is None or path.name.endswith(_SUFFIXES):
        yield content
    if language is not None and may_hold_program(text):
        yield from (program.exact_text.encode("utf-8", "replace") for program in find_programs(text, language))


def _program_files(folder: Path, without: Path) -> Iterator[Path]:
    """Yield OpenCL C files and host files, MAX_FILES of each at most."""
    found = {True: 0, False: 0}
    for parent, folders, names in os.walk(folder):
        if Path(parent) == without:
            folders.clear()
            continue
        folders[:] = sorted(
            each for each in folders if each not in FOLDERS_WITHOUT_SOURCES and not each.startswith(".")
        )
        for name in sorted(names):
            is_opencl = name.endswith(_SUFFIXES)
            if (is_opencl or language_of(Path(name), "") is not None) and found[is_opencl] < MAX_FILES:
                yield Path(parent, name)
                found[is_opencl] += 1


def _write(path: Path, content: bytes) -> None:
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
