"""The files that users copy start the same command as the documentation says, and are well-formed."""

from __future__ import annotations

import json
import re
import tomllib

from tests.editors.others.conftest import REPOSITORY

EDITORS = REPOSITORY / "editors"
COMMAND = ["kernelcast", "serve", "--stdio"]


def test_helix() -> None:
    told = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text())
    server = told["language-server"]["kernelcast"]
    assert [server["command"], *server["args"]] == COMMAND
    assert told["language"][0]["language-servers"] == ["kernelcast"]


def test_kate() -> None:
    told = json.loads((EDITORS / "kate" / "settings.json").read_text())
    assert told["servers"]["opencl"]["command"] == COMMAND


def test_sublime_text() -> None:
    text = (EDITORS / "sublime" / "LSP-kernelcast.sublime-settings").read_text()
    told = json.loads(re.sub(r"//.*", "", text))
    assert told["clients"]["kernelcast"]["command"] == COMMAND


def test_documentation_points_to_files_that_exist() -> None:
    page = REPOSITORY / "docs/pages/editors.md"
    named = re.findall(r"\]\(((?:\.\./)+editors/(?:helix|emacs|kate|sublime|zed)[^)]*)\)", page.read_text())
    assert {path.split("/")[3] for path in named} == {"helix", "emacs", "kate", "sublime", "zed"}
    assert [path for path in named if not (page.parent / path).is_file()] == []
