"""An editor without a screen: pytest-lsp's client around the real `kernelcast serve`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any, Union

import psutil
import pytest
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import register_lsp_features

PATIENCE_S = 60.0
UTF8, UTF16, UTF32 = types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16, types.PositionEncodingKind.Utf32
STATUS = "kernelcast/status"
QUICK = {"measure": {"budgetS": 0.2, "timeLimitS": 20}}


class Editor:
    """What a user does, and what the user sees. Files live in `folder`."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.refreshes = 0
        self.progress: list[Any] = []
        self.tokens: list[types.ProgressToken] = []
        self.statuses: list[dict[str, Any]] = []
        self.edits: list[types.WorkspaceEdit] = []
        self.texts: dict[str, str] = {}  # by URI, as opened and as the server's edits made them
        self.makes_edits = False  # that the server asks for; else it only says so
        self.choice: Callable[[list[str]], str | None] = lambda titles: titles[0]
        self.news = asyncio.Event()
        self._versions: dict[str, int] = {}
        self._known = dict(client.protocol.fm.features)
        client.protocol.fm.features.update(
            {
                types.WORKSPACE_INLAY_HINT_REFRESH: self._on_refresh,
                types.CLIENT_REGISTER_CAPABILITY: lambda _: None,
                types.WINDOW_SHOW_MESSAGE_REQUEST: self._on_question,
                types.PROGRESS: self._on_progress,
                types.WORKSPACE_APPLY_EDIT: self._on_edit,
                STATUS: self._on_status,
                types.WINDOW_SHOW_MESSAGE: lambda params: self._on_news(types.WINDOW_SHOW_MESSAGE, params),
                types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: lambda params: self._on_news(
                    types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params
                ),
            }
        )

    # What the server tells

    def _on_refresh(self, _: object) -> None:
        self.refreshes += 1
        self.news.set()

    def _on_news(self, method: str, params: object) -> None:
        """What pytest-lsp's client keeps by itself."""
        self._known[method](params)
        self.news.set()

    def _on_progress(self, params: types.ProgressParams) -> None:
        self.progress.append(params.value)
        self.tokens.append(params.token)
        self.news.set()

    def _on_status(self, params: Any) -> None:
        self.statuses.append(plain(params))
        self.news.set()

    def _on_edit(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        self.edits.append(params.edit)
        if self.makes_edits:
            for uri, edits in (params.edit.changes or {}).items():
                self._make(uri, edits)
        return types.ApplyWorkspaceEditResult(applied=True)

    def _make(self, uri: str, edits: Sequence[types.TextEdit]) -> None:
        """Edit a document of ASCII text, and tell the server."""
        lines = self.texts[uri].split("\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines)]

        def offset(at: types.Position) -> int:
            return starts[at.line] + at.character

        text = self.texts[uri]
        for edit in sorted(edits, key=lambda each: offset(each.range.start), reverse=True):
            text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
        self.texts[uri] = text
        name = uri.rpartition("/")[2]
        self._versions[name] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self._versions[name], uri=uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def _on_question(self, params: types.ShowMessageRequestParams) -> types.MessageActionItem | None:
        title = self.choice([action.title for action in params.actions or ()])
        return types.MessageActionItem(title) if title else None

    @property
    def messages(self) -> list[str]:
        return [message.message for message in self.client.messages]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that the server tells by itself."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.news.clear()
                await self.news.wait()

    # What the user does

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str, *, write: bool = True, language: str = "opencl") -> None:
        if write:
            (self.folder / name).write_bytes(text.encode("utf-8", "replace"))
        self._versions[name] = 1
        self.texts[self.uri(name)] = text
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(self.uri(name), language, 1, text))
        )

    def edit(self, name: str, line: int, column: int, text: str, end: tuple[int, int] | None = None) -> None:
        """Replace up to `end` (nothing by default); columns in the units that were negotiated."""
        self._versions[name] += 1
        start = types.Position(line, column)
        where = types.Range(start, types.Position(*end) if end else start)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self._versions[name], uri=self.uri(name)),
                [types.TextDocumentContentChangePartial(range=where, text=text)],
            )
        )

    def close(self, name: str) -> None:
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri(name)))
        )

    async def hints(self, name: str) -> list[tuple[int, int, str]]:
        everything = types.Range(types.Position(0, 0), types.Position(1_000_000, 0))
        answer = await self.client.text_document_inlay_hint_async(
            types.InlayHintParams(types.TextDocumentIdentifier(self.uri(name)), everything)
        )
        return [(h.position.line, h.position.character, str(h.label)) for h in answer or ()]

    async def wait_for_hint(self, name: str, wanted: Callable[[str], bool] = bool, place: int = 0) -> str:
        """The text of one hint, as soon as it is what is wanted; asks again only when the server says so."""
        seen: list[str] = []
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    self.news.clear()
                    labels = [label for _, _, label in await self.hints(name)]
                    seen += labels[place : place + 1]
                    if len(labels) > place and wanted(labels[place]):
                        return labels[place]
                    await self.news.wait()
        except TimeoutError:
            pytest.fail(f"the hint never became what was wanted; it was {seen}; messages: {self.messages}")

    async def hover(self, name: str, line: int, column: int) -> str:
        answer = await self.client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, column))
        )
        assert answer is not None
        assert isinstance(answer.contents, types.MarkupContent)
        return answer.contents.value

    async def hover_with(self, name: str, line: int, column: int, words: str) -> str:
        """The hover as soon as it has these words in it. Nobody is told that hovers change: one looks again."""
        told = ""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while words not in " ".join((told := await self.hover(name, line, column)).split()):
                    await asyncio.sleep(0.2)
        except TimeoutError:
            pytest.fail(f"the hover never said {words!r}; it said: {told}")
        return told

    async def actions(self, name: str, line: int) -> dict[str, types.CodeAction]:
        cursor = types.Range(types.Position(line, 0), types.Position(line, 0))
        answer = await self.client.text_document_code_action_async(
            types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), cursor, types.CodeActionContext([]))
        )
        return {action.title: action for action in answer or () if isinstance(action, types.CodeAction)}

    async def run(self, command: str, *arguments: Any) -> Any:
        answer = await self.client.workspace_execute_command_async(
            types.ExecuteCommandParams(command, arguments=list(arguments))
        )
        return plain(answer)

    async def status(self, wanted: Callable[[dict[str, Any]], object] = bool) -> dict[str, Any]:
        """The last status that the server told, as soon as it is what is wanted."""
        await self.until(lambda: bool(self.statuses) and bool(wanted(self.statuses[-1])))
        return self.statuses[-1]

    async def device_is_here(self) -> None:
        """Until this machine's devices are known and kernels are predicted for one: before, nothing can be run."""
        await self.status(lambda told: told["device"]["here"])

    async def measure(self, name: str, kernel: str) -> Any:
        return await self.run("kernelcast.measure", self.uri(name), kernel)

    def press_cancel(self, at: int = -1) -> None:
        """Of the progress that began as the `at`th; without it, of the last one."""
        self.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token=self.tokens[at]))

    async def configure(self, **settings: Any) -> None:
        self.client.set_configuration(settings, section="kernelcast")
        self.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))

    async def leave(self) -> int:
        """Shut down as editors do; the exit status."""
        async with asyncio.timeout(PATIENCE_S):
            await self.client.shutdown_async(None)
            self.client.exit(None)
            return await self.server.wait()

    # What lies behind

    @property
    def server(self) -> asyncio.subprocess.Process:
        assert self.client._server is not None
        return self.client._server

    def child_processes(self) -> list[psutil.Process]:
        return psutil.Process(self.server.pid).children(recursive=True)

    def device_processes(self) -> list[psutil.Process]:
        """Those that run kernels, not the one that predicts."""
        return [child for child in self.child_processes() if runs_kernels(child)]


def runs_kernels(process: psutil.Process) -> bool:
    try:
        return "profiler.device_worker" in " ".join(process.cmdline())
    except psutil.Error:  # it is gone, or going
        return False


def plain(value: Any) -> Any:
    """JSON as it came: pygls makes named tuples of objects that the protocol leaves open."""
    if hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


@asynccontextmanager
async def started(
    kernelcast: str,
    home: Path,
    *,
    encoding: types.PositionEncodingKind = UTF16,
    settings: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
    environment: dict[str, str] | None = None,
    refresh: bool = True,
    process_id: int | None = None,
    status: bool = True,
    show_document: bool = False,
    creates_files: bool = False,
    folders: dict[str, dict[str, Any]] | None = None,
    capabilities: types.ClientCapabilities | None = None,
) -> AsyncIterator[Editor]:
    """A fresh server, with a workspace and a user-data folder of its own below `home`."""
    folder = home / "workspace"
    folder.mkdir(exist_ok=True)
    own = {(folder / name).as_uri(): {"kernelcast": told} for name, told in (folders or {}).items()}
    for name in folders or ():
        (folder / name).mkdir(exist_ok=True)
    client = _client({"": {"kernelcast": settings or QUICK}, **own})
    editor = Editor(client, folder)
    env = {**os.environ, "KERNELCAST_DATA_DIR": str(home / "data"), **(environment or {})}
    await client.start_io(kernelcast, "serve", "--stdio", env=env, cwd=str(folder))
    try:
        await client.initialize_session(
            types.InitializeParams(
                process_id=process_id,
                root_uri=folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(uri, uri.rpartition("/")[2]) for uri in own] or None,
                capabilities=capabilities or _capabilities(encoding, refresh, status, show_document, creates_files),
                initialization_options=options,
            )
        )
        yield editor
    finally:
        if editor.server.returncode is None:
            editor.server.kill()
            await editor.server.wait()
        await client.stop()


def _client(configuration: dict[str, Any]) -> LanguageClient:
    def converter() -> Any:
        # lsprotocol takes a CodeAction that has a command for a Command.
        made = default_converter()
        made.register_structure_hook(
            Union[types.Command, types.CodeAction],  # noqa: UP007 - the very type that lsprotocol looks up
            lambda value, _: made.structure(
                value, types.Command if isinstance(value.get("command"), str) else types.CodeAction
            ),
        )
        return made

    client = LanguageClient(configuration=configuration, converter_factory=converter)
    register_lsp_features(client)
    return client


def _capabilities(
    encoding: types.PositionEncodingKind, refresh: bool, status: bool, show_document: bool, creates_files: bool
) -> types.ClientCapabilities:
    edits = types.WorkspaceEditClientCapabilities(
        document_changes=True, resource_operations=[types.ResourceOperationKind.Create]
    )
    kinds = types.ClientCodeActionKindOptions(value_set=[])
    return types.ClientCapabilities(
        experimental={"kernelcast": {"status": True}} if status else None,
        general=types.GeneralClientCapabilities(position_encodings=[encoding]),
        window=types.WindowClientCapabilities(
            work_done_progress=True, show_document=types.ShowDocumentClientCapabilities(support=show_document)
        ),
        workspace=types.WorkspaceClientCapabilities(
            configuration=True,
            apply_edit=True,
            workspace_edit=edits if creates_files else None,
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=refresh),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        ),
        text_document=types.TextDocumentClientCapabilities(
            inlay_hint=types.InlayHintClientCapabilities(),
            hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(),
            code_action=types.CodeActionClientCapabilities(
                code_action_literal_support=types.ClientCodeActionLiteralOptions(code_action_kind=kinds)
            ),
        ),
    )
