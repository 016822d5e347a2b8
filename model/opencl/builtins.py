"""OpenCL C's built-in functions in one table: what each costs per component, and what it gives back.

Source: OpenCL C 3.0, sections 6.15.1 to 6.15.16. Work-item functions, memory, atomics and images are not
arithmetic; they are named here by class and carried out by `model.work`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Gives(StrEnum):
    """The result's type, from the first argument's (`convert_` and `as_` functions name their own)."""

    SAME = "same"
    ELEMENT = "element"  # one component: dot, length, distance
    INT = "int"  # int of the same width: isnan, ilogb
    ONE_INT = "one int"  # of all arguments together, as the next two
    ONE_UINT = "one uint"
    UINT4 = "uint4"  # one bit for each work-item of a sub-group
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Builtin:
    """`costs`: (operation kind, how many per component), in the words of `model.work.counts.OpKind`.

    `price`: how many times as long as `sin` a special function takes, where nothing better is known.
    """

    name: str
    costs: tuple[tuple[str, int], ...]
    gives: Gives = Gives.SAME
    price: float = 1.0


def _rows(names: str, *costs: tuple[str, int], gives: Gives = Gives.SAME, price: float = 1.0) -> list[Builtin]:
    return [Builtin(name, costs, gives, price) for name in names.split()]


_EACH = ("reduce", "scan_inclusive", "scan_exclusive")
_OPERATIONS = ("add", "mul", "min", "max", "and", "or", "xor", "logical_and", "logical_or", "logical_xor")
_COLLECTIVE = {
    "work_group": _EACH, "sub_group": _EACH, "sub_group_non_uniform": _EACH, "sub_group_clustered": ("reduce",),
}  # fmt: skip

_TABLE = [
    *_rows("fma mad", ("fma", 1)),
    *_rows("mix", ("add", 1), ("fma", 1)),
    *_rows(
        "fabs fmin fmax fdim floor ceil round trunc rint sign step copysign nextafter nan maxmag minmag ldexp",
        ("simple", 1),
    ),
    *_rows("smoothstep", ("divide", 1), ("add", 2), ("mul", 2), ("fma", 1), ("simple", 2)),
    *_rows("degrees radians", ("mul", 1)),
    *_rows("sqrt half_sqrt rsqrt half_rsqrt", ("sqrt", 1)),
    *_rows("half_divide native_divide native_recip half_recip", ("native", 1)),
    *_rows(
        "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sinpi cospi tanpi asinpi acospi atanpi exp exp2 "
        "exp10 expm1 log log2 log10 log1p logb cbrt erf erfc tgamma lgamma",
        ("special", 1),
    ),
    *_rows("pow powr pown rootn", ("special", 1), price=4),
    *_rows("atan2 atan2pi hypot sincos lgamma_r", ("special", 1), price=2),
    *_rows("fmod remainder remquo", ("divide", 1)),
    *_rows("fract modf frexp", ("simple", 2)),
    *_rows(
        "native_sin native_cos native_tan native_exp native_exp2 native_exp10 native_log native_log2 native_log10 "
        "native_powr native_sqrt native_rsqrt half_sin half_cos half_tan half_exp half_exp2 half_exp10 half_log "
        "half_log2 half_log10 half_powr",
        ("native", 1),
    ),
    *_rows("ilogb", ("special", 1), gives=Gives.INT),
    *_rows(
        "isnan isinf isfinite isnormal signbit isequal isnotequal isgreater isgreaterequal isless islessequal "
        "islessgreater isordered isunordered",
        ("compare", 1), gives=Gives.INT,
    ),
    *_rows("dot", ("fma", 1), gives=Gives.ELEMENT),
    *_rows("length fast_length", ("fma", 1), ("sqrt", 1), gives=Gives.ELEMENT),
    *_rows("distance fast_distance", ("add", 1), ("fma", 1), ("sqrt", 1), gives=Gives.ELEMENT),
    *_rows("normalize fast_normalize", ("fma", 1), ("mul", 1), ("sqrt", 1)),
    *_rows("cross", ("mul", 1), ("fma", 1)),
    *_rows("abs", ("integer", 1)),
    *_rows(
        "abs_diff add_sat sub_sat hadd rhadd rotate clz ctz popcount bitselect shuffle shuffle2 upsample "
        "bit_reverse bitfield_insert bitfield_extract_signed bitfield_extract_unsigned",
        ("integer", 2),
    ),
    *_rows("mul24 mul_hi", ("int_mul", 1)),
    *_rows("mad24 mad_hi mad_sat", ("int_mul", 1), ("integer", 1)),
    *_rows("min max", ("simple", 1)),
    *_rows("clamp", ("simple", 2)),
    *_rows("select", ("integer", 1)),
    *_rows("any all", ("integer", 1), gives=Gives.ONE_INT),
    *_rows(
        "dot_acc_sat dot_4x8packed_uu_uint dot_4x8packed_ss_int dot_4x8packed_su_int dot_4x8packed_us_int "
        "dot_acc_sat_4x8packed_uu_uint dot_acc_sat_4x8packed_ss_int dot_acc_sat_4x8packed_su_int "
        "dot_acc_sat_4x8packed_us_int",
        ("int_mul", 1), ("integer", 1), gives=Gives.ONE_INT,
    ),
    *_rows(
        "work_group_all work_group_any sub_group_all sub_group_any sub_group_elect sub_group_non_uniform_all "
        "sub_group_non_uniform_any sub_group_non_uniform_all_equal sub_group_inverse_ballot "
        "sub_group_ballot_bit_extract",
        ("integer", 4), gives=Gives.ONE_INT,
    ),
    *_rows(
        "sub_group_ballot_bit_count sub_group_ballot_inclusive_scan sub_group_ballot_exclusive_scan "
        "sub_group_ballot_find_lsb sub_group_ballot_find_msb",
        ("integer", 4), gives=Gives.ONE_UINT,
    ),
    *_rows("sub_group_ballot", ("integer", 4), gives=Gives.UINT4),
    *_rows(
        "get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask get_sub_group_lt_mask",
        ("integer", 1), gives=Gives.UINT4,
    ),
    *_rows(
        "work_group_broadcast sub_group_broadcast sub_group_broadcast_first sub_group_non_uniform_broadcast "
        "sub_group_shuffle sub_group_shuffle_xor sub_group_shuffle_up sub_group_shuffle_down sub_group_rotate "
        "sub_group_clustered_rotate",
        ("simple", 6),
    ),
    *_rows(
        " ".join(
            f"{group}_{over}_{operation}"
            for group, overs in _COLLECTIVE.items()
            for over in overs
            for operation in _OPERATIONS
        ),
        ("simple", 6),
    ),
    *_rows("vec_step", gives=Gives.ONE_INT),
    *_rows(
        "prefetch mem_fence read_mem_fence write_mem_fence atomic_work_item_fence wait_group_events",
        gives=Gives.VOID,
    ),
]  # fmt: skip

BUILTINS: dict[str, Builtin] = {row.name: row for row in _TABLE}

BARRIERS = frozenset({"barrier", "work_group_barrier", "sub_group_barrier"})
ATOMICS = frozenset(
    f"{prefix}{operation}"
    for prefix in ("atomic_", "atom_")
    for operation in ("add", "sub", "xchg", "inc", "dec", "cmpxchg", "min", "max", "and", "or", "xor")
) | frozenset(
    f"atomic_{operation}{suffix}"
    for operation in (
        "fetch_add", "fetch_sub", "fetch_or", "fetch_xor", "fetch_and", "fetch_min", "fetch_max", "exchange", "load",
        "store", "compare_exchange_strong", "compare_exchange_weak", "flag_test_and_set", "flag_clear",
    )
    for suffix in ("", "_explicit")
)  # fmt: skip
IMAGE_READS = frozenset({"read_imagef", "read_imagei", "read_imageui", "read_imageh"})
IMAGE_WRITES = frozenset({"write_imagef", "write_imagei", "write_imageui", "write_imageh"})
IMAGE_QUERIES = frozenset(
    {"get_image_width", "get_image_height", "get_image_depth", "get_image_dim", "get_image_array_size",
     "get_image_channel_data_type", "get_image_channel_order", "get_image_num_mip_levels", "get_image_num_samples"}
)  # fmt: skip
PIPES = frozenset(
    {"read_pipe", "write_pipe", "is_valid_reserve_id", "get_pipe_num_packets", "get_pipe_max_packets"}
    | {f"{group}{what}_{way}_pipe" for group in ("", "work_group_", "sub_group_") for what in ("reserve", "commit")
       for way in ("read", "write")}
)  # fmt: skip
ADDRESSES = frozenset({"to_global", "to_local", "to_private", "get_fence"})
WORK_ITEM = frozenset(
    {"get_global_id", "get_local_id", "get_group_id", "get_global_size", "get_local_size", "get_num_groups",
     "get_work_dim", "get_global_offset", "get_enqueued_local_size", "get_global_linear_id", "get_local_linear_id",
     "get_sub_group_size", "get_max_sub_group_size", "get_num_sub_groups",
     "get_enqueued_num_sub_groups", "get_sub_group_id", "get_sub_group_local_id"}
)  # fmt: skip

FENCES = frozenset({"mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence"})
PRINTF = "printf"

# Names that the language or its headers define as constants; their value is known where it matters to counts.
INTEGER_CONSTANTS: dict[str, int] = {
    "CHAR_BIT": 8, "CHAR_MAX": 127, "CHAR_MIN": -128, "SCHAR_MAX": 127, "SCHAR_MIN": -128, "UCHAR_MAX": 255,
    "SHRT_MAX": 32767, "SHRT_MIN": -32768, "USHRT_MAX": 65535, "INT_MAX": 2**31 - 1, "INT_MIN": -(2**31),
    "UINT_MAX": 2**32 - 1, "LONG_MAX": 2**63 - 1, "LONG_MIN": -(2**63), "ULONG_MAX": 2**64 - 1,
    "CLK_LOCAL_MEM_FENCE": 1, "CLK_GLOBAL_MEM_FENCE": 2, "CLK_IMAGE_MEM_FENCE": 4, "true": 1, "false": 0, "NULL": 0,
    "CLK_NORMALIZED_COORDS_FALSE": 0, "CLK_NORMALIZED_COORDS_TRUE": 1, "CLK_ADDRESS_NONE": 0,
    "CLK_ADDRESS_CLAMP_TO_EDGE": 2, "CLK_ADDRESS_CLAMP": 4, "CLK_ADDRESS_REPEAT": 6,
    "CLK_ADDRESS_MIRRORED_REPEAT": 8, "CLK_FILTER_NEAREST": 16, "CLK_FILTER_LINEAR": 32,
    "memory_order_relaxed": 0, "memory_order_acquire": 2, "memory_order_release": 3, "memory_order_acq_rel": 4,
    "memory_order_seq_cst": 5, "memory_scope_work_item": 0, "memory_scope_work_group": 1, "memory_scope_device": 2,
    "FLT_DIG": 6, "FLT_MANT_DIG": 24, "FLT_MAX_EXP": 128, "FLT_MIN_EXP": -125, "FLT_RADIX": 2, "DBL_DIG": 15,
    "FLT_MAX_10_EXP": 38, "FLT_MIN_10_EXP": -37, "DBL_MANT_DIG": 53, "DBL_MAX_EXP": 1024, "DBL_MIN_EXP": -1021,
    "DBL_MAX_10_EXP": 308, "DBL_MIN_10_EXP": -307, "DBL_RADIX": 2, "HALF_DIG": 3, "HALF_MANT_DIG": 11,
    "HALF_MAX_EXP": 16, "HALF_MIN_EXP": -13, "HALF_MAX_10_EXP": 4, "HALF_MIN_10_EXP": -4, "HALF_RADIX": 2,
    "FP_ILOGB0": -(2**31), "FP_ILOGBNAN": 2**31 - 1, "memory_scope_all_svm_devices": 3, "memory_scope_all_devices": 3,
    # Numbers of channels and their types: Khronos, cl.h.
    **{f"CLK_{name}": 0x10B0 + n for n, name in enumerate((
        "R", "A", "RG", "RA", "RGB", "RGBA", "BGRA", "ARGB", "INTENSITY", "LUMINANCE", "Rx", "RGx", "RGBx", "DEPTH",
        "DEPTH_STENCIL", "sRGB", "sRGBx", "sRGBA", "sBGRA", "ABGR"))},
    **{f"CLK_{name}": 0x10D0 + n for n, name in enumerate((
        "SNORM_INT8", "SNORM_INT16", "UNORM_INT8", "UNORM_INT16", "UNORM_SHORT_565", "UNORM_SHORT_555",
        "UNORM_INT_101010", "SIGNED_INT8", "SIGNED_INT16", "SIGNED_INT32", "UNSIGNED_INT8", "UNSIGNED_INT16",
        "UNSIGNED_INT32", "HALF_FLOAT", "FLOAT", "UNORM_INT24"))},
    "__LINE__": 1,  # of no meaning to counts; a line of its own would change with every line typed above it
}  # fmt: skip
FLOAT_CONSTANTS = frozenset(
    {"INFINITY", "NAN", "MAXFLOAT", "HUGE_VALF", "HUGE_VAL", "FLT_MAX", "FLT_MIN", "FLT_EPSILON", "DBL_MAX", "DBL_MIN",
     "DBL_EPSILON", "HALF_MAX", "HALF_MIN", "HALF_EPSILON"}
    | {f"M_{name}{suffix}" for name in ("PI", "PI_2", "PI_4", "E", "LN2", "LN10", "LOG2E", "LOG10E", "SQRT2", "SQRT1_2",
                                       "1_PI", "2_PI", "2_SQRTPI") for suffix in ("", "_F", "_H")}
)  # fmt: skip


_FAMILIES = re.compile(
    r"(?:(?:convert|as)_[a-z]+(?:_t)?\d*(?:_sat)?(?:_rt[ezpn])?|v(?:load|store)a?(?:_half)?\d*(?:_rt[ezpn])?"
    r"|async_work_group\w+|printf)\Z"
)


def is_builtin(name: str) -> bool:
    """Return whether OpenCL C has a function of this name."""
    tables = (BUILTINS, BARRIERS, ATOMICS, IMAGE_READS, IMAGE_WRITES, IMAGE_QUERIES, PIPES, ADDRESSES, WORK_ITEM)
    return any(name in table for table in tables) or bool(_FAMILIES.match(name))
