"""Writes a launch as a `[[launch]]` table that reads back as the same launch."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

from model.errors import ConfigError
from model.launch.annotation.names import image_sizes
from model.launch.config import parse_config
from model.launch.fill import written_fill
from model.launch.launch import Launch
from model.opencl.kernel import Kernel, ParameterKind

_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def write_table(launch: Launch, kernel: Kernel, path: Path, folder: Path) -> str:
    """Return the table of a launch of the kernel in the file `path`, for a `kernelcast.toml` in `folder`."""
    lines = [
        "[[launch]]",
        f"kernel = {_text(kernel.name)}",
        f"files = [{_text(_glob(path, folder))}]",
        f"name = {_text(launch.name)}" if launch.name else "",
        f"global = {list(launch.global_size)}",
        f"local = {list(launch.local_size) if launch.local_size else _text('auto')}",
        _table("args", ((name, repr(value)) for name, value in launch.scalars)),
        _table("buffers", ((name, str(length)) for name, length in launch.buffers)),
        _table("images", ((name, str(list(_sizes(kernel, name, sizes)))) for name, sizes in launch.images)),
        _table("local_bytes", ((name, str(size)) for name, size in launch.local_bytes)),
        _table("fill", ((name, _text(written_fill(name, fill))) for name, fill in launch.fills)),
        _table("defines", ((name, _text(value)) for name, value in launch.options.defines)),
        f"include = [{', '.join(map(_text, launch.options.include_dirs))}]" if launch.options.include_dirs else "",
        f"options = {_text(shlex.join(launch.options.flags))}" if launch.options.flags else "",
    ]
    return "".join(f"{line}\n" for line in lines if line)


def addition(text: str, table: str, path: Path) -> str | None:
    """Return what to put behind `text`, which stands in `path`, so that it has this table, too; None if it cannot."""
    apart = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    added = f"{apart}{table}"
    added = added.replace("\n", "\r\n") if "\r\n" in text else added
    try:
        before, after = parse_config(text, path), parse_config(text + added, path)
    except ConfigError:
        return None
    return added if len(after.launches) == len(before.launches) + 1 else None


def _sizes(kernel: Kernel, name: str, sizes: tuple[int, int, int]) -> tuple[int, ...]:
    parameter = kernel.parameter(name)
    is_image = parameter is not None and parameter.kind is ParameterKind.IMAGE
    return sizes[: image_sizes(parameter)] if parameter is not None and is_image else sizes


def _table(key: str, entries: Iterable[tuple[str, str]]) -> str:
    inner = ", ".join(f"{name if _BARE.fullmatch(name) else _text(name)} = {value}" for name, value in entries)
    return f"{key} = {{ {inner} }}" if inner else ""


def _text(value: str) -> str:
    """TOML's basic strings are JSON's, but for one control character and for halves of surrogate pairs."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _glob(path: Path, folder: Path) -> str:
    """Return a glob that matches this file alone."""
    try:
        below = path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        below = path.name
    return re.sub(r"([*?[])", r"[\1]", below)
