"""textDocument/codeAction: measure, tune, write the launch down, report, choose or calibrate the device.

In many editors this menu is the only way to a server's commands, so all of them stand in it that can work: nothing is
measured or calibrated on a device that is not in this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types

from server.client.capabilities import Supports
from server.commands import (
    APPLY_AND_MEASURE,
    CALIBRATE,
    CHOOSE_DEVICE,
    MEASURE,
    MEASURE_ALL,
    MEASURE_SIZES,
    REPORT,
    TUNE,
)
from server.features import diagnostics
from server.launch_view import LaunchView
from server.positions import IndexedText, offset_of, position_of
from server.snapshot import KernelView, Snapshot
from server.text.fixes import fix_title
from server.text.format import shown_name
from server.text.hint import launch_title
from server.text_edits import embedded_edit, text_edits, workspace_edit

if TYPE_CHECKING:
    from server.analysis.fix_gains import PredictedFix

_RUN = "kernelcast"
_WRITE = types.CodeActionKind.RefactorRewrite


def code_actions(
    snapshot: Snapshot,
    where: types.Range,
    only: Sequence[str] | None,
    supports: Supports,
    fixes: Sequence[PredictedFix] = (),
) -> list[types.CodeAction | types.Command]:
    """Return the actions for the kernel at the cursor. Clients without literals get commands only.

    `fixes` are those of the kernel's first launch.
    """
    view = kernel_at(snapshot, where)
    if view is None:
        return []
    commands = _commands(view, snapshot)
    if not supports.code_action_literals:
        return list(commands)
    actions = [types.CodeAction(title=c.title, kind=_RUN, command=c) for c in commands]
    written = _writing(view, snapshot, creates_files=supports.creates_files)
    at = len([c for c in commands if c.command in (MEASURE, MEASURE_SIZES, TUNE)])
    actions[at:at] = written
    actions += _quick_fixes(view, snapshot, supports, fixes)
    return [action for action in actions if may_be_wanted(action.kind, only)]


def _quick_fixes(
    view: KernelView, snapshot: Snapshot, supports: Supports, fixes: Sequence[PredictedFix]
) -> list[types.CodeAction]:
    """Return each fix twice: as an edit, and as a command that keeps the edit only if it proves to be faster."""
    document, actions = snapshot.document, []
    own = [each for each in diagnostics.advice_diagnostics(snapshot) if each.code in {f.fix.code for f in fixes}]
    for each in fixes:
        edits = text_edits(document.text, each.text, snapshot.encoding)
        edit = workspace_edit(document, edits, versioned=supports.versioned_edits)
        about = [diagnostic for diagnostic in own if diagnostic.code == each.fix.code]
        kind, title = types.CodeActionKind.QuickFix, fix_title(each)
        actions.append(types.CodeAction(title, kind, diagnostics=about or None, edit=edit))
        if snapshot.can_run and supports.apply_edit:
            arguments = [document.uri, view.key, view.launches[0].slot.launch, str(each.fix.code), each.fix.title]
            command = types.Command(f"Apply and measure: {title}", APPLY_AND_MEASURE, arguments=arguments)
            actions.append(types.CodeAction(command.title, kind, diagnostics=about or None, command=command))
    return actions


def _writing(view: KernelView, snapshot: Snapshot, *, creates_files: bool) -> list[types.CodeAction]:
    """Return what puts the launch into the user's files: a recorded one may go into `kernelcast.toml`, too."""
    actions = []
    if (edit := annotation_edit(view, snapshot)) is not None:
        title = "Keep as launch annotation" if view.is_recorded else f"Write launch annotation for `{view.kernel.name}`"
        changes = types.WorkspaceEdit(changes={snapshot.document.uri: [edit]})
        actions.append(types.CodeAction(title, _WRITE, edit=changes))
    if (kept := config_edit(view, snapshot, creates_files=creates_files)) is not None:
        actions.append(types.CodeAction("Keep in kernelcast.toml", _WRITE, edit=kept))
    return actions


def kernel_at(snapshot: Snapshot, where: types.Range) -> KernelView | None:
    """Return the one that the range touches; else the one on whose lines it is, which is where people click."""
    text, encoding = snapshot.document.text, snapshot.encoding
    begin, end = offset_of(text, where.start, encoding), offset_of(text, where.end, encoding)
    spans = [(view, *snapshot.offsets(view.kernel.range)) for view in snapshot.kernels]
    touched = [view for view, first, last in spans if begin <= last and end >= first]
    lines = text.line_at(begin), text.line_at(end)
    near = [view for view, first, last in spans if lines[0] <= text.line_at(last) and lines[1] >= text.line_at(first)]
    return next(iter((*touched, *near)), None)


def _commands(view: KernelView, snapshot: Snapshot) -> list[types.Command]:
    uri, device, kernel = snapshot.document.uri, snapshot.device, view.key
    commands = []
    if snapshot.can_run:
        commands += [
            types.Command(
                _measure_title(launch, view, shown_name(device.name)),
                MEASURE,
                arguments=[uri, kernel, launch.slot.launch],
            )
            for launch in view.told_in_full
            if launch.forecast.launch is not None
        ]
        commands += _of_other_launches(view, snapshot)
        if len(snapshot.kernels) > 1:
            commands.append(types.Command("Measure all kernels of this file", MEASURE_ALL, arguments=[uri]))
    commands.append(types.Command(f"Show performance report of `{kernel}`", REPORT, arguments=[uri, kernel]))
    commands.append(types.Command(f"Choose device (now {shown_name(device.name)}) ...", CHOOSE_DEVICE, arguments=[]))
    if snapshot.can_run and not device.calibrated:
        commands.append(types.Command(f"Calibrate {shown_name(device.name)}", CALIBRATE, arguments=[device.id]))
    return commands


def _of_other_launches(view: KernelView, snapshot: Snapshot) -> list[types.Command]:
    """Return the commands that measure other sizes and versions of the first launch that can be run."""
    launch = next((each for each in view.launches if each.forecast.launch is not None), None)
    if launch is None:
        return []
    device = shown_name(snapshot.device.name)
    title = f"Measure `{view.kernel.name}` at several sizes on {device}"
    faster = f"Find a faster launch of `{view.kernel.name}` on {device}"
    arguments = [snapshot.document.uri, view.key, launch.slot.launch]
    return [
        types.Command(title, MEASURE_SIZES, arguments=arguments),
        types.Command(faster, TUNE, arguments=arguments),
    ]


def _measure_title(launch: LaunchView, view: KernelView, device_name: str) -> str:
    which = "" if len(view.told_in_full) == 1 else f" ({launch_title(launch)})"
    return f"Measure `{view.kernel.name}`{which} on {device_name}"


def annotation_edit(view: KernelView, snapshot: Snapshot) -> types.TextEdit | None:
    """Return the edit that writes the annotation, only from an analysis of the present text."""
    known = snapshot.analysis.annotations
    slot = next((slot for slot in known if slot.kernel == view.key), None)
    if slot is None or not snapshot.is_current:
        return None
    text, home = snapshot.document.text, view.launches[0].forecast.home
    if home is not None:
        return embedded_edit(snapshot, home, known[slot])
    start = text.line_starts[text.line_at(snapshot.offsets(view.kernel.range)[0])]
    rest = text.value[start : start + 200]
    indentation = rest[: len(rest) - len(rest.lstrip(" \t"))]
    at = position_of(text, start, snapshot.encoding)
    line_end = "\r\n" if "\r\n" in text.value else "\n"
    return types.TextEdit(types.Range(at, at), f"{indentation}{known[slot]}{line_end}")


def config_edit(view: KernelView, snapshot: Snapshot, *, creates_files: bool) -> types.WorkspaceEdit | None:
    """Return what adds the kernel's first recorded launch to the nearest `kernelcast.toml`, or makes one."""
    kept = snapshot.analysis.config_edits.get(view.launches[0].slot)
    if kept is None or (kept.is_new and not creates_files):
        return None
    uri = kept.path.as_uri()
    last = IndexedText.of(kept.last_line)
    column = position_of(last, len(kept.last_line), snapshot.encoding).character
    at = types.Position(kept.line, column)
    edit = types.TextEdit(types.Range(at, at), kept.added)
    if not kept.is_new:
        return types.WorkspaceEdit(changes={uri: [edit]})
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri)
    made = types.CreateFile(uri=uri, options=types.CreateFileOptions(ignore_if_exists=True))
    return types.WorkspaceEdit(document_changes=[made, types.TextDocumentEdit(text_document=document, edits=[edit])])


def may_be_wanted(kind: types.CodeActionKind | str | None, only: Sequence[str] | None) -> bool:
    """Kinds form a tree: asking for `refactor` gets `refactor.rewrite` too."""
    if not only:
        return True
    name = kind.value if isinstance(kind, types.CodeActionKind) else str(kind)
    asked = [o.value if isinstance(o, types.CodeActionKind) else o for o in only]
    return any(name == one or not one or name.startswith(f"{one}.") for one in asked)
