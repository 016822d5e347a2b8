"""Reference pages that are generated from the code: command line, settings, JSON answers."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

from docs.json_keys import MEANINGS
from server.cli.entry import build_parser
from server.cli.entry import main as kernelcast
from server.client.settings import OPTIONS

_KERNELS = Path(__file__).resolve().parents[1] / "tests/kernels"
_EXAMPLES = ("order_by_rank.cl", "gamma_curve.cl")  # a kernel with a loop, and one with a branch


def cli_page() -> str:
    """Return the page of all commands and flags, from the argument parser."""
    parser = build_parser()
    parts = ["# Command line", "", parser.description or "", ""]
    for command, own in _commands(parser, ""):
        parts += [f"## `kernelcast {command}`", "", own.description or _help_of(parser, command), ""]
        rows = [(_flag(action), _text(own, action)) for action in own._actions if _is_shown(action)]
        parts += ["| Argument | Meaning |", "| --- | --- |", *(f"| {flag} | {text} |" for flag, text in rows), ""]
        if own.epilog:
            parts += [own.epilog, ""]
    return "\n".join(parts)


def settings_page() -> str:
    """Return the page of the server's settings."""
    rows = [
        f"| `kernelcast.{each.name}` | `{json.dumps(each.default)}` | {_values(each.schema)} | {each.description} |"
        for each in OPTIONS
    ]
    return "\n".join(
        [
            "# Settings",
            "",
            "Every editor can send these in the section `kernelcast`: VS Code from its settings, Neovim from",
            "`settings = { kernelcast = { ... } }`, other editors as configuration or as",
            "`initializationOptions.settings`. An invalid value is named in a message, and its default is used.",
            "",
            "| Setting | Default | Values | Meaning |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
            "Put launches, build options and the device of a project into its `kernelcast.toml`, which everybody who",
            "works on the project shares. Where both name a device, the setting takes precedence.",
            "",
        ]
    )


def json_page() -> str:
    """Return the page of the keys in an answer of `kernelcast predict --format json`.

    The keys come from a real answer. Raises ValueError if a key has no description, or a description has no key.
    """
    found: dict[str, list[str]] = {}
    for answer in _answers():
        for key, kind in _keys(answer, ""):
            found.setdefault(key, []).append(kind)
    keys = {
        key: " or ".join(sorted(set(kinds), key=lambda kind: (kind == "null", kind))) for key, kinds in found.items()
    }
    unknown, unused = keys.keys() - MEANINGS.keys(), MEANINGS.keys() - keys.keys()
    if unknown or unused:
        raise ValueError(f"docs/json_keys.py: no description of {sorted(unknown)}; no such key {sorted(unused)}")
    rows = [f"| `{key}` | {kind} | {MEANINGS[key]} |" for key, kind in keys.items()]
    return "\n".join(
        [
            "# JSON answers",
            "",
            "`kernelcast predict --format json` prints one JSON object per launch and line. With `--batch`, answers",
            "are in the order of the requests. `measure` prints the same keys, with the measured time in",
            "`runtime_us` and the prediction in `predicted_us`. A request that failed is answered with `id` and",
            "`error` (`code`, `message`, `line`). Line numbers count from 1.",
            "",
            "| Key | Type | Meaning |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _commands(parser: argparse.ArgumentParser, prefix: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield each command that has no commands of its own, with its parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, own in action.choices.items():
                inner = list(_commands(own, f"{prefix}{name} "))
                yield from inner or [(f"{prefix}{name}", own)]


def _help_of(parser: argparse.ArgumentParser, command: str) -> str:
    """Return the one-line help that the list of commands shows."""
    for word in command.split():
        (commands,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
        text = next((each.help for each in commands._choices_actions if each.dest == word), "") or ""
        parser = commands.choices[word]
    return text[:1].upper() + text[1:] + "."


def _is_shown(action: argparse.Action) -> bool:
    return action.help is not argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)


def _flag(action: argparse.Action) -> str:
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else "")
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return f"`{value or action.dest}`"
    takes_value = action.nargs != 0
    return ", ".join(f"`{name} {value or action.dest.upper()}`" if takes_value else f"`{name}`"
                     for name in action.option_strings).replace("|", "\\|")  # fmt: skip


def _text(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    text = parser._get_formatter()._expand_help(action) if action.help else ""
    return text.replace("|", "\\|")


def _values(schema: object) -> str:
    assert isinstance(schema, dict)
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    kind = {"object": "table", "array": "list", "boolean": "`true`, `false`"}.get(schema["type"], schema["type"])
    if "minimum" in schema and "maximum" in schema:
        return f"{kind}, {schema['minimum']} to {schema['maximum']}"
    if "minimum" in schema:
        return f"{kind}, at least {schema['minimum']}"
    return str(kind)


def _null_last(kind: str) -> tuple[bool, str]:
    return kind == "null", kind


def _answers() -> list[object]:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        kernelcast(
            ["predict", *(str(_KERNELS / name) for name in _EXAMPLES), "--device", "nvidia-h200", "--format", "json"]
        )
    return [json.loads(line) for line in printed.getvalue().splitlines()]


def _keys(value: object, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield the keys of an answer with their types; free names (arguments, buffers, resources) are one key `NAME`."""
    if isinstance(value, list):
        yield from _keys(value[0], f"{prefix[:-1]}[].") if value and isinstance(value[0], dict) else ()
    elif isinstance(value, dict):
        if prefix in _BY_NAME:
            return
        for key, inner in value.items():
            yield f"{prefix}{key}", _TYPES.get(type(inner), "text")
            yield from _keys(inner, f"{prefix}{key}.")


_BY_NAME = frozenset({"launch.args.", "launch.buffers.", "launch.images.", "launch.local_bytes.", "launch.fill.",
                      "resources_us."})  # fmt: skip
_TYPES = {float: "number", int: "number", bool: "boolean", dict: "object", list: "list", type(None): "null"}
