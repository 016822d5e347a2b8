"""Arguments are complete and safe, or the message says which one is missing and what to write."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.launch.launch import Fill, Launch
from model.opencl.kernel import Kernel, Parameter, SourceRange
from model.opencl.program import read_program
from model.opencl.types import (
    AddressSpace,
    ArrayType,
    OpaqueType,
    PointerType,
    ScalarKind,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from profiler.arguments import (
    BufferArgument,
    ImageArgument,
    LocalArgument,
    MemoryLimits,
    SamplerArgument,
    ValueArgument,
    check_memory,
    plan_arguments,
)
from profiler.device_worker.memory.layout import write_contents
from profiler.measurement import NeedsAnnotation, OutOfResources
from profiler.packing import pack_by_value

FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
HALF = ScalarType("half", ScalarKind.FLOAT, 2)
INT = ScalarType("int", ScalarKind.SIGNED, 4)
UCHAR = ScalarType("uchar", ScalarKind.UNSIGNED, 1)
PARTICLE = StructType("particle", (("kind", UCHAR), ("at", VectorType(FLOAT, 3)), ("mass", FLOAT)))
NOWHERE = SourceRange(0, 0, 0, 0)


def packed(kind: Type, **scalars: float) -> bytes:
    return pack_by_value(Parameter("p", kind, NOWHERE), {k.replace("__", "."): v for k, v in scalars.items()})


def filled(
    element: Type, length: int, fill: str = "random", *arguments: float, shortest: int = 10**6
) -> np.ndarray[Any, Any]:
    """What the buffer's bytes are afterwards; whatever was in the memory before is gone."""
    memory = np.full(length * element.size_bytes, 0xA5, np.uint8)
    write_contents(BufferArgument("x", element, length, Fill(fill, arguments)), shortest, memory)
    return memory


def test_each_kind_of_parameter_gets_its_kind_of_argument(make_kernel: Callable[..., Kernel], types: Any) -> None:
    kernel = make_kernel(
        "k",
        x=types.buffer(const=True),
        y=types.buffer(),
        tmp=types.local(),
        n=types.int,
        img=types.image2d,
        s=types.sampler,
    )
    launch = Launch(
        (64,), None, (("n", 3),), (("x", 10), ("y", 20)), images=(("img", (4, 5, 1)),), local_bytes=(("tmp", 64),)
    )
    x, y, tmp, n, img, s = plan_arguments(kernel, launch, "read_imageui(img, s, at)")
    assert isinstance(x, BufferArgument)
    assert isinstance(y, BufferArgument)
    assert (x.size_bytes, y.size_bytes) == (40, 80)
    assert tmp == LocalArgument("tmp", 64)
    assert n == ValueArgument("n", struct.pack("<i", 3))
    assert isinstance(img, ImageArgument)
    assert img.channel == "uint"
    assert s == SamplerArgument("s")


def test_an_image_is_of_the_kind_that_its_own_kernel_reads() -> None:
    source = """__kernel void one(read_only image2d_t img, __global float4* y) { y[0] = read_imagef(img, (int2)(0)); }
    __kernel void other(read_only image2d_t img, __global uint4* y) {
        y[0] = read_imageui(img, (int2)(0));
    }"""
    launch = Launch((1,), None, (), (("y", 1),), images=(("img", (4, 5, 1)),))
    images = [plan_arguments(kernel, launch, source)[0] for kernel in read_program(source).kernels]
    assert [image.channel for image in images if isinstance(image, ImageArgument)] == ["float", "uint"]


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (PointerType(FLOAT, AddressSpace.GLOBAL), r"how many elements buffer `p` has, .*// kernelcast: p=1024"),
        (PointerType(FLOAT, AddressSpace.LOCAL), r"how many bytes of local memory `p` points to"),
        (INT, r"say what `p` is, for example: // kernelcast: p=1024"),
        (PARTICLE, r"say what `p\.kind` is"),
        (OpaqueType("queue_t"), r"parameter `p` is a `queue_t`, which cannot be supplied"),
    ],
)
def test_what_is_missing_is_named_with_what_to_write(kind: Type, says: str, make_kernel: Callable[..., Kernel]) -> None:
    with pytest.raises(NeedsAnnotation, match=says):
        plan_arguments(make_kernel("k", p=kind), Launch((64,)), "")


def test_a_buffer_of_an_undeclared_type_is_named(make_kernel: Callable[..., Kernel]) -> None:
    pointer = PointerType(OpaqueType("mystery", is_unknown=True), AddressSpace.GLOBAL)
    with pytest.raises(NeedsAnnotation, match="buffer `p` holds `mystery`"):
        plan_arguments(make_kernel("k", p=pointer), Launch((64,), None, (), (("p", 64),)), "")


def test_what_the_device_cannot_hold_is_refused_with_its_name_and_the_limit() -> None:
    limits = MemoryLimits(max_alloc_bytes=1000, global_mem_bytes=1500, local_mem_bytes=100)
    small = BufferArgument("a", FLOAT, 200, None)
    check_memory((small,), limits)
    with pytest.raises(OutOfResources, match="`b` needs 4 kB, but this device allows 1 kB in one piece"):
        check_memory((BufferArgument("b", FLOAT, 1000, None),), limits)
    with pytest.raises(OutOfResources, match=r"the buffers up to `a` need 1\.6 kB"):
        check_memory((small, small), limits)
    with pytest.raises(OutOfResources, match="local memory: `t` need 200 bytes"):
        check_memory((LocalArgument("t", 200),), limits)


def test_values_are_laid_out_as_the_kernel_sees_them() -> None:
    assert packed(INT, p=-2) == struct.pack("<i", -2)
    assert packed(HALF, p=1.5) == struct.pack("<e", 1.5)
    assert packed(VectorType(FLOAT, 3), p=2) == struct.pack("<4f", 2, 2, 2, 0)
    assert packed(VectorType(INT, 2), p__x=1, p__y=0, p=9) == struct.pack("<2i", 1, 0)
    by_member = packed(PARTICLE, p__kind=7, p__at=1, p__mass=3)
    assert by_member == struct.pack("<B15x4f f12x", 7, 1, 1, 1, 0, 3)
    assert len(by_member) == PARTICLE.size_bytes


def test_a_value_that_does_not_fit_is_named() -> None:
    with pytest.raises(NeedsAnnotation, match="4294967296 does not fit into `p`, which is a `int`"):
        packed(INT, p=2**32)


@given(st.integers(1, 5000), st.sampled_from([FLOAT, HALF, VectorType(FLOAT, 4)]))
def test_floats_are_normal_numbers_near_one_unless_told_otherwise(length: int, element: Type) -> None:
    base = element.element if isinstance(element, VectorType) else element
    values = filled(element, length).view(f"<f{base.size_bytes}")
    assert values.nbytes == length * element.size_bytes
    assert ((values >= 0.5) & (values <= 1.5)).all()


@given(st.integers(1, 5000), st.integers(1, 100))
def test_integers_are_small_and_safe_as_an_index_unless_told_otherwise(length: int, shortest: int) -> None:
    values = filled(INT, length, shortest=shortest).view("<i4")
    assert values.min() >= 0
    assert values.max() < min(16, shortest)


def test_fills_are_what_they_say() -> None:
    assert filled(INT, 5, "iota").view("<i4").tolist() == [0, 1, 2, 3, 4]
    assert sorted(filled(INT, 50, "perm").view("<i4").tolist()) == list(range(50))
    assert filled(FLOAT, 3, "const", 2.5).view("<f4").tolist() == [2.5] * 3
    assert not filled(FLOAT, 3, "zeros").any()
    uniform = filled(FLOAT, 500, "uniform", -2, -1).view("<f4")
    assert uniform.min() >= -2
    assert uniform.max() <= -1
    assert set(filled(INT, 500, "randint", 3, 5).view("<i4").tolist()) == {3, 4}
    rows = filled(INT, 100, "csr_rows", 1000).view("<i4")
    assert (rows[0], rows[-1]) == (0, 1000)
    assert (np.diff(rows) >= 0).all()


@given(st.integers(0, 300), st.sampled_from(["random", "iota", "perm", "csr_rows", "zeros", "const"]))
def test_any_length_and_element_can_be_filled(length: int, fill: str) -> None:
    arguments = {"csr_rows": (1000,), "const": (300,)}.get(fill, ())
    for element in (UCHAR, HALF, VectorType(INT, 3), ArrayType(PARTICLE, 3), PARTICLE):
        assert len(filled(element, length, fill, *arguments)) == length * element.size_bytes


def test_a_fill_counts_through_the_members_of_structs_too() -> None:
    rows = filled(PARTICLE, 10, "iota").reshape(10, PARTICLE.size_bytes)
    assert rows[:, 0].tolist() == list(range(10))
    assert np.ascontiguousarray(rows[:, 16:32]).view("<f4").reshape(-1).tolist() == list(range(40))


def test_structs_are_filled_member_by_member() -> None:
    rows = filled(PARTICLE, 10).reshape(10, PARTICLE.size_bytes)
    masses = np.ascontiguousarray(rows[:, 32:36]).view("<f4")
    assert ((masses >= 0.5) & (masses <= 1.5)).all()
    assert rows[:, 0].max() < 16
    assert not rows[:, 1:16].any()  # what lies between members is not what was in the memory before


@pytest.mark.parametrize(
    ("element", "fill", "arguments"),
    [(FLOAT, "random", ()), (INT, "perm", ()), (INT, "csr_rows", (10**6,)), (PARTICLE, "random", ())],
)
def test_no_second_copy_of_a_large_buffer_is_made(element: Type, fill: str, arguments: tuple[float, ...]) -> None:
    memory = np.zeros(2**22 * element.size_bytes, np.uint8)
    tracemalloc.start()
    write_contents(BufferArgument("x", element, 2**22, Fill(fill, arguments)), 100, memory)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory.any()
    assert most_bytes < 2**22 * 8 <= 2 * memory.nbytes


def test_two_measurements_see_the_same_data() -> None:
    assert (filled(FLOAT, 1000) == filled(FLOAT, 1000)).all()
