"""The schema of `kernelcast.toml` knows the keys that the code reads, and takes every example of the documentation."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from model.errors import KernelcastError
from model.launch.config import parse_config
from server.config_schema import config_schema

REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = REPOSITORY / "editors/vscode/schemas/kernelcast.schema.json"
PROPERTIES = config_schema()["properties"]
PLACES = {
    "": ("", PROPERTIES),
    "launch": ("[[launch]]\n", PROPERTIES["launch"]["items"]["properties"]),
    "pipeline": ("[[pipeline]]\n", PROPERTIES["pipeline"]["items"]["properties"]),
    "pipeline step": (
        '[[pipeline]]\nname = "a"\n[[pipeline.steps]]\n',
        PROPERTIES["pipeline"]["items"]["properties"]["steps"]["items"]["properties"],
    ),
    **{name: (f"[{name}]\n", PROPERTIES[name]["properties"]) for name in ("device", "hints", "advice", "build")},
}
EXAMPLES = [
    block
    for page in sorted((REPOSITORY / "docs/pages").glob("*.md"))
    for block in re.findall(r"^```toml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
]


@pytest.mark.parametrize("place", PLACES)
def test_the_schema_has_the_keys_that_are_read(place: str) -> None:
    header, properties = PLACES[place]
    with pytest.raises(KernelcastError) as refused:
        parse_config(f"{header}nonsense = 1\n", Path("/kernelcast.toml"))
    known = re.search(r"known are ([\w, ]+)", refused.value.message)
    assert known
    assert set(known[1].split(", ")) == set(properties)


def test_every_key_says_what_it_is() -> None:
    for _, properties in PLACES.values():
        for key, schema in properties.items():
            assert schema["description"].endswith("."), key


def test_the_extension_ships_the_schema_as_it_is_now() -> None:
    """`kernelcast schema > editors/vscode/schemas/kernelcast.schema.json` writes it anew."""
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == config_schema()
    manifest = json.loads((REPOSITORY / "editors/vscode/package.json").read_text(encoding="utf-8"))
    (validation,) = manifest["contributes"]["tomlValidation"]
    assert validation["fileMatch"] == "kernelcast.toml"
    assert (REPOSITORY / "editors/vscode" / validation["url"]) == SHIPPED
    assert any(SHIPPED.match(pattern) for pattern in manifest["files"])


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_documentation_hold(example: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `dev` is not installed")
    content = tomllib.loads(example)
    parse_config(example, Path("/kernelcast.toml"))
    jsonschema.validate(content, config_schema())


@pytest.mark.parametrize(
    "wrong",
    [
        {"launcher": []},
        {"launch": [{"global": True}]},
        {"launch": [{"global": [1, 2, 3, 4]}]},
        {"device": {"id": 3}},
        {"hints": {"enabled": "yes"}},
        {"pipeline": [{"steps": [{"reed": 4}]}]},
        {"advice": {"ignore": ["no-such-advice"]}},
    ],
    ids=str,
)
def test_what_the_code_refuses_the_schema_refuses(wrong: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `dev` is not installed")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, config_schema())
