"""Fixes for GPUs change no result either: what they make of kernels runs on a CPU as well."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.advice.advice import AdviceCode
from model.device import Device
from model.device_catalog import find_builtin
from model.launch.annotation import write_annotation
from model.opencl.program import read_program
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from profiler.devices import discover, find_device
from profiler.measurement import BuildFailed, KernelCrashed, MeasureRequest, OutOfBounds
from profiler.side_by_side import measure_side_by_side
from profiler.turns import Stopping
from server.analysis.fix_gains import FileContext, FixPredictor

pytestmark = pytest.mark.device

GPU = find_builtin("nvidia-a100-pcie-40gb")
CODES = (AdviceCode.SCALAR_ACCESS, AdviceCode.SMALL_WORK_ITEM, AdviceCode.LOCAL_TILE, AdviceCode.UNFUSED_PRODUCT)
PREDICTOR = FixPredictor()
few = settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def device() -> Device:
    return find_device(discover(), "pocl")


def keeps_results(text: str, device: Device, *codes: AdviceCode, ulps: int = 0) -> int:
    """Make each fix of these codes, run both versions, and compare their outputs; return how many fixes there are."""
    assert GPU is not None
    context = FileContext(text, None, GPU)
    forecast = PREDICTOR.forecast(context).forecasts[0]
    assert forecast.launch, forecast.problem
    found = [
        each for each in PREDICTOR.all_fixes(context, forecast.kernel.name, forecast.launch) if each.fix.code in codes
    ]
    if not found:
        return 0
    versions = [(text, forecast), *((each.text, each.after) for each in found)]
    requests = [MeasureRequest(t, None, f.kernel, f.launch, device.id) for t, f in versions if f.launch is not None]
    side = measure_side_by_side(requests, budget_s=0.05 * len(requests), stopping=Stopping(drops_slower=False))
    assert side.versions[0].error is None, f"{side.versions[0].error}\n{text}"
    for each, version in zip(found, side.versions[1:], strict=True):
        broken = isinstance(version.error, BuildFailed | KernelCrashed | OutOfBounds)
        assert not broken, f"{each.fix.title}: {version.error}\n{each.text}"
        if version.difference is not None and side.is_repeatable:
            assert version.difference.within(ulps), f"{each.fix.title}: {version.difference}\n{each.text}"
    return len(found)


@few
@given(data=st.data())
def test_vectors_have_the_elements_that_were_accessed(device: Device, data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([2, 4, 8]))
    kind = data.draw(st.sampled_from(["float", "int", "uchar", "short", "double"]))
    index = data.draw(
        st.sampled_from([f"{width} * i", f"i * {width} + n", f"(i + 1) * {width} - 1", f"n + {width} * i"])
    )
    is_in_place = data.draw(st.booleans())
    draw = random.Random(data.draw(st.integers(0, 1000)))
    order = draw.sample(range(width), width)
    lines = [f"x = x * 3 + a[{index} + {n}];" for n in order]
    lines += [f"a[{index} + {n}] = a[{index} + {n}] * 2 + 1;" for n in range(width)] if is_in_place else []
    lines += [
        f"b[{index} + {n}] = ({kind})(x + {n} * {'x' if is_in_place else f'a[{index} + {n}]'});" for n in range(width)
    ]
    body = "\n".join(f"    {line}" for line in lines)
    text = f"""// kernelcast: global=512 local=64 a=8192 b=8192 n=3 fill.a=randint:0:50
__kernel void f(__global {kind} *a, __global {kind} *b, const int n)
{{
    const int i = get_global_id(0);
    {kind} x = 1;
{body}
}}
"""
    assert keeps_results(text, device, AdviceCode.SCALAR_ACCESS)


@few
@given(
    is_guarded=st.booleans(),
    is_flat=st.booleans(),
    value=st.sampled_from(["a[i] * 3 + (int)get_global_size(0)", "a[(i * 7 + 3) % n] - i", "i > 100 ? a[i] : n"]),
)
def test_work_items_that_do_several_do_what_these_did(
    device: Device, is_guarded: bool, is_flat: bool, value: str
) -> None:
    guard = "    if (i >= n - 5)\n        return;\n" if is_guarded else ""
    row = "" if is_flat else "\n    if (get_global_id(1) > 1) { return; }"
    place = "i" if is_flat else "get_global_id(1) * n + i"
    text = f"""// kernelcast: global={"N" if is_flat else "(N, 3)"} local={"16" if is_flat else "(16, 1)"} N=4096
__kernel void f(__global const int *a, __global int *b, const int n)
{{
    const int i = get_global_id(0);{row}
{guard}    int part = {value};
    for (int k = 0; k < 3; ++k) {{
        if (part > 1000) continue;
        part += k;
    }}
    b[{place}] = part;
}}
"""
    assert keeps_results(text, device, AdviceCode.SMALL_WORK_ITEM) == 3


@few
@given(
    kind=st.sampled_from(["float", "int", "float4", "double"]),
    side=st.sampled_from([8, 16]),
    depth=st.sampled_from([16, 48, 37, 1]),
    form=st.sampled_from(["", "if (col >= w || row >= h) return;", "if (row < h && col < w)"]),
    is_literal=st.booleans(),
    product=st.sampled_from(["a[row * n + k] * b[k * w + col]", "a[k * h + row] + b[col * n + k] * k"]),
)
def test_tiles_give_the_same_product(
    device: Device, kind: str, side: int, depth: int, form: str, is_literal: bool, product: str
) -> None:
    launch = f"global=(64, 32) local=({side}, {side}) w=64 h=32 n={depth} a=32*{depth} b=64*{depth} c=2048"
    text = f"""// kernelcast: {launch}
__kernel void mm(__global const {kind} *a, __global const {kind} *b, __global {kind} *c, int w, int h, int n)
{{
    const int col = get_global_id(0);
    int row = get_global_id(1);
    {form if form.endswith(";") else ""}
    {kind} s = 0;
    {form if not form.endswith(";") else ""}
    for (int k = 0; k < {depth if is_literal else "n"}; k++) {{
        s += {product};
    }}
    c[row * w + col] = s;
}}
"""
    assert keeps_results(text, device, AdviceCode.LOCAL_TILE) == 1


@few
@given(data=st.data())
def test_fused_products_differ_by_rounding_alone(device: Device, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["float", "double", "float4"]))
    uses = ["x = p + x;", "x = c - p;", "x = p + x * y;", "x += p;", "c -= p; x = c;", "x = (a[i] + p) * y;"]
    use = data.draw(st.sampled_from(uses))
    factor = data.draw(st.sampled_from(["x * y", "(x + y) * a[i]", "y * (x)"]))
    text = f"""// kernelcast: global=1024 local=64 a=1024 b=1024 fill.a=uniform:1:2
__kernel void f(__global const {kind} *a, __global {kind} *b)
{{
    const int i = get_global_id(0);
    {kind} x = a[i], y = a[i ^ 1], c = 100;
    {kind} p = {factor};
    {use}
    b[i] = x;
}}
"""
    assert keeps_results(text, device, AdviceCode.UNFUSED_PRODUCT, ulps=4) == 1


@settings(few, max_examples=4)
@given(family=st.sampled_from(sorted(FAMILIES)), seed=st.integers(0, 50))
def test_kernels_of_the_corpus_keep_their_results(device: Device, family: str, seed: int) -> None:
    kernel = corpus_kernel(FAMILIES[family], seed)
    launch, declared = (
        kernel.launches[0].launch,
        read_program(kernel.source, options=kernel.options).by_name[kernel.name],
    )
    lines, at = kernel.source.split("\n"), declared.range.start_line
    if launch.work_items <= 1 << 18:
        text = "\n".join([*lines[:at], write_annotation(launch, declared), *lines[at:]])
        keeps_results(text, device, *CODES[:3])
