"""Write a product that is computed in one statement and added in another as `mad`, which takes one instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from model.advice.advice import AdviceCode, names_text
from model.advice.fixes.accesses import assigned_names, declared_names, is_stored, place_of
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource
from model.advice.fixes.straight_code import straight_runs
from model.opencl.kernel import ParameterKind
from model.opencl.syntax import without_parentheses
from model.opencl.types import PointerType, ScalarType, VectorType

_FUSES = frozenset({"-cl-mad-enable", "-cl-unsafe-math-optimizations", "-cl-fast-relaxed-math"})
_FLOATS = re.compile(r"(?:float|double)(?:2|3|4|8|16)?")
_LITERAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?([fF]?)")


@dataclass(frozen=True, slots=True)
class _Product:
    """`kind name = left * right;`, whose only use is `sum`'s operand."""

    name: str
    kind: str
    left: Node
    right: Node
    statement: Node


def fused_products(setting: Setting) -> Iterator[Fix]:
    """Fuse a product that a variable holds into the one sum that it is used in.

    Compilers contract `a * b + c` within an expression, as OpenCL C's default is, but not across statements unless an
    option says so. Only where the variable has no other use, all operands are of its type, and nothing is assigned
    between. `mad` is either fused or rounded twice as before (section 7.4), so a result changes by that rounding.
    For GPUs alone: PoCL calls a function for each, which took twice as long.
    """
    source = setting.source
    if not setting.is_gpu or not source.is_plain or _FUSES & set(setting.launch.options.flags):
        return
    if re.search(r"FP_CONTRACT\s+OFF", source.raw) or source.program.overloads("mad"):
        return
    edits, names = list[TextEdit](), list[str]()
    kinds = _kinds(source)
    for block in source.nodes("compound_statement"):
        for run in straight_runs(source, block):
            for product in _products(source, run):
                made = _fused(source, product, run, kinds)
                if made is not None and not any(a.start < b.end and b.start < a.end for a in made for b in edits):
                    edits += made
                    names.append(product.name)
    if edits:
        ordered = tuple(sorted(edits, key=lambda each: (each.start, each.end)))
        title = f"Fuse {names_text(names)} with the sum that {'it is' if len(names) == 1 else 'each is'} used in"
        yield Fix(AdviceCode.UNFUSED_PRODUCT, title, ordered, is_exact=False)


def _kinds(source: KernelSource) -> dict[str, str]:
    """Return the types of floating-point variables by their names; names that are declared twice are left out."""
    found: dict[str, str] = {}
    every = [name for node in source.nodes("declaration") for name in declared_names(source, node)]
    for parameter in source.kernel.of_kind(ParameterKind.SCALAR):
        if isinstance(parameter.type, ScalarType | VectorType):
            found[parameter.name] = parameter.type.name
    for node in source.nodes("declaration"):
        kind = node.child_by_field_name("type")
        for declarator in node.children_by_field_name("declarator"):
            inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
            if kind is not None and inner is not None and inner.type == "identifier":
                found[source.text(inner)] = source.text(kind)
    names = {parameter.name for parameter in source.kernel.parameters}
    return {n: k for n, k in found.items() if every.count(n) + (n in names) == 1 and _FLOATS.fullmatch(k)}


def _products(source: KernelSource, run: list[Node]) -> Iterator[_Product]:
    for statement in run:
        kind, declarators = statement.child_by_field_name("type"), statement.children_by_field_name("declarator")
        if statement.type != "declaration" or kind is None or len(declarators) != 1:
            continue
        if declarators[0].type != "init_declarator" or not _FLOATS.fullmatch(source.text(kind)):
            continue
        name, value = (declarators[0].child_by_field_name(part) for part in ("declarator", "value"))
        if name is None or name.type != "identifier" or value is None:
            continue
        value = without_parentheses(value)
        left, right = value.child_by_field_name("left"), value.child_by_field_name("right")
        if value.type != "binary_expression" or _operator(value) != "*" or left is None or right is None:
            continue
        left, right = without_parentheses(left), without_parentheses(right)
        yield _Product(source.text(name), source.text(kind), left, right, statement)


def _fused(source: KernelSource, product: _Product, run: list[Node], kinds: dict[str, str]) -> list[TextEdit] | None:
    """Return the edits that take a product's declaration out and put `mad` where it was added."""
    uses = [use for use in source.uses(product.name) if not _is_within(use, product.statement)]
    if len(uses) != 1 or kinds.get(product.name) != product.kind:
        return None
    use = uses[0]
    first = run.index(product.statement)
    last = next((n for n, each in enumerate(run) if n > first and _is_within(use, each)), None)
    if last is None or source.raw[product.statement.start_byte : product.statement.end_byte] != source.text(
        product.statement
    ):
        return None
    if any(_kind(source, each, kinds) != product.kind for each in (product.left, product.right)):
        return None
    if not _is_steady(source, product, run[first + 1 : last + 1], run[last]):
        return None
    a, b = source.text(product.left), source.text(product.right)
    above = use.parent
    if above is None:
        return None
    begin, end = product.statement.start_byte, product.statement.end_byte
    if source.is_first_on_line(begin) and source.raw[end : end + len(source.line_end)] == source.line_end:
        begin, end = source.raw.rfind("\n", 0, begin) + 1, end + len(source.line_end)
    gone = TextEdit(begin, end, "")
    if above.type == "assignment_expression" and _operator(above) in ("+=", "-="):
        target = above.child_by_field_name("left")
        if target is None or above.child_by_field_name("right") != use or target.type != "identifier":
            return None
        if kinds.get(source.text(target)) != product.kind:
            return None
        name, sign = source.text(target), "-" if _operator(above) == "-=" else ""
        made = f"{name} = mad({sign}{_factor(a, sign)}, {b}, {name})"
        return [gone, TextEdit(above.start_byte, above.end_byte, made)]
    if above.type != "binary_expression" or _operator(above) not in ("+", "-"):
        return None
    left, right = above.child_by_field_name("left"), above.child_by_field_name("right")
    other = right if left == use else left
    if other is None or _kind(source, other, kinds) != product.kind:
        return None
    minus = _operator(above) == "-"
    sign, rest = ("-" if minus and right == use else ""), source.text(other)
    added = f"-({rest})" if minus and left == use else rest
    made = f"mad({sign}{_factor(a, sign)}, {b}, {added})"
    return [gone, TextEdit(above.start_byte, above.end_byte, made)]


def _factor(text: str, sign: str) -> str:
    return f"({text})" if sign and not re.fullmatch(r"\w+", text) else text


def _is_steady(source: KernelSource, product: _Product, between: list[Node], last: Node) -> bool:
    """Return whether the factors are the same where the product is used: nothing that they read is written between."""
    parts = (product.left, product.right)
    names = {source.text(name) for part in parts for name in source.nodes("identifier", inside=part)}
    changed = {name for each in between[:-1] for name in assigned_names(source, each)}
    changed |= {name for each in between for name in declared_names(source, each)}
    top = last.named_children[0] if last.type == "expression_statement" and last.named_children else None
    inner = [node for node in source.nodes("assignment_expression", "update_expression", inside=last) if node != top]
    if names & changed or inner or any(source.nodes("update_expression", inside=last)):
        return False
    loads = any(True for part in parts for _ in source.nodes("subscript_expression", inside=part))
    stores = any(is_stored(n) for each in between[:-1] for n in source.nodes("subscript_expression", inside=each))
    return not (loads and stores) and not any(True for part in parts for _ in source.calls(part))


def _kind(source: KernelSource, node: Node, kinds: dict[str, str]) -> str | None:
    """Return the floating-point type of an expression; None where the text does not tell it."""
    bare = without_parentheses(node)
    match bare.type:
        case "identifier":
            return kinds.get(source.text(bare))
        case "number_literal":
            literal = _LITERAL.fullmatch(source.text(bare))
            return "float" if literal is not None and literal[1] else None
        case "subscript_expression":
            base = bare.child_by_field_name("argument")
            parameter = source.kernel.parameter(source.text(base)) if base is not None else None
            kind = parameter.type if parameter is not None and base is not None and place_of(base) == bare else None
            is_known = isinstance(kind, PointerType) and isinstance(kind.pointee, ScalarType | VectorType)
            name = kind.pointee.name if is_known and isinstance(kind, PointerType) else ""
            return name if _FLOATS.fullmatch(name) and source.text(base or bare) not in _hidden(source) else None
        case "binary_expression" if _operator(bare) in ("+", "-", "*", "/"):
            sides = [bare.child_by_field_name(part) for part in ("left", "right")]
            found = {_kind(source, side, kinds) if side is not None else None for side in sides}
            return found.pop() if len(found) == 1 else None
        case _:
            return None


def _hidden(source: KernelSource) -> set[str]:
    return {name for node in source.nodes("declaration") for name in declared_names(source, node)}


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _is_within(node: Node, outer: Node) -> bool:
    return outer.start_byte <= node.start_byte and node.end_byte <= outer.end_byte
