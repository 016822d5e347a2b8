"""What decides how often loops run and was not given is marked as a guess, and named."""

from __future__ import annotations

from model.device_catalog import find_builtin
from model.engine import Engine
from model.observing import Observer
from model.prediction import Prediction


def predicted(body: str, parameters: str, annotation: str = "global=4096") -> Prediction:
    text = f"// kernelcast: {annotation}\nkernel void k({parameters}) {{\nint i = get_global_id(0);\n{body}\n}}"
    device = find_builtin("generic-gpu")
    assert device is not None
    (found,) = Engine(observer=Observer(runs=True)).forecast(text, None, device).forecasts
    assert found.prediction is not None, found.problem
    return found.prediction


def guessed(prediction: Prediction) -> str:
    return "\n".join(each.text for each in prediction.guesses)


def test_a_step_that_decides_a_loop_of_floats_is_not_called_free() -> None:
    body = "float s = 0; for (float x = 0; x * x < 10; x += step) s += sin(x); out[i] = s;"
    found = predicted(body, "global float *out, float step")
    assert "`step`=1.0: nothing says how large it is" in guessed(found)
    assert not any("does not matter" in each.text for each in found.assumptions)
    assert not predicted(body, "global float *out, float step", "global=4096 step=0.5").is_guessed


def test_a_factor_that_decides_nothing_is_free() -> None:
    found = predicted("out[i] *= factor;", "global float *out, float factor")
    assert not found.is_guessed
    assert any("does not matter" in each.text for each in found.assumptions)


def test_contents_that_end_a_loop_are_a_guess_until_they_are_given() -> None:
    body = "int n = 0; while (text[i + n]) n++; out[i] = n;"
    parameters = "global const uchar *text, global int *out"
    found = predicted(body, parameters)
    assert "what `text` holds decides" in guessed(found)
    given = predicted(body, parameters, "global=4096 fill.text=randint:0:20")
    assert "text" not in guessed(given)


def test_members_that_bound_a_loop_are_named_with_their_fills() -> None:
    text = """typedef struct { int start, len; float weight; } Row;
// kernelcast: global=4096
kernel void k(global const Row *rows, global float *out) {
  int i = get_global_id(0); float s = 0;
  for (int k = rows[i].start; k < rows[i].start + rows[i].len; k++) s += k;
  out[i] = s;
}"""
    device = find_builtin("generic-gpu")
    assert device is not None
    (found,) = Engine(observer=Observer(runs=True)).forecast(text, None, device).forecasts
    assert found.prediction is not None
    assert "fill.rows.len=" in guessed(found.prediction)


def test_a_loop_that_nobody_leaves_may_never_end() -> None:
    found = predicted("while (*flag == 0) ; out[i] = 1;", "global volatile int *flag, global int *out")
    assert "may run far longer, or never end" in guessed(found)
    assert found.runtime_us.p90 > 10 * found.runtime_us.p50


def test_a_loop_that_some_leave_is_estimated_and_no_guess() -> None:
    walk = "while ((h & 0xffff) != 0x2a2a) { h = h * 1664525u + 1013904223u; n++; }"
    body = f"uint h = i * 2654435761u, n = 0; {walk} out[i] = n;"
    found = predicted(body, "global uint *out")
    assert not found.is_guessed


def test_what_only_the_last_group_does_is_a_guess() -> None:
    body = """
    local uint before; float s = 0;
    if (get_local_id(0) == 0) before = atomic_inc(done);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (before == get_num_groups(0) - 1) for (int k = 0; k < 100000; k++) s += parts[k];
    out[i] = s;"""
    parameters = "global uint *done, global const float *parts, global float *out"
    found = predicted(body, parameters, "global=1048576 local=64 parts=100000 done=1 fill.done=zeros")
    assert "an atomic operation decides the branch on line 8" in guessed(found)


def test_a_place_that_an_atomic_operation_gives_is_no_guess() -> None:
    body = "if (in[i] > 0.5f) out[atomic_inc(count)] = in[i];"
    found = predicted(
        body, "global const float *in, global float *out, global int *count", "global=4096 fill.in=uniform:0:1"
    )
    assert "an atomic operation" not in guessed(found)


def test_a_loop_that_nobody_leaves_long_before_its_bound_is_a_guess() -> None:
    body = """int j = 0; float x = i + 1;
    for (; j < n; j++) { for (int k = 0; k < 40; k++) x = sin(x) + cos(x * k); if (in[j] > 2.0f) break; }
    out[i] = x + j;"""
    parameters = "global const float *in, global float *out, int n"
    found = predicted(body, parameters, "global=4096 n=100000 in=100000 fill.in=uniform:0:1")
    assert "it may run far longer" in guessed(found)


def test_a_loop_without_another_way_out_is_none() -> None:
    body = """float x = i + 1;
    for (int j = 0; j < n; j++) { for (int k = 0; k < 40; k++) x = in[(int)x & 63] + cos(x * k); }
    out[i] = x;"""
    parameters = "global const float *in, global float *out, int n"
    found = predicted(body, parameters, "global=4096 n=100000 in=64 fill.in=uniform:0:100")
    assert "it may run far longer" not in guessed(found)
