"""`make picture`: what an editor shows, drawn from the answers of the real server.

Two kernels are opened and one of them is measured through its code action. Text, hints and hover are what
`kernelcast serve` said; only the drawing is ours.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from rich.console import Console, Group
from rich.markdown import Markdown
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
KERNELCAST = str(Path(sys.executable).with_name("kernelcast"))
SHOWN = ("despike.cl", "autocorrelation.cl")
MEASURED = "autocorrelation"
PATIENCE_S = 120.0
CAPABILITIES = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown])
    )
)


@dataclass(frozen=True, slots=True)
class Screen:
    """What the server answered for one document."""

    text: str
    hints: tuple[types.InlayHint, ...]
    actions: tuple[str, ...]
    hover: str


def main() -> None:
    file = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as data:
        # A user-data folder of its own: a calibration under today's conditions, and nobody's earlier measurements.
        environment = {**os.environ, "XDG_DATA_HOME": data}
        subprocess.run([KERNELCAST, "calibrate", "pocl", "--quick"], env=environment, check=True)
        screen = asyncio.run(_conversation(Path(data), environment))
    _draw(screen, file)
    print(f"Drawn into {file}")


async def _conversation(folder: Path, environment: dict[str, str]) -> Screen:
    """Open, look, measure, look again."""
    text = "\n".join((KERNELS / name).read_text(encoding="utf-8") for name in SHOWN)
    document = types.TextDocumentIdentifier((folder / "signals.cl").as_uri())
    client = LanguageClient("kernelcast-picture", "1")
    async with asyncio.timeout(PATIENCE_S):
        await client.start_io(KERNELCAST, "serve", "--stdio", env=environment)
        await client.initialize_async(types.InitializeParams(CAPABILITIES, process_id=os.getpid()))
        client.initialized(types.InitializedParams())
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(document.uri, "opencl", 1, text))
        )
        await _hints(client, document)
        at = _position_of(text, MEASURED)
        commands = await _commands(client, document, at)
        measure = next(command for command in commands if command.title.startswith("Measure"))
        await client.workspace_execute_command_async(
            types.ExecuteCommandParams(measure.command, arguments=measure.arguments)
        )
        hints = await _hints(client, document)
        hover = await client.text_document_hover_async(types.HoverParams(document, at))
        titles = tuple(command.title for command in await _commands(client, document, at))
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
    if hover is None or not isinstance(hover.contents, types.MarkupContent):
        raise RuntimeError("the server had nothing to say of the measured kernel")
    return Screen(text, hints, titles, hover.contents.value)


async def _hints(client: LanguageClient, document: types.TextDocumentIdentifier) -> tuple[types.InlayHint, ...]:
    everything = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    while True:
        hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, everything))
        if hints:
            return tuple(hints)
        await asyncio.sleep(0.1)


async def _commands(
    client: LanguageClient, document: types.TextDocumentIdentifier, at: types.Position
) -> list[types.Command]:
    """This client announces no literals, so every code action is a plain command."""
    asked = types.CodeActionParams(document, types.Range(at, at), types.CodeActionContext([]))
    answer = await client.text_document_code_action_async(asked)
    return [action for action in answer or () if isinstance(action, types.Command)]


def _position_of(text: str, kernel: str) -> types.Position:
    line = next(n for n, line in enumerate(text.splitlines()) if f"void {kernel}(" in line)
    return types.Position(line, text.splitlines()[line].index(kernel))


def _draw(screen: Screen, file: Path) -> None:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=118, file=nowhere, force_terminal=True, color_system="truecolor")
        console.print(_code(screen))
        console.print(Panel(Group(*map(Text, screen.actions)), title="Code actions", title_align="left", expand=False))
        console.print(Panel(Markdown(screen.hover), title=f"Hover on {MEASURED}", title_align="left", width=96))
    file.parent.mkdir(parents=True, exist_ok=True)
    console.save_svg(str(file), title="signals.cl")


def _code(screen: Screen) -> Text:
    """The text with its hints where the server placed them: all stand at ends of lines."""
    lines = Syntax(screen.text, "c", theme="ansi_dark").highlight(screen.text).split("\n")
    for hint in screen.hints:
        lines[hint.position.line].append(f"  {hint.label}", style="italic #9cc7ff on #30353d")
    return Text("\n").join(lines)


if __name__ == "__main__":
    main()
