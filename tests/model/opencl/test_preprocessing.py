"""What macros, conditions and build options make of a program: held against PoCL, value by value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model.launch.build_options import parse_build_options
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from tests.model.opencl.compiler.asking import Question, answered

# Every case of macros in one program.
LANGUAGE = Path(__file__).with_name("macros.cl")


def _language() -> Question:
    text = LANGUAGE.read_text()
    asked = re.findall(r"^//\? (.*)$", text, re.MULTILINE)
    return Question(text, tuple(e.replace("$", "\n") for e in asked))


def values(question: Question, options: BuildOptions, path: Path | None = None) -> dict[str, int | None]:
    """What the source analysis makes of a question's expressions."""
    lines = (f"__constant long value_{n} =\n{expression};" for n, expression in enumerate(question.expressions))
    program = read_program("\n".join((question.text, *lines)), path, options)
    assert program.notes == ()
    return {e: program.names.constants.get(f"value_{n}") for n, e in enumerate(question.expressions)}


@pytest.mark.device
def test_macros_mean_what_they_mean_to_the_compiler() -> None:
    question = _language()
    (said,) = answered(question)
    found = values(question, BuildOptions())
    differing = {e: (found[e], wanted) for e, wanted in said.items() if found[e] != wanted}
    assert differing == {}


_NAMED = "#ifdef {0}\n#define IS_{0} 1\n#else\n#define IS_{0} 0\n#endif\n"
_TEXT_OF = "#define TEXT_(x) #x\n#define TEXT(x) TEXT_(x)\n"
_STANDARD = ("__OPENCL_C_VERSION__", "__OPENCL_VERSION__")
_FEATURES = ("__opencl_c_images", "__opencl_c_pipes", "__opencl_c_generic_address_space", "__opencl_c_device_enqueue",
             "__opencl_c_atomic_order_seq_cst", "__opencl_c_work_group_collective_functions")  # fmt: skip
_ABOUT_FEATURES = "".join(_NAMED.format(f) for f in _FEATURES), tuple(f"IS_{f}" for f in _FEATURES)

# Build options as users write them; what stands before, and the expressions asked for.
OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    '-DONE -D TWO=2 -DBOTH=ONE+TWO -DNONE= -DLAST=1 -DLAST=2 -DSUM(a,b)=((a)+(b)) -DAPART="1 + 2" -DT=int4 -DEQ=a==b': (
        _TEXT_OF,
        ("ONE", "TWO", "BOTH * 2", "NONE 3", "LAST", "SUM(2, 3)", "APART * 2", "sizeof(TEXT(APART))", "sizeof(T)",
         "sizeof(TEXT(EQ))"),
    ),
    "-cl-std=CL1.1": _ABOUT_FEATURES,
    "-cl-std=CL1.2": (_ABOUT_FEATURES[0], (*_ABOUT_FEATURES[1], *_STANDARD)),
    "-cl-std=CL2.0": (_ABOUT_FEATURES[0], (*_ABOUT_FEATURES[1], *_STANDARD)),
    "-cl-std=CL3.0": (_ABOUT_FEATURES[0], (*_ABOUT_FEATURES[1], *_STANDARD)),
    "-cl-fast-relaxed-math": (_NAMED.format("__FAST_RELAXED_MATH__"), ("IS___FAST_RELAXED_MATH__",)),
    "-cl-mad-enable -cl-denorms-are-zero -DX=5 -cl-single-precision-constant": (
        _NAMED.format("__FAST_RELAXED_MATH__"), ("IS___FAST_RELAXED_MATH__", "X"),
    ),
}  # fmt: skip


@pytest.mark.device
def test_build_options_mean_what_they_mean_to_the_compiler() -> None:
    options = {written: parse_build_options(written) for written in OPTIONS}
    questions = [Question(*OPTIONS[w], (w,)) for w in options]
    said = dict(zip(options, answered(*questions), strict=True))
    found = {w: values(q, o) for (w, o), q in zip(options.items(), questions, strict=True)}
    assert found == said


@pytest.mark.device
def test_includes_are_followed_as_the_compiler_follows_them(tmp_path: Path) -> None:
    folder = tmp_path / "headers"
    (folder / "deep").mkdir(parents=True)
    (folder / "first.h").write_text(
        '#ifndef FIRST\n#define FIRST 1\n#include "deep/second.h"\n#include "first.h"\n#else\n#define TWICE 1\n#endif\n'
    )
    (folder / "deep" / "second.h").write_text('#include "third.h"\n#define SECOND (THIRD + FIRST)\n')
    (folder / "deep" / "third.h").write_text("#pragma once\n#define THIRD 3\n__constant int once = THIRD;\n")
    (folder / "table.h").write_text("ROW(one, 1)\nROW(two, 2)\n")
    text = (
        '#include "first.h"\n#include <first.h>\n#include <deep/third.h>\n'
        '#define ROW(name, value) name = value,\nenum {\n#include "table.h"\nafter };\n#undef ROW\n'
        '#define ROW(name, value) + value\n__constant int sum = 0\n#include "table.h"\n;\n'
        "#define WHICH <table.h>\n#undef ROW\n#define ROW(name, value) __constant int the_##name = value * 10;\n"
        "#include WHICH\n"
    )
    wanted = ("SECOND", "TWICE", "once", "two", "after", "sum", "the_two")
    question = Question(text, wanted, ("-I", str(folder)))
    (said,) = answered(question)
    spaced = folder.rename(tmp_path / "a folder")  # which PoCL would not find
    assert values(question, BuildOptions(include_dirs=(str(spaced),))) == said


def test_options_keep_the_quotes_that_a_shell_would_leave() -> None:
    options = parse_build_options('-DNAME=\'"a b"\' "-DSUM=1 + 2"')
    assert values(Question("", ("sizeof(NAME)", "SUM * 2")), options) == {"sizeof(NAME)": 4, "SUM * 2": 5}


def test_without_a_standard_the_language_is_the_highest_of_1_x() -> None:
    # As OpenCL says (5.8.6.5); PoCL takes 3.0.
    assert values(Question("", ("__OPENCL_C_VERSION__",)), BuildOptions()) == {"__OPENCL_C_VERSION__": 120}


@pytest.mark.parametrize("name", ["M_PI", "INT_MAX", "FLT_EPSILON", "CLK_LOCAL_MEM_FENCE"])
def test_constants_of_the_language_are_there_to_be_asked_for(name: str) -> None:
    text = f"#if defined({name})\n#ifndef {name}\n#define FOUND 1\n#else\n#define FOUND 2\n#endif\n#endif\n"
    assert values(Question(text, ("FOUND",)), BuildOptions()) == {"FOUND": 2}


def test_headers_of_pyopencl_are_there_as_in_every_program_that_it_builds(tmp_path: Path) -> None:
    text = "#include <pyopencl-complex.h>\nkernel void k(global cfloat_t *z) { z[0] = cfloat_mul(z[1], z[2]); }"
    for reach in (None, Reach.of([tmp_path])):
        program = read_program(text, tmp_path / "k.cl", reach=reach)
        assert program.notes == ()
        assert "cfloat_mul" in program.functions


def test_a_header_of_the_same_name_in_an_include_folder_comes_first(tmp_path: Path) -> None:
    (tmp_path / "pyopencl-complex.h").write_text("constant int mine = 1;", "utf-8")
    program = read_program("#include <pyopencl-complex.h>", tmp_path / "k.cl", BuildOptions((), (str(tmp_path),)))
    assert (program.names.constants.get("mine"), program.functions) == (1, {})


def test_nothing_else_beside_those_headers_is_within_reach(tmp_path: Path) -> None:
    text = "#include <../__init__.py>\n#include <pyopencl-complex.h/../../version.py>"
    program = read_program(text, tmp_path / "k.cl", reach=Reach.of([tmp_path]))
    assert len(program.notes) == 2
    assert not any(data for _, data in program.plan.opened)
