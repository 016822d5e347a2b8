"""The names that OpenCL C itself gives to types (OpenCL C 3.0, sections 6.3.1 to 6.3.3)."""

from __future__ import annotations

from model.opencl.types import ImageType, OpaqueType, ScalarKind, ScalarType, Type, VectorType

_SCALARS = (
    ScalarType("bool", ScalarKind.BOOL, 1),
    ScalarType("char", ScalarKind.SIGNED, 1),
    ScalarType("uchar", ScalarKind.UNSIGNED, 1),
    ScalarType("short", ScalarKind.SIGNED, 2),
    ScalarType("ushort", ScalarKind.UNSIGNED, 2),
    ScalarType("int", ScalarKind.SIGNED, 4),
    ScalarType("uint", ScalarKind.UNSIGNED, 4),
    ScalarType("long", ScalarKind.SIGNED, 8),
    ScalarType("ulong", ScalarKind.UNSIGNED, 8),
    ScalarType("half", ScalarKind.FLOAT, 2),
    ScalarType("float", ScalarKind.FLOAT, 4),
    ScalarType("double", ScalarKind.FLOAT, 8),
)

SCALARS: dict[str, ScalarType] = {s.name: s for s in _SCALARS}

# Other spellings of the same types; `long` is 64 bits wide on every OpenCL device.
_SPELLINGS = {
    "size_t": "ulong", "uintptr_t": "ulong", "ptrdiff_t": "long", "intptr_t": "long",
    "unsigned": "uint", "signed": "int", "_Bool": "bool",
    "int8_t": "char", "uint8_t": "uchar", "int16_t": "short", "uint16_t": "ushort",
    "int32_t": "int", "uint32_t": "uint", "int64_t": "long", "uint64_t": "ulong",
    "cl_mem_fence_flags": "uint",
    "atomic_int": "int", "atomic_uint": "uint", "atomic_long": "long", "atomic_ulong": "ulong",
    "memory_order": "uint", "memory_scope": "uint", "kernel_enqueue_flags_t": "uint", "clk_profiling_info": "uint",
    "atomic_intptr_t": "long", "atomic_uintptr_t": "ulong", "atomic_ptrdiff_t": "long", "atomic_half": "half",
    "atomic_float": "float", "atomic_double": "double", "atomic_flag": "int", "atomic_size_t": "ulong",
}  # fmt: skip

_IMAGES = (
    "image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t", "image2d_array_t", "image2d_depth_t",
    "image2d_array_depth_t", "image2d_msaa_t", "image2d_array_msaa_t", "image2d_msaa_depth_t",
    "image2d_array_msaa_depth_t", "image3d_t",
)  # fmt: skip

_OPAQUE = ("void", "sampler_t", "event_t", "queue_t", "ndrange_t", "clk_event_t", "reserve_id_t", "pipe")

VOID = OpaqueType("void")
INT, UINT, LONG, ULONG = SCALARS["int"], SCALARS["uint"], SCALARS["long"], SCALARS["ulong"]
FLOAT, DOUBLE, HALF, BOOL = SCALARS["float"], SCALARS["double"], SCALARS["half"], SCALARS["bool"]

_BUILTIN: dict[str, Type] = {
    **SCALARS,
    **{spelling: SCALARS[name] for spelling, name in _SPELLINGS.items()},
    **{f"{s.name}{n}": VectorType(s, n) for s in _SCALARS if s.name != "bool" for n in (2, 3, 4, 8, 16)},
    **{name: ImageType(name) for name in _IMAGES},
    **{name: OpaqueType(name) for name in _OPAQUE},
}
BUILTIN_TYPE_NAMES = frozenset(_BUILTIN)


def builtin_type(name: str) -> Type | None:
    """Return the type that OpenCL C knows under this name, if any."""
    return _BUILTIN.get(name)


def sized_type(words: list[str]) -> ScalarType:
    """`unsigned long int` and every other C spelling with `unsigned`, `long`, `short`, in any order.

    `long long` is a reserved word of OpenCL C, 128 bits wide to some compilers and 64 to others: here it is `long`.
    """
    unsigned = "unsigned" in words
    if "double" in words:
        return DOUBLE
    if "char" in words:
        return SCALARS["uchar" if unsigned else "char"]
    if "short" in words:
        return SCALARS["ushort" if unsigned else "short"]
    if "long" in words:
        return ULONG if unsigned else LONG
    return UINT if unsigned else INT
