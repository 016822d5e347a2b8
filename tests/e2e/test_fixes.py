"""Quick fixes in the editor: offered with their gain, applied, proven on a device, and taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from lsprotocol import types

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

Start = Callable[..., Any]
GPU = "nvidia-a100-pcie-40gb"
TURN = """// kernelcast: global=(1024, 2048) local=(64, 1) a=1024*2048 b=1024*2048 n=2048
__kernel void turn(__global const int *restrict a, __global int *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[x * n + y] = a[x * n + y] * 3;
}
"""
TURNED = """// kernelcast: global=(2048, 1024) local=(64, 1) a=1024*2048 b=1024*2048 n=2048
__kernel void turn(__global const int *restrict a, __global int *restrict b, const int n)
{
    const int x = get_global_id(1), y = get_global_id(0);
    b[x * n + y] = a[x * n + y] * 3;
}
"""


def larger(text: str) -> str:
    """The same for more than the caches of a GPU hold."""
    return text.replace("2048", "8192").replace("1024", "4096")


LARGE = larger(TURN)
SWAP = "Swap dimensions 0 and 1 of the kernel and its launch"
# An endless kernel does not get past the run that shows whether it stays in its buffers, where there is such a run.
RUNNING = ("checking bounds", "warming up")
ENDLESS = TURN.replace("    b[x * n", "    while (a[0] < 1000000000) ;\n    b[x * n")


async def offered(editor: Any, name: str, title: str, line: int = 1) -> types.CodeAction:
    """The action whose title begins so, as soon as it is known: the menu does not wait for ever."""
    found: list[types.CodeAction] = []
    for _ in range(20):
        actions = await editor.actions(name, line)
        found = [action for told, action in actions.items() if told.startswith(title)]
        if found:
            break
    assert found, list(actions)
    return found[0]


async def test_a_quick_fix_says_its_gain_and_edits_kernel_and_launch(start_editor: Start) -> None:
    async with start_editor() as editor:
        await editor.run("kernelcast.chooseDevice", GPU)
        editor.open("turn.cl", LARGE)
        await editor.wait_for_hint("turn.cl")
        action = await offered(editor, "turn.cl", SWAP)
        assert "(predicted " in action.title
        assert action.title.endswith("x faster)")
        assert action.kind == types.CodeActionKind.QuickFix
        assert action.edit
        editor._make(editor.uri("turn.cl"), action.edit.changes[editor.uri("turn.cl")])
        assert editor.texts[editor.uri("turn.cl")] == larger(TURNED)
        assert not [title for title in await editor.actions("turn.cl", 1) if title.startswith("Apply and measure")]


@pytest.mark.device
@pytest.mark.parametrize("answer", ["Keep", "Revert"])
async def test_a_fix_is_measured_and_the_user_has_the_last_word(start_editor: Start, answer: str) -> None:
    async with start_editor() as editor:
        editor.makes_edits = True
        editor.choice = lambda _titles: answer
        editor.open("turn.cl", TURN)
        await editor.device_is_here()
        await editor.wait_for_hint("turn.cl")
        action = await offered(editor, "turn.cl", f"Apply and measure: {SWAP}")
        assert action.command
        told = await editor.run(action.command.command, *action.command.arguments)
        assert told["equal"]
        assert told["max_ulps"] == 0
        if told["faster"]:  # on a busy machine nothing may be beyond the noise; then it is taken back in any case
            assert "results equal" in told["text"]
        assert told["kept"] == (answer == "Keep" and told["faster"])
        assert editor.texts[editor.uri("turn.cl")] == (TURNED if told["kept"] else TURN)
        await editor.wait_for_hint("turn.cl", lambda label: "measured" in label)


@pytest.mark.device
async def test_a_fix_of_a_kernel_in_a_python_file_is_measured_there(start_editor: Start) -> None:
    async with start_editor() as editor:
        editor.makes_edits = True
        editor.choice = lambda _titles: "Keep"
        editor.open("turn.py", f'SOURCE = """\n{TURN}"""\n', language="python")
        await editor.device_is_here()
        await editor.wait_for_hint("turn.py")
        action = await offered(editor, "turn.py", f"Apply and measure: {SWAP}", line=3)
        assert action.command
        told = await editor.run(action.command.command, *action.command.arguments)
        assert told["equal"]
        kept = TURNED if told["kept"] else TURN
        assert editor.texts[editor.uri("turn.py")] == f'SOURCE = """\n{kept}"""\n'


@pytest.mark.device
async def test_cancelling_leaves_the_text_as_it_was(start_editor: Start) -> None:
    async with start_editor(settings={"measure": {"budgetS": 0.2, "timeLimitS": 60}}) as editor:
        editor.makes_edits = True
        editor.open("turn.cl", ENDLESS)
        await editor.device_is_here()
        await editor.wait_for_hint("turn.cl")
        action = await offered(editor, "turn.cl", f"Apply and measure: {SWAP}")
        assert action.command

        arguments = list(action.command.arguments or ())
        running = asyncio.create_task(editor.run(action.command.command, *arguments))

        def is_running() -> bool:
            return any(word in value.get("message", "") for value in editor.progress for word in RUNNING)

        await editor.until(lambda: bool(editor.edits) and is_running())
        editor.press_cancel()
        answer = await running
        assert answer["error"]["code"] == "cancelled"
        assert editor.texts[editor.uri("turn.cl")] == ENDLESS
        assert not editor.device_processes()
