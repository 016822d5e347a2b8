"""Both ways in which Neovim starts the server: `setup()` on 0.10, `vim.lsp.enable` on 0.12."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("msgpack", reason="`make test-editors` installs msgpack")

from tests.editors.neovim.editor import Neovim
from tests.editors.neovim.home import CACHE, ENABLE, SET_UP, Home
from tests.editors.terminal import tmux_is_here

ONE_KERNEL = """\
// kernelcast: global=n local=64 n=65536
__kernel void blend(__global float *y, int n)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = 2.0f * y[i] + 1.0f;
}
"""


@dataclass(frozen=True)
class Version:
    """One of those that tests/editors/setup/neovim.py brings, and the line of init.lua that starts us there."""

    name: str
    init: str

    @property
    def nvim(self) -> Path:
        return CACHE / f"neovim-{self.name}" / "bin" / "nvim"


def missing(what: str) -> None:
    """CI has everything; elsewhere a test that lacks something says so."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(params=[Version("0.10", SET_UP), Version("0.12", ENABLE)], ids=lambda version: version.name)
def version(request: pytest.FixtureRequest) -> Version:
    chosen: Version = request.param
    if not chosen.nvim.exists():
        missing(f"Neovim {chosen.name} is not set up: `make test-editors` fetches it")
    if not tmux_is_here():
        missing("tmux is not installed: what an editor draws cannot be seen without it")
    return chosen


Start = Callable[..., Neovim]


@pytest.fixture
def start(version: Version, kernelcast: str, tmp_path: Path) -> Iterator[Start]:
    """`start({"name.cl": text})` opens the first file. `init` replaces what a user has in init.lua."""
    opened: list[Neovim] = []

    def begin(
        files: dict[str, str],
        *,
        init: str | None = None,
        size: tuple[int, int] = (80, 24),
        environment: dict[str, str] | None = None,
    ) -> Neovim:
        home = Home(tmp_path / "user", Path(kernelcast), environment or {})
        home.lay_out(version.init if init is None else init)
        for name, text in files.items():
            (home.work / name).write_text(text, encoding="utf-8")
        opened.append(Neovim(version.nvim, home, home.work / next(iter(files)), size))
        return opened[-1]

    try:
        yield begin
    finally:
        for editor in opened:
            editor.close()
    assert [prompt for editor in opened for prompt in editor.prompts] == [], "a message asked for Enter"


@pytest.fixture
def editor(start: Start) -> Neovim:
    """A file with one kernel, whose hint is shown."""
    began = start({"blend.cl": ONE_KERNEL})
    began.settle()
    began.wait_for_hint()
    return began
