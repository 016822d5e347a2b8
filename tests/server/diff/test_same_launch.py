"""Both versions do the work of the new version's launch."""

from __future__ import annotations

from tests.server.diff.conftest import COPY, FAST, Diff, Repo

_HEAD = "// kernelcast: global=65536 local=64 n=65536\n"


def test_the_new_sources_say_the_launch_of_both(repo: Repo, diff: Diff) -> None:
    small = "// kernelcast: global=1024 local=32 n=1024\n"
    repo.commit({"k.cl": FAST.replace(_HEAD, small)})
    repo.write({"k.cl": FAST.replace("s += a", "s -= a")})
    (change,) = diff().changes
    assert change["launch"] == "65536 / 64"
    assert "the old version's own launch is 1024 / 32; both are taken under the new one's" in change["reason"]
    assert change["verdict"] == "no clear change"
    repo.commit({"k.cl": FAST})
    repo.write({"k.cl": FAST.replace("s += a", "s -= a")})
    (alike,) = diff().changes
    assert alike["ratio"] == change["ratio"]
    assert alike["old_us"] == change["old_us"]


def test_a_launch_alone_that_changes_is_no_change_of_the_kernel(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST})
    repo.write({"k.cl": FAST.replace("65536", "1048576")})
    assert diff().changes == []


def test_a_renamed_argument_keeps_its_value(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": COPY})
    repo.write({"k.cl": COPY.replace("n=65536", "count=65536").replace("int n", "int count").replace("< n", "< count")})
    (change,) = diff().changes
    assert "argument `n` is now `count`" in change["reason"]
    assert change["ratio"]["p50"] == 1


def test_arguments_that_come_and_go_are_told(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": COPY})
    changed = COPY.replace("int n)", "int n, float f, __global int *c)").replace("= a[i]", "= a[i] * f + c[i]")
    repo.commit({"k.cl": changed})
    (change,) = diff("HEAD~1..HEAD").changes
    assert "argument `f` is new; argument `c` is new" in change["reason"]
    assert change["ratio"] is not None
    (back,) = diff("HEAD..HEAD~1").changes
    assert "argument `f` is gone; argument `c` is gone" in back["reason"]


def test_a_buffer_of_wider_elements_has_as_many_bytes(repo: Repo, diff: Diff) -> None:
    wide = COPY.replace("65536 local", "16384 local").replace("n=65536", "n=16384 a=n b=n").replace("float", "float4")
    repo.commit({"k.cl": COPY.replace("n=65536", "n=65536 a=n b=n")})
    repo.write({"k.cl": wide})
    (change,) = diff().changes
    assert change["launch"] == "16384 / 64"
    assert change["ratio"]["p50"] > 1  # four times the bytes for as many work-items


def test_a_launch_that_the_old_version_cannot_have_leaves_it_open(repo: Repo, diff: Diff) -> None:
    fixed = COPY.replace("__kernel", "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))").replace("=64", "=256")
    repo.commit({"k.cl": fixed})
    repo.write({"k.cl": COPY})
    (change,) = diff().changes
    assert (change["verdict"], change["ratio"]) == ("unknown", None)
    assert "requires work-groups of 256x1x1" in change["reason"]
    assert "cannot tell, because the old version requires" in diff(form="text").out


def test_build_options_of_the_new_launch_decide_what_either_version_means(repo: Repo, diff: Diff) -> None:
    text = COPY.replace("n=65536\n", "n=65536 -DTWICE name=twice\n").replace(
        "b[i] = a[i];", "\n#ifdef TWICE\n  b[i] = 2 * a[i];\n#else\n  b[i] = a[i];\n#endif\n"
    )
    repo.commit({"k.cl": text})
    repo.write({"k.cl": text.replace("2 * a[i]", "sin(a[i])")})
    (change,) = diff().changes
    assert change["launch"] == "twice: 65536 / 64"
    repo.write({"k.cl": text.replace("  b[i] = a[i];", "  b[i] = 3 * a[i];")})
    assert diff().changes == []


def test_flags_of_the_call_hold_for_both(repo: Repo, diff: Diff) -> None:
    text = FAST.replace("k < 1", "k < TIMES * STEP").replace("float s", "\n#define STEP 1\n  float s")
    repo.commit({"k.cl": text})
    repo.write({"k.cl": text.replace("STEP 1", "STEP 2")})
    (change,) = diff("-D", "TIMES=1000").changes
    assert change["verdict"] != "unknown"
    assert change["ratio"]["p50"] > 1.5
