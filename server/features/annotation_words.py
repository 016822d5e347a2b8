"""Completion and help inside launch annotations: `// kernelcast: global=(N, N) N=1024 fill.col=randint:0:N`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types

from model.launch.annotation import Annotation, find_annotations
from model.launch.fill import FILL_WORDS
from model.opencl.kernel import Kernel, Parameter, ParameterKind, SourceRange
from server.positions import offset_of, range_of, source_offsets
from server.snapshot import Snapshot
from server.text.annotation_help import FILLS, KEYS, key_help, parameter_help
from server.text.layout import plain

TRIGGERS = (":", "=", ".")
_MARK = "kernelcast"
_LAST_WORD = re.compile(r"[^\s]*\Z")
_LAST_NAME = re.compile(r"\w*\Z")
_FILL_WORD = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class _Place:
    """An annotation that a position is in, the kernel that it is for, and the characters of its body before it."""

    annotation: Annotation
    kernel: Kernel | None
    before: str
    start: int  # of the body in the document


def completions(snapshot: Snapshot, position: types.Position) -> list[types.CompletionItem]:
    """Return what may stand at a position: keys that are not given yet, or values; nothing outside annotations."""
    place = _place_at(snapshot, position)
    if place is None:
        return []
    word = _LAST_WORD.search(place.before)
    assert word is not None
    key, is_value, value = word[0].partition("=")
    open_brackets = place.before.count("(") - place.before.count(")")
    if is_value and key.startswith("fill."):
        typed, found = value, list(_fill_items())
    elif is_value or open_brackets > 0:
        name = _LAST_NAME.search(place.before)
        typed, found = (name[0] if name else ""), list(_value_items(place, key if is_value else ""))
    else:
        typed, found = word[0], list(_key_items(snapshot, place))
    at = place.start + len(place.before)
    where = range_of(snapshot.document.text, at - len(typed), at, snapshot.encoding)
    for item in found:
        item.text_edit = types.TextEdit(where, item.insert_text or item.label)
        item.insert_text = None
    return found


def annotation_hover(
    snapshot: Snapshot, position: types.Position, formats: Sequence[types.MarkupKind]
) -> types.Hover | None:
    """Return what the key or the fill at a position means; None elsewhere."""
    place = _place_at(snapshot, position)
    if place is None:
        return None
    at = len(place.before)
    for key, start, end in place.annotation.keys:
        if start <= at <= end:
            return _help(snapshot, place, (start, end), _words_of(snapshot, place, key), formats)
    for word in _FILL_WORD.finditer(place.annotation.body):
        if word.start() <= at <= word.end() and word[0] in FILLS and _is_fill(place.annotation.body, word.start()):
            return _help(snapshot, place, word.span(), f"`{word[0]}`: {FILLS[word[0]]}.", formats)
    return None


def _words_of(snapshot: Snapshot, place: _Place, key: str) -> str:
    parameter = place.kernel.parameter(key.partition(".")[0]) if place.kernel else None
    if parameter is not None:
        return f"`{_declaration(snapshot, parameter)}`: {parameter_help(parameter)}"
    return key_help(key) or f"`{key}`: a value that other values of this annotation use."


def _help(
    snapshot: Snapshot, place: _Place, span: tuple[int, int], words: str, formats: Sequence[types.MarkupKind]
) -> types.Hover:
    start, end = (place.start + at for at in span)
    where = range_of(snapshot.document.text, start, end, snapshot.encoding)
    if types.MarkupKind.Markdown in formats:
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, words), where)
    return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, plain(words)), where)


def _is_fill(body: str, at: int) -> bool:
    return re.search(r"fill\.[\w.\[\]]+\s*=\s*\Z", body[:at]) is not None


def _place_at(snapshot: Snapshot, position: types.Position) -> _Place | None:
    text = snapshot.document.text
    if _MARK not in text.value:
        return None
    at = offset_of(text, position, snapshot.encoding)
    for annotation in find_annotations(text.value):
        line, byte = annotation.body_line, annotation.body_byte
        start, _ = source_offsets(text, SourceRange(line, byte, line, byte))
        if start <= at <= start + len(annotation.body):
            return _Place(annotation, _kernel_below(snapshot, start), annotation.body[: at - start], start)
    return None


def _kernel_below(snapshot: Snapshot, at: int) -> Kernel | None:
    return next((view.kernel for view in snapshot.kernels if snapshot.end(view.kernel.signature_range) >= at), None)


def _key_items(snapshot: Snapshot, place: _Place) -> Iterator[types.CompletionItem]:
    given = {key for key, _, _ in place.annotation.keys}
    parameters = place.kernel.parameters if place.kernel else ()
    for parameter in parameters:
        if parameter.name not in given and parameter.kind not in (ParameterKind.SAMPLER, ParameterKind.OTHER):
            joint = "." if parameter.kind is ParameterKind.STRUCT else "="
            detail = _declaration(snapshot, parameter)
            yield _item(
                f"{parameter.name}{joint}", parameter_help(parameter), detail, types.CompletionItemKind.Variable
            )
    for key, words in KEYS.items():
        if key not in given and key not in ("fill", "where", "-I"):
            label = key if key == "-D" else f"{key}." if key == "tune" else f"{key}="
            yield _item(label, words, "launch", types.CompletionItemKind.Property)
    for parameter in parameters:
        if parameter.kind is ParameterKind.BUFFER and f"fill.{parameter.name}" not in given:
            yield _item(f"fill.{parameter.name}=", KEYS["fill"], "contents", types.CompletionItemKind.Property)


def _value_items(place: _Place, key: str) -> Iterator[types.CompletionItem]:
    if key == "local":
        yield _item("auto", "The driver chooses the local size.", "", types.CompletionItemKind.Keyword)
    names = [name for name, _, _ in place.annotation.keys if name.isidentifier() and name not in KEYS and name != key]
    scalars = [p.name for p in place.kernel.of_kind(ParameterKind.SCALAR)] if place.kernel else []
    for name in dict.fromkeys((*names, *scalars)):
        if name != key:
            yield _item(name, "", "value", types.CompletionItemKind.Variable)
    for function in ("ceil_div", "min", "max"):
        yield _item(f"{function}(", "", "function", types.CompletionItemKind.Function)


def _fill_items() -> Iterator[types.CompletionItem]:
    for word, arguments in FILL_WORDS.items():
        label = f"{word}:" if arguments else word
        yield _item(label, FILLS[word], "contents", types.CompletionItemKind.EnumMember)


def _item(label: str, words: str, detail: str, kind: types.CompletionItemKind) -> types.CompletionItem:
    documentation = types.MarkupContent(types.MarkupKind.Markdown, words) if words else None
    return types.CompletionItem(label, kind=kind, detail=detail or None, documentation=documentation)


def _declaration(snapshot: Snapshot, parameter: Parameter) -> str:
    start, end = snapshot.offsets(parameter.range)
    return " ".join(snapshot.document.text.value[start:end].split())
