"""Advice on memory: accesses that do not coalesce, banks that conflict, loads that a tile would save."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from model.advice.advice import Advice, AdviceCode

Advise = Callable[..., list[Advice]]
GPU, WIDE_GPU, CPU = "nvidia-a100-pcie-40gb", "amd-instinct-mi210", "generic-cpu"

TURN = """// kernelcast: global=(2048, 2048) local=(64, 4) a=2048*2048 b=2048*2048 n=2048
__kernel void turn(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    b[TO] = a[FROM];
}
"""


def turn(to: str, start: str) -> str:
    return TURN.replace("TO", to).replace("FROM", start)


@pytest.mark.parametrize("device", [GPU, WIDE_GPU])
def test_columns_written_by_neighbours_move_eight_times_the_bytes(advise: Advise, device: str) -> None:
    (found,) = advise(turn("x * n + y", "y * n + x"), device, AdviceCode.UNCOALESCED_ACCESS)
    assert found.line == 4
    assert "`b` 8.19 kB apart" in found.message
    assert "1024 bytes for 128" in found.message
    assert "swap the indices" in found.message
    assert found.gain_us
    (found,) = advise(turn("y * n + x", "x * n + y"), device, AdviceCode.UNCOALESCED_ACCESS)
    assert "load `a`" in found.message


def test_advice_that_is_heeded_is_gone(advise: Advise) -> None:
    assert not advise(turn("y * n + x", "y * n + x"), GPU, AdviceCode.UNCOALESCED_ACCESS)


def test_nobody_knows_who_are_neighbours_in_a_group_that_was_assumed(advise: Advise) -> None:
    text = turn("x * n + y", "y * n + x").replace(" local=(64, 4)", "")
    assert advise(text, GPU, AdviceCode.UNCOALESCED_ACCESS)  # drivers take them along dimension 0
    text = turn("x * n + y", "y * n + x").replace("global=(2048, 2048) local=(64, 4) ", "")
    assert not advise(text, GPU, AdviceCode.UNCOALESCED_ACCESS)


@pytest.mark.parametrize("text", [turn("x * n + y", "y * n + x"), turn("y * n + x", "x * n + y")])
def test_a_cpu_has_no_lanes_to_coalesce(advise: Advise, text: str) -> None:
    assert not advise(text, CPU)


@pytest.mark.parametrize(
    "body",
    [
        "b[i] = a[0];",  # the same for all
        "b[i] = a[i] + a[i + 1] + a[max(i - 1, 0)];",  # a little out of line
        "b[i] = a[(i * 64) % 1024];",  # a small table
        "b[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];",  # all of it is used
        "float s = 0; for (int k = 0; k < 8; ++k) s += a[8 * i + k]; b[i] = s;",  # used at once
    ],
)
def test_lines_that_are_used_up_are_not_called_wasted(advise: Advise, body: str) -> None:
    text = f"""// kernelcast: global=4194304 local=256 a=8*4194304 b=4194304
__kernel void gather(__global const float *restrict a, __global float *restrict b)
{{
    const int i = get_global_id(0);
    {body}
}}
"""
    assert not advise(text, GPU, AdviceCode.UNCOALESCED_ACCESS)


def test_a_field_of_a_few_bytes_that_is_written_through_is_not_wasted(advise: Advise) -> None:
    text = """// kernelcast: global=1048576 local=64 number=1048576 text=1048576*11
__kernel void digits(__global const uint *restrict number, __global char *restrict text)
{
    uint rest = number[get_global_id(0)];
    int at = 11;
    do {
        text[11 * get_global_id(0) + --at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
}
"""
    assert not advise(text, GPU, AdviceCode.UNCOALESCED_ACCESS)


def looked_up(fill: str, table: int) -> str:
    return f"""// kernelcast: global=4194304 local=256 at=4194304 table={table} b=4194304 {fill}
__kernel void look_up(__global const int *restrict at, __global const float *restrict table, __global float *restrict b)
{{
    const int i = get_global_id(0);
    b[i] = table[at[i]];
}}
"""


def test_scattered_loads_are_named_where_the_data_are_known_to_scatter_them(advise: Advise) -> None:
    (found,) = advise(looked_up("fill.at=randint:0:67108864", 67108864), GPU, AdviceCode.UNCOALESCED_ACCESS)
    assert "`table`" in found.message
    assert "`at`" in found.message
    assert found.line == 4


@pytest.mark.parametrize(
    "text",
    [
        looked_up("", 67108864),  # nobody knows what `at` holds
        looked_up("fill.at=iota", 67108864),
        looked_up("fill.at=randint:0:4096", 4096),  # a table that stays in the cache
    ],
)
def test_gathers_that_may_be_harmless_are_left_alone(advise: Advise, text: str) -> None:
    assert not advise(text, GPU, AdviceCode.UNCOALESCED_ACCESS)


def tile(row: int) -> str:
    return f"""// kernelcast: global=(4096, 4096) local=(32, 8) a=4096*4096 b=4096*4096 n=4096
__kernel void blocks(__global const float *restrict a, __global float *restrict b, const int n)
{{
    __local float tile[32][{row}];
    const int lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0.0f;
    for (int y = ly; y < 32; y += 8)
        tile[y][lx] = a[get_global_id(1) * n + get_global_id(0) + y];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 32; ++k)
        sum += tile[lx][k];
    b[get_global_id(1) * n + get_global_id(0)] = sum;
}}
"""


def test_a_column_of_a_tile_of_32_meets_in_one_bank(advise: Advise) -> None:
    (found,) = advise(tile(32), GPU, AdviceCode.BANK_CONFLICTS)
    assert found.line == 10
    assert "`tile` 128 bytes apart" in found.message
    assert "32 turns instead of 1" in found.message


def test_one_column_more_ends_the_conflict(advise: Advise) -> None:
    assert not advise(tile(33), GPU, AdviceCode.BANK_CONFLICTS)


def test_local_memory_of_a_cpu_has_no_banks(advise: Advise) -> None:
    assert not advise(tile(32), CPU, AdviceCode.BANK_CONFLICTS)


PRODUCT = """// kernelcast: global=(1024, 1024) local=(16, 16) n=1024 a=n*n b=n*n c=n*n
__kernel void product(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
                      const int n)
{
    const int column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int k = 0; k < n; ++k)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""


@pytest.mark.parametrize("device", [GPU, WIDE_GPU])
def test_a_plain_product_of_matrices_loads_everything_16_times(advise: Advise, device: str) -> None:
    (found,) = advise(PRODUCT, device, AdviceCode.LOCAL_TILE)
    assert found.line == 7
    assert "16x16" in found.message
    assert "`a` 16 times and `b` 16 times over" in found.message
    assert "8.59 GB of loads to 537 MB" in found.message


def test_a_cpu_gains_nothing_from_tiles(advise: Advise) -> None:
    assert not advise(PRODUCT, CPU, AdviceCode.LOCAL_TILE)


STENCIL = """// kernelcast: global=(4096, 4096) local=(16, 16) n=4096 a=n*n b=n*n
__kernel void smooth(__global const float *restrict a, __global float *restrict b, const int n)
{
    const int x = get_global_id(0), y = get_global_id(1), at = y * n + x;
    if (x == 0 || y == 0 || x == n - 1 || y == n - 1)
        return;
    b[at] = 0.2f * (a[at] + a[at - 1] + a[at + 1] + a[at - n] + a[at + n]);
}
"""
TILED = """// kernelcast: global=(1024, 1024) local=(16, 16) n=1024 a=n*n b=n*n c=n*n
__kernel void product(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
                      const int n)
{
    __local float of_a[16][16], of_b[16][16];
    const int lx = get_local_id(0), ly = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (int block = 0; block < n; block += 16) {
        of_a[ly][lx] = a[row * n + block + lx];
        of_b[ly][lx] = b[(block + ly) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; ++k)
            sum += of_a[ly][k] * of_b[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
"""
ALL_THE_SAME = """// kernelcast: global=65536 local=256 n=65536 x=n y=n
__kernel void rank_all(__global const float *restrict x, __global int *restrict y, const int n)
{
    const int i = get_global_id(0);
    const float own = x[i];
    int place = 0;
    for (int k = 0; k < n; ++k)
        place += x[k] < own;
    y[i] = place;
}
"""


ONE_ROW = PRODUCT.replace("local=(16, 16)", "local=(256, 1)")


@pytest.mark.parametrize(
    "text",
    [STENCIL, TILED, ALL_THE_SAME, ONE_ROW],
    ids=["a few points", "tiled already", "one for all", "one for all of a row"],
)
def test_tiles_are_not_advised_where_they_are_or_where_caches_serve(advise: Advise, text: str) -> None:
    assert not advise(text, GPU, AdviceCode.LOCAL_TILE)


def test_advice_that_the_project_ignores_is_not_given(advise: Advise) -> None:
    assert advise(PRODUCT, GPU)
    assert not advise(PRODUCT, GPU, config='[advice]\nignore = ["local-tile"]\n')


def test_figures_of_an_assumed_launch_say_so(advise: Advise) -> None:
    found = advise(PRODUCT.split("\n", 1)[1], GPU)
    assert all(each.message.endswith("(for the launch that is assumed)") for each in found)
