"""Put what VS Code reads TextMate grammars with into .cache/editors/grammar: two npm packages, nothing compiled."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from code_server import npm

REPOSITORY = Path(__file__).resolve().parents[3]
ASKED_FOR = REPOSITORY / "tests" / "editors" / "grammar"
FOLDER = REPOSITORY / ".cache" / "editors" / "grammar"
LOCK = "package-lock.json"
STAMP = FOLDER / "installed"
PATIENCE_S = 300


def install() -> None:
    """Do nothing where the locked versions are already there."""
    lock = (ASKED_FOR / LOCK).read_bytes()
    if STAMP.is_file() and STAMP.read_bytes() == lock:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    STAMP.unlink(missing_ok=True)
    for name in ("package.json", LOCK):
        shutil.copy(ASKED_FOR / name, FOLDER / name)
    command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"]
    try:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired:
        sys.exit(f"npm did not bring the grammar's reader within {PATIENCE_S} s: is the npm registry reached?")
    if done.returncode:
        last_words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        sys.exit(f"npm could not bring the grammar's reader:\n{last_words}")
    STAMP.write_bytes(lock)


if __name__ == "__main__":
    install()
