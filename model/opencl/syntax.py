"""tree-sitter over masked text: parse, and small questions about nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import tree_sitter_c
from tree_sitter import Language, Node, Parser, Point, Range, Tree


@cache
def _language() -> Language:
    return Language(tree_sitter_c.language())


@cache
def _parser() -> Parser:
    return Parser(_language())


def parse(text: str) -> Tree:
    """Return the tree of `text` (one character a byte)."""
    return _parser().parse(text.encode("latin-1"))


def parse_from(start: int, text: str) -> Tree:
    """Return the tree of what stands in `text` from `start` on; offsets are those in the whole text."""
    data = text.encode("latin-1")
    alone = Range(Point(0, start), Point(0, len(data)), start, len(data))
    return Parser(_language(), included_ranges=[alone]).parse(data)


def without_parentheses(node: Node) -> Node:
    """Return the expression that stands in parentheses, however many; any other node as it is."""
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


LOOP_EXITS = ("break_statement", "return_statement", "goto_statement")
LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})


def is_in_loop(node: Node) -> bool:
    """Return whether a loop of the same function stands around `node`."""
    at: Node | None = node
    while at is not None and at.type not in LOOPS:
        at = at.parent
    return at is not None


def children(node: Node, *types: str) -> Iterator[Node]:
    """Named children of the given types."""
    return (c for c in node.named_children if c.type in types)


def find(node: Node, *types: str) -> Iterator[Node]:
    """Yield all descendants of the given types, outermost first, not looking inside a match."""
    stack = [node]
    while stack:
        at = stack.pop()
        stack.extend(reversed(at.named_children))
        if at.type in types and at is not node:
            del stack[len(stack) - len(at.named_children) :]
            yield at
