"""What other programs read of a comparison, and what makes it fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.server.diff.conftest import COPY, FAST, SLOW, Diff, Repo

_FORMS = {"json": ".json", "markdown": ".md", "sarif": ".sarif", "junit": ".xml", "text": ".txt"}


@pytest.fixture
def changed(repo: Repo) -> Repo:
    """One kernel that is slower, one that is new, one that cannot be told."""
    fixed = COPY.replace("__kernel", "__kernel __attribute__((reqd_work_group_size(256, 1, 1)))").replace("=64", "=256")
    repo.commit({"k.cl": FAST, "f.cl": fixed})
    repo.write({"k.cl": SLOW, "f.cl": COPY, "n.cl": COPY.replace("copy", "fresh")})
    return repo


def test_the_table_says_verdicts_and_why(changed: Repo, diff: Diff) -> None:
    told = diff(form="text")
    assert told.status == 0
    first, *lines = told.out.splitlines()
    assert first == ("3 kernels changed from HEAD to the working tree: 1 likely slower, 1 cannot tell, 1 new")
    assert "likely slower" in next(line for line in lines if line.startswith("scale"))
    assert any(line.strip().startswith("- scale: predicted") for line in lines)
    assert any("copy: cannot tell, because the old version requires" in line for line in lines)


def test_nothing_changed_is_a_line_and_an_empty_list(repo: Repo, diff: Diff) -> None:
    repo.commit({"k.cl": FAST})
    assert diff(form="text").out == "no kernels changed from HEAD to the working tree\n"
    assert json.loads(diff(form="json").out) == []
    assert json.loads(diff(form="sarif").out)["runs"][0]["results"] == []
    assert ElementTree.fromstring(diff(form="junit").out).get("tests") == "0"


@pytest.mark.usefixtures("changed")
def test_json_is_a_list_with_these_keys(diff: Diff) -> None:
    found = diff().changes
    keys = {"kernel", "file", "line", "verdict", "ratio", "device", "launch", "reason"}
    assert all(keys <= each.keys() for each in found)
    assert [each["verdict"] for each in found] == ["slower", "unknown", "new"]


@pytest.mark.usefixtures("changed")
def test_files_are_written_beside_what_is_printed(diff: Diff, tmp_path: Path) -> None:
    words = [word for suffix in _FORMS.values() for word in ("-o", str(tmp_path / f"out{suffix}"))]
    printed = diff(*words, form="markdown")
    assert printed.status == 0
    for form, suffix in _FORMS.items():
        assert (tmp_path / f"out{suffix}").read_text().strip() == diff(form=form).out.strip()
    assert diff("-o", str(tmp_path / "out.pdf")).status == 2
    assert diff("-o", str(tmp_path / "no" / "out.md")).status == 2


def test_a_comment_holds_no_markup_of_the_author_of_a_change(repo: Repo, diff: Diff) -> None:
    name = "@me [x](http:evil) <img> `|`.cl"
    repo.commit({name: FAST})
    repo.write({name: SLOW})
    told = diff(form="markdown").out
    assert told.startswith("<!-- kernelcast diff -->\n")
    for bad in ("@me", "[x](", "<img>", "`|`"):
        assert bad not in told
    row = next(line for line in told.splitlines() if "k.cl" in line or "scale" in line)
    assert row.count("|") == 8


@pytest.fixture
def odd_names(repo: Repo) -> Repo:
    """A kernel in a file whose name would end a line, colour it, begin a command of a build's log and be a link."""
    was, now = "a\n::error::x/\x1b[31mred\u202e.cl", "[x](www.evil.com {0}/:tada: @me.cl"
    repo.commit({was: FAST})
    repo.git("rm", "-q", was)
    repo.write({now: SLOW})
    return repo


@pytest.mark.usefixtures("odd_names")
def test_no_name_of_a_file_begins_a_line_or_commands_a_terminal(diff: Diff) -> None:
    for form in ("text", "markdown"):
        told = diff(form=form).out
        assert not set("\x1b\u202e") & set(told)
        assert not any(line.lstrip().startswith("::") for line in told.splitlines())
    assert ":tada: @me.cl:2" in diff(form="text").out


@pytest.mark.usefixtures("odd_names")
def test_no_name_of_a_file_is_a_link_or_a_mention(diff: Diff) -> None:
    told = diff(form="markdown").out
    assert "www." not in told
    assert "@" not in told
    (reason,) = [line for line in told.splitlines() if line.startswith("- ")]
    assert "&#10;" not in reason
    (result,) = json.loads(diff(form="sarif").out)["runs"][0]["results"]
    assert "](" not in result["message"]["text"]
    assert "{0}" not in result["message"]["text"]


@pytest.mark.usefixtures("changed")
def test_a_file_has_no_colours(diff: Diff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert diff("-o", str(tmp_path / "out.txt")).status == 0
    assert "\x1b" not in (tmp_path / "out.txt").read_text()


def test_a_comment_is_no_longer_than_hosts_take(repo: Repo, diff: Diff) -> None:
    names = [f"a_kernel_of_some_length_{number}" for number in range(300)]
    repo.commit({"k.cl": "\n"})
    repo.write({"k.cl": "".join(f"__kernel void {name}(__global int *p) {{ p[0] = 1; }}\n" for name in names)})
    told = diff("--analytic-only", form="markdown").out
    assert len(told) < 65_536
    assert "more | | | | | | |" in told


@pytest.mark.usefixtures("changed")
def test_sarif_has_what_code_hosts_need(diff: Diff) -> None:
    log = json.loads(diff("--fail-on", "slower:10%", form="sarif").out)
    assert (log["version"], set(log)) == ("2.1.0", {"$schema", "version", "runs"})
    (run,) = log["runs"]
    rules: list[dict[str, Any]] = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "kernelcast"
    by_kernel = {each["locations"][0]["logicalLocations"][0]["name"]: each for each in run["results"]}
    assert {name: each["level"] for name, each in by_kernel.items()} == {
        "scale": "error", "copy": "note", "fresh": "note",
    }  # fmt: skip
    prints = [each["partialFingerprints"]["kernelcast/v1"] for each in run["results"]]
    assert len(set(prints)) == len(prints)
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
        (location,) = each["locations"]
        place = location["physicalLocation"]
        assert not place["artifactLocation"]["uri"].startswith(("/", "."))
        assert place["region"]["startLine"] >= 1
        assert each["message"]["text"]
    for rule in rules:
        assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))


@pytest.mark.usefixtures("changed")
def test_junit_counts_what_fails_and_what_is_left_open(diff: Diff) -> None:
    root = ElementTree.fromstring(diff("--fail-on", "slower:10%", form="junit").out)
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    outcome = {case.get("name"): [each.tag for each in case] for case in suite}
    assert outcome == {
        "scale (65536 / 64)": ["failure"], "copy (65536 / 64)": ["skipped"], "fresh (65536 / 64)": ["system-out"],
    }  # fmt: skip


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize(
    ("rules", "status"),
    [("slower", 1), ("slower:10%", 1), ("slower:10", 1), ("slower:1000000%", 0), ("faster", 0), ("unknown", 1),
     ("new", 1), ("gone,no-clear-change", 0), ("gone,new", 1)],
)  # fmt: skip
def test_the_exit_status_follows_the_rules(diff: Diff, rules: str, status: int) -> None:
    assert diff("--fail-on", rules).status == status


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("rules", ["slow", "slower:x%", "slower:-1%", "new:10%", "slower:nan%", "slower:inf%"])
def test_a_rule_that_is_none_is_a_wrong_call(diff: Diff, rules: str) -> None:
    told = diff("--fail-on", rules)
    assert (told.status, told.out) == (2, "")
    assert "--fail-on" in told.err


def test_what_was_accepted_fails_only_once_its_kernel_changes_again(changed: Repo, diff: Diff, tmp_path: Path) -> None:
    file = tmp_path / "accepted.json"
    check = ("HEAD", "--fail-on", "slower:10%", "--baseline", str(file))
    told = diff(*check)
    assert (told.status, "--write-baseline writes it" in told.err) == (2, True)
    assert diff(*check, "--write-baseline").status == 0
    before = file.read_text()
    told = diff(*check)
    assert told.status == 0
    assert {each["kernel"]: each["accepted"] for each in told.changes} == {"scale": True, "copy": False, "fresh": False}
    assert "likely slower, accepted" in diff(*check, form="text").out
    results = json.loads(diff(*check, form="sarif").out)["runs"][0]["results"]
    (result,) = [each for each in results if "suppressions" in each]
    assert result["level"] == "warning"
    changed.write({"k.cl": "// a comment\n" + SLOW})
    assert diff(*check).status == 0
    changed.write({"k.cl": SLOW.replace("4000", "8000")})
    assert diff(*check).status == 1
    assert file.read_text() == before
    assert diff(*check, "--write-baseline").status == 0
    assert diff(*check).status == 0
    assert file.read_text().count('"scale"') == 1


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 2, "accepted": []}', '{"version": 1, "accepted": [1]}', "\0"]
)
def test_a_baseline_that_is_none_is_named(diff: Diff, tmp_path: Path, content: str) -> None:
    (tmp_path / "b.json").write_text(content)
    told = diff("--baseline", str(tmp_path / "b.json"))
    assert told.status == 2
    assert "is not a baseline of `kernelcast diff`" in told.err
    assert diff("--write-baseline").status == 2


@pytest.mark.usefixtures("changed")
def test_an_accepted_kernel_that_could_not_be_analysed_fails_again_once_its_file_changes(
    changed: Repo, diff: Diff, tmp_path: Path
) -> None:
    changed.write({"kernelcast.toml": '[device]\nid = "no such device"\n'})
    check = ("--fail-on", "unknown", "--baseline", str(tmp_path / "b.json"))
    assert diff(*check, "--write-baseline", device="").status == 0
    assert diff(*check, device="").status == 0
    changed.write({"k.cl": SLOW.replace("4000", "8000")})
    assert diff(*check, device="").status == 1


def test_a_configuration_that_cannot_be_read_is_named(changed: Repo, diff: Diff) -> None:
    changed.write({"sub/kernelcast.toml": "[[launch]]\nglobal = \n", "sub/k.cl": FAST})
    told = diff()
    assert (told.status, told.out) == (1, "")
    assert told.err.startswith("kernelcast: sub/kernelcast.toml: ")


def test_kernels_of_a_file_that_cannot_be_analysed_are_left_open(changed: Repo, diff: Diff) -> None:
    changed.write({"kernelcast.toml": '[device]\nid = "no such device"\n'})
    found = diff(device="").changes
    assert {each["kernel"]: each["verdict"] for each in found} == dict.fromkeys(("scale", "copy", "fresh"), "unknown")
    assert all("no such device" in each["reason"] for each in found)
    assert {each["line"] for each in found} == {2}


@pytest.mark.usefixtures("changed")
def test_a_device_that_nobody_knows_is_a_wrong_call(diff: Diff) -> None:
    assert diff(device="no such device").status == 2


@pytest.mark.device
def test_measured_versions_have_a_measured_ratio(repo: Repo, diff: Diff) -> None:
    repo.commit(
        {"inc/times.h": "#define TIMES 1\n", "k.cl": '#include "inc/times.h"\n' + FAST.replace("k < 1", "k < TIMES")}
    )
    repo.commit({"inc/times.h": "#define TIMES 2000\n"})
    (change,) = diff("HEAD~1..HEAD", "--measure", "--budget-s", "1", device="pocl").changes
    assert change["verdict"] == "slower"
    assert change["measured_ratio"]["low"] > 1
    assert "measured" in change["reason"]


@pytest.mark.device
def test_versions_that_do_not_build_are_said_once_and_to_have_no_results(repo: Repo, diff: Diff) -> None:
    broken = COPY.replace("__kernel", "__attribute__((vec_type_hint(nothing))) __kernel")
    repo.commit({"k.cl": broken})
    repo.commit({"k.cl": broken.replace("a[i];", "a[i] + 1;")})
    (change,) = diff("HEAD~1..HEAD", "--measure", "--budget-s", "1", device="pocl").changes
    assert change["measured_ratio"] is None
    assert change["reason"].count("not measured") == 1
    assert "results" not in change["reason"]
