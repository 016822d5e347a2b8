"""For a GPU that is not in this machine the hover says what the offline compilers make of the kernel."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from model.compile_targets import Vendor
from profiler.offline.tools import ToolMissing, find_tools

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio]

SCALE = """// kernelcast: global=4096 local=64 a=4096
__kernel void scale(__global float *a) {
  size_t i = get_global_id(0);
  a[i] = 2.0f * a[i] + 1.0f;
}
"""


@pytest.fixture
def _compilers() -> None:
    """With the functions of OpenCL C that other tests have compiled already: under load that takes minutes."""
    try:
        find_tools(Vendor.NVIDIA)
    except ToolMissing as error:
        pytest.skip(error.message)
    kept = Path(sys.prefix) / "offline-library"
    if kept.is_dir():
        shutil.copytree(kept, Path(os.environ["XDG_CACHE_HOME"]) / "kernelcast" / "offline", dirs_exist_ok=True)


@pytest.mark.usefixtures("_compilers")
async def test_the_hover_has_registers_occupancy_and_spills_of_the_chosen_gpu(start_editor: Callable[..., Any]) -> None:
    chosen = {"device": "nvidia-h100-80gb-hbm3"}
    async with start_editor(settings=chosen, options={"trusted": True}) as editor:
        editor.open("scale.cl", SCALE)
        await editor.wait_for_hint("scale.cl")
        told = await editor.hover_with("scale.cl", 1, 16, "registers, occupancy")
        assert "no spills" in told
        assert not editor.messages


GPU = {"device": "nvidia-h100-80gb-hbm3"}
SOURCE = "kernelcast (sm_90)"
BROKEN = SCALE.replace("2.0f * a[i]", "factor * a[i]")


def refused(editor: Any) -> list[types.Diagnostic]:
    found: list[types.Diagnostic] = editor.client.diagnostics.get(editor.uri("scale.cl"), [])
    return [each for each in found if each.source == SOURCE]


@pytest.mark.usefixtures("_compilers")
async def test_what_the_gpus_compiler_refuses_is_a_warning_at_its_place_until_it_is_mended(
    start_editor: Callable[..., Any],
) -> None:
    async with start_editor(settings=GPU, options={"trusted": True}) as editor:
        editor.open("scale.cl", BROKEN)
        await editor.until(lambda: bool(refused(editor)))
        (told,) = refused(editor)
        assert (told.severity, told.code) == (types.DiagnosticSeverity.Warning, "compile")
        assert told.message == "use of undeclared identifier 'factor'"
        assert told.range == types.Range(types.Position(3, 9), types.Position(3, 15))
        editor.edit("scale.cl", 0, 0, "// a line above\n")
        await editor.until(lambda: [each.range.start.line for each in refused(editor)] == [4])
        editor.edit("scale.cl", 4, 9, "2.0f", end=(4, 15))
        await editor.until(lambda: not refused(editor))
        assert not editor.messages
