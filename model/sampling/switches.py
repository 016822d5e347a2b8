"""`switch`: lanes enter at their own label, and fall through to the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from tree_sitter import Node

from model.opencl.builtin_types import LONG
from model.opencl.types import ScalarType
from model.sampling.compiler import Compiler, Step
from model.sampling.conversions import converted
from model.sampling.dispatch import block, charged_when_run, expression, statement
from model.sampling.values import Value, promoted

if TYPE_CHECKING:
    from model.sampling.lanes import Lanes


@dataclass(slots=True)
class _Group:
    """Labels that stand together, and the statements behind them."""

    labels: list[int]
    is_default: bool
    node: Node
    body: Step


def switch(c: Compiler, node: Node) -> Step:
    """Compile a switch."""
    chooser_node, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
    if chooser_node is None or body is None:
        raise c.refuse("a switch is not understood", node)
    chooser = expression(c, chooser_node)
    if not isinstance(chooser.type, ScalarType):
        raise c.refuse("a switch is not understood", node)
    wide = converted(converted(chooser, promoted(chooser.type)), LONG)
    with c.scope():
        groups = _groups(c, body)
    site = c.site(node, chooser.taint)
    sites = [c.site(group.node, chooser.taint) for group in groups]
    c.cost += 4 * len(groups)
    return _Switch(site, sites, wide.run, groups).run


def _groups(c: Compiler, body: Node) -> list[_Group]:
    groups: list[_Group] = []
    labels: list[int] = []
    is_default = False
    cases = [n for n in body.named_children if n.type == "case_statement"]
    for n in body.named_children:
        if n.type == "declaration":
            statement(c, n)
        elif n.type not in ("case_statement", "comment"):
            raise c.refuse("a statement before the first `case`", n)
    for case in cases:
        label = case.child_by_field_name("value")
        if label is None:
            is_default = True
        else:
            value = expression(c, label)
            if value.constant is None:
                raise c.refuse("a `case` is not a constant", case)
            labels.append(int(value.constant))
        nodes = [n for n in case.named_children if n != label and n.type != "comment"]
        if nodes or case == cases[-1]:
            groups.append(_Group(labels, is_default, case, charged_when_run(c, partial(block, c, nodes))))
            labels, is_default = [], False
    return groups


class _Switch:
    def __init__(self, site: int, sites: list[int], chooser: Value, groups: list[_Group]) -> None:
        self.site, self.sites, self.chooser, self.groups = site, sites, chooser, groups
        self.labels = [label for group in groups for label in group.labels]

    def run(self, f: Lanes) -> bool:
        record = f.context.sites[self.site]
        mask, active, returned, continued = f.mask, f.active, f.returned, f.continued
        record.begun += active
        chosen = self.chooser(f)
        if chosen.ndim == 0:
            chosen = np.full(f.width, chosen)
        present = f.whole_mask()
        unmatched = present
        enters: list[Any] = []
        for group in self.groups:
            met = np.zeros(f.width, np.bool_)
            for label in group.labels:
                met |= chosen == label
            met &= present
            enters.append(met)
            unmatched = unmatched & ~met
        falls: Any = None  # the lanes that come from the case before
        fallen = 0
        for number, group in enumerate(self.groups):
            entering = enters[number] | unmatched if group.is_default else enters[number]
            inside = entering if falls is None else entering | falls
            count = int(np.count_nonzero(inside))
            if not count:
                falls = None
                continue
            case = f.context.sites[self.sites[number]]
            case.begun += active
            case.taken += count
            case.take(f, inside)
            f.mask, f.active = inside, count
            if group.body(f):
                falls = None
            else:
                falls, fallen = f.mask, f.active
                case.completed += fallen
        f.mask, f.active = mask, active
        gone = None
        if f.returned is not returned:
            gone = f.returned
        if f.continued is not continued:
            gone = f.continued if gone is None else gone | f.continued
        if gone is not None:
            left = present & ~gone
            f.active = int(np.count_nonzero(left))
            if not f.active:
                return True
            f.mask = left
        record.completed += f.active
        return False
