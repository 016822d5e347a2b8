"""The winner, written where its launch comes from: into the annotation, above the kernel, or into `kernelcast.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from model.errors import ConfigError, LaunchError
from model.launch.annotation import find_annotations, write_annotation
from model.launch.annotation.found import Annotation
from model.launch.annotation.items import read_items
from model.launch.config import Config, ConfigLaunch, parse_config
from model.launch.launch import Origin
from model.launch.spec import LaunchSpec
from server.device_work.orders import Replacement
from server.tuning.search import Candidate, Change, size_text


def applied(text: str, replacements: Sequence[Replacement]) -> str:
    """Return the text with all of them, which do not overlap."""
    for one in sorted(replacements, key=lambda each: each.start, reverse=True):
        text = text[: one.start] + one.text + text[one.end :]
    return text


def in_source(text: str, baseline: Candidate, winner: Candidate) -> list[Replacement]:
    """Return what makes the winner the launch in `text`, the kernel's file. Raises LaunchError where that cannot be.

    An annotation keeps all that the winner has in common with it; without one, a line of its own says everything.
    """
    spec, kernel = baseline.forecast.spec, winner.forecast.kernel
    line = write_annotation(winner.launch, kernel)
    if baseline.forecast.home is not None:
        raise LaunchError(f"`{kernel.name}` stands in a host program's literal; write above it: {line}")
    if baseline.launch.origin is not Origin.ANNOTATION or spec is None or spec.range is None:
        return [_above(text, kernel.range.start_line, line)]
    found = next((each for each in find_annotations(text) if each.range == spec.range), None)
    if found is None:
        raise LaunchError(f"the annotation of `{kernel.name}` has changed; write: {line}")
    made = list(_in_annotation(text, found, winner.change))
    after = find_annotations(applied(text, made))
    if sum(len(each.problems) for each in after) > sum(len(each.problems) for each in find_annotations(text)):
        raise LaunchError(f"its annotation cannot be changed in place; write: {line}")
    return made


def _in_annotation(text: str, found: Annotation, change: Change) -> Iterator[Replacement]:
    items = read_items(found.body)
    begin = _offset(text, found.body_line, found.body_byte)
    tuned = [start for name, start, _ in items.keys if name.startswith("tune.") or name == "where"]
    end = min(tuned, default=len(found.body.rstrip()))
    added: list[str] = []
    for key, word in _words(change):
        span = items.item_span(key)
        if span is None:
            added.append(word)
        else:
            yield Replacement(begin + span[0], begin + span[1], word)
    if added:
        words = " ".join(added)
        yield Replacement(begin + end, begin + end, f"{words} " if tuned else f" {words}")


def _words(change: Change) -> Iterator[tuple[str, str]]:
    for name, value in change.combination.defines:
        yield f"-D{name}", f"-D{name}={value}"
    for name, value in change.combination.values:
        yield name, f"{name}={value}"
    for key, size in (("global", change.global_size), ("local", change.local)):
        if size is not None:
            yield key, f"{key}={size_text(size)}"


def _above(text: str, line: int, annotation: str) -> Replacement:
    start = _offset(text, line, 0)
    rest = text[start : start + 200]
    indentation = rest[: len(rest) - len(rest.lstrip(" \t"))]
    return Replacement(start, start, f"{indentation}{annotation}{_line_end(text)}")


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _offset(text: str, line: int, byte: int) -> int:
    start = 0
    for _ in range(line):
        start = text.index("\n", start) + 1
    return start + len(text[start:].encode("utf-8", "surrogatepass")[:byte].decode("utf-8", "ignore"))


def in_config(config: Config, path: Path, baseline: Candidate, winner: Candidate, number: int) -> list[Replacement]:
    """Return what makes the winner the launch in the configuration: the `number`th of those for this kernel and file.

    Raises LaunchError, with what to write, where the table is for other kernels, too, or cannot be changed by lines.
    """
    kernel = winner.forecast.kernel.name
    own = [each for each in config.launches if each.spec in config.specs_for(kernel, path)]
    table = own[number] if number < len(own) else None
    words = ", ".join(winner.change.words)
    if table is None or table.kernel != kernel:
        raise LaunchError(f"no [[launch]] of {config.path} is for `{kernel}` alone; make one with {words}")
    made = list(_in_table(config.text, table, winner.change))
    try:
        after = parse_config(applied(config.text, made), config.path).launches[config.launches.index(table)].spec
    except ConfigError as error:
        raise LaunchError(f"{config.path} cannot be changed line by line ({error.message}); write {words}") from None
    if not _says(after, winner.change):
        raise LaunchError(f"{config.path} cannot be changed line by line; write {words}")
    return made


def _in_table(text: str, table: ConfigLaunch, change: Change) -> Iterator[Replacement]:
    header = _offset(text, table.line - 1, 0)
    begin = text.find("\n", header)
    begin = len(text) if begin < 0 else begin + 1
    following = re.compile(r"^[ \t]*\[", re.MULTILINE).search(text, begin)
    end = following.start() if following else len(text)
    for key, size in (("global", change.global_size), ("local", change.local)):
        if size is not None:
            value = f'"{size}"' if isinstance(size, str) else str(list(size))
            yield _line(text, begin, end, key, value)
    for key, entries in (("defines", change.combination.defines), ("args", change.combination.values)):
        if entries:
            yield _inline_table(text, begin, end, key, entries)


def _line(text: str, begin: int, end: int, key: str, value: str) -> Replacement:
    found = re.compile(rf"^[ \t]*{key}[ \t]*=[ \t]*([^#\n]*[^#\s])", re.MULTILINE).search(text, begin, end)
    if found is None:
        return Replacement(begin, begin, f"{key} = {value}{_line_end(text)}")
    return Replacement(found.start(1), found.end(1), value)


def _inline_table(text: str, begin: int, end: int, key: str, entries: Sequence[tuple[str, str]]) -> Replacement:
    found = re.compile(rf"^[ \t]*{key}[ \t]*=[ \t]*\{{([^}}\n]*)\}}", re.MULTILINE).search(text, begin, end)
    inner = found[1].strip() if found else ""
    for name, value in entries:
        shown = value if re.fullmatch(r"-?\d+", value) else f'"{value}"'
        entry = re.compile(rf"(?<![\w-]){re.escape(name)}[ \t]*=[ \t]*(\"[^\"]*\"|[^,]*[^,\s])")
        if entry.search(inner):
            inner = entry.sub(f"{name} = {shown}", inner, count=1)
        else:
            inner = f"{inner}, {name} = {shown}" if inner else f"{name} = {shown}"
    if found is None:
        return Replacement(begin, begin, f"{key} = {{ {inner} }}{_line_end(text)}")
    return Replacement(found.start(1), found.end(1), f" {inner} ")


def _says(spec: LaunchSpec, change: Change) -> bool:
    """Return whether a table that was changed reads as was meant."""
    values = {name: str(parts[0]) for name, parts in spec.values if len(parts) == 1}
    local = "auto" if spec.driver_chooses_local else _listed(spec.local_size)
    wanted = change.local if isinstance(change.local, str) else _listed(change.local)
    return (
        dict(spec.options.defines).items() >= dict(change.combination.defines).items()
        and values.items() >= dict(change.combination.values).items()
        and (change.local is None or local == wanted)
    )


def _listed(sizes: Sequence[object] | None) -> str:
    return ",".join(map(str, sizes or ()))
