"""Files of the user are written whole, or stay as they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from model.errors import SourceError
from server.cli.source_writing import write_edited


def test_an_edit_keeps_permissions_and_links(tmp_path: Path) -> None:
    file, link = tmp_path / "k.cl", tmp_path / "link.cl"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file)
    write_edited(link, "before", "after")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("after", 0o640)
    assert link.is_symlink()


def test_what_has_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "k.cl"
    file.write_text("edited by somebody")
    with pytest.raises(SourceError, match="has changed meanwhile"):
        write_edited(file, "before", "after")
    assert file.read_text() == "edited by somebody"


def test_where_it_cannot_be_finished_the_file_is_whole_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file = tmp_path / "k.cl"
    file.write_text("before")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SourceError, match="No space left on device"):
        write_edited(file, "before", "after")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"]
