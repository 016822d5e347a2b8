"""Which kernels count as changed, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.diff.conftest import COPY, FAST, SCALE, SLOW, Diff, Repo, snapshot


def test_a_changed_kernel_is_compared_and_no_other(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST + COPY})
    repo.commit({"k.cl": SLOW + COPY})
    (change,) = diff("HEAD~1..HEAD").changes
    assert (change["kernel"], change["file"], change["line"]) == ("scale", "k.cl", 2)
    assert change["verdict"] == "slower"
    assert 1 < change["ratio"]["p10"] < change["ratio"]["p50"] < change["ratio"]["p90"]
    assert change["device"]["id"] == "generic-cpu"
    assert change["launch"] == "65536 / 64"
    assert "slower" in change["reason"]
    (back,) = diff("HEAD..HEAD~1").changes
    assert back["verdict"] == "faster"
    assert back["ratio"]["p50"] == pytest.approx(1 / change["ratio"]["p50"], rel=1e-6)


def test_without_versions_the_working_tree_is_compared_with_head_and_stays_untouched(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST + COPY})
    repo.write({"k.cl": SLOW + COPY, "new.cl": COPY.replace("copy", "fresh")})
    before = snapshot(repo.folder)
    assert diff().verdicts == {"scale": "slower", "fresh": "new"}
    assert diff("HEAD").verdicts == diff("main").verdicts == {"scale": "slower", "fresh": "new"}
    assert snapshot(repo.folder) == before


def test_comments_and_spacing_are_no_change(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST, "host.py": f'SOURCE = """{COPY}"""\n'})
    other = FAST.replace("int i", "int\n     i /* the index */").replace("{\n", "{ // begins\n", 1)
    repo.write({"k.cl": other, "host.py": f'# above\nSOURCE = """{COPY.replace("  int", "      int")}"""\n'})
    assert diff().changes == []


def test_a_macro_of_an_included_file_counts_and_each_version_has_its_own(repo: Repo, diff: Diff) -> None:
    kernels = '#include "times.h"\n' + SCALE
    headers: dict[str, str | bytes] = {"inc/times.h": '#include "deep.h"\n', "inc/deep.h": "#define TIMES 1\n"}
    repo.commit({"src/k.cl": kernels, "o.cl": COPY, "kernelcast.toml": 'include = ["inc"]\n', **headers})
    repo.commit({"inc/deep.h": "#define TIMES 4000\n"})
    (change,) = diff("HEAD~1..HEAD").changes
    assert (change["kernel"], change["file"], change["verdict"]) == ("scale", "src/k.cl", "slower")
    repo.commit({"inc/deep.h": "/* why */ #define TIMES 4000 // many\n"})
    assert diff("HEAD~1..HEAD").changes == []


def test_a_function_that_a_host_program_joins_before_the_file_counts(repo: Repo, diff: Diff) -> None:
    helper = "float twice(float x) {\n  return STEP;\n}\n"
    kernel = COPY.replace("b[i] = a[i]", "b[i] = twice(a[i])")
    repo.commit({"helper.cl": helper.replace("STEP", "2 * x"), "k.cl": kernel})
    repo.commit({"helper.cl": helper.replace("STEP", "sin(x) * cos(x)")})
    assert list(diff("HEAD~1..HEAD").verdicts) == ["copy"]


def test_a_header_that_git_does_not_track_is_taken_for_both_versions(repo: Repo, diff: Diff) -> None:
    text = '#include "gen/times.h"\n' + SCALE
    repo.commit({"k.cl": text + COPY, ".gitignore": "gen/\n"})
    repo.write({"gen/times.h": "#define TIMES 3\n", "k.cl": text + COPY.replace("a[i]", "2 * a[i]")})
    assert list(diff().verdicts) == ["copy"]


def test_moved_and_renamed_kernels_are_matched(repo: Repo, diff: Diff) -> None:
    sum_up = COPY.replace("copy", "sum_up").replace("b[i] = a[i]", "b[i] += a[i] * a[n - 1 - i]")
    repo.commit({"k.cl": FAST + COPY, "s.cl": sum_up})
    repo.git("mv", "k.cl", "moved.cl")
    repo.commit({"moved.cl": SLOW + COPY, "s.cl": sum_up.replace("sum_up", "add_up")})
    found = {each["kernel"]: each for each in diff("HEAD~1..HEAD").changes}
    assert found.keys() == {"scale", "add_up"}
    assert found["scale"]["old"] == {"kernel": "scale", "file": "k.cl", "line": 2}
    assert found["scale"]["verdict"] == "slower"
    assert "it was in k.cl" in found["scale"]["reason"]
    assert found["add_up"]["old"]["kernel"] == "sum_up"
    assert found["add_up"]["ratio"] == {"p10": 1, "p50": 1, "p90": 1}
    assert found["add_up"]["reason"] == "it was `sum_up`; nothing but its name changed"


def test_a_kernel_moved_between_files_unchanged_is_no_change(repo: Repo, diff: Diff) -> None:
    repo.commit({"a.cl": FAST + COPY, "b.cl": "\n"})
    repo.commit({"a.cl": FAST, "b.cl": "\n" + COPY})
    assert diff("HEAD~1..HEAD").changes == []


def test_new_and_gone_kernels(repo: Repo, diff: Diff) -> None:
    other = "__kernel void other(__global int *p) { atomic_inc(p); }\n"
    repo.commit({"k.cl": FAST})
    repo.commit({"k.cl": other})
    found = {each["kernel"]: each for each in diff("HEAD~1..HEAD").changes}
    assert {name: each["verdict"] for name, each in found.items()} == {"other": "new", "scale": "gone"}
    assert found["other"]["new_us"]["p50"] > 0
    assert found["other"]["ratio"] is found["other"]["old"] is found["scale"]["ratio"] is None


def test_kernels_in_host_programs_count(repo: Repo, diff: Diff) -> None:
    host = f'import pyopencl\n\nSOURCE = """\n{FAST}"""\nOTHER = """\n{COPY}"""\n'
    repo.commit({"host.py": host})
    repo.commit({"host.py": "# a line above\n" + host.replace("k < 1", "k < 4000")})
    (change,) = diff("HEAD~1..HEAD").changes
    assert (change["kernel"], change["line"], change["verdict"]) == ("scale", 6, "slower")


def test_launches_are_those_of_the_configuration(repo: Repo, diff: Diff) -> None:
    bare = {name: text.partition("\n")[2] for name, text in (("slow", SLOW), ("fast", FAST))}
    toml = """
[device]
id = "generic-gpu"
[[launch]]
kernel = "scale"
files = ["src/*.cl"]
name = "small"
global = [1024]
args = { n = 1024 }
[[launch]]
kernel = "scale"
name = "large"
global = [1048576]
args = { n = 1048576 }
"""
    repo.commit({"src/k.cl": bare["fast"]})
    repo.commit({"src/k.cl": bare["slow"]})
    repo.write({"kernelcast.toml": toml})  # not committed: it is there all the same
    found = diff("HEAD~1..HEAD", device="").changes
    assert sorted(each["launch"] for each in found) == ["large: 1048576 / auto", "small: 1024 / auto"]
    assert {each["device"]["id"] for each in found} == {"generic-gpu"}


def test_several_devices(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST})
    repo.write({"k.cl": SLOW})
    found = diff("--device", "generic-gpu").changes
    assert {each["device"]["id"] for each in found} == {"generic-cpu", "generic-gpu"}


def test_further_devices_of_the_configuration_count(repo: Repo, diff: Diff) -> None:
    toml = '[device]\nid = "generic-cpu"\ncompare = ["generic-gpu", "generic-cpu", "nonsense"]\n'
    repo.commit({"k.cl": FAST + COPY, "kernelcast.toml": toml})
    repo.write({"k.cl": SLOW})
    told = diff(device="")
    found = [(each["kernel"], each["verdict"], each["device"]["id"]) for each in told.changes]
    assert sorted(found) == [
        ("copy", "gone", "generic-cpu"), ("scale", "slower", "generic-cpu"), ("scale", "slower", "generic-gpu"),
    ]  # fmt: skip
    assert "nonsense" in told.err
    assert {each["device"]["id"] for each in diff(device="generic-gpu").changes} == {"generic-gpu"}


def test_two_folders(repo: Repo, diff: Diff, tmp_path: Path) -> None:
    for name, text in (("old", FAST), ("new", SLOW)):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "k.cl").write_text('#include "../t.h"\n' + text)
        (tmp_path / name / "t.h").write_text("#define UNUSED\n")
    before = snapshot(tmp_path)
    (change,) = diff("old", "new", folder=tmp_path).changes
    assert (change["file"], change["verdict"]) == ("src/k.cl", "slower")
    assert snapshot(tmp_path) == before


def test_a_range_with_three_dots_begins_at_the_common_ancestor(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST, "o.cl": COPY})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"k.cl": SLOW})
    repo.git("checkout", "-q", "main")
    repo.commit({"o.cl": COPY.replace("a[i]", "2 * a[i]")})
    assert list(diff("main...topic").verdicts) == ["scale"]
    assert sorted(diff("main..topic").verdicts) == ["copy", "scale"]


def test_a_header_that_many_include_concerns_those_that_use_what_changed(repo: Repo, diff: Diff) -> None:
    header = "#define TIMES 1\n#define FACTOR 2\n"
    with_options = COPY.replace("n=65536\n", "n=65536 -DSCALED\n").replace(
        "b[i] = a[i];", "\n#ifdef SCALED\n  b[i] = FACTOR * a[i];\n#else\n  b[i] = a[i];\n#endif\n"
    )
    plain = COPY.replace("copy", "plain")
    files = {"a.cl": SCALE, "b.cl": with_options, "c.cl": plain, "d.cl": FAST.replace("scale", "fixed")}
    repo.commit({"h.h": header, **{name: '#include "h.h"\n' + text for name, text in files.items()}})
    repo.write({"h.h": header.replace("TIMES 1", "TIMES 4000")})
    assert list(diff().verdicts) == ["scale"]
    repo.write({"h.h": header.replace("FACTOR 2", "FACTOR 3")})
    assert list(diff().verdicts) == ["copy"]
    repo.write({"h.h": header + "#undef SCALED\n#define unused(x) (x)\n"})
    assert list(diff().verdicts) == ["copy"]
