"""OpenCL C as it is out there: the sources of four packages, taken from PyPI and Debian when a test first wants them.

Nothing of theirs is part of this project: they lie in the virtual environment, beside all else that set-up downloads.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(sys.prefix) / "real-packages"

PYPI = ("pyclesperanto-prototype==0.24.6", "silx==3.1.3")
DEBIAN = ("darktable=4.2.1-4", "hashcat-data=6.2.6+ds1-1")
PATIENCE_S = 300


class Unreachable(Exception):
    """A package cannot be had on this machine, now; the message says why."""


def unpacked(requirement: str) -> Path:
    """The folder with the `.cl` and `.h` files of a package, downloaded when first asked for.

    `requirement` is one of `PYPI` or `DEBIAN`. Raises Unreachable.
    """
    folder = CACHE / requirement
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        (_unpack_wheel if "==" in requirement else _unpack_deb)(requirement, part)
        part.rename(folder)
    return folder


def _unpack_wheel(requirement: str, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    _run([*pip, "--dest", str(CACHE), requirement], requirement)
    wheel = _downloaded(requirement, f"{requirement.replace('-', '_').replace('==', '-')}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder, [n for n in archive.namelist() if n.endswith((".cl", ".h"))])


def _unpack_deb(requirement: str, folder: Path) -> None:
    for tool in ("apt-get", "dpkg"):
        if shutil.which(tool) is None:
            raise Unreachable(f"{requirement} is a Debian package, and there is no `{tool}` here")
    try:
        _run(["apt-get", "--quiet", "download", requirement], requirement)
    except Unreachable:
        # Lists of packages of our own: those of the machine may be missing, and only root may renew them.
        for name in ("state/lists/partial", "cache/archives/partial"):
            (CACHE / "apt" / name).mkdir(parents=True, exist_ok=True)
        own = ["-o", f"Dir::State={CACHE / 'apt/state'}", "-o", f"Dir::Cache={CACHE / 'apt/cache'}"]
        _run(["apt-get", "--quiet", *own, "update"], requirement)
        _run(["apt-get", "--quiet", *own, "download", requirement], requirement)
    archive = _downloaded(requirement, f"{requirement.replace('=', '_')}_*.deb")
    whole = folder.with_suffix(".all")
    _run(["dpkg", "-x", str(archive), str(whole)], requirement)
    for file in whole.rglob("*.*"):
        if file.suffix in (".cl", ".h") and file.is_file():
            goal = folder / file.relative_to(whole)
            goal.parent.mkdir(parents=True, exist_ok=True)
            file.rename(goal)
    shutil.rmtree(whole)


def _run(command: Sequence[str], requirement: str) -> None:
    try:
        done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"{requirement} cannot be downloaded: no end after {PATIENCE_S} s") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise Unreachable(f"{requirement} cannot be downloaded: {said[-1]}")


def _downloaded(requirement: str, pattern: str) -> Path:
    found = sorted(CACHE.glob(pattern))
    if not found:
        raise Unreachable(f"{requirement} cannot be downloaded: there is no `{pattern}`")
    return found[-1]
