"""The action, the hook and the jobs that the documentation shows, run as far as they go without their hosts."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.server.diff.conftest import COPY, FAST, SLOW, Repo

_GH = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  *--paginate*) echo "$KNOWN_COMMENT" ;;
esac
exit "${GH_STATUS:-0}"
"""


@pytest.fixture
def action(repository: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((repository / "action.yml").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def checkout(repo: Repo, tmp_path: Path) -> Repo:
    """A checkout of the last of two commits alone, as hosts make it."""
    repo.commit({"k.cl": FAST + COPY})
    repo.commit({"k.cl": SLOW + COPY})
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.folder}", str(tmp_path / "checkout"))
    return Repo(tmp_path / "checkout")


Step = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def step(action: dict[str, Any], kernelcast: str, tmp_path: Path, repository: Path) -> Step:
    """Runs one of the action's scripts as a runner does: `bash -e -o pipefail`, inputs in its environment."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "gh").write_text(_GH)
    (tools / "gh").chmod((tools / "gh").stat().st_mode | stat.S_IXUSR)

    def run(name: str, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
        (wanted,) = [each for each in action["runs"]["steps"] if each.get("name") == name]
        inputs = dict.fromkeys(wanted.get("env", {}), "")
        environment = {
            **os.environ,
            **inputs,
            "PATH": os.pathsep.join((str(tools), str(Path(kernelcast).parent), os.environ["PATH"])),
            "PYTHONPATH": str(repository),
            "RUNNER_TEMP": str(tmp_path / "runner temp"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_REPOSITORY": "owner/name",
            "CALLS": str(tmp_path / "calls"),
            "KNOWN_COMMENT": "",
            **given,
        }
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", wanted["run"]]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    return run


def _outputs(tmp_path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())


def test_the_action_compares_a_checkout_of_one_commit_and_fails_by_its_rules(
    checkout: Repo, repo: Repo, step: Step, tmp_path: Path
) -> None:
    base = repo.git("rev-parse", "HEAD~1")
    inputs = {"BASE": base, "HEAD": "HEAD", "DEVICE": "generic-cpu generic-gpu", "ARGUMENTS": "--analytic-only\n"}
    done = step("Compare", checkout.folder, FAIL_ON="slower:10%", **inputs)
    assert done.returncode == 0, done.stderr
    assert "likely slower" in done.stdout
    outputs = _outputs(tmp_path)
    assert outputs["status"] == "1"
    folder = Path(outputs["folder"])
    assert {each.suffix for each in folder.iterdir()} == {".json", ".md", ".sarif", ".xml"}
    assert "scale" in (tmp_path / "summary").read_text()
    assert step("Verdict", checkout.folder, STATUS=outputs["status"]).returncode == 1
    assert step("Verdict", checkout.folder, STATUS="0").returncode == 0


def test_the_action_takes_names_of_branches(checkout: Repo, repo: Repo, step: Step, tmp_path: Path) -> None:
    repo.git("branch", "release", "HEAD~1")
    done = step("Compare", checkout.folder, BASE="release", HEAD="HEAD", DEVICE="generic-cpu")
    assert (done.returncode, _outputs(tmp_path)["status"]) == (0, "0")
    assert "1 kernel changed" in done.stdout


def test_the_action_fails_with_the_sentence_of_a_wrong_call(checkout: Repo, step: Step) -> None:
    done = step("Compare", checkout.folder, BASE="HEAD", HEAD="HEAD", DEVICE="no-such-device")
    assert done.returncode == 2
    assert "no-such-device" in done.stderr
    assert step("Compare", checkout.folder, BASE="no-such-branch", HEAD="HEAD").returncode != 0


def test_the_first_push_of_a_branch_has_nothing_to_compare_with(checkout: Repo, step: Step, tmp_path: Path) -> None:
    done = step("Compare", checkout.folder, BASE="0" * 40, HEAD="HEAD")
    assert (done.returncode, _outputs(tmp_path)) == (0, {"status": "0"})


def test_no_name_of_a_branch_runs_a_command(checkout: Repo, step: Step, tmp_path: Path, action: dict[str, Any]) -> None:
    step("Compare", checkout.folder, BASE=f"$(touch {tmp_path}/bad)`touch {tmp_path}/bad`", HEAD="HEAD")
    assert not (tmp_path / "bad").exists()
    scripts = [each["run"] for each in action["runs"]["steps"] if "run" in each]
    assert not any("${{" in script for script in scripts)


@pytest.mark.parametrize("known", ["", "77"])
def test_one_comment_is_written_and_then_kept_up_to_date(step: Step, tmp_path: Path, known: str) -> None:
    (tmp_path / "kernelcast.md").write_text("<!-- kernelcast diff -->\n| Kernel |\n")
    done = step("Comment", tmp_path, NUMBER="5", FOLDER=str(tmp_path), GH_TOKEN="t", KNOWN_COMMENT=known)
    assert done.returncode == 0, done.stderr
    listed, written = (tmp_path / "calls").read_text().splitlines()
    assert "repos/owner/name/issues/5/comments" in listed
    method = (
        "--method PATCH repos/owner/name/issues/comments/77" if known else "--method POST repos/owner/name/issues/5"
    )
    assert written.startswith(f"api {method}")
    assert written.endswith(f"body=@{tmp_path}/kernelcast.md")


def test_no_comment_is_written_where_nothing_changed(step: Step, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.md").write_text("<!-- kernelcast diff -->\n### no kernels changed\n")
    assert step("Comment", tmp_path, NUMBER="5", FOLDER=str(tmp_path)).returncode == 0
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_a_pull_request_of_a_fork_gets_a_warning_and_no_failure(step: Step, tmp_path: Path) -> None:
    (tmp_path / "kernelcast.md").write_text("| Kernel |\n")
    done = step("Comment", tmp_path, NUMBER="5", FOLDER=str(tmp_path), GH_STATUS="1")
    assert done.returncode == 0
    assert "::warning::" in done.stdout


def test_every_input_of_the_action_is_used_and_documented(action: dict[str, Any], repository: Path) -> None:
    text = (repository / "action.yml").read_text(encoding="utf-8")
    page = (repository / "docs/pages/review.md").read_text(encoding="utf-8")
    for name in action["inputs"]:
        assert f"inputs.{name}" in text
        assert f"`{name}`" in page
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(action["inputs"])
    assert all(each.get("shell") for each in action["runs"]["steps"] if "run" in each)


def test_the_hook_fails_a_commit_that_makes_a_kernel_slower(repo: Repo, kernelcast: str, repository: Path) -> None:
    (hook,) = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["pass_filenames"] is False
    assert re.search(hook["files"], "src/k.cl")
    assert not re.search(hook["files"], "README.md")
    command = [kernelcast, *shlex.split(hook["entry"])[1:], "--device", "generic-cpu"]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    repo.commit({"k.cl": FAST})
    repo.write({"k.cl": "// faster\n" + FAST})
    repo.git("add", "--all")
    assert subprocess.run(command, cwd=repo.folder, env=environment, check=False).returncode == 0
    repo.write({"k.cl": SLOW})
    repo.git("add", "--all")
    assert subprocess.run(command, cwd=repo.folder, env=environment, check=False).returncode == 1


def test_the_job_of_gitlab_writes_what_its_artifacts_name(repo: Repo, kernelcast: str, repository: Path) -> None:
    page = (repository / "docs/pages/review.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(each) for each in re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.DOTALL)]
    (job,) = [each["kernelcast"] for each in blocks if "kernelcast" in each]
    base = repo.commit({"k.cl": FAST})
    repo.commit({"k.cl": SLOW})
    (script,) = [line for line in job["script"] if line.startswith("kernelcast ")]
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(kernelcast).parent), os.environ["PATH"])),
        "PYTHONPATH": str(repository),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
    }
    done = subprocess.run(["bash", "-c", script], cwd=repo.folder, env=environment, check=False)
    assert done.returncode in (0, 1)
    for name in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (repo.folder / name).exists()
