"""OpenCL C is found wherever packages keep it, and what must stay out stays out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from profiler.corpus.origins.decontamination import is_exam_kernel
from profiler.corpus.origins.finding import programs_of, recorded_programs, written_programs
from profiler.corpus.origins.literals import programs_in
from profiler.corpus.origins.sources import Unreachable
from profiler.measurement import MeasureError

KERNEL = "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2.0f; }\n"


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_kernels_in_raw_strings_of_a_host_program_are_found() -> None:
    host = f'const char *source = R"CL(\n{KERNEL})CL";\nint main() {{ return 0; }}\n'
    assert [text.strip() for text in programs_in(host, is_python=False)] == [KERNEL.strip()]


def test_joined_literals_become_one_program() -> None:
    host = 'const char *s =\n  "__kernel void f(__global int *x)\\n" // a comment\n  "{ x[0] = \\"a\\"[0]; }\\n";\n'
    assert list(programs_in(host, is_python=False)) == ['__kernel void f(__global int *x)\n{ x[0] = "a"[0]; }\n']


def test_a_name_between_appended_literals_stays_as_a_placeholder() -> None:
    host = (
        'source.append("__kernel void f(__global ");\nsource.append(numeric);\nsource.append(" *x) { x[0] = 0; }");\n'
    )
    assert list(programs_in(host, is_python=False)) == ["__kernel void f(__global numeric *x) { x[0] = 0; }"]


def test_python_texts_and_stringised_macros_are_found() -> None:
    assert list(programs_in(f'SOURCE = """{KERNEL}"""\n', is_python=True)) == [KERNEL]
    host = "static const char *s = STRINGIFY(\n__kernel void f(__global int *x) { if (x[0] > 1) { x[0] = 0; } }\n);\n"
    (found,) = programs_in(host, is_python=False)
    assert found.strip() == "__kernel void f(__global int *x) { if (x[0] > 1) { x[0] = 0; } }"


def test_a_file_of_opencl_that_makes_a_named_text_of_itself_is_found_without_its_macro(tmp_path: Path) -> None:
    macro = "#define DECLARE_SOURCE(name, src) static const char *(name) = #src;\n"
    (program,) = programs_of(written(tmp_path, k_dot_cl=f"{macro}DECLARE_SOURCE(\n  kTwice,\n{KERNEL});\n"), Counter())
    assert program.text.strip() == KERNEL.strip()


def test_kernels_in_files_of_c_are_found_whole(tmp_path: Path) -> None:
    host = 'int main() { return build("__kernel void g(__global int *x) { x[0] = 0; }"); }\n'
    found = {one.reference: one.text for one in programs_of(written(tmp_path, k_dot_c=KERNEL, m_dot_c=host), Counter())}
    assert found == {"k.c": KERNEL, "m.c": "__kernel void g(__global int *x) { x[0] = 0; }"}


def test_includes_of_the_package_are_put_in_once(tmp_path: Path) -> None:
    include = '#include "lib/common.h"\n#include "absent.h"\n'
    folder = written(tmp_path / "a b", a_dot_cl=include + include + KERNEL, lib__common_dot_h="#define N 4\n")
    (program,) = programs_of(folder, Counter())
    assert program.text.count("#define N 4") == 1
    assert "#include" not in program.text


def test_the_exam_and_stricter_licences_stay_out(tmp_path: Path) -> None:
    dropped: Counter[str] = Counter()
    folder = written(
        tmp_path,
        rodinia__k_dot_cl=KERNEL,
        other_dot_cl="// taken from the Parboil benchmarks\n" + KERNEL,
        strict_dot_cl="/* This program is free software under the GNU General\n * Public License */\n" + KERNEL,
        fine_dot_cl="// MIT\n" + KERNEL,
    )
    assert [program.reference for program in programs_of(folder, dropped)] == ["fine.cl"]
    assert dropped == {"files of the exam's suites": 2, "files under a stricter licence": 1}


def test_programs_of_the_exam_stay_out_wherever_they_are_named(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "b+tools@0123",
        ethminer__k_dot_cl=KERNEL,
        third_party__llama_dot_cpp__k_dot_cl=KERNEL,
        credit_dot_cl="// SHA-1 after John the Ripper's\n" + KERNEL,
        library_dot_cl="// License Agreement\n// For Open Source Computer Vision Library\n" + KERNEL,
        fine_dot_cl="// a blend of two images\n" + KERNEL,
    )
    assert [program.reference for program in programs_of(folder, Counter())] == ["fine.cl"]
    assert is_exam_kernel("mcx_main_loop")
    assert is_exam_kernel("kernel_mul_mat_q4_0_f32")
    assert not is_exam_kernel("blur")


def test_opencvs_other_repository_is_no_part_of_the_exam(tmp_path: Path) -> None:
    head = "// License Agreement\n// For Open Source Computer Vision Library\n"
    folder = written(tmp_path / "opencv+opencv_contrib@0123", surf_dot_cl=head + KERNEL)
    assert [program.reference for program in programs_of(folder, Counter())] == ["surf.cl"]


def test_recorded_programs_keep_their_defines(tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    path.write_text(json.dumps({"reference": "a.cl", "text": KERNEL, "defines": [["N", "4"]], "flags": ["-w"]}) + "\n")
    (program,) = recorded_programs(path)
    assert program.options.arguments() == ["-DN=4", "-w"]


def test_a_library_that_writes_nothing_says_why_and_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_fail(*_: object) -> list[MeasureError]:
        return [MeasureError("install the mako package")] * 3

    monkeypatch.setattr("profiler.corpus.origins.finding.outcomes", all_fail)
    with pytest.raises(Unreachable, match=r"install the mako package.*kernelcast\[corpus\]"):
        list(written_programs("pocl"))
