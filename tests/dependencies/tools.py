"""uv and pip-audit in an environment of their own below `.cache`: they bring nothing into the one under test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = REPOSITORY / ".cache" / "dependencies"
EXTRAS = ("pocl", "parquet", "picture", "dev")  # torch and Intel's runtime are gigabytes: theirs are tested as newest


def tool(name: str) -> Path:
    """The executable of a package of this name, fetched at the first use."""
    python = CACHE / "tools" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(CACHE / "tools")], check=True)
    executable = python.with_name(name)
    if not executable.exists():
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", name], check=True)
    return executable


def lowest_versions() -> Path:
    """A list of requirements: of everything that we name the lowest version that we allow, of the rest the newest."""
    listed = CACHE / "lowest.txt"
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    subprocess.run(
        [
            tool("uv"), "pip", "compile", "--quiet", "--upgrade", "--resolution", "lowest-direct", "--python",
            sys.executable, *extras, "--output-file", listed, REPOSITORY / "pyproject.toml",
        ],
        check=True,
    )  # fmt: skip
    return listed
