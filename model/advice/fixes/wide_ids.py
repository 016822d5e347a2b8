"""Ids in 64-bit variables, where a 32-bit one hides from a CPU's compiler that neighbours' addresses are consecutive.

Which runtimes lose sight of them is measured: see `model.work.execution.narrow_ids`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tree_sitter import Node

from model.advice.advice import AdviceCode, names_text
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource
from model.opencl.declarations import Declarations, Names
from model.opencl.types import ScalarKind, ScalarType
from model.work.counts import Pattern
from model.work.features.access_facts import GLOBAL_SPACES
from model.work.features.vectorization_contexts import Placed

_WIDER = {"int": "long", "uint": "size_t", "unsigned": "size_t", "unsigned int": "size_t"}
_IDS = frozenset({"get_global_id", "get_local_id", "get_group_id"})
_SUMS = frozenset({"+", "-", "*"})
_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_SHIFTS = frozenset({"<<", ">>"})
_WHOLE = frozenset({ScalarKind.SIGNED, ScalarKind.UNSIGNED})
_SIZES = _IDS | {"get_global_size", "get_local_size", "get_num_groups"}  # of 64 bits, as ids are


def wide_ids(setting: Setting) -> Iterator[Fix]:
    """`long` for variables of `int` that are set to an id once, and only index, or are compared."""
    source = setting.source
    if setting.is_gpu or not source.is_plain or not _has_hidden(setting):
        return
    found = [node for node in source.nodes("declaration", inside=source.body) if _type_of(source, node) is not None]
    while True:  # what is set to a variable that stays as it is stays as it is, too
        names = {name for node in found for name, _ in _declared(source, node)}
        kept = [node for node in found if _is_widened(source, node, names)]
        if len(kept) == len(found):
            break
        found = kept
    if not any(_holds_ids(source, value) for node in found for _, value in _declared(source, node)):
        return
    edits = []
    for node in found:
        kind, wider = node.child_by_field_name("type"), _type_of(source, node)
        assert kind is not None
        assert wider is not None
        edits.append(TextEdit(kind.start_byte, kind.end_byte, wider))
    named = [name for node in found for name, _ in _declared(source, node)]
    yield Fix(AdviceCode.NARROW_INDEX, f"Give {names_text(named)} 64 bits, as ids have", tuple(edits))


def _has_hidden(setting: Setting) -> bool:
    """Return whether neighbours' accesses are hidden, and not mostly executed with all lanes masked off.

    What those cost in memory beyond a buffer is not priced: with 64-bit ids, which make them masked vector accesses, a
    launch of many idle work-items took 10 times as long on an AMD EPYC (Zen 3).
    """
    parts = setting.prediction.work.contexts
    hidden = [each for part in parts for each in part.accesses if _is_hidden(each)]
    masked = [each for part in parts for region in part.unbound for each in region.accesses if _is_hidden(each)]
    return bool(hidden) and _global_count(masked) <= _global_count(hidden)


def _is_hidden(placed: Placed) -> bool:
    return placed.is_hidden and placed.access.pattern is Pattern.UNIT


def _global_count(accesses: Iterable[Placed]) -> float:
    return sum(each.access.count for each in accesses if each.access.space in GLOBAL_SPACES)


def _type_of(source: KernelSource, declaration: Node) -> str | None:
    """Return the type of 64 bits that stands for a declaration's type, where it is one of 32."""
    kind = declaration.child_by_field_name("type")
    return _WIDER.get(" ".join(source.text(kind).split())) if kind is not None else None


def _declared(source: KernelSource, declaration: Node) -> Iterator[tuple[str, Node]]:
    """Yield the names of a declaration, with what each is set to; a name that is not is set to itself."""
    for each in declaration.children_by_field_name("declarator"):
        name, value = each.child_by_field_name("declarator"), each.child_by_field_name("value")
        if each.type == "init_declarator" and name is not None and value is not None and name.type == "identifier":
            yield source.text(name), value
        else:
            yield source.text(each), each


def _is_widened(source: KernelSource, declaration: Node, names: set[str]) -> bool:
    """Return whether nothing but the length of the declaration's variables would change."""
    parent = declaration.parent
    if parent is None or parent.type != "compound_statement":
        return False
    for name, value in _declared(source, declaration):
        if value.parent == declaration or [n for n, _ in _all_declared(source)].count(name) > 1:
            return False
        if source.kernel.parameter(name) is not None:
            return False
        uses = [use for use in source.uses(name) if not _declares(use)]
        is_id = any(call == value and called in _IDS for called, call in source.calls(inside=value))
        if not uses or not all(_is_safe(source, use, names, is_id=is_id) for use in uses):
            return False
        if not _holds_ids(source, value) and not any(any(source.uses(other, inside=value)) for other in names):
            return False
    return True


def _all_declared(source: KernelSource) -> Iterator[tuple[str, Node]]:
    for declaration in source.nodes("declaration", inside=source.body):
        yield from _declared(source, declaration)


def _declares(use: Node) -> bool:
    above = use.parent
    return above is not None and above.type == "init_declarator" and above.child_by_field_name("declarator") == use


def _holds_ids(source: KernelSource, value: Node) -> bool:
    """Return whether a value is made of ids; what is loaded by them is data."""
    is_loaded = any(source.nodes("subscript_expression", inside=value))
    return not is_loaded and any(name in _IDS for name, _ in source.calls(inside=value))


def _is_safe(source: KernelSource, use: Node, names: set[str], *, is_id: bool) -> bool:
    """Return whether a use goes into an index, a comparison, or a variable that becomes wider as well, by sums.

    `is_id`: the variable is an id and nothing else, and so never negative.
    """
    at, above = use, use.parent
    while above is not None and (
        above.type == "parenthesized_expression"
        or (above.type == "binary_expression" and _operator(source, above) in _SUMS)
    ):
        at, above = above, above.parent
    if above is None:
        return False
    if above.type == "subscript_expression":
        return above.child_by_field_name("index") == at
    if above.type == "init_declarator":
        name = above.child_by_field_name("declarator")
        return name is not None and source.text(name) in names
    if above.type != "binary_expression" or _operator(source, above) not in _COMPARISONS:
        return False
    # A negative number of 32 bits, beside an unsigned one of 32, is a large one; of 64 bits it stays a small one.
    kinds = _WHOLE if is_id and at == use else {ScalarKind.SIGNED}
    others = [side for side in above.named_children if side != at]
    return all(_has_64_bits(source, side) or _is_made_of(source, side, kinds) for side in others)


def _has_64_bits(source: KernelSource, node: Node) -> bool:
    """Return whether a number is computed from ids or sizes: what it is compared with is widened anyway."""
    if node.type == "parenthesized_expression":
        return any(_has_64_bits(source, inner) for inner in node.named_children)
    if node.type == "binary_expression" and _operator(source, node) not in _COMPARISONS:
        sides = node.named_children[: 1 if _operator(source, node) in _SHIFTS else 2]
        return any(_has_64_bits(source, side) for side in sides)
    return any(call == node and name in _SIZES for name, call in source.calls(inside=node))


def _is_made_of(source: KernelSource, node: Node, kinds: Collection[ScalarKind]) -> bool:
    """Return whether all that a number is made of is of these kinds, as far as the kernel's text shows it."""
    if next(source.nodes("call_expression", "subscript_expression", "field_expression", inside=node), None) is not None:
        return False
    names = {source.text(each) for each in source.nodes("identifier", inside=node)}
    if not all(found and found.issubset(kinds) for found in (_kinds_of(source, name) for name in names)):
        return False
    literals = [source.text(each).lower() for each in source.nodes("number_literal", inside=node)]
    return ScalarKind.UNSIGNED in kinds or not any("u" in each for each in literals)


def _kinds_of(source: KernelSource, name: str) -> set[ScalarKind]:
    """Return the kinds of the scalars of this name; empty where one is none, or not known."""
    parameter = source.kernel.parameter(name)
    reader = Declarations(source.masked, Names())
    types = [
        reader.base_type(declaration)
        for declaration in source.nodes("declaration", inside=source.body)
        if any(declared == name for declared, _ in _declared(source, declaration))
    ]
    if parameter is not None:
        types.append(parameter.type)
    scalars = [each for each in types if isinstance(each, ScalarType)]
    return {each.kind for each in scalars} if len(scalars) == len(types) else set()


def _operator(source: KernelSource, node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return source.text(operator) if operator is not None else ""
