"""Repositories as they come: shallow, bare, with submodules and conflicts, odd names, or none at all."""

from __future__ import annotations

import os
import string
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.diff.git import Entry, Repository
from server.diff.trees import CommitTree, commit_tree, is_plain
from tests.server.diff.conftest import COPY, FAST, SCALE, SLOW, Diff, Repo

RepoAt = Callable[[Path], Repo]


def test_a_base_that_a_shallow_clone_lacks_is_named_with_what_to_do(repo: Repo, diff: Diff, tmp_path: Path) -> None:
    first = repo.commit({"k.cl": FAST})
    repo.commit({"k.cl": SLOW})
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.folder}", str(tmp_path / "shallow"))
    told = diff(f"{first}..HEAD", folder=tmp_path / "shallow")
    assert (told.status, told.out) == (2, "")
    assert f"`{first}` is not a revision" in told.err
    assert "the clone is shallow: fetch more of its history first" in told.err


def test_a_revision_that_is_none_is_named(repo: Repo, diff: Diff) -> None:
    told = diff("HEAD")
    assert (told.status, "has no commit yet" in told.err) == (2, True)
    repo.commit({"sub/k.cl": FAST})
    told = diff("nowhere..HEAD")
    assert told.status == 2
    assert "`nowhere` is not a revision" in told.err
    assert "shallow" not in told.err
    told = diff("sub")
    assert (told.status, "`sub` is a folder, and no revision" in told.err) == (2, True)
    assert diff("a", "b", "c").status == 2
    told = diff("sub/k.cl", "sub/k.cl")
    assert (told.status, "`kernelcast compare OLD NEW` compares two files" in told.err) == (2, True)


@pytest.mark.parametrize("words", [("",), ("..",), ("...",), ("", "HEAD")])
def test_variables_that_are_not_set_are_a_wrong_call_and_not_an_empty_comparison(
    repo: Repo, diff: Diff, words: tuple[str, ...]
) -> None:
    repo.commit({"k.cl": FAST})
    assert diff(*words).status == 2


def test_a_bare_repository_has_revisions_but_no_working_tree(repo: Repo, diff: Diff, tmp_path: Path) -> None:
    repo.commit({"k.cl": FAST, "kernelcast.toml": "[[launch]]\nglobal = [4096]\n"})
    repo.commit({"k.cl": SLOW})
    repo.git("clone", "-q", "--bare", str(repo.folder), str(tmp_path / "bare.git"))
    told = diff(folder=tmp_path / "bare.git")
    assert (told.status, "is bare" in told.err, "BASE..HEAD" in told.err) == (2, True, True)
    assert diff("HEAD~1..HEAD", folder=tmp_path / "bare.git").verdicts == {"scale": "slower"}


def test_outside_of_a_repository_the_sentence_says_what_works(diff: Diff, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    told = diff("--repository", str(tmp_path / "plain"))
    assert told.status == 2
    assert "is in no Git repository; two folders can be compared without one" in told.err
    assert diff("--repository", str(tmp_path / "nowhere")).status == 2


def test_without_git_folders_can_still_be_compared(
    repo: Repo, diff: Diff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("old", FAST), ("new", SLOW)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.cl").write_text(text)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    told = diff()
    assert told.status == 2
    assert "Git is not installed" in told.err
    assert diff(str(tmp_path / "old"), str(tmp_path / "new")).verdicts == {"scale": "slower"}


def test_a_hook_s_environment_does_not_hide_the_repository(
    repo: Repo, diff: Diff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({"k.cl": FAST})
    repo.write({"k.cl": SLOW})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere" / "index"))
    assert diff().verdicts == {"scale": "slower"}


@pytest.mark.parametrize("where", ["a sub folder", "."])
def test_it_is_the_whole_repository_wherever_one_stands(repo: Repo, diff: Diff, where: str) -> None:
    repo.commit({"k.cl": FAST, "a sub folder/o.cl": COPY})
    repo.write({"k.cl": SLOW})
    assert diff(folder=repo.folder / where).verdicts == {"scale": "slower"}


def test_files_of_submodules_count_and_each_version_has_its_own(
    repo: Repo, repo_at: RepoAt, diff: Diff, tmp_path: Path
) -> None:
    library = repo_at(tmp_path / "library")
    library.commit({"inc/times.h": "#define TIMES 1\n", "own.cl": COPY})
    repo.write({"k.cl": '#include "lib/inc/times.h"\n' + SCALE})
    repo.git("submodule", "--quiet", "add", str(library.folder), "lib")
    repo.commit()
    library.commit({"inc/times.h": "#define TIMES 4000\n", "own.cl": COPY.replace("a[i]", "2 * a[i]")})
    inner = Repo(repo.folder / "lib")
    inner.git("pull", "-q", "origin", "main")
    assert {(each["kernel"], each["file"]) for each in diff().changes} == {("scale", "k.cl"), ("copy", "lib/own.cl")}
    repo.commit()
    assert diff("HEAD~1..HEAD").verdicts == {"scale": "slower", "copy": "no clear change"}
    inner.write({"own.cl": FAST})
    assert "scale" in diff().verdicts
    repo.git("clone", "-q", str(repo.folder), str(tmp_path / "without"))
    told = diff("HEAD~1..HEAD", folder=tmp_path / "without")
    assert told.status == 0
    assert diff(folder=tmp_path / "without").err == "kernelcast: the submodule lib is not cloned: it is not read\n"


def test_kernels_between_the_marks_of_a_conflict_cannot_be_told(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST + COPY})
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"k.cl": SLOW + COPY})
    repo.git("checkout", "-q", "main")
    repo.commit({"k.cl": FAST.replace("k < 1", "k < 7") + COPY})
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "topic")
    told = diff()
    assert told.status == 0
    (change,) = [each for each in told.changes if each["kernel"] == "scale"]
    assert (change["verdict"], change["reason"]) == ("unknown", "k.cl has the marks of a merge conflict")


def test_binary_files_are_named_and_left(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": b"\x7fELF\0\0kernel void x" * 50, "o.cl": COPY})
    repo.write({"k.cl": b"\x7fELF\0\1kernel void x" * 50})
    told = diff()
    assert (told.changes, told.err) == ([], "kernelcast: k.cl is binary: it is not read\n")


@pytest.mark.parametrize("kept", ["old", "new", "neither"])
def test_a_file_that_git_has_lost_is_named_and_its_kernels_left_open(repo: Repo, diff: Diff, kept: str) -> None:
    repo.commit({"k.cl": FAST})
    repo.commit({"k.cl": SLOW})
    lost = [side for side, revision in (("old", "HEAD~1"), ("new", "HEAD")) if side != kept]
    for revision in (each for side, each in (("old", "HEAD~1"), ("new", "HEAD")) if side in lost):
        oid = repo.git("rev-parse", f"{revision}:k.cl")
        (repo.folder / ".git/objects" / oid[:2] / oid[2:]).unlink()
    told = diff("HEAD~1..HEAD", "--fail-on", "unknown")
    assert told.err.count("cannot be read: it is missing") == len(lost)
    assert told.verdicts == ({} if kept == "neither" else {"scale": "unknown"})
    assert told.status == (0 if kept == "neither" else 1)


def test_a_file_that_is_too_large_is_named_and_its_kernels_left_open(repo: Repo, diff: Diff, tmp_path: Path) -> None:
    repo.commit({"k.cl": FAST})
    large = SLOW + "// x\n" * 4_000_000
    repo.write({"k.cl": large})
    told = diff()
    assert told.verdicts == {"scale": "unknown"}
    assert "k.cl of the working tree cannot be read: it is missing, larger than 16 MiB" in told.err
    for name, text in (("was", FAST), ("now", large)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.cl").write_text(text)
    assert diff("was", "now", folder=tmp_path).verdicts == {"scale": "unknown"}


def test_files_that_a_sparse_checkout_leaves_out_are_neither_gone_nor_old(repo: Repo, diff: Diff) -> None:
    include = '#include "../inc/times.h"\n'
    repo.commit({"inc/times.h": "#define TIMES 1\n", "src/k.cl": include + SCALE, "other/o.cl": COPY})
    repo.commit({"inc/times.h": "#define TIMES 4000\n", "other/o.cl": COPY.replace("a[i];", "a[i] * 2;")})
    repo.git("sparse-checkout", "set", "--no-cone", "src/")
    assert not (repo.folder / "inc").exists()
    assert diff("HEAD").changes == []
    assert diff("HEAD~1").verdicts == {"scale": "slower", "copy": "no clear change"}


@pytest.mark.parametrize("setting", ["color.ui", "color.grep", "grep.lineNumber", "grep.fullName", "grep.column"])
def test_users_settings_of_git_do_not_hide_what_includes_a_changed_header(repo: Repo, diff: Diff, setting: str) -> None:
    repo.git("config", setting, "always" if setting.startswith("color") else "true")
    repo.commit({"times.h": "#define TIMES 1\n", "k.cl": '#include "times.h"\n' + SCALE})
    repo.commit({"times.h": "#define TIMES 4000\n"})
    assert diff("HEAD~1..HEAD").verdicts == {"scale": "slower"}


def test_latin_1_and_line_ends_of_other_systems_are_read(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": ("// gr\xfc\xdfe\n" + FAST).encode("latin-1")})
    repo.commit({"k.cl": ("// gr\xfc\xdfe\n" + FAST).replace("\n", "\r\n").encode("latin-1")})
    assert diff("HEAD~1..HEAD").changes == []
    repo.write({"k.cl": SLOW.replace("\n", "\r\n")})
    assert diff().verdicts == {"scale": "slower"}


_NAMES = [
    "with space.cl", "quo'te\".cl", "ünïcödé.cl", "tab\tand\nline.cl", "-dash.cl", "a:b.cl", "*glob?.cl", "HEAD.cl",
    "deep/er/$(touch x).cl", "[x].cl", "&amp;<b>|`.cl",
]  # fmt: skip


def test_odd_names_are_names(repo: Repo, diff: Diff) -> None:
    repo.commit({name: FAST.replace("scale", f"k{at}") for at, name in enumerate(_NAMES)})
    repo.commit({name: SLOW.replace("scale", f"k{at}") for at, name in enumerate(_NAMES)})
    expected = {f"k{at}": name for at, name in enumerate(_NAMES)}
    assert {each["kernel"]: each["file"] for each in diff("HEAD~1..HEAD").changes} == expected
    assert set(diff("HEAD~1").verdicts.values()) == {"slower"}
    for form in ("text", "markdown", "sarif", "junit"):
        assert diff("HEAD~1", form=form).status == 0


@pytest.mark.skipif(os.name == "nt", reason="names there are text")
def test_a_name_that_is_no_text_is_a_name(repo: Repo, diff: Diff) -> None:
    name = os.fsdecode(b"k\xff.cl")
    try:
        repo.commit({name: FAST})
    except OSError:
        pytest.skip("this file system refuses such names")
    repo.write({name: SLOW})
    assert diff().verdicts == {"scale": "slower"}
    for form in ("text", "markdown", "sarif", "junit"):
        assert diff("HEAD", form=form).status == 0


def test_links_in_a_commit_lead_to_files_of_that_commit_and_nowhere_else(
    repo: Repo, diff: Diff, tmp_path: Path
) -> None:
    (tmp_path / "secret.h").write_text("#define TIMES 4000\n")
    repo.write({"inc/real.h": "#define TIMES 1\n", "k.cl": '#include "link.h"\n' + SCALE})
    (repo.folder / "link.h").symlink_to("inc/real.h")
    repo.commit()
    repo.commit({"inc/real.h": "#define TIMES 4000\n"})
    tree = commit_tree(Repository(repo.folder), repo.git("rev-parse", "HEAD"), "HEAD")
    assert tree.read(["link.h"]) == {"link.h": b"#define TIMES 4000\n"}
    (repo.folder / "link.h").unlink()
    (repo.folder / "link.h").symlink_to(tmp_path / "secret.h")
    outside = commit_tree(Repository(repo.folder), repo.commit(), "HEAD")
    assert outside.read(["link.h"]) == {}


@pytest.mark.parametrize("path", ["../x.cl", "/etc/x.cl", "a/../../x.cl", ".git/config", "a/.GIT/x.cl", "a//b.cl", ""])
def test_a_crafted_path_leads_nowhere(path: str) -> None:
    assert not is_plain(path)


def test_a_link_that_leads_to_itself_is_no_file() -> None:
    tree = CommitTree("t", {}, (), {"a": Entry("120000", "0" * 40)}, (("", Repository(Path()), "x"),))
    assert tree.read(["b"]) == {}


def test_a_file_larger_than_compilers_take_is_left_out(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST, "big.h": b"// x\n" * 4_000_000})
    repo.commit({"k.cl": '#include "big.h"\n' + SLOW})
    assert diff("HEAD~1..HEAD").verdicts == {"scale": "slower"}


_SPACES = st.sampled_from([" ", "  ", "\n", "\t", " /* c */ ", " // kernelcast\n", "\n\n"])
_LETTERS = st.text(string.ascii_lowercase, min_size=3, max_size=12)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_spacing_or_comment_is_a_change(repo: Repo, diff: Diff, data: st.DataObject) -> None:
    body = FAST.partition("\n")[2] + COPY.partition("\n")[2]
    repo.commit({"k.cl": body})
    words = body.split()
    other = "".join(word + data.draw(_SPACES) for word in words)
    repo.write({"k.cl": other})
    assert diff().changes == []


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(folder=_LETTERS, file=_LETTERS, kernel=_LETTERS.filter(lambda name: name not in ("for", "int", "void", "float")))
def test_whatever_a_file_and_its_kernel_are_renamed_to_they_are_matched(
    repo: Repo, diff: Diff, folder: str, file: str, kernel: str
) -> None:
    name = f"k_{kernel}"
    repo.git("rm", "-rfq", "--ignore-unmatch", ".")
    repo.commit({"one.cl": FAST, "two.cl": COPY})
    repo.git("rm", "-q", "one.cl")
    repo.commit({f"{folder}/{file}_.cl": FAST.replace("scale", name)})
    (change,) = diff("HEAD~1..HEAD").changes
    assert (change["kernel"], change["old"]["file"], change["verdict"]) == (name, "one.cl", "no clear change")
