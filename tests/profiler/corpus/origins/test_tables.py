"""Launch tables are read with the line of every mistake, and kernels get the launches of their programs from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.errors import ConfigError
from profiler.corpus.kernel import CorpusKernel, Vary
from profiler.corpus.origins.catalogue import Summary, kernels_in
from profiler.corpus.origins.finding import FoundProgram
from profiler.corpus.origins.host_builds import as_hosts_build
from profiler.corpus.origins.origin import Origin, OriginKind, read_origins
from profiler.corpus.origins.prepare import Devices, prepare, prepare_origin
from profiler.corpus.origins.tables import FOLDER, described_programs, read_table

ORIGIN = Origin("a/blurs", OriginKind.REPOSITORY, "https://example.org/a/blurs.git", "0" * 40, "MIT", "images")
BLUR = """
__kernel void blur(__global const float *src, __global float *dst, const int width) {
    const int x = get_global_id(0), y = get_global_id(1);
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; ++k)
        sum += src[y * width + clamp(x + k, 0, width - 1)];
    dst[y * width + x] = sum / (2 * RADIUS + 1);
}
__kernel void sharpen(__global const float *src, __global float *dst, const int width) {
    const int x = get_global_id(0), y = get_global_id(1);
    const float own = src[y * width + x], left = src[y * width + max(x - 1, 0)];
    dst[y * width + x] = own + 0.5f * (own - left) * (own > left ? 1.0f : 2.0f);
}
"""
LAUNCH = """
[[launch]]
kernel = "blur"
files = ["k/blur.cl"]
source = "src/host.cpp:12"
global = [640, 48]
local = [16, 4]
args = { width = 640 }
buffers = { src = "width*48", dst = "width*48" }
defines = { RADIUS = 3 }
"""


def table(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "a+blurs.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        read_table(table(folder, text))
    return error.value.message


def prepared(tmp_path: Path, text: str) -> tuple[dict[str, CorpusKernel], Summary]:
    """What a package of one file comes to, with this table."""
    at = tmp_path / "sources" / ORIGIN.folder_name / "k"
    at.mkdir(parents=True)
    (at / "blur.cl").write_text(BLUR, encoding="utf-8")
    tables = table(tmp_path / "tables", text).parent
    summary = prepare_origin(ORIGIN, tmp_path, None, Devices("pocl", "pocl"), tables=tables)
    found = kernels_in(tmp_path / "catalogue" / f"{ORIGIN.folder_name}.jsonl")
    return {kernel.name: kernel for kernel in found}, summary


def test_every_table_that_is_kept_can_be_read_and_is_of_an_origin() -> None:
    names = {f"{origin.name.replace('/', '+')}.toml" for origin in read_origins()}
    for path in sorted(FOLDER.glob("*.toml")):
        assert path.name in names
        facts = read_table(path)
        assert facts.launches or facts.builds


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (LAUNCH.replace('source = "src/host.cpp:12"\n', ""), 2, "`source` is missing"),
        (LAUNCH.replace("global = [640, 48]\n", ""), 2, "`global` is missing"),
        (LAUNCH.replace(":12", ""), 5, "a file of the package and a line"),
        (LAUNCH.replace("local = [16, 4]", "lokal = 16"), 7, "`lokal` is not known"),
        (LAUNCH.replace('"width*48", dst', '"width**", dst'), 9, "src"),
        (LAUNCH + 'include = ["inc"]\n', 11, "`include` is of no use"),
        (LAUNCH + "fill = { src = \n", 11, "Invalid value"),
    ],
)
def test_a_malformed_table_is_refused_with_its_file_and_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    message = refusal(tmp_path, text)
    assert message.startswith(f"a+blurs.toml:{line}: ")
    assert what in message


def test_a_malformed_table_ends_the_preparation_before_it_begins(tmp_path: Path) -> None:
    tables = table(tmp_path / "tables", "[[launch]]\n").parent
    with pytest.raises(ConfigError, match=r"a\+blurs.toml:1: "):
        prepare(tmp_path, [ORIGIN], tables=tables)


def test_launches_that_want_other_options_are_other_builds(tmp_path: Path) -> None:
    text = LAUNCH + LAUNCH.replace("RADIUS = 3", "RADIUS = 5") + LAUNCH.replace("640", "320")
    launches = read_table(table(tmp_path, text)).launches
    programs = [FoundProgram("k/blur.cl", BLUR), FoundProgram("k/other.cl", BLUR)]
    made = described_programs(programs, launches)
    assert [dict(one.program.options.defines)["RADIUS"] for one in made] == ["3", "5"]
    assert [len(one.launches) for one in made] == [2, 1]


def test_described_kernels_are_launched_as_their_program_does_and_others_as_inferred(tmp_path: Path) -> None:
    kernels, summary = prepared(tmp_path, LAUNCH)
    (launch,) = kernels["blur"].launches
    assert launch.vary is Vary.PROGRAM
    assert launch.checked
    assert launch.launch.global_size == (640, 48)
    assert launch.launch.local_size == (16, 4)
    assert dict(launch.launch.buffers) == {"src": 640 * 48, "dst": 640 * 48}
    assert dict(kernels["blur"].options.defines) == {"RADIUS": "3"}
    assert kernels["sharpen"].launches[0].vary is Vary.FIRST
    assert summary.complaints == []


def test_what_a_table_gets_wrong_is_said_and_costs_no_kernel(tmp_path: Path) -> None:
    short = LAUNCH.replace('src = "width*48"', 'src = "width"')
    missing = LAUNCH.replace('"blur"', '"blurr"')
    elsewhere = LAUNCH.replace("k/blur.cl", "k/blurs.cl")
    kernels, summary = prepared(tmp_path, short + missing + elsewhere)
    assert kernels["blur"].launches[0].vary is Vary.FIRST
    assert len(summary.complaints) == 3
    for line, what in ((2, "src"), (12, "no kernel `blurr`"), (22, "no program k/blurs.cl")):
        assert [one for one in summary.complaints if one.startswith(f"a+blurs.toml:{line}: ") and what in one]


HELPERS = "#define RADIUS 2\nfloat weight(int k) { return k == 0 ? CENTRE : 1.0f; }\n"
WEIGHTED = BLUR.replace("sum += src", "sum += weight(k) * src")
PROGRAM = """
[[program]]
files = ["k/*.cl"]
before = ["k/helpers.clh"]
defines = { CENTRE = "2.0f" }
source = "src/host.cpp:30"
"""


def test_programs_are_built_as_their_host_builds_them(tmp_path: Path) -> None:
    (tmp_path / "k").mkdir()
    (tmp_path / "k/helpers.clh").write_text(HELPERS, encoding="utf-8")
    builds = read_table(table(tmp_path / "tables", PROGRAM)).builds
    other = FoundProgram("other.cl", BLUR)
    (program, untouched), complaints = as_hosts_build([FoundProgram("k/blur.cl", WEIGHTED), other], builds, tmp_path)
    assert program.text == f"{HELPERS}\n{WEIGHTED}"
    assert dict(program.options.defines) == {"CENTRE": "2.0f"}
    assert untouched == other
    assert complaints == []


def test_what_a_package_does_not_hold_is_said_with_the_line(tmp_path: Path) -> None:
    builds = read_table(table(tmp_path / "tables", PROGRAM)).builds
    programs, complaints = as_hosts_build([FoundProgram("other.cl", BLUR)], builds, tmp_path)
    assert [program.reference for program in programs] == ["other.cl"]
    assert complaints == [
        "a+blurs.toml:2: the package has no file k/helpers.clh",
        "a+blurs.toml:2: the package has no program k/*.cl",
    ]
    assert "`files` is missing" in refusal(tmp_path, PROGRAM.replace('files = ["k/*.cl"]\n', ""))
    assert "a file of the package and a line" in refusal(tmp_path, PROGRAM.replace(":30", ""))
