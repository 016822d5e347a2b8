"""An engine that has seen every keystroke says what one says that sees the text for the first time."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from model.device import Device
from model.engine import Engine

TEXT = """#define GAIN 2.0f
typedef struct { float4 place; float weight; } Body;
float twice(float v)
{
    return sin(v) * GAIN;
}

// kernelcast: global=N local=64 N=4096 bodies=N
__kernel void first(__global Body *bodies, int n)
{
    int i = get_global_id(0);
    for (int k = 0; k < n; ++k)
        bodies[i].weight += twice(bodies[k].weight);
}

// kernelcast: global=1024 -DGAIN=4.0f name=small
// kernelcast: global=65536 name=large
__kernel void second(__global float *x, __global const int *rows)
{
    int i = get_global_id(0);
    for (int k = rows[i]; k < rows[i + 1]; ++k)
        x[i] += twice(x[k]);
}
"""
_PIECES = st.sampled_from(
    ["", "\n", "{", "}", "(", ";", "/*", "*/", "// ", '"', "#if 0\n", "#endif\n", "#define GAIN 3\n", "#undef GAIN\n",
     "// kernelcast: global=32 local=q\n", "// why\n", "\n\n", "x[0] = 1;", "typedef int Body;\n", "twice(", "float",
     "__kernel void third(__global float *y) { y[0] = twice(1.0f); }\n"]
)  # fmt: skip
_EDITS = st.lists(st.tuples(st.integers(0, len(TEXT)), st.sampled_from([0, 0, 1, 5, 40]), _PIECES), max_size=4)


@settings(max_examples=60, deadline=None)
@given(_EDITS)
@example([(TEXT.index("loat twice"), 0, "#endif\n")] * 3)  # lines between the parts of a function
def test_edits_end_where_a_first_look_begins(cpu: Device, edits: list[tuple[int, int, str]]) -> None:
    engine, text = Engine(), TEXT
    engine.forecast(text, None, cpu)
    for start, length, segment in edits:
        text = text[:start] + segment + text[start + length :]
        assert engine.forecast(text, None, cpu) == Engine().forecast(text, None, cpu)


def test_an_untouched_kernel_keeps_its_very_forecast(cpu: Device) -> None:
    engine = Engine()
    before = {f.kernel.name: f for f in engine.forecast(TEXT, None, cpu).forecasts}
    after = engine.forecast(TEXT.replace("x[k])", "x[k] + 1.0f)"), None, cpu)
    assert next(f for f in after.forecasts if f.kernel.name == "first") is before["first"]


def test_an_edited_helper_changes_those_who_call_it(cpu: Device) -> None:
    text = TEXT + "__kernel void third(__global float *y) { y[get_global_id(0)] = 1.0f; }\n"
    engine = Engine()
    before = {f.kernel.name: f for f in engine.forecast(text, None, cpu).forecasts}
    after = engine.forecast(text.replace("sin(v)", "cos(v)"), None, cpu).forecasts
    assert {f.kernel.name for f in after if f is not before[f.kernel.name]} == {"first", "second"}
