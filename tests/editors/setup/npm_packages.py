"""Put the npm packages that `tests/editors/NAME` asks for into .cache/editors/NAME; nothing is compiled.

python tests/editors/setup/npm_packages.py NAME
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

from code_server import npm

REPOSITORY = Path(__file__).resolve().parents[3]
LOCK = "package-lock.json"
PATIENCE_S = 300


def install(name: str) -> None:
    """Do nothing where the locked versions are already there; wait while another process brings them.

    npm removes the packages that are there before it brings its own: two at once would take them from each other.
    """
    wanted, folder = REPOSITORY / "tests" / "editors" / name, REPOSITORY / ".cache" / "editors" / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install(wanted, folder)


def _install(wanted: Path, folder: Path) -> None:
    stamp = folder / "installed"
    lock = (wanted / LOCK).read_bytes()
    if stamp.is_file() and stamp.read_bytes() == lock:
        return
    stamp.unlink(missing_ok=True)
    for file in ("package.json", LOCK):
        shutil.copy(wanted / file, folder / file)
    command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"npm did not bring the packages of {wanted} within {PATIENCE_S} s: is the npm registry reached?")
    if done.returncode:
        last_words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        sys.exit(f"npm could not bring the packages of {wanted}:\n{last_words}")
    stamp.write_bytes(lock)


if __name__ == "__main__":
    install(sys.argv[1])
