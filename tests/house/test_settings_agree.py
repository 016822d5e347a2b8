"""The server's settings are told alike wherever a user may read of them: VS Code, Neovim's help, the documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from server.client.settings import OPTIONS, Option, read_settings

REPOSITORY = Path(__file__).resolve().parents[2]
MANIFEST = REPOSITORY / "editors/vscode/package.json"
NEOVIM_HELP = REPOSITORY / "editors/neovim/doc/kernelcast.txt"
SCOPES = {"application", "machine", "machine-overridable", "window", "resource", "language-overridable"}
OF_THE_EXTENSION = {"server.path", "server.interpreter", "log.level", "trace.server"}

each_option = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)


def manifest_properties() -> dict[str, Any]:
    """What `contributes.configuration.properties` in the manifest must hold for the server's options."""
    return {
        f"kernelcast.{option.name}": {
            **option.schema,
            "default": option.default,
            "scope": "resource",
            "markdownDescription": option.description,
        }
        for option in OPTIONS
    }


def _declared() -> dict[str, Any]:
    configuration = json.loads(MANIFEST.read_text(encoding="utf-8"))["contributes"]["configuration"]
    parts = configuration if isinstance(configuration, list) else [configuration]
    return {name: told for part in parts for name, told in part["properties"].items()}


@each_option
def test_the_extension_declares(option: Option) -> None:
    name = f"kernelcast.{option.name}"
    wanted = manifest_properties()[name]
    told = _declared().get(name, {})
    assert told.get("scope") in ("resource", "window")  # the server asks for each workspace folder's
    wanted = {**wanted, "scope": told["scope"]}
    assert {key: told.get(key) for key in wanted} == wanted, f"it should be {json.dumps({name: wanted}, indent=2)}"


def test_the_extension_declares_nothing_that_nobody_reads() -> None:
    known = {f"kernelcast.{name}" for name in OF_THE_EXTENSION | {option.name for option in OPTIONS}}
    declared = _declared()
    assert set(declared) == known
    for name, told in declared.items():
        assert told.get("scope") in SCOPES, f"{name} has no scope"
        assert "default" in told, f"{name} has no default"
        assert (told.get("markdownDescription") or told.get("description", "")).endswith("."), name


@each_option
def test_the_help_of_neovim_tells(option: Option) -> None:
    text = _flowing(NEOVIM_HELP.read_text(encoding="utf-8"))
    name = re.escape(f"kernelcast.{option.name}")
    default = re.escape(_json(option.default))
    assert re.search(rf"\*{name}\*.{{0,80}}?{default}", text), f"`*kernelcast.{option.name}*`, then {default}"
    assert _plain(option.description) in _plain(text)


@each_option
def test_what_is_told_is_one_sentence_with_its_unit(option: Option) -> None:
    assert re.fullmatch(r"[A-Z][^\n]*[^.]\.", option.description)
    assert not re.search(r"\. [A-Z]", option.description)
    if option.unit:
        assert option.description.startswith(option.unit.capitalize())
        assert option.name.endswith(option.unit[0].upper())
    assert (option.schema["type"] == "number") == bool(option.unit)


@each_option
def test_the_default_is_a_value_that_is_accepted(option: Option) -> None:
    settings, problems = read_settings({option.name: option.default})
    assert (settings, problems) == read_settings(None)


@pytest.mark.parametrize("option", [o for o in OPTIONS if o.schema["type"] == "number"], ids=lambda o: o.name)
def test_the_limits_that_are_told_are_those_that_hold(option: Option) -> None:
    least, most = option.schema["minimum"], option.schema["maximum"]
    assert isinstance(least, int | float)
    assert isinstance(most, int | float)
    for allowed in (least, most):
        assert not read_settings({option.name: allowed})[1]
    for forbidden in (least * 0.99, most * 1.01, 0, -1):
        assert read_settings({option.name: forbidden})[1]


def _json(value: object) -> str:
    return json.dumps(value)


def _flowing(text: str) -> str:
    """Without the line breaks that a width of 78 columns brings."""
    return " ".join(text.split())


def _plain(text: str) -> str:
    """Without marks of Markdown or of Vim's help."""
    return _flowing(re.sub(r"[`|*]", "", text))
