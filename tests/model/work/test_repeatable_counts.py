"""A launch is counted alike whatever was analysed or counted before."""

from __future__ import annotations

from model.launch.launch import Launch
from model.opencl.program import read_program
from model.work.analyse import analyse
from model.work.work import Work
from model.work.work_counts import WorkCounts

WALKS_ROWS = """
kernel void rows(global const float *in, global float *out, int width, int height)
{{
    {before}
    float sum = 0.0f;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            sum += in[(y * width + x) * 4 + get_global_id(0) % 3];
    out[get_global_id(0)] = sum;
}}
"""
COLLATZ = """
kernel void steps(global const int *start, global int *taken, int most)
{
    int n = get_global_id(0) + 1, steps = 0;
    while (n != 1 && steps < most) {
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        ++steps;
    }
    for (int k = 0; k < steps; ++k)
        taken[get_global_id(0)] += start[k % 7];
}
"""


def work_of(text: str) -> Work:
    program = read_program(text)
    return analyse(program, program.kernels[0])


def test_the_innermost_loop_is_the_innermost_whatever_was_analysed_before() -> None:
    launch = Launch((64,), (16,), (("width", 40), ("height", 10)), (("in", 2000), ("out", 64)))
    # Each of them has its loops a little earlier than the one before, and all are kept.
    before = [" ".join(f"int a{n} = {n};" for n in range(more)) for more in range(14, -1, -1)]
    works = [work_of(WALKS_ROWS.format(before=text)) for text in before]
    steps = {tuple(a.step_bytes for a in work.count(launch).accesses if a.buffer == "in") for work in works}
    assert steps == {(16,)}


def test_the_hundredth_count_is_the_first() -> None:
    work = work_of(COLLATZ)
    launches = [
        Launch((items,), (32,), (("most", 500),), (("start", 7), ("taken", items))) for items in (64, 96, 256, 32)
    ]
    first = [counted(work_of(COLLATZ).count(launch)) for launch in launches]
    for _ in range(25):
        for launch in launches:
            work.count(launch)
    assert [counted(work.count(launch)) for launch in launches] == first


def counted(counts: WorkCounts) -> tuple[object, ...]:
    return counts, counts.lines, counts.contexts, counts.as_json()


def test_the_buffer_that_decides_an_index_is_the_same_one_each_time() -> None:
    named = ["px", "py", "pz", "qx", "qy"]
    for order in (named, named[::-1]):
        index = " + ".join(f"{name}[i]" for name in order)
        arguments = ", ".join(f"global const int *{name}" for name in order)
        text = f"kernel void k({arguments}, global const float *in, global float *out) {{ int i = get_global_id(0); "
        work = work_of(f"{text} out[i] = in[{index}]; }}")
        counts = work.count(Launch((64,), (16,), (), tuple((name, 64) for name in [*named, "in", "out"])))
        assert {a.index.through for a in counts.facts.accesses if a.count.buffer == "in"} == {"px"}
