"""The table of contents: what this server answers, and where."""

from __future__ import annotations

from functools import partial

from lsprotocol import types

from server import commands
from server.device_work import background_compiles
from server.features import (
    apply_and_measure,
    calibrating,
    configuration,
    debugging,
    devices,
    kernels,
    lifecycle,
    measure,
    measure_sizes,
    notebooks,
    program,
    report,
    requests,
    synchronisation,
    tuning,
)
from server.features.annotation_words import TRIGGERS
from server.session import KernelcastServer

_CODE_ACTIONS = types.CodeActionOptions(
    code_action_kinds=["kernelcast", types.CodeActionKind.RefactorRewrite, types.CodeActionKind.QuickFix]
)

_COMPLETION = types.CompletionOptions(trigger_characters=list(TRIGGERS))


def create_server() -> KernelcastServer:
    server = KernelcastServer(notebooks.SYNC)
    server.background_compile = partial(background_compiles.compile_later, server)
    feature, command = server.feature, server.command

    feature(types.INITIALIZE)(lifecycle.initialize)
    feature(types.INITIALIZED)(lifecycle.initialized)
    feature(types.SHUTDOWN)(lifecycle.shutdown)

    feature(types.TEXT_DOCUMENT_DID_OPEN)(synchronisation.did_open)
    feature(types.TEXT_DOCUMENT_DID_CHANGE)(synchronisation.did_change)
    feature(types.TEXT_DOCUMENT_DID_SAVE)(synchronisation.did_save)
    feature(types.TEXT_DOCUMENT_DID_CLOSE)(synchronisation.did_close)

    feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(notebooks.did_open)
    feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(notebooks.did_change)
    feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)(notebooks.did_save)
    feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(notebooks.did_close)

    feature(types.TEXT_DOCUMENT_INLAY_HINT)(requests.inlay_hint)
    feature(types.TEXT_DOCUMENT_HOVER)(requests.hover)
    feature(types.TEXT_DOCUMENT_COMPLETION, _COMPLETION)(requests.completion)
    feature(types.TEXT_DOCUMENT_CODE_LENS)(requests.code_lens)
    feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(requests.document_symbol)
    feature(types.TEXT_DOCUMENT_CODE_ACTION, _CODE_ACTIONS)(requests.code_action)

    feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configuration.did_change_configuration)
    feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(configuration.did_change_workspace_folders)
    feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(synchronisation.did_change_watched_files)

    command(commands.LIST_KERNELS)(kernels.list_kernels)
    command(commands.WRITE_ANNOTATION)(kernels.write_annotation)
    command(commands.MEASURE)(measure.measure)
    command(commands.MEASURE_ALL)(measure.measure_all)
    command(commands.MEASURE_SIZES)(measure_sizes.measure_sizes)
    command(commands.APPLY_AND_MEASURE)(apply_and_measure.apply_and_measure)
    command(commands.LIST_FIXES)(apply_and_measure.list_fixes)
    command(commands.TUNE)(tuning.tune)
    command(commands.COMPARE_DEVICES)(devices.compare_devices)
    command(commands.LIST_DEVICES)(devices.list_devices)
    command(commands.CHOOSE_DEVICE)(devices.choose_device)
    command(commands.CALIBRATE)(calibrating.calibrate)
    command(commands.LEARN)(calibrating.learn)
    command(commands.REPORT)(report.report)
    command(commands.PROGRAM)(program.program)
    command(commands.DEBUG_INFORMATION)(debugging.debug_information)
    return server
