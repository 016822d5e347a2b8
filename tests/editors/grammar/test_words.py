"""What the analysis knows by name is coloured as what it is, wherever it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from model.launch.fill import FILL_WORDS
from model.opencl.builtin_types import BUILTIN_TYPE_NAMES
from model.opencl.builtins import (
    ATOMICS,
    BARRIERS,
    BUILTINS,
    FLOAT_CONSTANTS,
    IMAGE_READS,
    IMAGE_WRITES,
    INTEGER_CONSTANTS,
    WORK_ITEM,
)
from tests.editors.grammar.colours import Colours

QUALIFIERS = [
    *(f"{prefix}{name}" for prefix in ("", "__") for name in ("global", "local", "constant", "private", "generic")),
    *(f"{prefix}{name}" for prefix in ("", "__") for name in ("read_only", "write_only", "read_write")),
    "const", "volatile", "restrict",
]  # fmt: skip
PLACES = {
    "a parameter": "__kernel void f({} float *x) {{ }}",
    "a parameter on a line of its own": "__kernel void f(\n    {} float *x)\n{{ }}",
    "a function's parameter": "float f(int n, {} float *x);",
    "a member of a struct": "struct s {{ {} float *x; }};",
    "a cast": "void f(int *y) {{ g(({} float *)y); }}",
    "a variable in a function": "void f() {{ {} float x; }}",
    "a variable outside of functions": "{} float x = 1.0f;",
    "a pointer to a function": "void f(void (*g)({} float *)) {{ }}",
    "a block": "void f() {{ void (^g)({} float *) = ^({} float *x) {{ }}; }}",
    "a macro": "#define X(T) {} T",
    "a typedef": "typedef {} float *floats;",
}


def test_the_grammar_is_what_its_generator_writes(repository: Path) -> None:
    generator = repository / "editors" / "vscode" / "syntaxes" / "generate.py"
    done = subprocess.run([sys.executable, str(generator), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("place", PLACES)
def test_a_qualifier_is_coloured_in(place: str, colour: Colours) -> None:
    for qualifier in QUALIFIERS:
        for scope in colour(PLACES[place].format(qualifier, qualifier)).all_of(qualifier):
            assert scope.startswith("storage.modifier"), f"{qualifier} as {place}"


@pytest.mark.parametrize("place", PLACES)
def test_a_type_is_coloured_in(place: str, colour: Colours) -> None:
    for name in sorted(BUILTIN_TYPE_NAMES):
        text = PLACES[place].replace("float", name).format("const", "const")
        for scope in colour(text).all_of(name):
            assert scope.startswith("storage.type.built-in"), f"{name} as {place}"


def test_every_built_in_function_is_coloured_where_it_is_called(colour: Colours) -> None:
    names = {*BUILTINS, *BARRIERS, *ATOMICS, *IMAGE_READS, *IMAGE_WRITES, *WORK_ITEM}
    uncoloured = [
        name
        for name in sorted(names)
        if not colour(f"void f() {{ x = {name} (y); }}")[name].startswith("support.function")
    ]
    assert uncoloured == []


@pytest.mark.parametrize(
    "name",
    ["convert_int4", "convert_uchar16_sat_rte", "convert_half_rtz", "convert_float2", "as_uint", "as_double3",
     "vload4", "vstore16", "vload_half", "vload_half8", "vloada_half3", "vstore_half_rtn", "vstorea_half4_rtp",
     "async_work_group_copy", "async_work_group_strided_copy", "get_image_width", "printf", "atomic_init",
     "sub_group_non_uniform_reduce_add", "sub_group_clustered_reduce_max", "sub_group_ballot",
     "intel_sub_group_block_read4", "work_group_scan_exclusive_min", "enqueue_kernel", "reserve_read_pipe"],
)  # fmt: skip
def test_a_family_of_functions_is_coloured_by_its_form(name: str, colour: Colours) -> None:
    assert colour(f"void f() {{ {name}(x); }}")[name].startswith("support.function.builtin")


@pytest.mark.parametrize("name", ["convert_int5", "vload5", "as_thing", "get_global_ids", "my_barrier", "native_foo"])
def test_what_only_looks_built_in_is_a_call_of_the_users_own(name: str, colour: Colours) -> None:
    assert colour(f"void f() {{ {name}(x); }}")[name] == "entity.name.function.call"


def test_a_variable_may_have_a_built_in_functions_name(colour: Colours) -> None:
    assert not colour("void f() { int length = 2; x = length; }")["length"].startswith("support")


def test_every_constant_is_coloured(colour: Colours) -> None:
    names = sorted({*INTEGER_CONSTANTS, *FLOAT_CONSTANTS} | {"CLK_RGBA", "CLK_UNORM_INT8"})
    uncoloured = [name for name in names if not colour(f"x = y + {name};")[name].startswith("constant.language")]
    assert uncoloured == []


@pytest.mark.parametrize(
    "macro", ["__OPENCL_VERSION__", "__OPENCL_C_VERSION__", "CL_VERSION_3_0", "__IMAGE_SUPPORT__", "cl_khr_fp64",
              "cl_intel_subgroups", "__opencl_c_images", "__LINE__"]
)  # fmt: skip
@pytest.mark.parametrize("place", ["#if {} > 1", "#ifdef {}", "int x = {};", "#define A ({})"])
def test_what_compilers_define_is_coloured(macro: str, place: str, colour: Colours) -> None:
    assert colour(place.format(macro))[macro].startswith("constant.language")


@pytest.mark.parametrize("fill", FILL_WORDS)
def test_what_a_buffer_may_hold_is_coloured_in_annotations(fill: str, colour: Colours) -> None:
    assert colour(f"// kernelcast: fill.a={fill}")[fill] == "constant.language.fill"
