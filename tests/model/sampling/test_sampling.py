"""How work-items are chosen, what a sample rests on, and how it ends."""

from __future__ import annotations

import pytest

from model.launch.launch import Fill, Launch
from model.opencl.program import read_program
from model.sampling.items import Shape, batches
from model.sampling.run import sample_launch
from model.sampling.sample import SampleBudget
from tests.model.sampling.conftest import Sample

TRIPS = """__kernel void k(__global int* out, __global const int* len, __global const float* x, int n) {
  int i = get_global_id(0); float s = 0;
  for (int j = 0; j < len[i]; j++) s += x[j];
  out[i] = s;
}"""
LAUNCH = {"buffers": {"out": 1 << 16, "len": 1 << 16, "x": 1 << 16}, "n": 4}


@pytest.mark.parametrize("whole_groups", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        Shape((1 << 20, 1, 1), (64, 1, 1), (1 << 14, 1, 1), 1),
        Shape((1920, 1080, 1), (16, 16, 1), (120, 68, 1), 2),
        Shape((100, 90, 80), (5, 3, 4), (20, 30, 20), 3),
        Shape((999, 7, 1), (1, 1, 1), (999, 7, 1), 2),
    ],
)
def test_items_are_whole_sub_groups_that_lie_in_the_launch(shape: Shape, whole_groups: bool) -> None:
    chosen = next(batches(shape, whole_groups=whole_groups, first_items=2048, most_items=4096))
    for d in range(3):
        assert chosen.global_id[d].max() < shape.global_size[d]
        assert (chosen.global_id[d] == chosen.group_id[d] * shape.local_size[d] + chosen.local_id[d]).all()
    ids = set(zip(*(g.tolist() for g in chosen.global_id), strict=True))
    assert len(ids) == chosen.count
    if whole_groups and shape.global_size[1] != 1080:
        assert chosen.count % shape.group_items == 0


def test_a_small_launch_is_run_as_a_whole(sample: Sample) -> None:
    found = sample("__kernel void k(__global int* o) { o[get_global_id(0)] = 1; }", (1000,), (10,), buffers={"o": 1000})
    assert found.raw.items == 1000
    written = found.access("o[get_global_id(0)]")
    assert written.places is not None
    assert written.places.at(1000) == 1000


def test_the_same_launch_gives_the_same_sample() -> None:
    program = read_program(TRIPS)
    launch = Launch((1 << 16,), (64,), scalars=(("n", 4),), buffers=tuple(LAUNCH["buffers"].items()))  # type: ignore[attr-defined]
    first, second = (sample_launch(program, program.kernels[0], launch, None) for _ in range(2))
    assert first == second


def test_contents_that_nobody_described_and_that_decide_are_named(sample: Sample) -> None:
    assert sample(TRIPS, (1 << 16,), **LAUNCH).raw.rests_on == ("len",)
    described = sample(TRIPS, (1 << 16,), fills={"len": Fill("const", (9,))}, **LAUNCH)
    assert described.raw.rests_on == ()
    assert described.at("for").taken == 9 * described.raw.items


def test_gathers_rest_on_what_holds_the_index(sample: Sample) -> None:
    text = """__kernel void k(__global float* out, __global const int* col, __global const float* x) {
      int c = col[get_global_id(0)]; out[get_global_id(0)] = x[c];
    }"""
    buffers = {"out": 4096, "col": 4096, "x": 1 << 20}
    found = sample(text, (4096,), buffers=buffers, fills={"col": Fill("randint", (0, 1 << 20))})
    assert found.raw.rests_on == ()
    assert found.access("x[c]").lines_per_subgroup == pytest.approx(32, abs=0.5)
    assert found.access("col[get_global_id(0)]").lines_per_subgroup == 2
    assert sample(text, (4096,), buffers=buffers).raw.rests_on == ("col",)


def test_what_is_written_is_read_back_by_others_later(sample: Sample) -> None:
    text = """__kernel void k(__global int* x) {
      int i = get_local_id(0);
      x[i] = i; barrier(CLK_GLOBAL_MEM_FENCE);
      int c = 0; while (c < x[63 - i]) c++;
    }"""
    assert sample(text, (64,), (64,), buffers={"x": 64}).at("while").taken == sum(range(64))


def test_a_loop_that_the_budget_ends_is_estimated_by_its_bound(sample: Sample) -> None:
    text = """__kernel void k(__global float* out, int n) {
      float s = 0; int i = get_global_id(0);
      for (int j = 0; j < n; j++) { if (j & 1) s += sin(s + i); }
      out[i] = s;
    }"""
    budget = SampleBudget(lane_steps=10_000_000, seconds=60.0)
    found = sample(text, (4096,), buffers={"out": 4096}, budget=budget, n=100_000)
    assert not found.raw.complete
    assert found.at("for").taken / found.at("for").begun == pytest.approx(100_000, rel=0.01)
    assert found.at("if").taken / found.at("if").begun == pytest.approx(0.5, rel=0.01)


@pytest.mark.parametrize(
    ("head", "each"),
    [
        ("for (int j = i; j < n; j += 64)", 100_000 / 64),
        ("for (int j = i; j < n; j += get_local_size(0))", 100_000 / 64),
        ("for (int j = end[0] + i; j < end[1]; j += 8)", 80_000 / 8),
        ("for (int j = end[1]; j > end[0]; j -= 3)", 80_000 / 3),
    ],
)
def test_a_loop_by_steps_or_to_a_bound_in_memory_is_estimated_as_well(sample: Sample, head: str, each: float) -> None:
    text = f"""__kernel void k(__global float* out, __global const int* end, int n) {{
      float s = 0; int i = get_local_id(0);
      {head} {{ if (j & 1) s += sin(s + i); }}
      out[i] = s;
    }}"""
    budget = SampleBudget(lane_steps=1_000_000, seconds=60.0)
    ends = {"end": Fill("csr_rows", (80_000,))}
    found = sample(text, (4096,), (64,), buffers={"out": 4096, "end": 2}, fills=ends, budget=budget, n=100_000)
    assert not found.raw.complete
    assert found.at("for").taken / found.at("for").begun == pytest.approx(each, rel=0.02)


def test_a_bound_that_the_loop_itself_moves_is_none(sample: Sample) -> None:
    text = """__kernel void k(__global float* out, __global int* tail) {
      float s = 0;
      for (int j = 0; j < tail[0]; j++) { if (j & 1) { s += sin(s); tail[0] = j + 50000; } }
      out[0] = s;
    }"""
    budget = SampleBudget(lane_steps=1_000_000, seconds=60.0)
    found = sample(
        text, (64,), (64,), buffers={"out": 64, "tail": 1}, fills={"tail": Fill("const", (9,))}, budget=budget
    )
    assert found.raw.open_ended


def test_a_caller_may_cancel() -> None:
    program = read_program("__kernel void k(__global int* o) { while (1) o[get_global_id(0)]++; }")
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 10

    launch = Launch((64,), (64,), buffers=(("o", 64),))
    found = sample_launch(program, program.kernels[0], launch, None, SampleBudget(1 << 50, 60.0), cancelled)
    assert not found.complete
    assert len(asked) == 11


def test_groups_with_more_to_do_than_others_are_noticed(sample: Sample) -> None:
    text = """__kernel void k(__global int* out) {
      int n = get_group_id(0) == 0 ? 300 : 10, s = 0;
      for (int j = 0; j < n; j++) s += j;
      out[get_global_id(0)] = s;
    }"""
    assert sample(text, (256,), (64,), buffers={"out": 256}).raw.group_imbalance > 3


def test_what_is_not_known_is_said(sample: Sample) -> None:
    found = sample("__kernel void k(__global int* o) { o[0] = frobnicate(3); }", buffers={"o": 1})
    assert found.raw.stopped is not None
    assert "`frobnicate` is not known" in found.raw.stopped


def test_code_that_is_never_reached_does_not_use_up_the_budget(sample: Sample) -> None:
    rare = "".join(f"s += sin(s + {n}) * cos(s);" for n in range(300))
    text = f"""float dear(float s) {{ {rare} return s; }}
    __kernel void k(__global float* out, __global const int* x) {{
      int i = get_global_id(0); float s = 0;
      for (int j = 0; j < 64; j++) {{
        if (x[i] > 5) s += dear(s);
        s += x[i];
      }}
      out[i] = s;
    }}"""
    buffers = {"out": 4096, "x": 4096}
    found = sample(
        text, (4096,), buffers=buffers, fills={"x": Fill("const", (1,))}, budget=SampleBudget(9_000_000, 60.0)
    )
    assert found.raw.complete
    assert found.at("if").taken == 0
    assert found.at("for").taken == 64 * found.raw.items


@pytest.mark.parametrize("call", ["x[j % 64] + sin(s)", "slow(s, j)"])
def test_what_follows_a_long_loop_is_run_as_well(sample: Sample, call: str) -> None:
    text = f"""float slow(float s, int j) {{ float t = s; for (int m = 0; m < 9; m++) t += sin(t + j); return t; }}
    __kernel void k(__global float* out, __global const int* x, int n) {{
      int i = get_global_id(0); float s = 0;
      if (i % 2) for (int j = 0; j < n; j++) s += {call};
      int c = 0; while (c < x[i]) c++;
      out[i] = s + c;
    }}"""
    buffers = {"out": 4096, "x": 4096}
    found = sample(
        text,
        (4096,),
        buffers=buffers,
        fills={"x": Fill("const", (7,))},
        budget=SampleBudget(9_000_000, 60.0),
        n=100_000,
    )
    assert not found.raw.complete
    assert found.at("for (int j").taken / found.at("for (int j").begun == pytest.approx(100_000, rel=0.01)
    assert found.at("while").taken == 7 * found.raw.items
    assert found.at("while").completed == found.raw.items
