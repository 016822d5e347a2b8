"""Pictures of what is drawn: a hint measured, a hint predicted, the hover; on a dark and on a light ground."""

from __future__ import annotations

import html
import io
import shutil
import subprocess
from pathlib import Path

import pytest
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.editors.neovim.conftest import ONE_KERNEL, Start, Version, missing

pytestmark = [pytest.mark.timeout(240), pytest.mark.device]

SIZE = (96, 24)
BRIGHTEN = "\n" + ONE_KERNEL.replace("blend", "brighten").replace("65536", "4194304")
# The braces of the style stay through both fillings-in, ours and rich's. Without it, stripes show between the lines.
PAGE = """<style>span {{{{ display: inline-block; height: 20px; vertical-align: top }}}}</style>
<body style="margin:0;background:{ground}"><pre style="margin:0;padding:14px 18px;display:inline-block;
font:15px/20px 'DejaVu Sans Mono',monospace;color:{ink};background:{ground}">{screen}</pre></body>"""
# What Neovim leaves to the terminal: ink and ground.
COLOURS = {"dark": ((224, 226, 234), (20, 22, 27)), "light": ((20, 22, 27), (224, 226, 234))}


@pytest.mark.parametrize("ground", COLOURS)
def test_hints_and_hover_in_the(ground: str, start: Start, version: Version, pictures: Path) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        missing("chromium is not installed: it turns what the terminal shows into a picture")
    init = f"vim.o.background = '{ground}'\nvim.o.showmode = false\n{version.init}"
    editor = start({"blend.cl": ONE_KERNEL + BRIGHTEN}, init=init, size=SIZE)
    editor.settle()
    editor.run("KernelcastMeasure blend")
    editor.until(lambda: any("measured" in hint for hint in editor.hints().values()), "it is measured")
    editor.go_to("brighten")
    editor.lua("vim.lsp.buf.hover()")
    editor.window.until("will take")
    name = f"neovim-{ground}.png" if version.name == "0.12" else f"neovim-{version.name}-{ground}.png"
    _paint(editor.window.coloured, ground, str(chromium), pictures / name)


def _paint(screen: str, ground: str, chromium: str, picture: Path) -> None:
    ink, paper = COLOURS[ground]
    console = Console(record=True, width=SIZE[0], file=io.StringIO(), color_system="truecolor", force_terminal=True)
    console.print(Text.from_ansi(screen), soft_wrap=True)
    theme = TerminalTheme(paper, ink, [(0, 0, 0)] * 8)
    form = PAGE.format(ink=_css(ink), ground=_css(paper), screen="{code}")
    page = picture.with_suffix(".html")
    page.write_text(console.export_html(theme=theme, inline_styles=True, code_format=form), encoding="utf-8")
    window = f"--window-size={SIZE[0] * 9 + 54},{SIZE[1] * 20 + 28}"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={picture}", window]
    subprocess.run([chromium, *flags, page.as_uri()], capture_output=True, timeout=90, check=True)
    assert html.escape("blend") in page.read_text(encoding="utf-8")
    page.unlink()


def _css(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
