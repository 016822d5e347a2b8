"""A program: one text under one set of build options, read as far as it can be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tree_sitter import Node, Tree

from model.errors import NoSuchKernel
from model.opencl.declarations import Declarations, Declared, Names
from model.opencl.directives import SourceNote
from model.opencl.kernel import Kernel, KernelAttributes, Parameter, SourceRange
from model.opencl.masking import Masked, mask
from model.opencl.options import BuildOptions
from model.opencl.preprocess import Expanded, preprocess
from model.opencl.syntax import find, parse
from model.opencl.types import Type

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_SIZES = re.compile(r"(reqd_work_group_size|work_group_size_hint)\s*(?:__)?\s*\(([^)]*)\)")
_VEC_HINT = re.compile(r"vec_type_hint(?:__)?\s*\(\s*(\w+)")


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function definition: the kernel or helper `name`, with the declarations reader its nodes belong to."""

    name: str
    return_type: Type
    parameters: tuple[Declared, ...]
    node: Node
    body: Node
    reader: Declarations
    start: int  # offset of the first token, qualifiers included
    is_kernel: bool
    has_errors: bool


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What one text says under one set of options. Immutable; `notes` tell what could not be read."""

    text: str
    lines: tuple[str, ...]
    options: BuildOptions
    expanded: Expanded
    masked: Masked
    tree: Tree
    kernels: tuple[Kernel, ...]
    functions: dict[str, Function]
    globals: dict[str, Declared]
    reader: Declarations
    function_lines: dict[str, int]  # the line (from 0) on which each function of the main file begins
    notes: tuple[SourceNote, ...] = field(default=())

    @property
    def rests_on_files(self) -> bool:
        """Whether the same text may read differently later: it includes files, or misses some."""
        return len(self.expanded.files) > 1 or bool(self.notes)

    def kernel(self, name: str) -> Kernel:
        found = next((k for k in self.kernels if k.name == name), None)
        if found is None:
            known = ", ".join(f"`{k.name}`" for k in self.kernels) or "none"
            raise NoSuchKernel(f"there is no kernel `{name}` here; kernels in this file: {known}")
        return found


def read_program(
    text: str, path: Path | None = None, options: BuildOptions | None = None, previous: Program | None = None
) -> Program:
    """Read `text` under `options`. `previous`, an earlier reading of nearly the same text, makes it fast.

    Never raises for bad input.
    """
    options = options or BuildOptions()
    expanded = preprocess(text, path, options)
    masked = mask(expanded.text)
    tree = parse(masked.text, (previous.masked.text, previous.tree.copy()) if previous else None)
    return _Reading(text, options, expanded, masked, tree).program()


class _Reading:
    """One pass over the top level of a tree."""

    def __init__(self, text: str, options: BuildOptions, expanded: Expanded, masked: Masked, tree: Tree) -> None:
        self.text, self.options, self.expanded, self.masked, self.tree = text, options, expanded, masked, tree
        self.reader = Declarations(masked, Names())
        self.functions: dict[str, Function] = {}
        self.globals: dict[str, Declared] = {}
        self.spans: dict[str, tuple[int, int]] = {}  # what a name's meaning rests on, for fingerprints
        self.kernel_starts = masked.offsets_of("kernel")

    def program(self) -> Program:
        self._top_level(self.tree.root_node)
        self._rescue()
        own = (f for f in self.functions.values() if self.expanded.origin(f.body.start_byte)[0] == 0)
        kernels = sorted((self._kernel(f) for f in own if f.is_kernel), key=lambda k: k.range)
        return Program(
            text=self.text,
            lines=tuple(self.text.split("\n")),
            options=self.options,
            expanded=self.expanded,
            masked=self.masked,
            tree=self.tree,
            kernels=tuple(kernels),
            functions=self.functions,
            globals=self.globals,
            reader=self.reader,
            function_lines={n: at for n, f in self.functions.items() if (at := self.expanded.line(f.start)) >= 0},
            notes=self.expanded.notes,
        )

    def _top_level(self, root: Node, shift: int = 0) -> None:
        since = shift
        for node in root.named_children:
            match node.type:
                case "function_definition":
                    self._function(node, since, self.reader)
                case "type_definition":
                    self.reader.read_typedef(node)
                    self._span_of_names(node, since)
                case "struct_specifier" | "union_specifier":
                    self.reader.specified(node)
                    self._span_of_names(node, since)
                case "enum_specifier":
                    self.reader.read_enum(node)
                    self._span_of_names(node, since)
                case "declaration":
                    self._declaration(node, since)
                case "ERROR" | "linkage_specification":
                    for inner in find(node, "function_definition"):
                        self._function(inner, since, self.reader)
            since = node.end_byte

    def _declaration(self, node: Node, since: int) -> None:
        for declared in self.reader.declared(node, since):
            self.globals[declared.name] = declared
            self.spans[declared.name] = (since, node.end_byte)
            if declared.is_const and declared.value is not None:
                value = self.reader.constant(declared.value)
                if value is not None:
                    self.reader.names.constants[declared.name] = value
        self._span_of_names(node, since)

    def _span_of_names(self, node: Node, since: int) -> None:
        for name in find(node, "type_identifier", "identifier"):
            self.spans.setdefault(self.reader.text(name), (since, node.end_byte))

    def _function(self, node: Node, since: int, reader: Declarations) -> None:
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
        blank = since + len(reader.masked.text[since : node.start_byte].rstrip())
        start = next((o for o in reader.masked.offsets_between(blank, node.start_byte)), node.start_byte)
        is_kernel = "kernel" in reader.masked.between(start, list_node.start_byte)
        if is_kernel and any(body.start_byte < k < node.end_byte for k in self.kernel_starts) and reader is self.reader:
            return  # an open brace has swallowed the next kernel: see _rescue
        function = Function(
            reader.text(name_node), reader.base_type(node), tuple(_parameters(list_node, reader)), node, body, reader,
            start, is_kernel, node.has_error,
        )  # fmt: skip
        known = self.functions.get(function.name)
        if known is None or not known.is_kernel or is_kernel:
            self.functions[function.name] = function
            self.spans[function.name] = (start, node.end_byte)

    def _rescue(self) -> None:
        """Read again, each by itself, the kernels that broken code around them has hidden."""
        read = {f.start for f in self.functions.values() if f.is_kernel}
        bounds = [*self.kernel_starts, len(self.masked.text)]
        for start, end in zip(self.kernel_starts, bounds[1:], strict=True):
            if start in read:
                continue
            # Blank all but this kernel: offsets stay those of the whole text.
            text = " " * start + self.masked.text[start:end]
            text += "}" * (text.count("{") - text.count("}"))
            alone = Masked(text, self.masked.offsets, self.masked.words)
            reader = Declarations(alone, self.reader.names)
            root = parse(text).root_node
            candidates = [root, *root.named_children] if root.type != "function_definition" else [root]
            for node in (
                n
                for c in candidates
                for n in ([c] if c.type == "function_definition" else find(c, "function_definition"))
            ):
                if node.start_byte >= start and not any(
                    f.node.start_byte == node.start_byte for f in self.functions.values()
                ):
                    self._function(node, start, reader)

    def _kernel(self, function: Function) -> Kernel:
        head = " ".join(self.masked.between(function.start, function.body.start_byte))
        declarator = next(find(function.node, "parameter_list"))
        name_node = next(find(function.node, "function_declarator")).child_by_field_name("declarator") or function.node
        return Kernel(
            name=function.name,
            parameters=tuple(
                Parameter(d.name, d.type, self._range(d.node), _access(self.masked, d.node))
                for d in function.parameters
            ),
            attributes=_attributes(head),
            name_range=self._range(name_node),
            signature_range=self._span(function.start, declarator.end_byte),
            range=self._span(function.start, function.node.end_byte),
            fingerprint=self._fingerprint(function.name),
            has_errors=function.has_errors,
        )

    def _range(self, node: Node) -> SourceRange:
        return self._span(node.start_byte, node.end_byte)

    def _span(self, start: int, end: int) -> SourceRange:
        file, at = self.expanded.origin(start)
        end_file, end_at = self.expanded.origin_end(end)
        return self.expanded.lines[file].range(at, end_at if end_file == file else at)

    def _fingerprint(self, name: str) -> str:
        """A hash of the tokens of `name` and, in order of first use, of all it rests on."""
        digest, seen, queue = hashlib.sha256(), {name}, [name]
        for used in queue:
            start, end = self.spans[used]
            tokens = _TOKEN.findall(self.expanded.text[start:end])
            digest.update(" ".join(tokens).encode())
            for token in tokens:
                if token in self.spans and token not in seen:
                    seen.add(token)
                    queue.append(token)
        return digest.hexdigest()[:24]


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


def _attributes(head: str) -> KernelAttributes:
    sizes: dict[str, tuple[int, int, int] | None] = {}
    for match in _SIZES.finditer(head):
        numbers = [int(n, 0) for n in re.findall(r"0[xX][0-9a-fA-F]+|\d+", match[2])]
        if len(numbers) == 3 and all(n > 0 for n in numbers):
            sizes[match[1]] = (numbers[0], numbers[1], numbers[2])
    hint = _VEC_HINT.search(head)
    return KernelAttributes(
        sizes.get("reqd_work_group_size"), sizes.get("work_group_size_hint"), hint[1] if hint else None
    )
