"""Hints to compilers: `restrict` and `const`, for which they keep values and reorder accesses, and `#pragma unroll`."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from model.advice.advice import AdviceCode, names_text
from model.advice.fixes.accesses import is_stored
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import BARRIERS, KernelSource
from model.opencl.kernel import Parameter, ParameterKind
from model.opencl.types import PointerType

_FACTORS = (4, 8)  # more iterations are under way at a time, with fewer branches


def restrict_parameters(setting: Setting) -> Iterator[Fix]:
    """`restrict` on all buffers: the caller promises that none of them overlaps another that the kernel writes.

    Only where something is loaded after a store, in the text or in a loop around both: all else is loaded as it would
    be without the promise.
    """
    source = setting.source
    declared = list(_pointers(source))
    plain = [(parameter, name) for parameter, name, kind in declared if not kind.is_restrict]
    stored = {a.buffer for a in setting.prediction.work.accesses if a.is_store or a.is_atomic}
    if len(declared) < 2 or not plain or not stored & {parameter.name for parameter, _, _ in declared}:
        return
    names = [parameter.name for parameter, _ in plain]
    if source.is_plain and not _loads_after_store(source):
        return
    yield Fix(
        AdviceCode.POSSIBLE_ALIASING,
        f"Declare {names_text(names)} `restrict`",
        tuple(TextEdit(name.start_byte, name.start_byte, "restrict ") for _, name in plain),
        promise=f"the host never passes one buffer, or overlapping parts of one, for two of {names_text(names)}",
    )


def _loads_after_store(source: KernelSource) -> bool:
    """Return whether a load follows a store; also where stores go through pointers or functions."""
    if any(name.startswith(("vstore", "atom", "async")) for name, _ in source.calls()):
        return True
    if next(source.nodes("pointer_expression"), None) is not None or "->" in source.text(source.body):
        return True
    places = [
        node
        for node in source.nodes("subscript_expression", inside=source.body)
        if (base := node.child_by_field_name("argument")) is not None
        and base.type == "identifier"
        and source.kernel.parameter(source.text(base)) is not None
    ]
    stores = [node for node in places if is_stored(node)]
    loads = [node for node in places if node not in stores]
    if not stores or not loads:
        return False
    last = max(loads, key=lambda node: node.start_byte)
    first = min(stores, key=lambda node: node.start_byte)
    # `y[i] = x[i]` loads before it stores, although the load stands behind.
    statement: Node | None = first
    while statement is not None and not statement.type.endswith("_statement"):
        statement = statement.parent
    if last.start_byte > (statement.end_byte if statement is not None else first.end_byte):
        return True
    loops = list(source.nodes("for_statement", "while_statement", "do_statement"))
    return any(_holds(loop, stores) and _holds(loop, loads) for loop in loops)


def _holds(outer: Node, nodes: list[Node]) -> bool:
    return any(outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte for node in nodes)


def const_parameters(setting: Setting) -> Iterator[Fix]:
    """`const` on buffers of which every use in the kernel's text is a load."""
    source = setting.source
    if not source.is_plain:
        return
    edits, names = [], []
    for parameter, name, kind in _pointers(source):
        uses = list(source.uses(parameter.name))
        if not kind.is_const and not kind.is_volatile and uses and all(_is_load(use) for use in uses):
            declaration = _declaration(name)
            base = declaration.child_by_field_name("type") if declaration is not None else None
            if base is not None:
                edits.append(TextEdit(base.start_byte, base.start_byte, "const "))
                names.append(parameter.name)
    if edits:
        yield Fix(AdviceCode.ONLY_READ, f"Declare what {names_text(names)} point to `const`", tuple(edits))


def unrolled_loop(setting: Setting) -> Iterator[Fix]:
    """Ask for each innermost loop to be unrolled; of loops with a hint, or with barriers inside, nothing is said."""
    source = setting.source
    for loop in source.nodes("for_statement"):
        body = loop.child_by_field_name("body")
        if body is None or source.masked.unroll_hint(loop.start_byte) is not None:
            continue
        if next(source.nodes("for_statement", "while_statement", "do_statement", "goto_statement", inside=body), None):
            continue
        if BARRIERS.search(source.text(loop)) or not source.is_first_on_line(loop.start_byte):
            continue
        at = source.raw.rfind("\n", 0, loop.start_byte) + 1
        line = source.raw.count("\n", 0, at) + 1
        for factor in _FACTORS:
            text = f"{source.line_indentation(loop.start_byte)}#pragma unroll {factor}{source.line_end}"
            title = f"Unroll the loop of line {line} by {factor}"
            yield Fix(AdviceCode.ROLLED_LOOP, title, (TextEdit(at, at, text),))


def _pointers(source: KernelSource) -> Iterator[tuple[Parameter, Node, PointerType]]:
    """Yield the buffers, with the identifier that declares each as `type *name`."""
    named = {parameter.name: parameter for parameter in source.kernel.of_kind(ParameterKind.BUFFER)}
    for pointer in source.nodes("pointer_declarator", inside=source.function.child_by_field_name("declarator")):
        name = pointer.child_by_field_name("declarator")
        if name is None or name.type != "identifier":
            continue
        parameter = named.get(source.text(name))
        if parameter is not None and isinstance(parameter.type, PointerType):
            yield parameter, name, parameter.type


def _declaration(name: Node) -> Node | None:
    at: Node | None = name
    while at is not None and at.type != "parameter_declaration":
        at = at.parent
    return at


def _is_load(use: Node) -> bool:
    """Return whether an identifier is the base of a subscript whose value is taken and not changed."""
    at = use.parent
    if at is None or at.type != "subscript_expression" or at.child_by_field_name("argument") != use:
        return False
    while at.parent is not None and at.parent.type in ("field_expression", "parenthesized_expression"):
        at = at.parent
    above = at.parent
    if above is None or above.type in ("update_expression", "pointer_expression", "subscript_expression"):
        # `x[i][j]` of a buffer of arrays is left alone: what it takes is decided further up.
        return above is not None and above.type == "subscript_expression" and above.child_by_field_name("index") == at
    return above.type != "assignment_expression" or above.child_by_field_name("left") != at
