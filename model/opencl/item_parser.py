"""What one item says: its functions, variables and types, in lines and offsets of its own.

A reading follows from the item's text and from what the names it uses meant before it. Both are remembered, so that
an item is read again only when one of them has changed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

from tree_sitter import Node

from model.opencl.declarations import Declarations, Declared, Names
from model.opencl.fingerprint import Definition, Weight, definition
from model.opencl.kernel import Kernel, KernelAttributes, Parameter, SourceRange
from model.opencl.masking import Masked
from model.opencl.syntax import find, parse, parse_from
from model.opencl.top_level_items import TopLevelItem
from model.opencl.types import Type

_NAME = re.compile(r"\b[A-Za-z_]\w*")
_SIZES = re.compile(r"(reqd_work_group_size|work_group_size_hint)\s*(?:__)?\s*\(")
_SIZE = re.compile(r"\s*(0[xX][0-9a-fA-F]{1,16}|0[0-7]{0,22}|[1-9]\d{0,18})[uUlL]*\s*")
_DIGITS = re.compile(r"\s*\d+\s*")
_LONGEST_SIZE = 200  # characters of an expression


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function definition: the kernel or helper `name`. Nodes and offsets are those of its `item`."""

    name: str
    return_type: Type
    parameters: tuple[Declared, ...]
    node: Node
    body: Node
    masked: Masked
    item: TopLevelItem
    start: int  # offset of the first token, qualifiers included
    is_kernel: bool
    has_errors: bool
    is_own: bool  # stands in the main file
    first_line: int  # from the item's; -1 in other files
    lines: str  # equal only where the lines inside are laid out equally

    @property
    def layout(self) -> tuple[object, ...]:
        """What an analysis takes from it beyond its tokens: equal only where lines, types and errors are equal."""
        return (self.lines, self.has_errors, self.return_type, *(declared.type for declared in self.parameters))


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """`kernels`, by function, have ranges relative to the item's first line, and no fingerprint yet.

    `says` are the names that the item gives a meaning to, in order. `reads` and `writes` are, for each field of
    `Names`, what was looked up there and what was added.
    """

    item: TopLevelItem
    functions: tuple[Function, ...]
    kernels: dict[Function, Kernel]
    globals: dict[str, Declared]
    says: tuple[tuple[str, Definition, Weight], ...]
    reads: tuple[dict[str, Any], ...]
    writes: tuple[dict[str, Any], ...]
    has_errors: bool

    def holds(self, names: Names) -> bool:
        """Return whether the item would be read the same where names mean this."""
        for now, before in zip(_tables(names), self.reads, strict=True):
            for name, meant in before.items():
                means = now.get(name)
                if means is not meant and means != meant:
                    return False
        return True

    def add_to(self, names: Names) -> None:
        for now, new in zip(_tables(names), self.writes, strict=True):
            if new:
                now.update(new)


def read(item: TopLevelItem, names: Names) -> Reading:
    """Read `item` where names mean what they mean in `names`, which stays as it is."""
    tables = [_Journal(table) for table in _tables(names)]
    reading = _Reading(item, Names(*tables), tables)
    reading.whole()
    return Reading(
        item,
        tuple(reading.functions),
        {f: reading.kernel(f) for f in reading.functions if f.is_kernel},
        reading.globals,
        tuple((name, at, weight) for name, at, weight in reading.said()),
        tuple(table.reads for table in tables),
        tuple(dict(table) for table in tables),
        reading.has_errors,
    )


_TABLES = attrgetter(*(each.name for each in fields(Names)))


def _tables(names: Names) -> tuple[dict[str, Any], ...]:
    tables: tuple[dict[str, Any], ...] = _TABLES(names)
    return tables


class _Journal(dict[str, Any]):
    """Additions to a table that stays as it is, the latest of them, and what was looked up in it."""

    def __init__(self, base: dict[str, Any]) -> None:
        super().__init__()
        self._base = base
        self.reads: dict[str, Any] = {}
        self.latest: list[str] = []

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401
        super().__setitem__(name, value)
        self.latest.append(name)

    def __missing__(self, name: str) -> Any:  # noqa: ANN401
        value = self.reads[name] = self._base.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401
        if super().__contains__(name):
            return super().__getitem__(name)
        value = self.reads[name] = self._base.get(name)
        return default if value is None else value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None


class _Reading:
    """One pass over the top level of an item's tree."""

    def __init__(self, item: TopLevelItem, names: Names, journals: list[_Journal]) -> None:
        self.item = item
        self.journals = journals
        self.masked = item.masked
        self.reader = Declarations(item.masked, names)
        self.functions: list[Function] = []
        self.globals: dict[str, Declared] = {}
        self.spans: list[tuple[str, tuple[int, int], Weight]] = []
        self.kernel_starts = item.masked.offsets_of("kernel")
        self.has_errors = False

    def said(self) -> Iterator[tuple[str, Definition, Weight]]:
        made: dict[tuple[int, int], Definition] = {}
        for name, span, weight in self.spans:
            found = made.get(span)
            if found is None:
                found = made[span] = definition(self.item.text[span[0] : span[1]])
            yield name, found, weight

    def whole(self) -> None:
        text, added = _closed(self.masked.text)
        root = parse(text).root_node
        self.has_errors = root.has_error or bool(added)
        self._top_level(root, is_closed=not added)
        self._rescue()

    def _top_level(self, root: Node, *, is_closed: bool) -> None:
        since = 0
        for node in root.named_children:
            match node.type:
                case "function_definition":
                    self._function(node, since, self.masked, is_closed=is_closed)
                case "type_definition":
                    self.reader.read_typedef(node)
                    self._defined(node, since)
                case "struct_specifier" | "union_specifier":
                    self.reader.specified(node)
                    self._defined(node, since)
                case "enum_specifier":
                    self.reader.read_enum(node)
                    self._defined(node, since)
                case "declaration":
                    self._declaration(node, since)
                case "ERROR" | "linkage_specification":
                    for inner in find(node, "function_definition"):
                        self._function(inner, since, self.masked, is_closed=is_closed)
            since = node.end_byte

    def _declaration(self, node: Node, since: int) -> None:
        for declared in self.reader.declared(node, since):
            self.globals[declared.name] = declared
            self.spans.append((declared.name, (since, node.end_byte), Weight.VARIABLE))
            if declared.is_const and declared.value is not None:
                value = self.reader.constant(declared.value)
                if value is not None:
                    self.reader.names.constants[declared.name] = value
        self._defined(node, since)

    def _defined(self, node: Node, since: int) -> None:
        """Note that `node` declares the types and constants added since the last call."""
        for journal in self.journals:
            self.spans += ((name, (since, node.end_byte), Weight.VARIABLE) for name in journal.latest)
            journal.latest.clear()

    def _function(self, node: Node, since: int, masked: Masked, *, is_closed: bool) -> None:
        declarator, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
        while declarator is not None and declarator.type == "pointer_declarator":
            declarator = declarator.child_by_field_name("declarator")
        if declarator is None or declarator.type != "function_declarator" or body is None:
            return
        name_node, list_node = (
            declarator.child_by_field_name("declarator"),
            declarator.child_by_field_name("parameters"),
        )
        if name_node is None or list_node is None or name_node.type != "identifier":
            return
        # Qualifiers are masked: the function begins at the first of those with nothing but space behind them.
        blank = since + len(masked.text[since : node.start_byte].rstrip())
        start = next((o for o in masked.offsets_between(blank, node.start_byte)), node.start_byte)
        is_kernel = "kernel" in masked.between(start, list_node.start_byte)
        is_whole = masked is self.masked
        next_kernel = bisect_right(self.kernel_starts, body.start_byte)
        if is_kernel and is_whole and any(k < node.end_byte for k in self.kernel_starts[next_kernel : next_kernel + 1]):
            return  # an open brace has swallowed the next kernel: see _rescue
        reader = self.reader if is_whole else Declarations(masked, self.reader.names)
        is_own = self.item.is_own(body.start_byte)
        function = Function(
            reader.text(name_node), reader.base_type(node), tuple(_parameters(list_node, reader)), node, body, masked,
            self.item, start, is_kernel, node.has_error or not is_closed, is_own,
            self.item.range(start, start + 1).start_line if self.item.is_own(start) else -1,
            self.item.layout(start, node.end_byte) if is_own else "",
        )  # fmt: skip
        self.functions.append(function)
        weight = Weight.KERNEL if is_kernel else Weight.FUNCTION
        self.spans.append((function.name, (start, node.end_byte), weight))

    def _rescue(self) -> None:
        """Read again, each by itself, the kernels that broken code around them has hidden."""
        read_already = {f.start for f in self.functions if f.is_kernel}
        begun = {f.node.start_byte for f in self.functions}
        bounds = [*self.kernel_starts, len(self.masked.text)]
        for start, end in zip(self.kernel_starts, bounds[1:], strict=True):
            if start in read_already or "{" not in self.masked.text[start:end]:
                continue
            own, added = _closed(self.masked.text[start:end])
            text = self.masked.text[:start] + own
            alone = Masked(text, self.masked.offsets, self.masked.words)
            root = parse_from(start, text).root_node
            candidates = [root, *root.named_children] if root.type != "function_definition" else [root]
            for node in (
                n
                for c in candidates
                for n in ([c] if c.type == "function_definition" else find(c, "function_definition"))
            ):
                if node.start_byte >= start and node.start_byte not in begun:
                    self._function(node, start, alone, is_closed=not added)
                    begun.update(f.node.start_byte for f in self.functions[-1:])

    def kernel(self, function: Function) -> Kernel:
        head = " ".join(self.masked.between(function.start, function.body.start_byte))
        declarator = next(find(function.node, "parameter_list"))
        name_node = next(find(function.node, "function_declarator")).child_by_field_name("declarator") or function.node
        return Kernel(
            name=function.name,
            parameters=tuple(
                Parameter(d.name, d.type, self._range(d.node), _access(self.masked, d.node))
                for d in function.parameters
            ),
            attributes=_attributes(head, self.reader),
            name_range=self._range(name_node),
            signature_range=self.item.range(function.start, declarator.end_byte),
            range=self.item.range(function.start, function.node.end_byte),
            fingerprint="",
            has_errors=function.has_errors,
        )

    def _range(self, node: Node) -> SourceRange:
        return self.item.range(node.start_byte, node.end_byte)


def _closed(text: str) -> tuple[str, int]:
    """`text` with the closing braces it lacks, and how many these are."""
    lacking = max(0, text.count("{") - text.count("}"))
    return text + "}" * lacking, lacking


def _parameters(node: Node, reader: Declarations) -> Iterator[Declared]:
    since = node.start_byte
    for child in node.named_children:
        if child.type == "parameter_declaration":
            declared = reader.parameter(child, since)
            if declared is not None:
                yield declared
        since = child.end_byte


def _access(masked: Masked, node: Node) -> str:
    since = max(masked.text.rfind(separator, 0, node.start_byte) for separator in "(,")
    return next((w for w in masked.between(since, node.end_byte) if w.startswith(("read", "write"))), "")


def _size(written: str, reader: Declarations) -> int | None:
    """Return the value of a number as C writes it, or of an expression of numbers and constants."""
    if (found := _SIZE.fullmatch(written)) is not None:
        text = found[1]
        return int(text, 16 if text[:2] in ("0x", "0X") else 8 if text[0] == "0" else 10)
    if len(written) > _LONGEST_SIZE or _DIGITS.fullmatch(written):
        return None
    return reader.constant_in(written)


def _arguments(text: str, start: int) -> list[str]:
    """Return what stands from `start` to the parenthesis that closes there, cut at commas outside of others."""
    parts, depth = [""], 1
    for char in text[start:]:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            break
        if char == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _attributes(head: str, reader: Declarations) -> KernelAttributes:
    sizes: dict[str, tuple[int, int, int] | None] = {}
    undeclared: dict[str, None] = {}
    for match in _SIZES.finditer(head):
        parts = _arguments(head, match.end())
        numbers = [_size(part, reader) for part in parts]
        if match[1] == "reqd_work_group_size":
            unknown = (part for part, number in zip(parts, numbers, strict=True) if number is None)
            undeclared |= dict.fromkeys(name for part in unknown for name in _NAME.findall(part))
        known = [number for number in numbers if number is not None and number > 0]
        if len(known) == len(numbers) == 3:
            sizes[match[1]] = (known[0], known[1], known[2])
    required, hint = (sizes.get(name) for name in ("reqd_work_group_size", "work_group_size_hint"))
    return KernelAttributes(required, hint, tuple(undeclared))
