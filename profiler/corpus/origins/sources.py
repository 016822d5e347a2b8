"""Makes the sources of an origin available: a folder with its OpenCL C, and what may hold some as text."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from model.errors import KernelcastError
from profiler.corpus.origins.decontamination import is_exam_path
from profiler.corpus.origins.origin import Origin, OriginKind

OPENCL_SUFFIXES = (".cl", ".clh", ".ocl", ".opencl", ".clt", ".cl.in", ".cl.h")
HEADER_SUFFIXES = (".h", ".hpp", ".hh", ".inc", ".inl", ".def")
CODE_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".py", ".hxx", ".tpl", ".mako", ".jinja", ".rs", ".java", ".js", ".go")
_LICENCE = re.compile(r"(?:licen[cs]e|copying|notice)[^/]*$", re.IGNORECASE)
_KERNEL = re.compile(rb"__kernel|\bkernel\s+void\b|\bKERNEL\b")
MOST_BYTES = 1 << 22  # of a file; larger ones are tables
PATIENCE_S = 600


class Unreachable(KernelcastError):
    """An origin's sources cannot be had on this machine, now; the message says why."""


def sources(origin: Origin, folder: Path, mirrors: Path | None = None) -> Path:
    """Return the folder below `folder` with the sources of `origin`, downloaded when first asked for.

    `mirrors` holds git directories of repositories below `<owner>+<name>`, which are read instead of the network.
    Raises Unreachable.
    """
    goal = folder / origin.folder_name
    if not goal.exists():
        part = goal.with_name(f"{goal.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        match origin.kind:
            case OriginKind.PYPI:
                _unpack_pypi(origin, part)
            case OriginKind.DEBIAN:
                _unpack_deb(origin, part)
            case OriginKind.REPOSITORY:
                _unpack_repository(origin, part, mirrors)
            case OriginKind.INSTALLED:
                pass
        part.rename(goal)
    return goal


def mirror_of(name: str, mirrors: Path) -> Path | None:
    """Return the git directory of the repository `owner/name` below `mirrors`."""
    top = mirrors / name.replace("/", "+")
    found = (at for at in (top, top / "repo", top / "repo/.git", top / ".git") if (at / "HEAD").exists())
    return next(found, None)


def is_wanted(path: str) -> bool:
    """Return whether a file's name says that it may hold OpenCL C, or the package's licence."""
    lower = path.lower()
    return not is_exam_path(path) and (
        lower.endswith((*OPENCL_SUFFIXES, *HEADER_SUFFIXES, *CODE_SUFFIXES))
        or bool(_LICENCE.match(PurePosixPath(lower).name))
    )


def _keep(path: str, data: bytes, folder: Path) -> None:
    is_code = path.lower().endswith(CODE_SUFFIXES) and not path.lower().endswith(OPENCL_SUFFIXES)
    if len(data) > MOST_BYTES or (is_code and not _KERNEL.search(data)):
        return
    goal = folder / path
    if folder.resolve() not in goal.resolve().parents:
        return
    goal.parent.mkdir(parents=True, exist_ok=True)
    goal.write_bytes(data)


def _unpack_repository(origin: Origin, folder: Path, mirrors: Path | None) -> None:
    git_dir = mirror_of(origin.name, mirrors) if mirrors else None
    if git_dir is None:
        git_dir = folder.with_suffix(".git")
        shutil.rmtree(git_dir, ignore_errors=True)
        _run(["git", "init", "--quiet", "--bare", str(git_dir)], origin)
        _run(["git", f"--git-dir={git_dir}", "fetch", "--quiet", "--depth=1", origin.place, origin.version], origin)
    listed = _run(
        [
            "git",
            f"--git-dir={git_dir}",
            "ls-tree",
            "-r",
            "-z",
            "--format=%(objecttype) %(objectname) %(path)",
            origin.version,
        ],
        origin,
    )
    wanted = []
    for entry in listed.split(b"\0"):
        kind, _, rest = entry.decode("utf-8", "replace").partition(" ")
        blob, _, path = rest.partition(" ")
        if kind == "blob" and is_wanted(path):
            wanted.append((blob, path))
    _keep_blobs(git_dir, wanted, folder)


def _keep_blobs(git_dir: Path, wanted: Iterable[tuple[str, str]], folder: Path) -> None:
    with subprocess.Popen(
        ["git", f"--git-dir={git_dir}", "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
    ) as git:  # fmt: skip
        assert git.stdin is not None
        assert git.stdout is not None
        for blob, path in wanted:
            git.stdin.write(f"{blob}\n".encode())
            git.stdin.flush()
            head = git.stdout.readline().split()
            if len(head) == 3:  # else a large file that the mirror does not hold
                data = git.stdout.read(int(head[2]) + 1)[:-1]
                _keep(path, data, folder)
        git.stdin.close()


def _unpack_pypi(origin: Origin, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
    store = folder.with_suffix(".download")
    shutil.rmtree(store, ignore_errors=True)
    store.mkdir(parents=True)
    requirement = f"{origin.place}=={origin.version}"
    _run([*pip, "--only-binary", ":all:", "--dest", str(store), requirement], origin)
    for archive in sorted(store.iterdir()):
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as opened:
                for name in filter(is_wanted, opened.namelist()):
                    _keep(name, opened.read(name), folder)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as packed:
                for member in packed.getmembers():
                    if member.isfile() and is_wanted(member.name) and (held := packed.extractfile(member)):
                        _keep(member.name, held.read(), folder)
    shutil.rmtree(store)


def _unpack_deb(origin: Origin, folder: Path) -> None:
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise Unreachable(f"{origin.name} is a Debian package, and there is no `{tool}` here")
    store = folder.with_suffix(".download")
    shutil.rmtree(store, ignore_errors=True)
    # Lists of packages of our own: those of the machine may be missing, and only root may renew them.
    for name in ("state/lists/partial", "cache/archives/partial", "files"):
        (store / name).mkdir(parents=True)
    own = ["-o", f"Dir::State={store / 'state'}", "-o", f"Dir::Cache={store / 'cache'}"]
    wanted = f"{origin.place}={origin.version}"
    try:
        _run(["apt-get", "--quiet", "download", wanted], origin, store / "files")
    except Unreachable:
        _run(["apt-get", "--quiet", *own, "update"], origin, store / "files")
        _run(["apt-get", "--quiet", *own, "download", wanted], origin, store / "files")
    for archive in sorted((store / "files").glob("*.deb")):
        _run(["dpkg", "-x", str(archive), str(store / "all")], origin)
    for file in sorted((store / "all").rglob("*")):
        path = file.relative_to(store / "all").as_posix()
        if file.is_file() and not file.is_symlink() and is_wanted(path):
            _keep(path, file.read_bytes(), folder)
    shutil.rmtree(store)


def _run(command: Sequence[str], origin: Origin, folder: Path | None = None) -> bytes:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unreachable(f"{origin.name} cannot be had: {error}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise Unreachable(f"{origin.name} cannot be had: {said[-1]}")
    return done.stdout
