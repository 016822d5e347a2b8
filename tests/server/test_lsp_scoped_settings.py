"""Settings hold for the folder they were made for, and folders named in them are found from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.client.settings import ScopedSettings, Settings

ONE, INNER, OTHER = "file:///work/one", "file:///work/one/inner", "file:///work/one-more"
SETTINGS = ScopedSettings(
    Settings(device="everywhere"), {f: Settings(device=f.rpartition("/")[2]) for f in (ONE, INNER, OTHER)}
)


@pytest.mark.parametrize(
    ("uri", "device"),
    [
        ("file:///work/one/k.cl", "one"),
        ("file:///work/one/inner/k.cl", "inner"),
        ("file:///work/one-more/k.cl", "one-more"),
        ("file:///elsewhere/k.cl", "everywhere"),
        ("untitled:k.cl", "everywhere"),
    ],
)
def test_the_innermost_folder_counts(uri: str, device: str) -> None:
    assert SETTINGS.of(uri, None, [ONE, INNER, OTHER]).device == device


def test_include_folders_start_at_the_workspace_folder() -> None:
    settings = ScopedSettings(Settings(include=("inc", "/usr/inc", "~/inc")))
    told = settings.of("file:///work/one/sub/k.cl", Path("/work/one/sub/k.cl"), [ONE]).options
    assert told.include_dirs == ("/work/one/inc", "/usr/inc", str(Path.home() / "inc"))


def test_without_a_workspace_folder_they_start_beside_the_file() -> None:
    settings = ScopedSettings(Settings(include=("inc",)))
    assert settings.of("file:///tmp/k.cl", Path("/tmp/k.cl"), []).include == ("/tmp/inc",)
    assert settings.of("untitled:k.cl", None, []).include == ("inc",)


def test_a_home_that_nobody_has_is_left_as_it_is() -> None:
    settings = ScopedSettings(Settings(include=("~nobody-of-that-name/inc",)))
    assert settings.of("file:///tmp/k.cl", Path("/tmp/k.cl"), []).include == ("~nobody-of-that-name/inc",)
