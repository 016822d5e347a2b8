"""Tell which command adds a package to this program's environment: pip's, uv's or pipx's, whichever made it."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from enum import StrEnum
from pathlib import Path

NAME = "kernelcast"


class Installer(StrEnum):
    PIP = "pip"
    UV = "uv"
    PIPX = "pipx"


# Of environments that were made for one program: pip is not in them. Sources: the documentation of uv and pipx.
_MADE_BY = {"uv-receipt.toml": Installer.UV, "pipx_metadata.json": Installer.PIPX}
_ANEW = {Installer.UV: f"uv tool upgrade --reinstall {NAME}", Installer.PIPX: f"pipx reinstall {NAME}"}
_ON_PATH = {Installer.UV: "uv tool update-shell", Installer.PIPX: "pipx ensurepath"}
_UPGRADE = {Installer.UV: f"uv tool upgrade {NAME}", Installer.PIPX: f"pipx upgrade {NAME}"}


def installer(environment: Path | None = None) -> Installer:
    """Return what made this environment, or another."""
    folder = environment or Path(sys.prefix)
    return next((by for file, by in _MADE_BY.items() if (folder / file).exists()), Installer.PIP)


def install_command(extra: str) -> str:
    """Return how to add an extra; those that uv or pipx installed are named again, as they would go otherwise."""
    wanted = f"'{NAME}[{','.join(dict.fromkeys((*_extras(Path(sys.prefix)), extra)))}]'"
    match installer():
        case Installer.UV:
            return f"uv tool install {wanted}"
        case Installer.PIPX:
            return f"pipx install --force {wanted}"
        case Installer.PIP:
            return f"{sys.executable} -m pip install {wanted}"


def _extras(folder: Path) -> tuple[str, ...]:
    """Return the extras that uv or pipx noted down in this environment; none where the note cannot be read."""
    try:
        match installer(folder):
            case Installer.UV:
                noted = tomllib.loads((folder / "uv-receipt.toml").read_text("utf-8"))["tool"]["requirements"]
                return tuple(next(each.get("extras", ()) for each in noted if each["name"] == NAME))
            case Installer.PIPX:
                noted = json.loads((folder / "pipx_metadata.json").read_text("utf-8"))
                found = re.search(r"\[([\w,. -]+)\]", noted["main_package"]["package_or_url"])
                return tuple(re.split(r"\s*,\s*", found[1].strip())) if found else ()
            case Installer.PIP:
                return ()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        return ()


def upgrade_command() -> str:
    """Return how to bring this program and what it needs to their latest versions."""
    return _UPGRADE.get(installer()) or f"{sys.executable} -m pip install --upgrade {NAME}"


def path_command() -> str | None:
    """Return what puts commands on the PATH; None where that is for the user to do."""
    return _ON_PATH.get(installer())


def reinstall_command(packages: str) -> str:
    """Return how to install `packages` again, as pip names them, where their files are damaged."""
    return _ANEW.get(installer()) or f"{sys.executable} -m pip install --force-reinstall {packages}"
