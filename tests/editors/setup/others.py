"""Set Helix and Emacs up for the tests, under .cache/editors, as `bin/hx` and `bin/emacs`.

Debian 13 has the first versions that draw inlay hints in both (Helix 25.01, Emacs 30.1).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from debian import CACHE, SetUpError, bind, exit_with_sentence, unpack

RELEASE = "trixie"


def set_up() -> None:
    _helix(CACHE / "helix")
    _emacs(CACHE / "emacs")


def _helix(root: Path) -> None:
    unpack(RELEASE, ["hx"], root)
    _launcher("hx", [bind(root, "usr/bin/hx")], {"HELIX_RUNTIME": root / "usr/lib/hx/runtime"})


def _emacs(root: Path) -> None:
    """Emacs knows its folders from when it was built, unless the environment says where they are."""
    unpack(RELEASE, ["emacs-nox"], root)
    shared = _only(root / "usr/share/emacs", "[0-9]*")
    programs = _only(root / "usr/libexec/emacs", f"{shared.name}/*")
    folders = {
        "EMACSLOADPATH": shared / "lisp",
        "EMACSDATA": shared / "etc",
        "EMACSDOC": shared / "etc",
        "EMACSPATH": programs,
    }
    program = bind(root, "usr/bin/emacs-nox")
    _launcher("emacs", [program, f"--dump-file={_only(programs, '*.pdmp')}"], folders)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SetUpError(f"{folder} holds {len(found)} of {pattern}, where one was expected.")
    return found[0]


def _launcher(name: str, command: Sequence[object], environment: Mapping[str, object]) -> None:
    path = CACHE / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    exports = [f"export {key}={shlex.quote(str(value))}" for key, value in environment.items()]
    words = " ".join(shlex.quote(str(word)) for word in command)
    path.write_text("\n".join(("#!/bin/sh", *exports, f'exec {words} "$@"', "")))
    path.chmod(0o755)


if __name__ == "__main__":
    exit_with_sentence(set_up)
