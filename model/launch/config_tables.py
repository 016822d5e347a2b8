"""Typed reading of one TOML table, with the line of the user's text in every complaint."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from model.errors import ConfigError, LaunchError
from model.launch.build_options import ELSEWHERE, harmful, parse_build_options
from model.launch.conditions import parse_condition
from model.launch.expression import Expression, ExpressionError, constant, suggestion
from model.launch.fill import FillSpec, parse_named_fill
from model.launch.launch import Origin
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec
from model.launch.tuning import Tuning, parse_range
from model.launch.vectors import MOST_COMPONENTS
from model.opencl.options import BuildOptions

LAUNCH_KEYS = (
    "kernel", "files", "name", "global", "local", "args", "buffers", "images", "local_bytes", "fill",
    "defines", "include", "options", "tune", "where",
)  # fmt: skip
MAX_DIMENSIONS = 3
MAX_TABLES = 1000  # of one name


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the file; `name` as in its header, `index` counts tables of the same `[[name]]`."""

    content: Mapping[str, Any]
    name: str
    text: str
    index: int = 0

    def allow(self, *keys: str) -> None:
        for key in self.content:
            if key not in keys:
                where = f"[{self.name}]" if self.name else "the top level"
                short = shortened(key, 80)
                close = suggestion(short, keys)
                self.refuse(key, f"`{short}` is not known in {where}; known are {', '.join(keys)}.{close}")

    def line(self, key: str | None = None) -> int:
        """Return the line (from 1) of `key`, or of the table's header.

        TOML libraries do not give it, so the text is searched.
        """
        headers = _headers(self.text, self.name) if self.name else ()
        start = headers[min(self.index, len(headers) - 1)] if headers else 0
        if key is not None:
            leaf = re.escape(key.rpartition(".")[2])
            assignment = re.compile(rf"""^[^#\n]*?(?<![\w.])["']?{leaf}["']?[ \t]*[=.\]]""", re.MULTILINE)
            found = assignment.search(self.text, start)
            start = found.start() if found else start
        return self.text.count("\n", 0, start) + 1

    def refuse(self, key: str | None, message: str) -> NoReturn:
        raise ConfigError(shortened(message), line=self.line(key))

    def table(self, key: str) -> Table:
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            self.refuse(key, f"`{key}` must be a table: write [{key}]")
        return Table(value, key if not self.name else self.name, self.text, self.index)

    def tables(self, key: str) -> Iterator[Table]:
        value = self.content.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.refuse(key, f"`{key}` must be a list of tables: write [[{key}]]")
        if len(value) > MAX_TABLES:
            self.refuse(key, f"there are {len(value)} tables [[{key}]]; at most {MAX_TABLES} are read")
        for index, item in enumerate(value):
            yield Table(item, key, self.text, index)

    def text_of(self, key: str, value: object) -> str:
        if not isinstance(value, str):
            self.refuse(key, f"`{key}` must be text in quotes, not {_shown(value)}")
        return value

    def string(self, key: str) -> str | None:
        return None if key not in self.content else self.text_of(key, self.content[key])

    def texts(self, key: str) -> tuple[str, ...]:
        """Return one text or a list of them."""
        value = self.content.get(key, [])
        return tuple(self.text_of(key, item) for item in (value if isinstance(value, list) else [value]))

    def flag(self, key: str) -> bool | None:
        value = self.content.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(key, f"`{key}` must be true or false, not {_shown(value)}")
        return value

    def named(self, key: str) -> Iterator[tuple[str, Any]]:
        """Yield the entries of a table such as `args`; inner tables are struct members (`p.x`)."""
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            self.refuse(key, f"`{key}` must be a table: {key} = {{ NAME = VALUE }}")
        yield from _flattened(value)

    def sizes(self, key: str, value: object, most: int = MAX_DIMENSIONS) -> tuple[Expression, ...]:
        """Return a number, an expression in quotes, or a list of them."""
        parts = value if isinstance(value, list) else [value]
        try:
            sizes = tuple(size for part in parts for size in self._expressions(key, part))
        except ExpressionError as error:
            self.refuse(key, f"`{key}`: {error.message}")
        if not 1 <= len(sizes) <= most:
            what = "sizes" if most == MAX_DIMENSIONS else "values"
            self.refuse(key, f"`{key}` takes one to {most} {what}, not {len(sizes)}")
        return sizes

    def components(self, key: str, value: object) -> tuple[Expression, ...]:
        """Return a scalar's value, or a vector's."""
        return self.sizes(key, value, MOST_COMPONENTS)

    def number(self, key: str, value: object) -> Expression:
        sizes = self.sizes(key, value)
        if len(sizes) != 1:
            self.refuse(key, f"`{key}` takes one value")
        return sizes[0]

    def _expressions(self, key: str, value: object) -> tuple[Expression, ...]:
        if isinstance(value, str):
            return parse_sizes(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(key, f"`{key}` must be a number or an expression in quotes, not {_shown(value)}")
        return (constant(value),)


@lru_cache(maxsize=8)
def _headers(text: str, name: str) -> tuple[int, ...]:
    """Where the tables of that name begin."""
    header = re.compile(rf"^[ \t]*\[\[?[ \t]*{re.escape(name)}[ \t]*\]", re.MULTILINE)
    return tuple(match.start() for match in header.finditer(text))


def read_launch(
    table: Table, folder: Path, keys: tuple[str, ...] = LAUNCH_KEYS
) -> tuple[str, tuple[str, ...], LaunchSpec]:
    """Return the kernel glob, the file globs and the launch of a table, in which `keys` are allowed.

    Raises `ConfigError`.
    """
    table.allow(*keys)
    local = table.content.get("local")
    says_auto = local == "auto"
    values: dict[str, tuple[Expression, ...]] = {}
    for key in ("args", "buffers", "local_bytes"):
        for name, value in table.named(key):
            if name in values:
                table.refuse(name, f"`{name}` is given twice")
            values[name] = table.components(name, value) if key == "args" else (table.number(name, value),)
    for name, value in table.named("images"):
        values[name] = table.sizes(name, value)
    global_size = table.content.get("global")
    spec = LaunchSpec(
        global_size=None if global_size is None else table.sizes("global", global_size),
        local_size=None if local is None or says_auto else table.sizes("local", local),
        driver_chooses_local=says_auto,
        values=tuple(values.items()),
        fills=tuple(_read_fill(table, name, value) for name, value in table.named("fill")),
        options=read_options(table, folder),
        name=table.string("name"),
        origin=Origin.CONFIG,
        tuning=_read_tuning(table),
    )
    if spec.global_size and spec.local_size and len(spec.global_size) != len(spec.local_size):
        table.refuse("local", f"{len(spec.local_size)} local size(s) against {len(spec.global_size)} global")
    return table.string("kernel") or "*", table.texts("files"), spec


def read_options(table: Table, folder: Path) -> BuildOptions:
    """Read `defines`, `include` (relative to the configuration's `folder`) and `options` of a table."""
    defines = []
    for name, value in table.named("defines"):
        if not isinstance(value, str | int | float):
            table.refuse(name, f"`{name}` must be text or a number, not {_shown(value)}")
        defines.append((name, str(int(value)) if isinstance(value, bool) else _shown_plainly(table, name, value)))
    options = BuildOptions()
    for text in table.texts("options"):
        try:
            options = options.merged(parse_build_options(text))
        except LaunchError as error:
            table.refuse("options", f"`options`: {error.message}")
    if (flag := harmful(options.flags)) is not None:
        table.refuse("options", f"`{flag}` {ELSEWHERE}")
    # Joined as text and not resolved: a folder that does not exist yet is none of the reader's business.
    include_dirs = (*table.texts("include"), *options.include_dirs)
    include = tuple(os.path.normpath(folder / path) for path in include_dirs)
    every_define = {**dict(options.defines), **dict(defines)}
    return BuildOptions(tuple(every_define.items()), include, options.flags)


def _shown_plainly(table: Table, name: str, value: object) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes no number of thousands of digits
        table.refuse(name, f"`{name}` has too many digits")


def _shown(value: object) -> str:
    try:
        return shortened(repr(value), 80)
    except ValueError:
        return "a number of thousands of digits"


def shortened(text: str, most_characters: int = 1000) -> str:
    return text if len(text) <= most_characters else f"{text[: most_characters - 1]}…"


def _read_tuning(table: Table) -> Tuning:
    """Read `tune = { TILE = [8, 16], local = "auto" }` and `where = "TILE*TILE <= local"`."""
    ranges, conditions = [], []
    for name, value in table.named("tune"):
        parts = value if isinstance(value, list) else [value]
        words = [f"({', '.join(map(str, part))})" if isinstance(part, list) else str(part) for part in parts]
        try:
            ranges.append(parse_range(name, ",".join(words)))
        except ExpressionError as error:
            table.refuse(name, f"tune of `{name}`: {error.message}")
    for text in table.texts("where"):
        try:
            conditions.append(parse_condition(text))
        except ExpressionError as error:
            table.refuse("where", f"`where`: {error.message}")
    return Tuning(tuple(ranges), tuple(conditions))


def _read_fill(table: Table, name: str, value: object) -> tuple[str, FillSpec]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return parse_named_fill(name, _shown_plainly(table, name, value) if is_number else table.text_of(name, value))
    except ExpressionError as error:
        table.refuse(name, f"fill of `{name}`: {error.message}")


def _flattened(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield from _flattened(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", inner
