"""What is published is whole: wheel and sdist with all their files, which run elsewhere; the release; the container."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

PACKAGES = ("server", "model", "profiler")
# Read in a checkout alone: pages, their pictures, and the dataset, which is made and trained on there.
NOT_SHIPPED = {".md", ".png", ".parquet"}
URLS = {"Homepage", "Documentation", "Source", "Issues", "Changelog"}


@pytest.fixture(scope="module")
def repository() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def source(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy: setuptools leaves files beside the sources."""
    copy = tmp_path_factory.mktemp("source")
    for name in PACKAGES:
        shutil.copytree(repository / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.parquet"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, copy)
    return copy


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist, made by setuptools as `python -m build` has it do."""
    folder = tmp_path_factory.mktemp("dist")
    make = "import sys, setuptools.build_meta as b; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"
    command = [sys.executable, "-c", make, str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=300)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_wheel_and_sdist_have_every_file_that_is_read(built: tuple[Path, Path], source: Path) -> None:
    files = {
        file.relative_to(source).as_posix()
        for package in PACKAGES
        for file in (source / package).rglob("*")
        if file.is_file() and file.suffix not in NOT_SHIPPED and "__pycache__" not in file.parts
    }
    wheel, sdist = built
    assert files - set(zipfile.ZipFile(wheel).namelist()) == set()
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert (files | {"LICENSE", "README.md", "pyproject.toml"}) - packed == set()


def test_the_metadata_say_where_to_go(built: tuple[Path, Path], repository: Path) -> None:
    with zipfile.ZipFile(built[0]) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        said = email.message_from_bytes(archive.read(name))
    urls = dict(each.split(", ", 1) for each in said.get_all("Project-URL") or ())
    assert set(urls) == URLS
    home = urls["Homepage"]
    assert all(url.startswith(home) for url in urls.values())
    manifest = json.loads((repository / "editors/vscode/package.json").read_text(encoding="utf-8"))
    assert manifest["repository"]["url"] == f"{home}.git"
    assert said["License-Expression"] == "MIT"
    assert "Typing :: Typed" in (said.get_all("Classifier") or ())


def test_the_wheel_predicts_outside_of_the_checkout(built: tuple[Path, Path], repository: Path, tmp_path: Path) -> None:
    """Its own packages come from the wheel, all others from this environment."""
    home = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(home)]
    subprocess.run([*install, str(built[0])], check=True, timeout=300)
    shutil.copy(repository / "tests/kernels/pair_distance.cl", tmp_path)
    start = "import sys, server; assert server.__file__.startswith(sys.argv[1]), server.__file__; del sys.argv[1]; "
    start += "from server.cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", start, str(home), "predict", "pair_distance.cl", "--device", "generic-cpu"]
    environment = {**os.environ, "PYTHONPATH": str(home), "XDG_DATA_HOME": str(tmp_path / "data")}
    environment.pop("KERNELCAST_WEIGHTS", None)  # the other tests do without them
    done = subprocess.run(
        [*command, "--format", "json"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["kernel"] == "pair_distance"
    assert answer["basis"] == "model", "the weights came along"


def test_versions_of_python_are_those_that_are_tried(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert project["requires-python"] == f">={named[0]}"
    assert _workflow(repository)["jobs"]["try"]["strategy"]["matrix"]["python"] == named


def _workflow(repository: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="the extra `dev` is not installed")
    found = yaml.safe_load((repository / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_release_publishes_only_what_was_tried(repository: Path) -> None:
    jobs = _workflow(repository)["jobs"]
    assert all(need in jobs for job in jobs.values() for need in _needs(job))
    assert {"build", "try", "extension"} <= set(_needs(jobs["publish"]))
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    # Pasted into a script, a tag's name could run commands: names come as variables.
    assert not [step["run"] for step in steps if "run" in step and "${{" in step["run"]]
    up = {step["with"]["name"] for step in steps if step.get("uses", "").startswith("actions/upload-artifact")}
    down = {step["with"]["name"] for step in steps if step.get("uses", "").startswith("actions/download-artifact")}
    assert down == up


def _needs(job: dict[str, Any]) -> list[str]:
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else list(needs)


def test_the_container_copies_what_is_there_and_may_be_copied(repository: Path) -> None:
    recipe = (repository / "Containerfile").read_text(encoding="utf-8")
    copied = [line.split()[1:-1] for line in recipe.splitlines() if line.startswith("COPY ") and "--from" not in line]
    names = {name for names in copied for name in names}
    assert all((repository / name).exists() for name in names)
    for ignore in (".containerignore", ".dockerignore"):
        allowed = {
            line[1:] for line in (repository / ignore).read_text(encoding="utf-8").splitlines() if line[:1] == "!"
        }
        assert names == allowed
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (python,) = set(re.findall(r"^FROM \S*python:([\d.]+)", recipe, re.MULTILINE))
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
    assert "USER kernelcast" in recipe
    assert "pocl" in project["optional-dependencies"]
    assert "[pocl]" in recipe
