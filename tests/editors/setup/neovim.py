"""Bring the Neovim versions that the tests drive, and the formatter of the plugin's Lua, into .cache/editors/.

Debian's releases carry Neovim: see `debian`. `.cache/editors/neovim-X.Y/bin/nvim` is then the editor. Where that cannot
be done, an `nvim` on the PATH serves if its version fits.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from code_server import npm
from debian import CACHE, SetUpError, bind, exit_with_sentence, unpack

STYLUA = "@johnnymorganz/stylua@2.5.2"  # compiled to WebAssembly: Node.js runs it everywhere


@dataclass(frozen=True, slots=True)
class Wanted:
    """A version by the name of its folder, what counts as it, and the Debian releases that may have it."""

    name: str
    at_least: tuple[int, int]
    below: tuple[int, int]
    releases: tuple[str, ...]

    @property
    def root(self) -> Path:
        return CACHE / f"neovim-{self.name}"

    @property
    def nvim(self) -> Path:
        return self.root / "bin" / "nvim"

    def fits(self, nvim: Path | str) -> bool:
        """Whether it starts here at all, and is of that version: in a checkout that was moved it does not start."""
        try:
            said = subprocess.run([nvim, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
        except OSError:
            return False
        found = re.match(r"NVIM v(\d+)\.(\d+)", said)
        return found is not None and self.at_least <= (int(found[1]), int(found[2])) < self.below


OLD = Wanted("0.10", (0, 10), (0, 11), ("trixie",))  # before vim.lsp.config and vim.lsp.enable
NEW = Wanted("0.12", (0, 11), (1, 0), ("forky", "sid"))  # with them


def set_up(wanted: Wanted) -> None:
    if wanted.fits(wanted.nvim):
        return
    why = ""
    for release in wanted.releases:
        shutil.rmtree(wanted.root, ignore_errors=True)
        try:
            unpack(release, ["neovim"], wanted.root)
            bind(wanted.root, "usr/bin/nvim")
        except SetUpError as error:
            why = why or str(error)
            continue
        _start_script(wanted)
        if wanted.fits(wanted.nvim):
            return
        why = why or f"Debian {release} has another version."
    shutil.rmtree(wanted.root, ignore_errors=True)
    _take_from_path(wanted, why)


def _start_script(wanted: Wanted) -> None:
    """Neovim looks for its runtime files where Debian installs them."""
    wanted.nvim.parent.mkdir(parents=True, exist_ok=True)
    wanted.nvim.write_text(
        "#!/bin/sh\n"
        'root=$(cd "$(dirname "$0")/.." && pwd)\n'
        'VIMRUNTIME="$root/usr/share/nvim/runtime" exec "$root/usr/bin/nvim" "$@"\n',
        encoding="utf-8",
    )
    wanted.nvim.chmod(0o755)


def _take_from_path(wanted: Wanted, why: str) -> None:
    found = shutil.which("nvim")
    if found is None or not wanted.fits(found):
        raise SetUpError(f"Neovim {wanted.name} could not be had, nor is it on the PATH: {why}")
    wanted.nvim.parent.mkdir(parents=True, exist_ok=True)
    wanted.nvim.symlink_to(found)


def set_up_formatter() -> None:
    folder = CACHE / "stylua"
    done = folder / ".complete"
    if done.is_file() and done.read_text(encoding="utf-8") == STYLUA:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
    command = [*npm(), "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", STYLUA]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if ended.returncode != 0:
        raise SetUpError(f"The formatter of Lua could not be fetched: {ended.stderr.strip()[-300:]}")
    done.write_text(STYLUA, encoding="utf-8")


def main() -> None:
    for wanted in (OLD, NEW):
        set_up(wanted)
    set_up_formatter()


if __name__ == "__main__":
    exit_with_sentence(main)
