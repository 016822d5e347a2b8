"""tree-sitter over masked text: parse, re-parse after an edit, and small questions about nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Point, Tree


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_c.language()))


def parse(text: str, previous: tuple[str, Tree] | None = None) -> Tree:
    """The tree of `text` (one character a byte); after an edit `previous` makes it cost what changed."""
    data = text.encode("latin-1")
    if previous is None:
        return _parser().parse(data)
    old_text, old_tree = previous
    old_tree.edit(*_edit(old_text, text))
    return _parser().parse(data, old_tree)


def _edit(old: str, new: str) -> tuple[int, int, int, Point, Point, Point]:
    """One edit that turns `old` into `new`: all between the common prefix and the common suffix."""
    start = _common_prefix(old, new)
    limit = min(len(old), len(new)) - start
    suffix = min(limit, _common_prefix(old[::-1][:limit], new[::-1][:limit]))
    old_end, new_end = len(old) - suffix, len(new) - suffix
    return start, old_end, new_end, _point(new, start), _point(old, old_end), _point(new, new_end)


def _common_prefix(a: str, b: str) -> int:
    """Length of the common prefix, by bisection over slices (comparisons run at memory speed)."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _point(text: str, offset: int) -> Point:
    return Point(text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1))


def children(node: Node, *types: str) -> Iterator[Node]:
    """Named children of the given types."""
    return (c for c in node.named_children if c.type in types)


def find(node: Node, *types: str) -> Iterator[Node]:
    """All descendants of the given types, outermost first, not looking inside a match."""
    stack = [node]
    while stack:
        at = stack.pop()
        stack.extend(reversed(at.named_children))
        if at.type in types and at is not node:
            del stack[len(stack) - len(at.named_children) :]
            yield at
