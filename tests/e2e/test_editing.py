"""From opening a file to a hint that follows what is typed, as a UTF-8, a UTF-16 and a UTF-32 client."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import psutil
import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
ENCODINGS = [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16, types.PositionEncodingKind.Utf32]
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}

SIGNATURE = "/* 😀🇩🇪 */ __kernel void scale(__global const float *a, __global float *b, int n) { // 👍"
SCALE = f"""// kernelcast: global=65536 n=65536
{SIGNATURE}
  int i = get_global_id(0);
  if (i < n) b[i] = a[i] * 2.0f;
}}
"""


def width(text: str, encoding: types.PositionEncodingKind) -> int:
    codec, size = UNITS[encoding.value]
    return len(text.encode(codec)) // size


def told_us(label: str) -> float:
    """The time that a hint tells, in microseconds."""
    number, unit = label.split()[1:3]
    return float(number) * {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}[unit]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_hints_hover_and_edits_count_as_the_client_counts(
    start_editor: Start, encoding: types.PositionEncodingKind
) -> None:
    async with start_editor(encoding=encoding) as editor:
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", SCALE)
        first = await editor.wait_for_hint("scale.cl")
        assert re.match(r"[~≈] [\d.]+ (µs|ms|s) (±|[\d.]+-)", first), first
        assert [(line, column) for line, column, _ in await editor.hints("scale.cl")] == [
            (1, width(SIGNATURE, encoding))
        ]

        name = SIGNATURE.index("scale")
        told = await editor.hover("scale.cl", 1, width(SIGNATURE[:name], encoding) + 2)
        assert told.startswith("`scale` will take about ")
        assert "65536 work-items in groups" in told

        # Text outside the BMP before the kernel, then a hundred times the work, on the same and on other lines.
        editor.edit("scale.cl", 0, 0, "// 👩‍🚀 one\n/* 🎈 */ ")
        editor.edit("scale.cl", 2, width("/* ", encoding), "🚀🚀")
        loop = "for (int k = 0; k < 5000; k++) b[i] += "
        line = "  if (i < n) "
        editor.edit("scale.cl", 4, len(line), loop, end=(4, len(line) + len("b[i] = ")))
        await editor.wait_for_hint("scale.cl", lambda label: told_us(label) > 100 * told_us(first))
        assert [(line, column) for line, column, _ in await editor.hints("scale.cl")] == [
            (2, width(SIGNATURE, encoding) + width("🚀🚀", encoding))
        ]
        assert await editor.leave() == 0


async def test_a_hint_never_vanishes_while_its_kernel_is_typed_in(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        for column, character in enumerate("float x = a[0]; x += 1.0f;", 2):
            editor.edit("scale.cl", 2, column, character)
            assert len(await editor.hints("scale.cl")) == 1


async def test_hints_stay_while_a_signature_is_half_written(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE + SCALE.replace("scale", "other"))
        await editor.wait_for_hint("scale.cl", place=1)
        column = len(SIGNATURE.encode("utf-16-le")) // 2 - len(") { // 👍") - 1
        for number, character in enumerate(", __global fl"):
            editor.edit("scale.cl", 1, column + number, character)
            assert len(await editor.hints("scale.cl")) == 2
        editor.edit("scale.cl", 2, 0, "/* half a comment ")
        assert len(await editor.hints("scale.cl")) == 2


async def test_nothing_is_refreshed_when_the_shown_text_stays_the_same(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        await editor.wait_for_hint("scale.cl")
        editor.open("probe.cl", SCALE.replace("scale", "probe"))
        await editor.wait_for_hint("probe.cl")
        before = editor.refreshes
        for _ in range(5):
            editor.edit("scale.cl", 2, 0, "\n")
        # The analysis thread takes documents one by one: when this one's answer has changed, the other's is done.
        editor.edit("probe.cl", 0, 0, "// kernelcast: global=4096 n=4096 name=other\n")
        await editor.wait_for_hint("probe.cl", lambda label: "other" in label or "more" in label)
        assert editor.refreshes - before <= 1


async def test_a_client_that_cannot_refresh_gets_the_right_answer_at_once(start_editor: Start) -> None:
    async with start_editor(refresh=False) as editor:
        editor.open("scale.cl", SCALE)
        first = await editor.hints("scale.cl")
        assert first
        await editor.run("kernelcast.listDevices")  # answers when all devices of the machine are known
        assert await editor.hints("scale.cl") == first


async def test_the_annotation_that_is_offered_can_be_written_and_is_understood(start_editor: Start) -> None:
    plain = (
        "\n  __kernel void scale(__global float *a, int n) {\n  int i = get_global_id(0);\n  if (i < n) a[i] = 1;\n}\n"
    )
    async with start_editor() as editor:
        editor.open("scale.cl", plain)
        await editor.wait_for_hint("scale.cl")
        assert "(inferred)" in await editor.hover("scale.cl", 1, 18)
        action = (await editor.actions("scale.cl", 2))["Write launch annotation for `scale`"]
        (edit,) = action.edit.changes[editor.uri("scale.cl")]
        assert re.fullmatch(r"  // kernelcast: global=\d+ .*\n", edit.new_text)
        place = edit.range.start
        editor.edit("scale.cl", place.line, place.character, edit.new_text)
        told = await editor.hover_with("scale.cl", 2, 18, "(annotation)")
        assert "global size" not in told.partition("**Assumed**")[2]
        assert "Write launch annotation for `scale`" not in await editor.actions("scale.cl", 3)


async def test_a_bad_annotation_is_marked_at_its_own_characters(start_editor: Start) -> None:
    async with start_editor() as editor:
        text = SCALE.replace("n=65536", "n=9/0")
        editor.open("scale.cl", text)
        await editor.until(lambda: bool(editor.client.diagnostics.get(editor.uri("scale.cl"))))
        (found,) = editor.client.diagnostics[editor.uri("scale.cl")]
        first_line = text.splitlines()[0]
        assert found.range.start.line == 0
        assert "9/0" in first_line[found.range.start.character : found.range.end.character]
        column = first_line.index("9/0")
        editor.edit("scale.cl", 0, column, "65536", end=(0, column + 3))
        await editor.until(lambda: not editor.client.diagnostics[editor.uri("scale.cl")])


async def test_kernelcast_toml_counts_and_its_faults_are_told(start_editor: Start) -> None:
    async with start_editor() as editor:
        config = editor.folder / "kernelcast.toml"
        config.write_text('[[launch]]\nkernel = "scale"\nglobal = 4096\nargs = { n = 4096 }\n')
        editor.open("scale.cl", SCALE.split("\n", 1)[1])
        await editor.wait_for_hint("scale.cl")
        assert "4096 work-items in groups" in await editor.hover("scale.cl", 0, SIGNATURE.index("scale") + 4)
        config.write_text("[[launch]\n")
        watched = types.FileEvent(uri=config.as_uri(), type=types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([watched]))
        await editor.until(lambda: bool(editor.client.diagnostics.get(config.as_uri())))
        assert editor.client.diagnostics[config.as_uri()][0].source == "kernelcast"
        assert await editor.hints("scale.cl")


async def test_a_changed_header_changes_the_hints_of_files_that_include_it(start_editor: Start) -> None:
    async with start_editor() as editor:
        header = editor.folder / "rounds.h"
        header.write_text("#define ROUNDS 2\n")
        text = SCALE.replace("if (i < n) ", "for (int k = 0; k < ROUNDS; k++) ")
        await editor.run("kernelcast.chooseDevice", "generic-cpu")
        editor.open("scale.cl", f'#include "rounds.h"\n{text}')
        before = await editor.wait_for_hint("scale.cl")
        header.write_text("#define ROUNDS 20000\n")
        watched = types.FileEvent(uri=header.as_uri(), type=types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([watched]))
        await editor.wait_for_hint("scale.cl", lambda label: told_us(label) > 100 * told_us(before))


async def test_settings_are_asked_for_and_a_bad_one_is_named(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        await editor.configure(hints={"enabled": False}, measure={"timeLimitS": "long"})
        await editor.until(lambda: any("kernelcast.measure.timeLimitS" in message for message in editor.messages))
        assert await editor.hints("scale.cl") == []
        await editor.configure()
        await editor.wait_for_hint("scale.cl")


async def test_each_folder_of_a_workspace_has_its_own_settings(start_editor: Start) -> None:
    text = '#include "rounds.h"\n' + SCALE.replace("if (i < n) ", "for (int k = 0; k < ROUNDS; k++) ")
    folders = {"one": {"build": {"include": ["inc"]}}, "two": {"device": "nvidia-h200", "build": {"include": ["inc"]}}}
    async with start_editor(folders=folders) as editor:
        await editor.run("kernelcast.listDevices")
        for name, rounds in (("one", 2), ("two", 2_000_000)):
            (editor.folder / name / "inc").mkdir()
            (editor.folder / name / "inc/rounds.h").write_text(f"#define ROUNDS {rounds}\n")
            editor.open(f"{name}/scale.cl", text)
        few = await editor.wait_for_hint("one/scale.cl")
        await editor.wait_for_hint("two/scale.cl", lambda label: told_us(label) > 10 * told_us(few))
        column = SIGNATURE.index("scale") + 4
        assert "H200" not in (await editor.hover("one/scale.cl", 2, column)).splitlines()[0]
        assert "H200" in (await editor.hover("two/scale.cl", 2, column)).splitlines()[0]


async def test_another_device_can_be_chosen_from_a_list(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        editor.choice = lambda titles: next(t for t in titles if "nvidia-h200" in t or t.startswith("Another device"))
        assert await editor.run("kernelcast.chooseDevice") == "nvidia-h200"
        told = await editor.hover_with("scale.cl", 1, SIGNATURE.index("scale") + 4, "H200")
        assert "H200" in told.splitlines()[0]


async def test_an_editor_that_shows_no_questions_is_told_how_else_to_choose(start_editor: Start) -> None:
    def refuse(_: list[str]) -> str:
        raise NotImplementedError

    async with start_editor() as editor:
        editor.choice = refuse
        answer = await editor.run("kernelcast.chooseDevice")
        assert "kernelcast.device" in answer["error"]["message"]
        await editor.until(lambda: any("kernelcast.device" in message for message in editor.messages))


async def test_an_unknown_command_is_refused_and_the_server_stays(start_editor: Start) -> None:
    async with start_editor() as editor:
        with pytest.raises(Exception, match="There is no command"):
            await editor.run("kernelcast.dance")
        assert await editor.leave() == 0


async def test_the_server_ends_with_its_editor(start_editor: Start) -> None:
    stand_in = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    async with start_editor(process_id=stand_in.pid) as editor:
        server = psutil.Process(editor.server.pid)
        os.kill(stand_in.pid, signal.SIGKILL)
        stand_in.wait()
        await editor.server.wait()
        assert not server.is_running()
    if stand_in.stdin:
        stand_in.stdin.close()


async def test_exit_without_shutdown_is_told_by_the_status(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.client.exit(None)
        assert await editor.server.wait() == 1
