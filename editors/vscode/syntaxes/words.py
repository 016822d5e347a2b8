"""The words of OpenCL C by what they are, for the grammar.

Those that the analysis knows come from its own tables, so that what is coloured and what is counted never disagree;
the others are those of the OpenCL C 3.0 specification that cost nothing or that are not analysed.
"""

from __future__ import annotations

from model.launch.arithmetic import FUNCTIONS as EXPRESSION_FUNCTIONS
from model.launch.fill import FILL_WORDS
from model.opencl.builtin_types import BUILTIN_TYPE_NAMES, SCALARS
from model.opencl.builtins import (
    ADDRESSES,
    ATOMICS,
    BARRIERS,
    BUILTINS,
    FLOAT_CONSTANTS,
    IMAGE_QUERIES,
    IMAGE_READS,
    IMAGE_WRITES,
    INTEGER_CONSTANTS,
    PIPES,
    WORK_ITEM,
)


def _listed(names: str) -> list[str]:
    return names.split()


# --- qualifiers and keywords ---------------------------------------------------------------------------------

ADDRESS_SPACES = _listed("global local constant private generic")
ACCESS = _listed("read_only write_only read_write")
MODIFIERS = _listed("""const volatile restrict __restrict __restrict__ __const __const__ __volatile__ static inline
    __inline __inline__ __forceinline extern register auto""")
CONTROL = _listed("if else for while do switch case default break continue goto return")

# --- types ---------------------------------------------------------------------------------------------------

SCALAR_NAMES = sorted(SCALARS)
VECTOR_ELEMENTS = sorted(name for name in SCALARS if f"{name}4" in BUILTIN_TYPE_NAMES)
WIDTHS = _listed("2 3 4 8 16")
TYPES = sorted(name for name in BUILTIN_TYPE_NAMES if name not in SCALARS and name.rstrip("0123456789") not in SCALARS)

# --- functions, by family: the last part of their scope ------------------------------------------------------

_GEOMETRIC = _listed("dot cross length distance normalize fast_length fast_distance fast_normalize")
_INTEGER = _listed("""abs abs_diff add_sat sub_sat hadd rhadd rotate clz ctz popcount upsample mul24 mad24 mul_hi mad_hi
    mad_sat bit_reverse bitfield_insert bitfield_extract_signed bitfield_extract_unsigned""") + [
    name for name in BUILTINS if name.startswith(("dot_4x8", "dot_acc"))
]
_COMMON = _listed("clamp degrees max min mix radians step smoothstep sign")
_RELATIONAL = _listed("""isnan isinf isfinite isnormal signbit isequal isnotequal isgreater isgreaterequal isless
    islessequal islessgreater isordered isunordered any all bitselect select""")
_VECTOR = _listed("shuffle shuffle2 vec_step")
_SYNCHRONISING = _listed("""mem_fence read_mem_fence write_mem_fence atomic_work_item_fence""")
_COPYING = _listed("""prefetch async_work_group_copy async_work_group_strided_copy wait_group_events
    async_work_group_copy_2D2D async_work_group_copy_3D3D""")
_TOGETHER = [name for name in BUILTINS if name.startswith(("work_group_", "sub_group_", "get_sub_group_"))]
_NAMED_ELSEWHERE = {*_GEOMETRIC, *_INTEGER, *_COMMON, *_RELATIONAL, *_VECTOR, *_SYNCHRONISING, *_COPYING, *_TOGETHER}

FUNCTIONS: dict[str, list[str]] = {
    "work-item": [*WORK_ITEM],
    "math": [name for name in BUILTINS if name not in _NAMED_ELSEWHERE],
    "geometric": _GEOMETRIC,
    "integer": _INTEGER,
    "common": _COMMON,
    "relational": _RELATIONAL,
    "vector": _VECTOR,
    "synchronisation": [*BARRIERS, *_SYNCHRONISING],
    "copy": _COPYING,
    "atomic": [*ATOMICS, "atomic_init"],
    "image": [*IMAGE_READS, *IMAGE_WRITES, *IMAGE_QUERIES],
    "group": _TOGETHER,
    "pipe": [*PIPES],
    "enqueue": _listed("""enqueue_kernel enqueue_marker get_kernel_work_group_size
        get_kernel_preferred_work_group_size_multiple get_kernel_max_sub_group_size_for_ndrange
        get_kernel_sub_group_count_for_ndrange get_default_queue retain_event release_event create_user_event
        is_valid_event set_user_event_status capture_event_profiling_info ndrange_1D ndrange_2D ndrange_3D"""),
    "print": ["printf"],
    "address": [*ADDRESSES],
}

# Families too regular to list. Roundings, widths and elements are filled in by the grammar.
_OF_GROUP = (
    "(?:all|any|broadcast|(?:non_uniform_)?(?:reduce|scan_inclusive|scan_exclusive)_"
    "(?:add|mul|min|max|and|or|xor|logical_and|logical_or|logical_xor))"
)
FUNCTION_FAMILIES: dict[str, str] = {
    "conversion": r"as_(?:{element})(?:{width})?|convert_(?:{element}|bool)(?:{width})?(?:_sat)?(?:_rt[ezpn])?",
    "memory": r"v(?:load|store)(?:{width})|vloada?_half(?:{width})?|vstorea?_half(?:{width})?(?:_rt[ezpn])?",
    "group": (
        rf"(?:work|sub)_group_{_OF_GROUP}|sub_group_(?:elect|non_uniform_(?:all|any|all_equal|broadcast)"
        r"|broadcast_first|(?:inverse_)?ballot(?:_\w+)?|shuffle(?:_xor|_up|_down)?|rotate|clustered_\w+)"
        r"|intel_sub_group_\w+|get_sub_group_\w+_mask"
    ),
}

# --- constants and macros ------------------------------------------------------------------------------------

CONSTANTS = sorted({*INTEGER_CONSTANTS, *FLOAT_CONSTANTS, "memory_scope_all_svm_devices", "memory_scope_all_devices"})
CONSTANT_FAMILIES = (
    r"CLK_[A-Z0-9_]+",
    r"(?:FLT|DBL|HALF)_(?:DIG|MANT_DIG|MAX_10_EXP|MAX_EXP|MIN_10_EXP|MIN_EXP|RADIX|MAX|MIN|EPSILON)",
    r"FP_(?:ILOGB0|ILOGBNAN|FAST_FMA(?:F|_HALF)?)",
)
PREDEFINED = (
    r"__OPENCL(?:_C|_CPP)?_VERSION__",
    r"CL_VERSION_\d_\d",
    r"__opencl_c_\w+",
    r"__(?:ENDIAN_LITTLE|IMAGE_SUPPORT|FAST_RELAXED_MATH|FILE|LINE|DATE|TIME|COUNTER)__",
    r"__func__",
    r"__kernel_exec",
    r"__SPIRV?(?:32|64)?__",
)
EXTENSION = r"cl_(?:khr|ext|intel|nv|amd|arm|qcom|img|pocl|altera|APPLE|clang)_\w+"

# --- launches in comments ------------------------------------------------------------------------------------

ANNOTATION_KEYS = _listed("global local name")
ANNOTATION_FILLS = sorted(FILL_WORDS)
ANNOTATION_FUNCTIONS = sorted(EXPRESSION_FUNCTIONS)
