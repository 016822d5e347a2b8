"""Zed's extension, which is not built here: manifest, grammar and languages fit together, and the colours parse."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tree_sitter_c
from tree_sitter import Language, Query

ZED = Path(__file__).resolve().parents[2] / "editors/zed"
LANGUAGE = ZED / "languages/opencl"


def read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def test_the_manifest_names_what_is_there() -> None:
    manifest, language, crate = (
        read(file) for file in (ZED / "extension.toml", LANGUAGE / "config.toml", ZED / "Cargo.toml")
    )
    project = read(ZED.parents[1] / "pyproject.toml")["project"]
    assert manifest["version"] == crate["package"]["version"] == project["version"]
    assert manifest["repository"] == project["urls"]["Source"]
    assert language["grammar"] in manifest["grammars"]
    server = manifest["language_servers"]["kernelcast"]
    assert server["languages"] == [language["name"]] == list(server["language_ids"])
    extension = json.loads((ZED.parent / "vscode/package.json").read_text(encoding="utf-8"))
    (known,) = extension["contributes"]["languages"]
    assert server["language_ids"][language["name"]] == known["id"]
    assert [f".{suffix}" for suffix in language["path_suffixes"]] == known["extensions"]
    assert (ZED / crate["lib"]["path"]).is_file()


def test_the_grammar_knows_what_is_coloured() -> None:
    Query(Language(tree_sitter_c.language()), (LANGUAGE / "highlights.scm").read_text(encoding="utf-8"))


@pytest.mark.parametrize("word", ["serve", "--stdio", 'const SERVER: &str = "kernelcast"'])
def test_the_extension_starts_the_server(word: str) -> None:
    assert word in (ZED / "src/kernelcast.rs").read_text(encoding="utf-8")
