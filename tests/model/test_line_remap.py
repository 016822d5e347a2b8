"""A prediction's lines follow its kernel through edits elsewhere in the file, without a new analysis."""

from __future__ import annotations

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine

HELPER = "float twice(float v)\n{\n    return sin(v) * 2.0f;\n}\n\n"
KERNEL = (
    "// kernelcast: global=1024 local=64 x=1024\n"
    "__kernel void k(__global float *x)\n"
    "{\n"
    "    const int i = get_global_id(0);\n"
    "    if (x[i] > 0.0f)\n"
    "        x[i] = twice(x[i]);\n"
    "}\n"
)


def device() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


def facts(engine: Engine, text: str) -> tuple[list[int], list[str], float]:
    prediction = engine.forecast(text, None, device()).forecasts[0].prediction
    assert prediction is not None
    return [s.line for s in prediction.lines], [a.text for a in prediction.assumptions], prediction.runtime_us.p50


def test_lines_added_above_move_costs_and_sentences_alike() -> None:
    edited = Engine()
    facts(edited, HELPER + KERNEL)
    for text in ("\n\n" + HELPER + KERNEL, HELPER + "/* three\n * more\n * lines */\n" + KERNEL, HELPER + KERNEL):
        assert facts(edited, text) == facts(Engine(), text)


def test_a_comment_inside_the_kernel_moves_what_is_below_it() -> None:
    edited = Engine()
    facts(edited, HELPER + KERNEL)
    text = HELPER + KERNEL.replace("{\n", "{\n    // a comment\n", 1)
    assert facts(edited, text) == facts(Engine(), text)
    assert any("line 11" in said for said in facts(edited, text)[1])
