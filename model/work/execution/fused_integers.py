"""Integer operations that GPUs do two or three at a time: sums of three, any logic of three words, rotations.

Source: NVIDIA, "CUDA Binary Utilities", instructions IADD3, LOP3 and SHF; AMD, "Vega Instruction Set Architecture",
V_ADD3_U32, V_OR3_B32, V_BFI_B32 and V_ALIGNBIT_B32.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from model.opencl.syntax import without_parentheses

_LOGIC, _SUMS = frozenset({"&", "|", "^"}), frozenset({"+", "-"})


def operations_saved(root: Node) -> tuple[int, list[int]]:
    """Return how many operations in a tree of sums or of logic need no instruction, and the ids of its inner nodes.

    Nothing is saved, and there are no inner nodes, where `root` is neither.
    """
    kind = _kind(root)
    if kind is None or _is_rotation(root):
        return (2 if kind else 0), []
    inner: list[int] = []
    operations, leaves = 0, set[bytes]()
    stack = [root]
    while stack:
        node = stack.pop()
        operations += 1
        for side in _sides(node):
            is_inverted = side.type == "unary_expression" and kind is _LOGIC and side.children[0].type == "~"
            operations += is_inverted
            part = next(_sides(side), side) if is_inverted else side
            if _kind(part) is kind and not _is_rotation(part):
                inner.append(part.id)
                stack.append(part)
            else:
                leaves.add(part.text or b"")
    return max(0, operations - max(1, len(leaves) // 2)), inner  # an instruction takes two more words each time


def _kind(node: Node) -> frozenset[str] | None:
    if node.type != "binary_expression" or len(node.children) != 3:
        return None
    operator = node.children[1].type
    return _LOGIC if operator in _LOGIC else _SUMS if operator in _SUMS else None


def _is_rotation(node: Node) -> bool:
    """`(x << n) | (x >> (32 - n))`, either way round."""
    if node.children[1].type not in ("|", "+", "^"):
        return False
    first, second = _sides(node)
    shifts = [side.children for side in (first, second) if side.type == "binary_expression"]
    if len(shifts) != 2 or {shift[1].type for shift in shifts} != {"<<", ">>"}:
        return False
    return shifts[0][0].text == shifts[1][0].text


def _sides(node: Node) -> Iterator[Node]:
    """Return the operands, without parentheses around them."""
    return map(without_parentheses, node.named_children)
