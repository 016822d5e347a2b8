"""What `goto` repeats or skips, read as loops: `again: ...; if (c) goto again;` is `do { ... } while (c);`.

A label is understood where all jumps to it lead back from behind it, or all lead forward to it, out of nothing but
branches. Statements that it repeats or skips become one loop, in which `goto` is a `continue` or a `break`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

from tree_sitter import Node, Point

from model.opencl.syntax import find

_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})
_LEFT_BY_BREAK = _LOOPS | {"switch_statement"}

MAX_LABELS = 64  # of a block


class Jump(StrEnum):
    """What a `goto` comes to."""

    AGAIN = "continue"
    BEYOND = "break"
    BACK = "back"  # to a statement before it, in no way that is understood
    AWAY = "away"  # anywhere else


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """Stands among the nodes of a tree, with as much of their interface as statements need."""

    type: str
    named_children: list[Node]
    start_byte: int
    end_byte: int
    start_point: Point
    end_point: Point
    id: int
    fields: dict[str, Node]

    def child_by_field_name(self, name: str) -> Node | None:
        return self.fields.get(name)


@dataclass(frozen=True, slots=True)
class _Region:
    """Statements `first` to `last` of a block: those that jumps to `label` repeat, or skip."""

    label: bytes
    first: int
    last: int
    jumps: Mapping[int, Jump]  # by the ids of the `goto`s
    drops_label: bool
    ends: Node | None  # the `if` at the end that is the loop's condition


class Jumps:
    """The jumps of one program, by the blocks that were read: each is looked through once."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[int, int], list[Node]] = {}
        self._places: dict[int, dict[bytes, int]] = {}
        self._known: dict[int, Jump] = {}  # by the ids of `goto`s

    def structured(self, nodes: Sequence[Node]) -> Sequence[Node]:
        """Return the statements of a block with loops in place of those that `goto` repeats or skips."""
        first = next((node for node in nodes if node.type == "labeled_statement"), None)
        if first is None:
            return nodes
        made = self._blocks.get((first.id, len(nodes)))
        if made is None:
            made = self._blocks[first.id, len(nodes)] = self._made(nodes)
        return made

    def _made(self, nodes: Sequence[Node]) -> list[Node]:
        made, at = list[Node](), 0
        for region in sorted(_regions(nodes), key=lambda region: region.first):
            self._known.update(region.jumps)
            made += nodes[at : region.first]
            made.append(_loop(nodes, region))
            at = region.last + 1
        return [*made, *nodes[at:]]

    def of(self, goto: Node) -> Jump:
        """Return what `goto` comes to, of which the block has been read."""
        known = self._known.get(goto.id)
        if known is None:
            known = self._known[goto.id] = self._unfollowed(goto)
        return known

    def _unfollowed(self, goto: Node) -> Jump:
        label, at = _label(goto), goto.parent
        while at is not None:
            place = self._places_in(at).get(label)
            if place is not None:
                return Jump.BACK if place < goto.start_byte else Jump.AWAY
            at = at.parent
        return Jump.AWAY

    def _places_in(self, block: Node) -> dict[bytes, int]:
        """Return the first bytes of the labelled statements of a block, by label."""
        found = self._places.get(block.id)
        if found is None:
            found = self._places[block.id] = {
                label: node.start_byte for node in block.named_children for label in _labels(node)
            }
        return found


def _regions(nodes: Sequence[Node]) -> list[_Region]:
    """Find those that are understood and lie apart from each other."""
    found: list[_Region] = []
    if sum(node.type == "labeled_statement" for node in nodes) > MAX_LABELS:
        return found
    gotos = [_below(node, "goto_statement") for node in nodes]
    for number, node in enumerate(nodes):
        for label in _labels(node):
            region = _region(nodes, label, number, gotos)
            if region is not None and not any(r.first <= region.last and region.first <= r.last for r in found):
                found.append(region)
    return found


def _region(nodes: Sequence[Node], label: bytes, at: int, gotos: Sequence[Sequence[Node]]) -> _Region | None:
    holding = [number for number, below in enumerate(gotos) if any(_label(g) == label for g in below)]
    if not holding or holding[0] < at <= holding[-1]:
        return None
    is_back = holding[0] >= at
    first, last = (at, holding[-1]) if is_back else (holding[0], at - 1)
    inside, behind = nodes[first : last + 1], nodes[last + 1 :]
    below = [goto for each in gotos[first : last + 1] for goto in each]
    unlooped = {id_ for node in inside for id_ in _unlooped(node, "goto_statement", _LOOPS)}
    unswitched = {id_ for node in inside for id_ in _unlooped(node, "goto_statement", _LEFT_BY_BREAK)}
    ends = frozenset(_labels(behind[0])) if behind else frozenset[bytes]()  # a jump there leaves the loop
    own = {goto.id: Jump.AGAIN for goto in below if is_back and _label(goto) == label and goto.id in unlooped}
    beyond = {goto.id: Jump.BEYOND for goto in below if _label(goto) in ends and goto.id in unswitched}
    labels = {known for node in inside for each in _below(node, "labeled_statement") for known in _labels(each)}
    leaves = any(g.id not in own | beyond and (_label(g) == label or _label(g) not in labels) for g in below)
    strays = any(_unlooped(n, "break_statement") or _unlooped(n, "continue_statement", _LOOPS) for n in inside)
    if leaves or strays or _outlives(inside, behind):
        return None
    is_tail = is_back and len(own) == 1 and last > first and _is_jump_if(nodes[last])
    return _Region(label, first, last, own | beyond, is_back, nodes[last] if is_tail else None)


def _loop(nodes: Sequence[Node], region: _Region) -> Node:
    """Make `do { ... } while (c);` where the jump is the last statement, else `for (;;) { ...; break; }`."""
    first, last = nodes[region.first], nodes[region.last]
    body = _body(nodes, region)
    condition = region.ends.child_by_field_name("condition") if region.ends is not None else None
    if condition is None:
        block = _made("compound_statement", [*body, _made("break_statement", [], last, last, {})], first, last, {})
        return _made("for_statement", [block], first, last, {"body": block})
    block = _made("compound_statement", body, first, last, {})
    return _made("do_statement", [block, condition], first, last, {"body": block, "condition": condition})


def _body(nodes: Sequence[Node], region: _Region) -> list[Node]:
    body = list(nodes[region.first : region.last + (region.ends is None)])
    if region.drops_label:
        body[:1] = _behind(body[0], region.label)
    return body


def _made(kind: str, children: list[Node], first: Node, last: Node, fields: dict[str, Node]) -> Node:
    start, end = (first.start_byte, first.start_point), (last.end_byte, last.end_point)
    return cast("Node", _Made(kind, children, start[0], end[0], start[1], end[1], ~first.id, fields))


def _below(node: Node, kind: str) -> list[Node]:
    """Return all of `kind`, `node` itself too."""
    found, stack = list[Node](), [node]
    while stack:
        at = stack.pop()
        stack += at.named_children
        if at.type == kind:
            found.append(at)
    return found


def _unlooped(node: Node, kind: str, within: frozenset[str] = _LEFT_BY_BREAK) -> set[int]:
    """Return the ids of all nodes of `kind` at and below `node` that are not inside one of `within` there."""
    found, stack = set[int](), [node]
    while stack:
        at = stack.pop()
        if at.type == kind:
            found.add(at.id)
        elif at.type not in within:
            stack += at.named_children
    return found


def _outlives(inside: Sequence[Node], behind: Sequence[Node]) -> bool:
    """Return whether a variable that the statements declare would be missing behind the loop."""
    declarations = (n for node in inside for n in _unlabelled(node) if n.type == "declaration")
    names = {
        n.text for node in declarations for each in node.children_by_field_name("declarator") for n in _named(each)
    }
    return bool(names) and any(n.text in names for node in behind for n in find(node, "identifier"))


def _named(declarator: Node) -> list[Node]:
    inner = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
    return _below(inner or declarator, "identifier")


def _is_jump_if(node: Node) -> bool:
    """Return whether it is `if (c) goto label;`, with braces or without."""
    then = node.child_by_field_name("consequence")
    if node.type != "if_statement" or then is None or node.child_by_field_name("alternative") is not None:
        return False
    inside = then.named_children if then.type == "compound_statement" else [then]
    return [n.type for n in inside if n.type != "comment"] == ["goto_statement"]


def _labels(node: Node) -> Iterator[bytes]:
    """Yield those that stand before a statement: `a: b: x = 1;` has two."""
    for _ in range(MAX_LABELS):
        if node.type != "labeled_statement":
            return
        yield _label(node)
        inner = _inner(node)
        if len(inner) != 1:
            return
        node = inner[0]


def _behind(node: Node, label: bytes) -> list[Node]:
    while _label(node) != label:
        node = _inner(node)[0]
    return _inner(node)


def _unlabelled(node: Node) -> list[Node]:
    return [n for each in _inner(node) for n in _unlabelled(each)] if node.type == "labeled_statement" else [node]


def _inner(labelled: Node) -> list[Node]:
    return [n for n in labelled.named_children if n.type not in ("statement_identifier", "comment")]


def _label(node: Node) -> bytes:
    found = node.child_by_field_name("label")
    return (found.text or b"") if found is not None else b""
