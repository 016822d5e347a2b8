"""What a host would have defined is found in its package, or guessed from how it is used."""

from __future__ import annotations

import pytest

from profiler.corpus.origins.definitions import Definitions
from profiler.corpus.origins.supplying import guessed_defines, lacking

POCL = "error: kernel.cl:3:6: unknown type name 'REAL4'\nerror: kernel.cl:4:1: use of undeclared identifier 'TILE'\n"
INTEL = (
    "kernel.cl:3:6: error: unknown type name 'REAL4'\nkernel.cl:9:2: error: call to undeclared function 'DIV_UP'; x\n"
)


def test_messages_of_several_compilers_are_understood() -> None:
    assert lacking(POCL).all == ("REAL4", "TILE")
    assert lacking(INTEL).all == ("REAL4", "DIV_UP")


@pytest.mark.parametrize(
    ("name", "use", "value"),
    [
        ("REAL4", "REAL4 v;", "float4"),
        ("DATA_TYPE", "__global DATA_TYPE *x", "float"),
        ("uint_type2", "uint_type2 v;", "uint2"),
        ("GLOBAL_MEM", "GLOBAL_MEM float *x", "__global"),
    ],
)
def test_an_unknown_type_is_guessed_by_its_name(name: str, use: str, value: str) -> None:
    assert guessed_defines(lacking(f"unknown type name '{name}'"), use, 0)[name] == value


def test_numbers_are_tried_one_after_another() -> None:
    asked = lacking("use of undeclared identifier 'TILE'")
    assert [guessed_defines(asked, "int a[TILE];", attempt)["TILE"] for attempt in range(3)] == ["16", "4", "1"]


def test_a_function_gets_as_many_arguments_as_it_is_called_with() -> None:
    asked = lacking("use of undeclared identifier 'MIX'")
    assert guessed_defines(asked, "y = MIX(a, f(b, c), d[0]);", 0) == {"MIX(a0,a1,a2)": "((a0)+(a1)+(a2))"}


def test_definitions_come_with_what_they_rest_on_and_from_the_nearest_file() -> None:
    package = Definitions()
    package.add("far/a.cl", "#define STEP 1\n")
    package.add(
        "near/b.h", "#define STEP 2\n#define TWICE (2 * STEP)\ninline int next(int i)\n{\n  return i + TWICE;\n}\n"
    )
    texts = package.closure(["next"], "near/k.cl", known=set())
    assert texts[:2] == ["#define STEP 2", "#define TWICE (2 * STEP)"]
    assert texts[2].startswith("inline int next(int i)")


def test_code_of_the_host_is_no_definition() -> None:
    package = Definitions()
    package.add("host.cpp", "static int wait(Queue& q) {\n  return q->wait();\n}\n#define TYPE %s\n")
    assert package.closure(["wait", "TYPE"], "k.cl", known=set()) == []
