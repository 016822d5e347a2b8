"""One kernel's own text as a syntax tree, before macros are expanded: what fixes look at and edit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tree_sitter import Node

from model.opencl.builtins import is_builtin
from model.opencl.kernel import Kernel, ParameterKind, SourceRange
from model.opencl.masking import Masked, mask
from model.opencl.program import Program
from model.opencl.syntax import find, parse_from

_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(\()?[^\n]*", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_BY_GROUP = re.compile(r"\bget_(?:local_|group_|num_groups|enqueued_|sub_group|max_sub|num_sub)\w*|\bsub_group_\w+")
_NUMBER = re.compile(r"\b0[xX][0-9a-fA-F]+[uUlL]*|\b\.?\d[\d.]*(?:[eE][-+]?\d+)?\w*")
_DIRECTIVE = re.compile(r"^[ \t]*#(?![ \t]*pragma[ \t]+unroll\b)", re.MULTILINE)
_CONSTANT_WORDS = frozenset({"const", "float", "int", "uint", "unsigned", "size_t", "long", "ulong", "double", "half"})
BARRIERS = re.compile(
    r"\b(?:work_group_|sub_group_)?barrier\b|\bmem_fence\b|\b\w+_mem_fence\b|\basync_\w+|\bwork_group_"
)


@dataclass(frozen=True)
class KernelSource:
    """`raw` is the whole text, one character a byte; `masked` is it without comments and OpenCL's qualifiers.

    `function` is the kernel's node in the tree of `masked`, whose offsets are bytes of the text.
    """

    raw: str
    masked: Masked
    function: Node
    kernel: Kernel
    program: Program

    @property
    def body(self) -> Node:
        found = self.function.child_by_field_name("body")
        assert found is not None
        return found

    def text(self, node: Node) -> str:
        """Return a node's text, comments as spaces."""
        return self.masked.text[node.start_byte : node.end_byte]

    def nodes(self, *types: str, inside: Node | None = None) -> Iterator[Node]:
        """Yield all descendants of these types, those inside of others too."""
        stack = [inside or self.function]
        while stack:
            at = stack.pop()
            stack.extend(reversed(at.named_children))
            if at.type in types:
                yield at

    def uses(self, name: str, inside: Node | None = None) -> Iterator[Node]:
        """Yield the identifiers of this name, but for the one that declares it."""
        for node in self.nodes("identifier", inside=inside or self.body):
            if self.text(node) == name:
                yield node

    def calls(self, inside: Node | None = None) -> Iterator[tuple[str, Node]]:
        """Yield the name and node of each call of a function or macro by its name."""
        for node in self.nodes("call_expression", inside=inside or self.body):
            callee = node.child_by_field_name("function")
            if callee is not None and callee.type == "identifier":
                yield self.text(callee), node

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text(self.function)))

    @cached_property
    def is_plain(self) -> bool:
        """Whether the text shows all that the kernel does: its macros are constants, it calls built-in functions only.

        Fixes that must know every access need that.
        """
        macros = self._macros
        used = self.words & macros.keys()
        if any(not _is_constant(macros[name], macros) for name in used):
            return False
        function = self.program.functions[self.kernel.name]
        expanded = function.masked.text[function.start : function.node.end_byte]
        if not set(_WORD.findall(expanded)) <= self.words | _CONSTANT_WORDS | {
            word for name in used for word in _WORD.findall(macros[name] or "")
        }:
            return False  # a macro of an included file brings names of its own
        return all(is_builtin(name) or _is_cast(name) for name, _ in self.calls()) and "asm" not in self.words

    @cached_property
    def _macros(self) -> dict[str, str | None]:
        """What each macro stands for; None where it has parameters."""
        blank = _blank(self.program)
        found: dict[str, str | None] = {
            match[1]: None if match[2] else match[0].partition(match[1])[2] for match in _DEFINE.finditer(blank)
        }
        return found | dict(self.program.options.every_define)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Return the macros that stand for numbers or expressions of such."""
        return frozenset(name for name, body in self._macros.items() if _is_constant(body, self._macros))

    @property
    def indentation(self) -> str:
        """Return what stands before the kernel on its first line."""
        return self.line_indentation(self.start)

    @property
    def start(self) -> int:
        """Return the offset of the kernel's first token, qualifiers included."""
        return offset_of(self.raw, self.kernel.signature_range)

    def line_indentation(self, at: int) -> str:
        """Return the space that the line of `at` begins with."""
        begin = self.raw.rfind("\n", 0, at) + 1
        line = self.raw[begin:at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    @property
    def tab(self) -> str:
        """Return by how much the statements of the kernel are indented; four spaces where they are not."""
        base = self.line_indentation(self.body.start_byte)
        first = next(iter(self.body.named_children), None)
        own = self.line_indentation(first.start_byte) if first is not None else base
        return own.removeprefix(base) if own.startswith(base) and own != base else "    "

    def is_first_on_line(self, at: int) -> bool:
        return not self.raw[self.raw.rfind("\n", 0, at) + 1 : at].strip(" \t")

    @property
    def line_end(self) -> str:
        return "\r\n" if "\r\n" in self.raw else "\n"


def kernel_source(program: Program, kernel: Kernel) -> KernelSource | None:
    """Return the text of a kernel of the main file; None where it cannot be edited safely.

    That is where it is not whole, or directives, or macros that are no expressions, stand inside.
    """
    if kernel.has_errors or kernel not in program.kernels or program.text.startswith("\ufeff"):
        return None
    start, end = (
        offset_of(program.raw, kernel.range),
        _offset(program.raw, kernel.range.end_line, kernel.range.end_byte),
    )
    blank = _blank(program)
    if len(blank) != len(program.raw) or _DIRECTIVE.search(blank[start:end]):
        return None
    masked = mask(blank[:end])
    root = parse_from(start, masked.text).root_node
    functions = [root] if root.type == "function_definition" else list(find(root, "function_definition"))
    if len(functions) != 1 or root.has_error or functions[0].child_by_field_name("body") is None:
        return None
    return KernelSource(program.raw, masked, functions[0], kernel, program)


def offset_of(raw: str, where: SourceRange) -> int:
    """Return the byte at which a range begins."""
    return _offset(raw, where.start_line, where.start_byte)


def _offset(raw: str, line: int, byte: int) -> int:
    at = 0
    for _ in range(line):
        at = raw.index("\n", at) + 1
    return at + byte


def _blank(program: Program) -> str:
    return "".join(segment.blank for segment in program.plan.files[0].segments)


def _is_constant(body: str | None, macros: dict[str, str | None], depth: int = 0) -> bool:
    """Return whether a macro stands for a number, an expression of such, or a type."""
    if body is None or depth > 8 or any(sign in body for sign in "[]{};=&"):
        return False
    words = _WORD.findall(_NUMBER.sub(" ", body))
    return all(w in _CONSTANT_WORDS or (w in macros and _is_constant(macros[w], macros, depth + 1)) for w in words)


def _is_cast(name: str) -> bool:
    return name in _CONSTANT_WORDS


def is_group_free(source: KernelSource) -> bool:
    """Return whether a kernel does the same in groups of any size: it shares nothing and asks for nothing of groups."""
    local = source.kernel.of_kind(ParameterKind.LOCAL)
    inside = source.masked.between(source.body.start_byte, source.body.end_byte)
    if local or "local" in inside or BARRIERS.search(source.text(source.body)):
        return False
    attributes = source.kernel.attributes
    if attributes.reqd_work_group_size or attributes.work_group_size_hint:
        return False
    functions = source.program.rests_on[source.kernel.name]
    return not any(_BY_GROUP.search(f.masked.text[f.node.start_byte : f.node.end_byte]) for f in functions)
