"""Programs in Python: plain, raw and formatted strings, bytes, their concatenations, and names that hold such."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from unicodedata import lookup

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Tree

from model.embedded.fields import MARK_END, MARK_START, Found, Template
from model.embedded.program import Literal, Piece, decoded, verbatim
from model.text_change import replaced_part

_MEANT = {
    **{f"\\{line_end}": "" for line_end in ("\n", "\r\n", "\r")},
    **{f"\\{c}": c for c in "\\'\""},
    "\\a": "\a", "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t", "\\v": "\v",
}  # fmt: skip
_BYTES_ESCAPE = r"\\(?:\r\n|[\n\r\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}"
_ESCAPES = {
    True: re.compile(_BYTES_ESCAPE + ")"),
    False: re.compile(_BYTES_ESCAPE + r"|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}\n]+\})"),
}
_BRACES = re.compile(r"\{\{|\}\}")
_NAMES = 4  # that lead to each other: `a = b + "..."`
_TEXT_METHODS = frozenset({"format", "format_map", "replace", "strip", "lstrip", "rstrip", "encode", "expandtabs"})


class PythonLiterals:
    """Reads one state of a Python file after the other; what did not change is not parsed again."""

    def __init__(self) -> None:
        self._data = b""
        self._tree: Tree | None = None

    def programs(self, text: str) -> Iterator[Found]:
        """Yield each program once, in the order of the first literal that names a kernel."""
        source = self._parsed(text)
        seen: set[int] = set()
        words = (match.start() for match in re.finditer(b"kernel", source.data))
        for node in _strings_around(source.tree, words):
            whole, template = _whole(node)
            if whole.id in seen or _is_alone(whole):
                continue
            seen.add(whole.id)
            parts = list(_parts(source, whole, _NAMES))
            pieces = tuple(piece for literal, own in parts for piece in own)
            yield Found(pieces, tuple(literal for literal, _ in parts if literal is not None), template)

    def _parsed(self, text: str) -> _Source:
        data = text.encode("utf-8", "replace")
        if self._tree is None or data != self._data:
            before = self._tree
            if before is not None:
                _edit(before, self._data, data)
            self._tree = _parser().parse(data, before) if before is not None else _parser().parse(data)
            self._data = data
        return _Source(text, data, self._tree)


class _Source:
    """A parsed text; the parser counts bytes and everything here characters."""

    def __init__(self, text: str, data: bytes, tree: Tree) -> None:
        self.text, self.data, self.tree = text, data, tree
        self._is_ascii = len(text) == len(data)
        self._near = (0, 0)  # a byte and its character: places are asked for near each other

    def offset(self, byte: int) -> int:
        if self._is_ascii:
            return byte
        known_byte, known = self._near
        if byte >= known_byte:
            known += len(self.data[known_byte:byte].decode("utf-8", "replace"))
        else:
            known -= len(self.data[byte:known_byte].decode("utf-8", "replace"))
        self._near = byte, known
        return known


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_python.language()))


def _edit(tree: Tree, before: bytes, after: bytes) -> None:
    """Report the replaced range to the tree: all between the common start and the common end of both texts."""
    start, end, new_end = replaced_part(before, after)
    tree.edit(start, end, new_end, _point(before, start), _point(before, end), _point(after, new_end))


def _point(data: bytes, byte: int) -> tuple[int, int]:
    return data.count(b"\n", 0, byte), byte - (data.rfind(b"\n", 0, byte) + 1)


def _strings_around(tree: Tree, places: Iterable[int]) -> Iterator[Node]:
    """Yield the innermost string literal around each of the places, which are bytes and ascend; some have none.

    One walk finds them all: each search from the root would go through all statements of the file.
    """
    cursor = tree.walk()
    strings: list[Node] = []  # those that the cursor is inside
    for byte in places:
        while strings and strings[-1].end_byte <= byte:
            strings.pop()
        is_behind_children = False
        while (node := cursor.node) is not None and node.start_byte <= byte:
            if node.end_byte <= byte:
                is_behind_children = not cursor.goto_next_sibling()
                if is_behind_children and not cursor.goto_parent():
                    break
                continue
            if node.type == "string" and node not in strings[-1:]:
                strings.append(node)
            if is_behind_children or not cursor.goto_first_child():
                break
        if strings:
            yield strings[-1]


def _whole(node: Node) -> tuple[Node, Template]:
    """Return the expression that a literal is part of, as long as it is text, and how it is completed."""
    template = Template()
    while (parent := node.parent) is not None:
        operator = _operator(parent) if parent.type == "binary_operator" else ""
        if parent.type in ("concatenated_string", "parenthesized_expression") or operator == "+":
            node = parent
        elif operator == "%" and node == parent.child_by_field_name("left"):
            node, template = parent, replace(template, has_percents=True)
        elif (method := _method(parent)) is not None and parent.parent is not None:
            template = replace(template, has_braces=template.has_braces or method.startswith("format"))
            node = parent.parent
        else:
            break
    return node, template


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _method(node: Node) -> str | None:
    """Return the name of a method that gives text again, where `node` is `TEXT.method` and is called."""
    name, call = node.child_by_field_name("attribute"), node.parent
    if node.type != "attribute" or name is None or name.text is None or call is None or call.type != "call":
        return None
    method = name.text.decode("utf-8", "replace")
    return method if method in _TEXT_METHODS and call.child_by_field_name("function") == node else None


def _is_alone(node: Node) -> bool:
    """Return whether an expression is a statement: a docstring, which no program is built from."""
    return node.parent is not None and node.parent.type in ("expression_statement", "module", "block")


_Part = tuple[Literal | None, list[Piece]]


def _parts(source: _Source, node: Node, names: int) -> Iterator[_Part]:
    """Yield the literals that an expression joins, in their order; what is no literal is left to run time."""
    match node.type:
        case "string":
            yield _read(source, node)
        case "concatenated_string" | "parenthesized_expression":
            for child in node.named_children:
                if child.type != "comment":
                    yield from _parts(source, child, names)
        case "binary_operator" if _operator(node) == "+":
            for operand in _operands(node):
                yield from _parts(source, operand, names)
        case "binary_operator" if _operator(node) == "%" and (left := node.child_by_field_name("left")) is not None:
            yield from _parts(source, left, names)
        case "call" if (text := _text_of_call(node)) is not None:
            yield from _parts(source, text, names)
        case _:
            value = _value_of(source, node) if names and node.type == "identifier" else None
            if value is not None:
                yield from _parts(source, value, names - 1)
            else:
                yield None, [_mark(source, node)]


def _operands(node: Node) -> Iterator[Node]:
    """Yield the operands of a sum from the left, without recursion: sums of a thousand lines are as deep."""
    found: list[Node] = []
    first: Node | None = node
    while first is not None and first.type == "binary_operator" and _operator(first) == "+":
        found += filter(None, [first.child_by_field_name("right")])
        first = first.child_by_field_name("left")
    yield from filter(None, [first, *reversed(found)])


def _text_of_call(node: Node) -> Node | None:
    function = node.child_by_field_name("function")
    if function is None or _method(function) is None:
        return None
    return function.child_by_field_name("object")


def _value_of(source: _Source, node: Node) -> Node | None:
    """Return the text that a name is given, where it is given one in a single place."""
    name = re.escape(source.data[node.start_byte : node.end_byte])
    given = list(re.finditer(rb"^([ \t]*)%b[ \t]*(?::[^=\n]*)?=(?!=)" % name, source.data, re.MULTILINE))
    if len(given) != 1:
        return None
    byte = given[0].end(1)
    found = source.tree.root_node.descendant_for_byte_range(byte, byte + 1)
    while found is not None and found.type != "assignment":
        found = found.parent
    value = found.child_by_field_name("right") if found is not None else None
    is_around = value is not None and value.start_byte <= node.start_byte < value.end_byte
    return value if value is not None and not is_around and _is_text(value) else None


def _is_text(node: Node) -> bool:
    return node.type in ("string", "concatenated_string", "parenthesized_expression", "binary_operator", "call")


def _mark(source: _Source, node: Node) -> Piece:
    start, end = source.offset(node.start_byte), source.offset(node.end_byte)
    return Piece(f"{MARK_START}{source.text[start:end]}{MARK_END}", start, end)


def _read(source: _Source, node: Node) -> _Part:
    text = source.text
    opening, closing = node.children[0], node.children[-1]
    start, end = source.offset(node.start_byte), source.offset(node.end_byte)
    body_start = source.offset(opening.end_byte)
    body_end = source.offset(closing.start_byte) if closing.type == "string_end" else end
    prefix = text[start:body_start].rstrip("'\"").lower()
    is_raw, is_formatted = "r" in prefix, "f" in prefix
    is_multiline = text[start + len(prefix) : body_start] in ('"""', "'''")
    literal = Literal(start, end, body_start, body_end, is_raw, is_multiline, "{}" if is_formatted else "")
    pieces: list[Piece] = []
    at = body_start
    for child in node.named_children:
        if child.type == "interpolation":
            mark = _mark(source, child)
            pieces += _constant(text, at, mark.start, prefix)
            pieces.append(mark)
            at = mark.end
    pieces += _constant(text, at, body_end, prefix)
    return literal, pieces


def _constant(text: str, start: int, end: int, prefix: str) -> Iterator[Piece]:
    """Yield a part of a literal without fields."""
    at = start
    for match in _BRACES.finditer(text, start, end) if "f" in prefix else ():
        yield from _unescaped(text, at, match.start(), prefix)
        yield Piece(match[0][0], *match.span())
        at = match.end()
    yield from _unescaped(text, at, end, prefix)


def _unescaped(text: str, start: int, end: int, prefix: str) -> Iterator[Piece]:
    if "r" in prefix:
        return verbatim(text, start, end)
    names = {}
    if "\\N{" in text[start:end]:
        names = {each: _named(each) for each in re.findall(r"\\N\{[^}\n]+\}", text[start:end])}
    return decoded(text, start, end, _ESCAPES["b" in prefix], _MEANT | names)


def _named(escape: str) -> str:
    try:
        return lookup(escape[3:-1])
    except KeyError:
        return "\ufffd"
