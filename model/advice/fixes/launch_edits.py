"""Edits of launch annotations: other sizes or build options, where the annotation says them, or a new annotation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from model.advice.fixes.fix import Setting, TextEdit
from model.advice.fixes.kernel_source import offset_of
from model.launch.annotation import Annotation, write_annotation
from model.opencl.kernel import SourceRange


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """`local_size` None leaves it as it is.

    `swaps`: all annotations of the kernel get dimensions 0 and 1 swapped, of local sizes unless it `keeps_local`.
    `divisor`: by what dimension 0 of the global size is divided, which `global_size` says already.
    """

    global_size: tuple[int, ...] | None = None
    local_size: tuple[int, ...] | None = None
    flag: str = ""
    swaps: bool = False
    keeps_local: bool = False
    divisor: int = 1


def launch_edits(setting: Setting, change: LaunchChange) -> tuple[TextEdit, ...] | None:
    """Return what makes the kernel's annotations say the changed launch; None if that cannot be written.

    Where an annotation gives the launch, only the sizes and flags concerned are touched; other launches of the kernel
    are changed too if the kernel's own dimensions are swapped. Else a new annotation is put above the kernel.
    """
    if setting.annotation is None:
        return None if setting.annotations else (_new_annotation(setting, change),)
    if change.swaps:
        keys = ("global",) if change.keeps_local else ("global", "local")
        edits = [_swapped(setting, each, keys) for each in setting.annotations]
        known = [own for own in edits if own is not None]
        return tuple(edit for own in known for edit in own) if len(known) == len(edits) else None
    divided = _divided(setting, setting.annotation, change.divisor) if change.divisor > 1 else ()
    if divided is None:
        return None
    found = (*divided, *_changed(setting, setting.annotation, change))
    return found or None


def _new_annotation(setting: Setting, change: LaunchChange) -> TextEdit:
    source, launch = setting.source, setting.launch
    flags = (*launch.options.flags, change.flag) if change.flag else launch.options.flags
    changed = replace(
        launch,
        global_size=change.global_size or launch.global_size,
        local_size=change.local_size or launch.local_size,
        chosen_local_size=None if change.local_size else launch.chosen_local_size,
        options=replace(launch.options, flags=flags),
    )
    at = source.raw.rfind("\n", 0, source.start) + 1
    return TextEdit(at, at, f"{source.indentation}{write_annotation(changed, source.kernel)}{source.line_end}")


def _swapped(setting: Setting, annotation: Annotation, keys: Sequence[str]) -> list[TextEdit] | None:
    """Return what swaps the two sizes of each key, as they are written; None where one is no pair."""
    edits = []
    for key in keys:
        value = _value(setting, annotation, key)
        if value is None or value[1] == "auto":
            continue
        at, text = value
        inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
        parts = _split(inner)
        if len(parts) != 2:
            return None
        first, second = parts[0].strip(), parts[1].strip()
        begin = at + text.index(inner)
        behind = begin + len(parts[0]) + 1 + parts[1].index(second)
        begin += inner.index(first)
        if first != second:
            edits.append(TextEdit(begin, begin + len(first), second))
            edits.append(TextEdit(behind, behind + len(second), first))
    return edits


def _divided(setting: Setting, annotation: Annotation, divisor: int) -> tuple[TextEdit, ...] | None:
    """Return what divides dimension 0 of the global size, as it is written; None where it is not.

    What was inferred from that size so far is added, as it stays the same.
    """
    value = _value(setting, annotation, "global")
    if value is None:
        return None
    at, text = value
    inner = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    part = _split(inner)[0]
    first = part.strip()
    begin = at + text.index(inner) + part.index(first)
    if first.isdecimal():
        divided = str(int(first) // divisor)
    else:
        divided = f"{first}//{divisor}" if first.isidentifier() else f"({first})//{divisor}"
    launch, written = setting.launch, {name for name, _, _ in annotation.keys}
    inferred = [f" {name}={value!r}" for name, value in (*launch.scalars, *launch.buffers) if name not in written]
    added = (_appended(setting, annotation, "".join(inferred)),) if inferred else ()
    return (TextEdit(begin, begin + len(first), divided), *added)


def _changed(setting: Setting, annotation: Annotation, change: LaunchChange) -> Iterator[TextEdit]:
    if change.local_size is not None:
        sizes = ", ".join(map(str, change.local_size))
        text = f"({sizes})" if len(change.local_size) > 1 else sizes
        value = _value(setting, annotation, "local")
        if value is not None:
            yield TextEdit(value[0], value[0] + len(value[1]), text)
        else:
            yield _appended(setting, annotation, f" local={text}")
    if change.flag:
        yield _appended(setting, annotation, f" {change.flag}")


def _appended(setting: Setting, annotation: Annotation, text: str) -> TextEdit:
    where = annotation.range
    at = offset_of(setting.source.raw, SourceRange(where.end_line, where.end_byte, 0, 0))
    return TextEdit(at, at, text)


def _value(setting: Setting, annotation: Annotation, key: str) -> tuple[int, str] | None:
    """Return where the value of `key` begins (byte of the text), and the value; None without it, or if not ASCII."""
    spans = {name: (start, end) for name, start, end in annotation.keys}
    if key not in spans or not annotation.body.isascii():
        return None
    begin = annotation.body.index("=", spans[key][1]) + 1
    begin += len(annotation.body[begin:]) - len(annotation.body[begin:].lstrip())
    later = [start for start, _ in spans.values() if start > begin]
    text = annotation.body[begin : min(later, default=len(annotation.body))].rstrip()
    where = annotation.range_of(begin, begin + 1)
    return offset_of(setting.source.raw, where), text


def _split(text: str) -> list[str]:
    """Cut at commas outside of parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts
