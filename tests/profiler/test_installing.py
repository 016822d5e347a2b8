"""Tell what to type to add a package, by what made the environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from profiler.installing import Installer, install_command, installer, path_command, reinstall_command, upgrade_command

MADE_BY = {"uv-receipt.toml": "uv tool", "pipx_metadata.json": "pipx"}


@pytest.mark.parametrize("file", MADE_BY)
def test_an_environment_of_one_program_is_changed_by_what_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    (tmp_path / file).touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for command in (install_command("pocl"), upgrade_command(), reinstall_command("pcpp")):
        assert command.startswith(MADE_BY[file])
        assert "-m pip" not in command, "there is none in it"
    assert "'kernelcast[pocl]'" in install_command("pocl")
    assert str(path_command()).startswith(MADE_BY[file].split()[0])


@pytest.mark.parametrize(
    ("file", "note"),
    [
        ("uv-receipt.toml", '[tool]\nrequirements = [{ name = "kernelcast", extras = ["pocl"] }]\n'),
        ("pipx_metadata.json", '{"main_package": {"package_or_url": "kernelcast[pocl]"}}'),
    ],
)
def test_extras_that_are_there_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, note: str) -> None:
    (tmp_path / file).write_text(note)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert "'kernelcast[pocl,intel]'" in install_command("intel")
    assert "'kernelcast[pocl]'" in install_command("pocl")


def test_any_other_is_changed_by_its_own_pip(tmp_path: Path) -> None:
    assert installer(tmp_path) is Installer.PIP
    assert install_command("pocl") == f"{sys.executable} -m pip install 'kernelcast[pocl]'"
    assert reinstall_command("pcpp") == f"{sys.executable} -m pip install --force-reinstall pcpp"
