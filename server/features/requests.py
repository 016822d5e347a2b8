"""The questions an editor asks all the time: take a snapshot, call the pure function, answer.

Each may wait a moment for the analysis of the last keystroke, so that small files need no second round.

Hovers, code lenses (for those who turn them on) and symbols (for outlines and breadcrumbs) are made here; the larger
answers each have a file.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from server.commands import MEASURE, REPORT, TUNE
from server.features.annotation_words import annotation_hover, completions
from server.features.code_actions import code_actions, kernel_at, may_be_wanted
from server.features.inlay_hints import inlay_hints, shown_labels
from server.positions import offset_of, range_of
from server.session import KernelcastServer
from server.snapshot import KernelView, Snapshot
from server.text.hover import render
from server.text.layout import as_markdown, as_plain_text

if TYPE_CHECKING:
    from server.analysis.fix_gains import PredictedFix

_MOMENT_S = 0.015
_FIRST_S = 1.0  # nothing stands there yet: the right answer is worth more than an empty one
_MENU_S = 1.0  # for the fixes of a kernel: each of some ten edited texts is predicted
_ONLY_CHANCE_S = 1.5  # no answer is to take 2 s
_DISCOVERY_S = 5.0  # for devices: the first answers may otherwise be for another device than all that follow


async def inlay_hint(ls: KernelcastServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    uri = params.text_document.uri
    if ls.awaits(uri):
        ls.windows[uri] = params.range.start.line, params.range.end.line
    with ls.timings.during("answer hints"), ls.refresh.asked(uri):
        if ls.supports.hint_refresh:
            snapshot = await _known(ls, uri, any_kernels=True)
        else:
            snapshot = await _only_chance(ls, uri)
        if snapshot is None:
            return []
        ls.refresh.answered(uri, shown_labels(snapshot))
        return inlay_hints(snapshot, params.range)


async def _known(ls: KernelcastServer, uri: str, *, any_kernels: bool = False) -> Snapshot | None:
    known = ls.snapshot(uri)
    if known is None or known.analysis.is_partial:
        return await ls.settled(uri, _FIRST_S, any_kernels=any_kernels)
    is_opened = known.analysis.document.serial == 0  # which takes longer than what follows an edit
    may_be_in_time = is_opened or known.analysis.taken_s < _MOMENT_S  # that of a long file never is
    return await ls.settled(uri, _MOMENT_S, answered=True) if may_be_in_time else known


async def _only_chance(ls: KernelcastServer, uri: str) -> Snapshot | None:
    """Wait for a good answer for a client that cannot be told to ask again.

    It shows its first answer until the next edit.
    """
    left_s = ls.needed_s + _DISCOVERY_S - time.monotonic()
    if ls.awaits(uri) and left_s > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(left_s):
                await ls.discovered.wait()
    return await ls.settled(uri, _ONLY_CHANCE_S, answered=True)


async def hover(ls: KernelcastServer, params: types.HoverParams) -> types.Hover | None:
    with ls.timings.during("answer a hover"):
        snapshot = await _known(ls, params.text_document.uri)
        return hover_of(snapshot, params.position, ls.supports.hover_formats) if snapshot else None


async def completion(ls: KernelcastServer, params: types.CompletionParams) -> list[types.CompletionItem] | None:
    with ls.timings.during("answer a completion"):
        snapshot = await _known(ls, params.text_document.uri)
        found = completions(snapshot, params.position) if snapshot else []
        return found or None  # an empty list is an answer as well: other servers have something to say of code


async def code_lens(ls: KernelcastServer, params: types.CodeLensParams) -> list[types.CodeLens]:
    with ls.timings.during("answer code lenses"):
        snapshot = await _known(ls, params.text_document.uri)
        return code_lenses(snapshot) if snapshot else []


async def document_symbol(
    ls: KernelcastServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    with ls.timings.during("answer symbols"):
        snapshot = await _known(ls, params.text_document.uri)
        return document_symbols(snapshot, hierarchical=ls.supports.symbol_trees) if snapshot else []


async def code_action(
    ls: KernelcastServer, params: types.CodeActionParams
) -> list[types.Command | types.CodeAction] | None:
    with ls.timings.during("answer code actions"):
        snapshot = await _known(ls, params.text_document.uri)
        if snapshot is None:
            return None
        fixes = await _fixes(ls, snapshot, params)
        return code_actions(snapshot, params.range, params.context.only, ls.supports, fixes)


async def _fixes(ls: KernelcastServer, snapshot: Snapshot, params: types.CodeActionParams) -> tuple[PredictedFix, ...]:
    """Return what is known of the kernel at the cursor; the menu that somebody has opened waits for it a little."""
    view = kernel_at(snapshot, params.range)
    if view is None or not may_be_wanted(types.CodeActionKind.QuickFix, params.context.only):
        return ()
    is_automatic = params.context.trigger_kind is types.CodeActionTriggerKind.Automatic
    return await ls.fixes.of(snapshot, view.launches[0], 0.0 if is_automatic else _MENU_S)


def hover_of(snapshot: Snapshot, position: types.Position, formats: Sequence[types.MarkupKind]) -> types.Hover | None:
    """Return the hover at a position, if it is in a kernel's signature or in a launch annotation.

    `formats` is what the client can show, its favourite first; plain text when it says nothing.
    """
    if (help_ := annotation_hover(snapshot, position, formats)) is not None:
        return help_
    text, encoding = snapshot.document.text, snapshot.encoding
    pointed = offset_of(text, position, encoding)
    for view in snapshot.kernels:
        start, end = snapshot.offsets(view.kernel.signature_range)
        if start <= pointed <= end:
            story = render(view, snapshot)
            markdown = types.MarkupKind.Markdown in formats
            content = types.MarkupContent(
                kind=types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText,
                value=as_markdown(story) if markdown else as_plain_text(story),
            )
            return types.Hover(contents=content, range=range_of(text, start, end, encoding))
    return None


def code_lenses(snapshot: Snapshot) -> list[types.CodeLens]:
    """Return the lenses of all kernels; those that run a kernel only where one may run."""
    if not snapshot.settings.code_lens:
        return []
    return [
        types.CodeLens(snapshot.range(view.kernel.name_range), command)
        for view in snapshot.kernels
        for command in _commands(view, snapshot)
    ]


def _commands(view: KernelView, snapshot: Snapshot) -> list[types.Command]:
    uri, launch = snapshot.document.uri, view.launches[0]
    found = [types.Command("Report", REPORT, arguments=[uri, view.key])]
    if snapshot.may_run and launch.forecast.launch is not None:
        arguments = [uri, view.key, launch.slot.launch]
        found.insert(0, types.Command("Measure", MEASURE, arguments=arguments))
        found.append(types.Command("Tune", TUNE, arguments=arguments))
    return found


def document_symbols(
    snapshot: Snapshot, *, hierarchical: bool
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """Return a symbol for each kernel. Host files have none of ours: their own servers list what is in them."""
    if snapshot.analysis.programs:
        return []
    if not hierarchical:
        return [
            types.SymbolInformation(
                location=types.Location(snapshot.document.uri, snapshot.range(view.kernel.range)),
                name=view.kernel.name,
                kind=types.SymbolKind.Function,
            )
            for view in snapshot.kernels
        ]
    return [
        types.DocumentSymbol(
            name=view.kernel.name,
            detail=view.label,
            kind=types.SymbolKind.Function,
            range=snapshot.range(view.kernel.range),
            selection_range=snapshot.range(view.kernel.name_range),
        )
        for view in snapshot.kernels
    ]
