"""What unrolled loops ask for again comes from registers on a GPU: filters, products by blocks, and what forbids it."""

from __future__ import annotations

from math import prod

import pytest

from tests.model.conftest import Count

FILTER = """kernel void filter(global const float *restrict a, constant float *w, global float *restrict b, int pitch) {
    int x = get_global_id(0), y = get_global_id(1) * TILE; float s[TILE];
    #pragma unroll
    for (int t = 0; t < TILE; t++) s[t] = 0;
    #pragma unroll
    for (int j = 0; j < SIDE; j++) {
        float v = w[j];
        #pragma unroll
        for (int t = 0; t < TILE; t++) s[t] += v * a[(y + t + j) * pitch + x];
    }
    for (int t = 0; t < TILE; t++) b[(y + t) * pitch + x] = s[t];
}"""


def loads(count: Count, text: str, buffer: str, size: tuple[int, ...], **arguments: object) -> float:
    """Loads of a buffer that remain, for each work-item."""
    counts = count(text, size, (8,) * len(size), **arguments).counts
    own = [access for access in counts.accesses if access.buffer.startswith(buffer) and not access.is_store]
    shares = counts.facts.loaded_shares
    return sum(access.count * shares.get(id(access), 1.0) for access in own) / prod(size)


@pytest.mark.parametrize("tile", [1, 2, 4, 8])
@pytest.mark.parametrize("side", [5, 25])
def test_rows_that_neighbouring_outputs_share_are_loaded_once(count: Count, tile: int, side: int) -> None:
    buffers = {"a": 64 * 600, "b": 64 * 600, "w": side}
    text = f"#define TILE {tile}\n#define SIDE {side}\n{FILTER}"
    assert loads(count, text, "a", (64, 64), pitch=64, buffers=buffers) == pytest.approx(tile + side - 1)


def test_what_was_loaded_is_gone_after_a_barrier_and_a_store(count: Count) -> None:
    text = """kernel void k(global float *b) {
        local float t[16]; int l = get_local_id(0); float s = 0;
        for (int k = 0; k < 8; k++) { t[l] = s; barrier(CLK_LOCAL_MEM_FENCE); s += t[0] + t[1]; barrier(1); }
        b[get_global_id(0)] = s; }"""
    assert loads(count, text, "t", (64,), buffers={"b": 64}) == 16


def test_a_loop_of_unknown_length_is_not_unrolled(count: Count) -> None:
    text = """kernel void k(global const float *a, global float *b, int n) {
        int i = get_global_id(0); float s = 0;
        for (int k = 0; k < n; k++) s += a[i + k] * a[i + k + 1];
        b[i] = s; }"""
    assert loads(count, text, "a", (64,), n=32, buffers={"a": 128, "b": 64}) == 64


def test_more_than_registers_hold_is_loaded_again(count: Count) -> None:
    text = """kernel void k(global const float *restrict a, global float *restrict b) {
        int i = get_global_id(0); float s = 0;
        for (int j = 0; j < 8; j++) for (int k = 0; k < LENGTH; k++) s += a[i + k];
        b[i] = s; }"""
    few, many = (
        loads(count, f"#define LENGTH {n}\n{text}", "a", (64,), buffers={"a": 2000, "b": 64}) for n in (50, 500)
    )
    assert few == pytest.approx(50)
    assert many == 8 * 500


@pytest.mark.parametrize(
    ("hint", "times"),
    [
        ("", 1), ("#pragma unroll", 128), ("  #  pragma unroll 8", 8), ("#pragma unroll(4)", 4),
        ("#pragma unroll 1", 1), ("#pragma unroll TIMES", 16), ("__attribute__((opencl_unroll_hint(2)))", 2),
        ("__attribute__((opencl_unroll_hint))", 128), ("#pragma unroll 1000", 128), ("#pragma nounroll", 1),
    ],
)  # fmt: skip
def test_unrolled_loops_have_few_operations_of_their_own(count: Count, hint: str, times: int) -> None:
    text = f"""#define TIMES 16
    kernel void k(global const float *a, global float *b) {{
        int i = get_global_id(0); float s = 0;
        {hint}
        for (int k = 0; k < 128; k++) s += b[i + k * 3] * a[i + k] + a[i * k] * b[i + k * k] - a[i] * b[k * 5];
        b[i] = s; }}"""
    facts = count(text, (64,), (64,), buffers={"a": 64 * 128, "b": 1 << 15}).counts.facts
    assert facts.fused_integers / 64 == pytest.approx(3 * 128 * (1 - 1 / times))


def test_a_hint_that_comes_while_typing_counts_at_once(count: Count) -> None:
    text = """kernel void k(global const float *a, global float *b, int n) {
        int i = get_global_id(0); float s = 0;
        HINT
        for (int k = 0; k < n; k++) s += a[i + k];
        b[i] = s; }"""
    arguments = {"n": 100, "buffers": {"a": 200, "b": 64}}
    without, asked = (
        count(text.replace("HINT", hint), (64,), (64,), **arguments).counts.facts.fused_integers
        for hint in ("// pragma unroll 4", "#pragma unroll 4")
    )
    assert without == 0
    assert asked > 0
