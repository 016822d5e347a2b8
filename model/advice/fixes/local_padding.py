"""Rows of a local array one element longer, so that a column spreads over all banks of local memory."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from model.advice.advice import AdviceCode
from model.advice.fixes.fix import Fix, Setting, TextEdit
from model.advice.fixes.kernel_source import KernelSource


def padded_rows(setting: Setting) -> Iterator[Fix]:
    """Pad each local array of two dimensions with bank conflicts. Exact: nothing else stands between its rows.

    Only where each use names both indices, so that no row is reached from another.
    """
    source = setting.source
    if not setting.is_gpu or not source.is_plain:
        return
    conflicting = {
        facts.count.buffer
        for facts in setting.prediction.work.facts.accesses
        if (facts.bank_conflict_degree or 0.0) >= 2.0
    }
    for declarator in source.nodes("array_declarator", inside=source.body):
        inner, size = declarator.child_by_field_name("declarator"), declarator.child_by_field_name("size")
        if inner is None or inner.type != "array_declarator" or size is None:
            continue
        name = inner.child_by_field_name("declarator")
        if name is None or name.type != "identifier" or source.text(name) not in conflicting:
            continue
        uses = [use for use in source.uses(source.text(name)) if use != name]
        if uses and all(_has_both(use) for use in uses) and _count(source, source.text(name)) == 1:
            written = source.text(size).strip()
            padded = f"{written} + 1" if written.isalnum() or "_" in written else f"({written}) + 1"
            edit = TextEdit(size.start_byte, size.end_byte, padded)
            yield Fix(AdviceCode.BANK_CONFLICTS, f"Pad the rows of `{source.text(name)}` by one element", (edit,))


def _has_both(use: Node) -> bool:
    first = use.parent
    if first is None or first.type != "subscript_expression" or first.child_by_field_name("argument") != use:
        return False
    second = first.parent
    if second is None or second.type != "subscript_expression" or second.child_by_field_name("argument") != first:
        return False
    above = second.parent
    return above is None or above.type not in ("pointer_expression", "sizeof_expression")


def _count(source: KernelSource, name: str) -> int:
    """Return how many arrays of this name the kernel declares."""
    declared = (each.child_by_field_name("declarator") for each in source.nodes("array_declarator"))
    return sum(node is not None and node.type == "identifier" and source.text(node) == name for node in declared)
