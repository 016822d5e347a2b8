"""What the C grammar takes for casts or calls: parentheses as macros leave them, and pointers to rows."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tree_sitter import Node

from model.opencl.false_casts import MOST_NESTED
from model.opencl.masking import mask
from model.opencl.program import Program
from model.opencl.syntax import find, parse
from model.opencl.types import PointerType

Read = Callable[..., Program]

NAMES = {"a": 3, "b": 5, "cols": 7, "row_2": 11}
TYPES = ("uint", "float4", "word", "unsigned int")
HEAD = "typedef uint word; void k(int a, int b) { int cols = 7, row_2 = 11; word w = 1; "
BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {  # how strongly each binds, and what it does
    "*": (3, operator.mul),
    "+": (2, operator.add),
    "-": (2, operator.sub),
    "&": (1, operator.and_),
    "&&": (0, lambda a, b: int(bool(a) and bool(b))),
}


class Written(NamedTuple):
    text: str
    binds: int
    value: int


def whole(text: str, value: int) -> st.SearchStrategy[Written]:
    return enclosed(Written(text, 9, value))


def enclosed(each: Written) -> st.SearchStrategy[Written]:
    shown = (Written(form.format(each.text), 9, each.value) for form in ("({})", "( {} )", "(({}))"))
    return st.sampled_from((each, *shown))


def joined(left: Written, sign: str, right: Written) -> st.SearchStrategy[Written]:
    binds, does = BINARY[sign]
    first = left.text if left.binds >= binds else f"({left.text})"
    second = right.text if right.binds > binds else f"({right.text})"
    return enclosed(Written(f"{first} {sign} {second}", binds, does(left.value, right.value)))


leaves = st.sampled_from([*NAMES.items(), ("2", 2), ("g()", 13)]).flatmap(lambda each: whole(*each))
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(sorted(BINARY)), inner).flatmap(lambda parts: joined(*parts)),
        inner.flatmap(lambda each: whole(f"f({each.text})", each.value + 1)),
        inner.flatmap(lambda each: whole(f"x[{each.text}]", each.value + 2)),
        st.tuples(st.sampled_from(TYPES), inner).flatmap(lambda p: whole(f"({p[0]})({p[1].text})", p[1].value)),
    ),
    max_leaves=12,
)


def meant(node: Node) -> int:
    """Return the value by the tree: `f(v)` is v + 1, `x[v]` is v + 2, `g()` is 13, and a cast gives what is cast."""
    text = (node.text or b"").decode()
    inner = node.named_children
    match node.type:
        case "identifier":
            return NAMES[text]
        case "number_literal":
            return int(text)
        case "parenthesized_expression":
            return meant(inner[0])
        case "binary_expression":
            return BINARY[node.children[1].type][1](meant(inner[0]), meant(inner[1]))
        case "subscript_expression":
            return meant(inner[1]) + 2
        case "cast_expression":
            assert (inner[0].text or b"").decode() in TYPES, text
            return meant(inner[1])
        case "call_expression":
            called, handed = (inner[0].text or b"").decode(), inner[1].named_children
            return 13 if called == "g" else meant(handed[0]) + int(called == "f")
    raise AssertionError(text)


def nesting(text: str) -> int:
    depths = itertools.accumulate({"(": 1, "[": 1, ")": -1, "]": -1}.get(each, 0) for each in text)
    return max(depths, default=0)


@given(expressions)
def test_parentheses_make_no_casts(written: Written) -> None:
    assume(nesting(written.text) <= MOST_NESTED)
    source = f"{HEAD}w = {written.text}; }}"
    masked = mask(source)
    assert len(masked.text) == len(source)
    (assigned,) = find(parse(masked.text).root_node, "assignment_expression")
    right = assigned.child_by_field_name("right")
    assert right is not None
    assert meant(right) == written.value


@pytest.mark.parametrize("qualifier", ["__constant", "constant", "__local", "__global const", "const"])
def test_a_pointer_to_rows_of_any_type_is_declared(read: Read, qualifier: str) -> None:
    """`uint (*rows)[4]` is a call of `uint` to the C grammar, which knows no such type."""
    program = read(
        f"typedef uint word; kernel void k(global uint *x) {{ {qualifier} word (*rows)[4] = t; x[0] = rows[1][2]; }}"
    )
    (function,) = program.functions.values()
    declared = function.body.named_children[0]
    assert declared.type == "declaration"
    assert not program.kernels[0].has_errors


def test_a_parameter_that_points_to_rows_may_be_written(read: Read) -> None:
    (parameter,) = read("kernel void k(global uint (*rows)[4]) { rows[1][2] = 3; }").kernels[0].parameters
    assert isinstance(parameter.type, PointerType)
    assert not parameter.type.is_const
