"""Stand-ins for names that only the host defines are what programs mean, or none."""

from __future__ import annotations

import pytest

from model.opencl.stand_ins import Lacking, stand_ins


def types(use: str, *names: str) -> dict[str, str]:
    return stand_ins(Lacking(types=names), use)


@pytest.mark.parametrize(
    ("name", "use", "meant"),
    [
        ("REAL", "__global REAL *x", "float"),
        ("REAL4", "REAL4 v = x[i];", "float4"),
        ("T", "T a = b.x;", "float"),
        ("IndexType", "IndexType n", "int"),
        ("uint_type2", "uint_type2 v;", "uint2"),
        ("DOUBLE", "DOUBLE sum = 0;", "double"),
        ("GLOBAL_MEM", "GLOBAL_MEM float *x", "__global"),
        ("VALUE", "VALUE v = x[i]; y = v.x + v.s3;", "float4"),
        ("FLOAT4", "FLOAT4 local sums[64];", "float4"),
    ],
)
def test_a_type_of_numbers_is_told_by_its_name_and_use(name: str, use: str, meant: str) -> None:
    assert types(use, name) == {name: meant}


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("Light", "__global const Light *lights"),
        ("BODY_T", "BODY_T b = bodies[i]; x = b.mass;"),
        ("NODE_TYPE", "__global NODE_TYPE *node; node->next = 0;"),
        ("IMAGE_src_TYPE", "IMAGE_src_TYPE src"),
        ("SIZE_PARAMETERS", "void k(SIZE_PARAMETERS __read_only image2d_t a)"),
        ("ABSENT_TYPE", "__global float *x"),
    ],
)
def test_what_may_be_a_struct_an_image_or_parameters_is_left_alone(name: str, use: str) -> None:
    assert types(use, name) == {}


def test_a_vector_that_the_program_makes_of_the_hosts_type_needs_that_type() -> None:
    use = "#define JOINED(a, n) a##n\n#define REAL4 JOINED(REAL, 4)\nREAL4 v = x[i]; y = v.x;"
    assert types(use, "REAL4") == {"REAL": "float"}


def test_other_names_wait_for_types() -> None:
    asked = Lacking(types=("REAL",), names=("TILE",), functions=("CONVERT_REAL",))
    text = "__local REAL t[TILE]; t[0] = CONVERT_REAL(i);"
    assert stand_ins(asked, text) == {"REAL": "float"}
    left = Lacking(names=("TILE",), functions=("CONVERT_REAL",))
    assert stand_ins(left, text, ["REAL"]) == {"TILE": "16", "CONVERT_REAL(x)": "((float)(x))"}


@pytest.mark.parametrize(
    ("name", "use", "define"),
    [
        ("RI_F", "v = RI_F(image, s, p);", {"RI_F(image,sampler,at)": "read_imagef(image,sampler,at)"}),
        ("READ_IMAGE", "v = READ_IMAGE(image, p);", {}),
        ("MAX", "v = MAX(a, f(b, c));", {"MAX(x,y)": "((x)>(y)?(x):(y))"}),
        ("max3", "v = max3(a, b, c);", {}),
        ("intel_sub_group_shuffle_add", "v = intel_sub_group_shuffle_add(a, b);", {}),
        ("SHADE", "v = SHADE(a);", {}),
        ("convert_KIND4", "v = convert_KIND4(a);", {"convert_KIND4(x)": "convert_float4(x)"}),
        ("read_imageKIND", "v = CALL(read_image, KIND)(a, s, p);", {"KIND": "f"}),
    ],
)
def test_functions_that_their_names_tell_have_a_define_of_as_many_arguments(
    name: str, use: str, define: dict[str, str]
) -> None:
    assert stand_ins(Lacking(functions=(name,)), use) == define


@pytest.mark.parametrize(
    ("name", "use", "value"),
    [
        ("COUNT", "float kept[COUNT];", "16"),
        ("COUNT", "__local float kept[COUNT][COUNT + 1];", "16"),
        ("COUNT", "for (int i = 0; i < COUNT; i++) x[i] = 0;", None),
        ("TILE_WIDTH", "for (int i = 0; i < TILE_WIDTH; i++) x[i] = 0;", "16"),
        ("COUNT", "float x = y[COUNT]; return kept[COUNT];", None),
        ("count", "float kept[count];", None),
        ("ITEMS", "__attribute__((reqd_work_group_size(ITEMS, 1, 1)))", "64"),
        ("ITEMS", "__attribute__((reqd_work_group_size(ITEMS, ITEMS, 1)))", "16"),
        ("WG_SIZE", "#ifndef WG_SIZE\n#error WG_SIZE is needed\n#endif\n", "16"),
    ],
)
def test_sizes_that_are_chosen_for_a_kernel_are_usual_ones_and_others_wait_for_the_launch(
    name: str, use: str, value: str | None
) -> None:
    asked = Lacking(names=() if "#error" in use else (name,))
    assert stand_ins(asked, use) == ({name: value} if value is not None else {})
