"""What turns expressions into Python code: neither names nor numbers nor nesting of somebody's kernel reach more than
arithmetic, or time and memory beyond a bound.
"""

from __future__ import annotations

import ast
import gc
import re
import sys
import tracemalloc
from collections.abc import Iterator
from random import Random

import pytest

from model.device_catalog import find_builtin
from model.engine import Engine
from model.faults import InternalError
from model.opencl.constants import fold
from model.opencl.constants import number as number_in
from model.work.expressions import functions
from model.work.expressions.functions import LARGEST, function_for
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.symbolic import Expression, number, opaque, symbol

HOSTILE = [
    "__import__", "__builtins__", "os", "exec", "eval", "v0", "k1", "of", "said", "known", "point", "LARGEST", "LEAST",
    "undecided", "of_atom", "function", "x'; import os; '", 'x"\n  import os\n', "x\\", "#", "{0}", "{__class__}",
    "s0", "column0", "done", "most", "zip", "found", "lambda: 1", "().__class__", "\0", "\u2028", "a" * 10_000,
    "return", "None",
]  # fmt: skip
_NAMES = re.compile(
    r"[vks]\d+|column\d+|of|said|known|point|(FLOAT_)?LARGEST|LEAST|ENDLESS|of_atom|undecided|abs|int|float|function|"
    r"done|most|begun|is_first|found|zip|now|ids|lanes"
)
_ATTRIBUTES = {"get", "symbols", "fixed", "__class__", "contents", "at_byte", "steps", "append"}
_NODES = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Try, ast.ExceptHandler, ast.Assign, ast.If, ast.Return,
    ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Call, ast.Tuple, ast.Name, ast.Attribute,
    ast.Constant, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context, ast.Break, ast.Continue, ast.List,
)  # fmt: skip
# What is more than arithmetic stands in one form each: rounds and draws are counted, and so are steps.
_FORMS: dict[type[ast.AST], str] = {
    ast.While: r"while done < most:\n.*",
    ast.For: r"for (ids in lanes|(\(s\d+,\)|\(?s\d+(, s\d+)*\)?) in zip\(column\d+(, column\d+)*\)):\n.*",
    ast.AugAssign: r"done \+= 1|known\.steps\[0\] \+= \(done - begun\) \* \d+",
    ast.Subscript: r"known\.steps\[0\]|(now|ids)\[k\d+\]",
    ast.Expr: r"found\.append\(([vs]?\d+|\(?-\d+\)?)\)",
}


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every text that becomes code; each is held against the few forms that there are."""
    seen: list[str] = []

    def watched(text: str, name: str, mode: str) -> object:
        seen.append(text)
        return compile(text, name, mode)

    monkeypatch.setattr(functions, "compile", watched, raising=False)
    yield seen
    for text in seen:
        _is_arithmetic(text)


def _is_arithmetic(text: str) -> None:
    for node in ast.walk(ast.parse(text)):
        if form := _FORMS.get(type(node)):
            assert re.fullmatch(form, ast.unparse(node), re.DOTALL), ast.unparse(node)[:200]
            continue
        assert isinstance(node, _NODES), ast.dump(node)
        if isinstance(node, ast.Name):
            assert _NAMES.fullmatch(node.id), node.id
        elif isinstance(node, ast.Attribute):
            assert node.attr in _ATTRIBUTES, node.attr
        elif isinstance(node, ast.Constant):
            assert node.value is None or (isinstance(node.value, int) and node.value.bit_length() <= 64)


def _known(**values: int | float) -> LaunchBindings:
    atoms = {symbol(name).atom: value for name, value in values.items()}
    return LaunchBindings({atom: value for atom, value in atoms.items() if atom is not None}, {}, {})


def _value(expression: Expression, known: LaunchBindings) -> int | float | None:
    return function_for(expression, lambda atom, knowledge, point: None)({}, known)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_words_are_values_and_never_text(texts: list[str], name: str) -> None:
    x = symbol(name)
    for expression in (
        x * x + number(3), opaque("call", name, x), opaque("operator", name, x, x), opaque("compare", name, x, x),
        opaque("float", name, x, x), opaque(name, x, x), opaque("convert", name, x), opaque("literal", name),
        opaque("load", name, x, 0), opaque("unknown", 1, name), opaque("narrow", name, x), opaque("bits", name, x),
    ):  # fmt: skip
        _value(opaque("max", expression, number(2)), _known(n=1))
    assert _NAMES.fullmatch(name) or all(name not in text for text in texts if len(name) > 8)
    assert len(texts) == 12


@pytest.mark.parametrize("seed", range(40))
def test_any_expression_becomes_arithmetic_that_ends_in_a_number_or_in_none(texts: list[str], seed: int) -> None:
    random = Random(seed)
    kinds = [*functions._IN_PLACE, "div", "mod", "convert", "float", "call", "compare", "operator", "made up"]
    words = ["+", "-", "*", "/", "fma", "<", "pow", "exp2", "native_sin", "rint", "float", "int", *HOSTILE]
    made = [symbol("n"), symbol("__import__"), opaque("literal", "nan"), opaque("literal", "1e308")]
    made += [number(each) for each in (0, 1, -7, 1 << 30, 1 << 63, 1 << 255, -(1 << 300))]
    for _ in range(30):
        kind = random.choice(kinds)
        operands = random.choices(made, k=random.randrange(1, 4))
        word = [random.choice(words)] if random.random() < 0.5 or kind in ("call", "convert", "float") else []
        made.append(opaque(kind, *word, *operands) if random.random() < 0.8 else operands[0] * operands[-1])
        found = _value(made[-1], _known(n=1 << 62, __import__=3))
        assert found is None or isinstance(found, float | int)
        assert not isinstance(found, int) or abs(found) <= LARGEST or made[-1].constant is not None
    assert texts


def test_the_code_sees_no_builtins_but_three() -> None:
    made = function_for(symbol("n") + number(1), lambda atom, knowledge, point: None)
    assert set(made.__globals__["__builtins__"]) == {"abs", "int", "float"}  # type: ignore[attr-defined]


def test_towers_of_powers_shifts_and_squares_stay_small() -> None:
    x = symbol("n")
    square = shift = power = x
    for _ in range(60):
        square = opaque("product", square, square)
        shift = opaque("shl", shift, number(62))
        power = opaque("call", "pow", power, power)
    tracemalloc.start()
    try:
        for tower in (square, shift, power, opaque("shl", number(1), number(1 << 30)), opaque("call", "exp2", square)):
            assert _value(tower, _known(n=3)) is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


def test_infinity_and_nan_are_no_whole_numbers() -> None:
    for literal in ("inf", "nan", "1e999"):
        x = opaque("literal", literal)
        for kind in ("bitand", "shl", "floordiv"):
            found = _value(opaque(kind, x, number(3)), _known())
            assert found is None or isinstance(found, float)
        assert _value(opaque("convert", "int", x), _known()) is None


def test_a_text_of_any_width_is_made_and_compiled_in_bounds() -> None:
    parts = [opaque("floormod", symbol(f"n{place}"), number(place + 2)) for place in range(12_000)]
    whole = parts[0]
    layer = parts
    while len(layer) > 1:
        layer = [
            opaque("max", *layer[at : at + 2]) if at + 1 < len(layer) else layer[at] for at in range(0, len(layer), 2)
        ]
    whole = layer[0]
    assert _value(whole, _known(**{f"n{place}": place for place in range(12_000)})) is None


@pytest.mark.parametrize("operator", ["*", "<<", "+"])
def test_constants_of_a_program_stay_within_the_types(operator: str) -> None:
    value: int | None = (1 << 63) - 1
    for _ in range(100):
        value = fold(operator, value, 62 if operator == "<<" else value)
        if value is None:
            break
    assert value is None


@pytest.mark.parametrize("text", ["9" * 10_000, "0x" + "f" * 100_000, "0" + "7" * 50_000, "0b" + "1" * 50_000])
def test_numbers_of_many_digits_are_no_larger_than_the_types(text: str) -> None:
    value = number_in(text)
    assert isinstance(value, int)
    assert value < 1 << 64


_BODY = "__kernel void k(__global int *x, int n) {{ int i = get_global_id(0); {} }}"
_KERNELS = [
    _BODY.format("x[i] = 1 << (1 << 30);"),
    _BODY.format("for (int j = 0; j < (1 << (n << 30)); j++) x[(n << i) << j] = 1;"),
    _BODY.format("long y = n + 3;" + "y = y * y + i;" * 60 + "x[y] = y; if (y > n) x[i] = 1;"),
    _BODY.format("long y = n + 3; for (int j = 0; j < 1000; j++) { y = y * y; if (y & 1) x[j & 63] = y; }"
                 .replace("{", "{{").replace("}", "}}")).replace("{{", "{").replace("}}", "}"),
    "enum { Z0 = 0x7fffffffffffffff, " + ", ".join(f"Z{j} = Z{j - 1} * Z{j - 1}" for j in range(1, 60)) + " };"
    + _BODY.format("int a[Z59]; x[i] = Z59 + a[n];"),
    _BODY.format("int __import__ = n, os = i, v0 = n, k1 = i, known = 4, point = 2; for (int of = 0; "
                 "of < __import__ * os + v0 * k1; of++) if ((of * __import__ ^ os) % 7 < known) x[of] = point;"),
    _BODY.format("for (int j = 0; j < __builtins__; j++) if ((j ^ eval) % 5 < exec) x[j * lambda] = 1;"),
    "#define Q \"';import os;'\"\n#define NL \\\n 1\n" + _BODY.format("for (int j = 0; j < NL + Q; j++) x[j] = Q[j];"),
    _BODY.format("float f = 0.0f / 0.0f; int m = (int)f; for (int j = 0; j < m; j++) x[j] = 1;"),
    _BODY.format("x[i] = " + "(" * 5000 + "1" + ")" * 5000 + ";"),
    _BODY.format("x[i] = " + "-~" * 5000 + "n;"),
    _BODY.format("x[" + " + ".join(f"(i / {j} % {j + 1})" for j in range(1, 600)) + "] = 1;"),
]  # fmt: skip


class _Steps:
    """Counts what Python does: a clock would measure the machine."""

    most = 6_000_000

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *_: object) -> None:
        self.count += 1
        assert self.count < self.most, "this goes on and on"


@pytest.mark.parametrize("text", _KERNELS, ids=range(len(_KERNELS)))
def test_hostile_kernels_are_answered_or_refused_by_name(texts: list[str], text: str) -> None:
    device = find_builtin("generic-gpu")
    assert device is not None
    before, callbacks = sys.getprofile(), gc.callbacks[:]
    gc.callbacks.clear()  # hypothesis leaves one, which Python may call where the stack ends
    sys.setprofile(_Steps())
    try:
        answer = Engine().forecast(text, None, device)
    finally:
        sys.setprofile(before)
        gc.callbacks[:] = callbacks
    problems = [*answer.problems, *(f.problem for f in answer.forecasts if f.problem is not None)]
    assert [p.message for p in problems if p.code == InternalError.code] == []
    assert len(answer.forecasts) == 1
