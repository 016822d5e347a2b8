"""Requests: what one line of a batch asks for, checked; the flags of a call say the same."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model.errors import KernelcastError, LaunchError
from model.launch.build_options import build_options, define, parse_build_options
from model.launch.expression import Expression, constant
from model.launch.fill import FillSpec, parse_named_fill
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec
from model.launch.vectors import MOST_COMPONENTS
from model.opencl.options import BuildOptions
from server.cli.flags import absolute, file_options, launch_spec

KEYS = (
    "id", "file", "kernel", "defines", "options", "include", "global", "local",
    "args", "buffers", "images", "local_bytes", "fill", "device",
)  # fmt: skip


class BadRequestError(KernelcastError):
    """A line of a batch that asks for nothing sensible. `line` is that of the batch."""

    code = "bad_request"


@dataclass(frozen=True, slots=True)
class Request:
    """`spec` is None where nothing is said of the launch; `id` is whatever the asker gave."""

    file: Path
    kernel: str | None = None
    spec: LaunchSpec | None = None
    options: BuildOptions = field(default_factory=BuildOptions)
    device: str | None = None
    id: object = None


def requests_of(arguments: argparse.Namespace) -> Iterator[Request]:
    """Yield one request per file named in the call."""
    spec, options = launch_spec(arguments), file_options(arguments)
    for file in arguments.files:
        yield Request(file, arguments.kernel, spec, options, arguments.device)


def read_line(line: bytes, number: int) -> dict[str, Any]:
    """Return one line of a batch as an object. Raises `BadRequestError`."""
    try:
        content = json.loads(line)
    except UnicodeDecodeError:
        raise BadRequestError(f"line {number} of the batch is not UTF-8 text", line=number) from None
    except json.JSONDecodeError as error:
        raise BadRequestError(f"line {number} of the batch is not JSON: {error}", line=number) from None
    except (RecursionError, ValueError) as error:
        raise BadRequestError(f"line {number} of the batch cannot be read: {error}", line=number) from None
    if not isinstance(content, dict):
        raise BadRequestError(f"line {number} of the batch must be an object, not {_shown(content)}", line=number)
    return content


def read_request(content: Mapping[str, Any], number: int, device: str | None) -> Request:
    """Check one object of a batch; `device` is for requests that name none. Raises `BadRequestError`."""
    try:
        return _request(content, device)
    except LaunchError as error:
        raise BadRequestError(error.message, line=number) from None


def _request(content: Mapping[str, Any], device: str | None) -> Request:
    for key in content:
        # Keys of the asker's own are left alone, but a slip of the pen must not pass in silence.
        close = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.8) if key not in KEYS else []
        if close:
            raise LaunchError(f"`{key}` is not a key of a request; did you mean `{close[0]}`?")
    file = _text(content, "file")
    if not file:
        raise LaunchError("`file` is missing: the path of an OpenCL C file")
    if "\0" in file:
        raise LaunchError("`file` holds a zero byte")
    values: dict[str, tuple[Expression, ...]] = {}
    for name, value in _flat(_table(content, "args")):
        values[name] = _sizes(f"args.{name}", value, MOST_COMPONENTS)
    for name, value in _flat(_table(content, "local_bytes")):
        values[name] = (_number(f"local_bytes.{name}", value),)
    for key in ("buffers", "images"):
        values.update((name, _sizes(f"{key}.{name}", value)) for name, value in _flat(_table(content, key)))
    local = content.get("local")
    spec = LaunchSpec(
        global_size=None if content.get("global") is None else _sizes("global", content["global"]),
        local_size=None if local in (None, "auto") else _sizes("local", local),
        driver_chooses_local=local == "auto" or ("local" in content and local is None),
        values=tuple(values.items()),
        fills=tuple(_fill(name, value) for name, value in _flat(_table(content, "fill"))),
    )
    return Request(
        Path(file),
        _text(content, "kernel"),
        None if spec == LaunchSpec() else spec,
        _options(content),
        _text(content, "device") or device,
        content.get("id"),
    )


def _options(content: Mapping[str, Any]) -> BuildOptions:
    said = content.get("options") or ""
    if isinstance(said, list) and all(isinstance(word, str) for word in said):
        options = build_options(said)
    elif isinstance(said, str):
        options = parse_build_options(said)
    else:
        raise LaunchError(f"`options` must be text, not {_shown(said)}")
    include = content.get("include") or []
    if isinstance(include, str):
        include = [include]
    if not isinstance(include, list) or not all(isinstance(folder, str) for folder in include):
        raise LaunchError(f"`include` must be a list of folders, not {_shown(include)}")
    return absolute(options.merged(BuildOptions(_defines(content), tuple(include))))


def _defines(content: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    said = content.get("defines") or {}
    if isinstance(said, list) and all(isinstance(each, str) for each in said):
        return tuple(define(each) for each in said)
    defines = []
    for name, value in _table(content, "defines").items():
        if value is not None and not isinstance(value, str | int | float):
            raise LaunchError(f"`defines.{name}` must be text or a number, not {_shown(value)}")
        plain = int(value) if isinstance(value, bool) else value
        defines.append((name, "1" if plain is None else str(plain)))
    return tuple(defines)


def _text(content: Mapping[str, Any], key: str) -> str | None:
    value = content.get(key)
    if value is not None and not isinstance(value, str):
        raise LaunchError(f"`{key}` must be text, not {_shown(value)}")
    return value


def _table(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = content.get(key) or {}
    if not isinstance(value, dict):
        raise LaunchError(f"`{key}` must be an object with names as keys, not {_shown(value)}")
    return value


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys and values, with inner objects flattened: they are members of structs."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _sizes(what: str, value: object, most: int = 3) -> tuple[Expression, ...]:
    parts = value if isinstance(value, list) else [value]
    sizes = tuple(size for part in parts for size in _expressions(what, part))
    if not 1 <= len(sizes) <= most:
        raise LaunchError(f"`{what}` takes one to {most} {'sizes' if most == 3 else 'values'}, not {len(sizes)}")
    return sizes


def _number(what: str, value: object) -> Expression:
    sizes = _expressions(what, value)
    if len(sizes) != 1:
        raise LaunchError(f"`{what}` takes one value")
    return sizes[0]


def _expressions(what: str, value: object) -> tuple[Expression, ...]:
    try:
        if isinstance(value, str):
            return parse_sizes(value)
        if isinstance(value, int | float):
            return (constant(int(value) if isinstance(value, bool) else value),)
    except LaunchError as error:
        raise LaunchError(f"`{what}`: {error.message}") from None
    raise LaunchError(f"`{what}` must be a number, or an expression as text, not {_shown(value)}")


def _fill(name: str, value: object) -> tuple[str, FillSpec]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and "[" in name
    if not isinstance(value, str) and not is_number:
        raise LaunchError(f"`fill.{name}` must be text such as `random`, not {_shown(value)}")
    try:
        return parse_named_fill(name, str(value))
    except LaunchError as error:
        raise LaunchError(f"`fill.{name}`: {error.message}") from None


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
