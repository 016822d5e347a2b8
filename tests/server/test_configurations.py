"""`kernelcast.toml` is read when it changes, not at every keystroke."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from model.errors import ConfigError
from model.launch.config import load_config
from model.launch.config_file import CONFIG_NAME
from server.analysis import configurations
from server.analysis.configurations import Configurations


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / CONFIG_NAME
    path.write_text('[device]\nid = "pocl"\n')
    return path


def test_a_file_is_read_once_until_it_changes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []

    def counted(folder: Path) -> Any:
        reads.append(folder)
        return load_config(folder)

    monkeypatch.setattr(configurations, "load_config", counted)
    known = Configurations()
    os.utime(file, (1, 1))
    for _ in range(3):
        config = known.read(file)
        assert config is not None
        assert config.device_id == "pocl"
    assert len(reads) == 1
    file.write_text('[device]\nid = "cuda"\n')  # of the same length, at once
    config = known.read(file)
    assert config is not None
    assert config.device_id == "cuda"


def test_a_file_that_changes_twice_within_a_tick_of_the_clock_is_read_twice(file: Path) -> None:
    before = file.stat()
    known = Configurations(lambda: before.st_mtime)
    assert known.read(file) is not None
    file.write_text('[device]\nid = "cuda"\n')
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    config = known.read(file)
    assert config is not None
    assert config.device_id == "cuda"


def test_a_file_that_is_gone_says_nothing_and_a_broken_one_says_what(file: Path) -> None:
    known = Configurations()
    file.write_text("[device\n")
    with pytest.raises(ConfigError):
        known.read(file)
    file.unlink()
    assert known.read(file) is None
