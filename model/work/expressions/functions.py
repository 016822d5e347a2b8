"""Expressions as Python functions, for those that are evaluated again and again: each shared part is worked out once.

The text of a function is made of the few fixed forms below and of names that are counted up; whatever comes from the
source of a kernel goes in as a value. What the functions give is what `evaluate` says, None included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from model.work.expressions.floats import known_value
from model.work.expressions.launch_bindings import LaunchBindings
from model.work.expressions.linear_sums import is_of_launch
from model.work.expressions.numbers import SHIFTED_BELOW, Value, function_of, word_of
from model.work.expressions.symbolic import NO_ATOMS, Atom, Expression, Point
from model.work.expressions.trips import ENDLESS

Function = Callable[[Point, LaunchBindings], Value | None]
Step = Callable[[Point, LaunchBindings], tuple[Value, ...] | None]
# One loop from so many rounds on, to at most so many, and the variables when it begins: rounds or the first variable.
Rounds = Callable[..., Value | None]
# All values at once, from a column for each input; None where one of them is not decided.
OfColumns = Callable[..., list[Value] | None]
# Values in lanes that meet all tests, from the lanes' ids; None where one of them is not decided.
OfLanes = Callable[..., list[Value] | None]
OfAtom = Callable[[Atom, LaunchBindings, Point], Value | None]

LARGEST = 1 << 256  # beyond all types: squares of squares would fill the memory
MAX_LINES = 20_000  # of the text of a function: what is longer takes seconds to compile, and has no value
MAX_DEPTH_OF_TEXT = 80  # deeper ones could overflow the stack while their text is made
_RUN = frozenset({"trips", "iterate"})
_EXACT_BITS = 60  # of numbers that are written out

# What is done in place, as it is in `numbers`; where there is a condition, the value is None unless it holds.
_IN_PLACE = {
    "lt0": "1 if {0} < 0 else 0",
    "eq0": "1 if {0} == 0 else 0",
    "not": "0 if {0} else 1",
    "and": "1 if {0} and {1} else 0",
    "or": "1 if {0} or {1} else 0",
    "select": "{1} if {0} else {2}",
    "bitand": "int({0}) & int({1})",
    "bitor": "int({0}) | int({1})",
    "bitxor": "int({0}) ^ int({1})",
    "floordiv": "{0} // {1}",
    "ceildiv": "-(-{0} // {1})",
    "floormod": "{0} % {1}",
    "shl": "int({0}) << int({1})",
    "shr": "int({0}) >> int({1})",
    "sum": "{0} + {1}",
    "product": "{0} * {1}",
    "negate": "-{0}",
    "narrow": "{0}",
    "min": "{1} if {1} < {0} else {0}",
    "max": "{1} if {1} > {0} else {0}",
    "abs": "abs({0})",
}
_ONLY_IF = {
    "shl": f"0 <= {{1}} < 64 and abs({{0}}) < {SHIFTED_BELOW}",
    "shr": "0 <= {1} < 64",
}
_OPERATORS = {
    "+": "{0} + {1}", "-": "{0} - {1}", "*": "{0} * {1}", "/": "{0} / {1}", "fma": "{0} * {1} + {2}",
    "<": "1 if {0} < {1} else 0", "<=": "1 if {0} <= {1} else 0", ">": "1 if {0} > {1} else 0",
    ">=": "1 if {0} >= {1} else 0", "==": "1 if {0} == {1} else 0", "!=": "1 if {0} != {1} else 0",
}  # fmt: skip
_CALLS_IN_PLACE = {"fmin": "min", "fmax": "max", "min": "min", "max": "max", "fabs": "abs"}
# What gives floats: whatever it is of, where any operand is one, or where all are. (A float may be of any size.)
_ALWAYS_FLOAT = frozenset({
    "/", "sqrt", "rsqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "atan", "atan2", "pow", "powr",
    "pown", "fmod", "hypot", "length", "atan2pi", "degrees", "radians",
})  # fmt: skip
_FLOAT_OF_ANY = frozenset({"+", "-", "*", "fma", "mad", "mix"})
_FLOAT_OF_ALL = frozenset({"negate", "narrow", "convert", "min", "max", "abs", "fmin", "fmax", "fabs", "clamp"})


def function_for(expression: Expression, of_atom: OfAtom) -> Function:
    """`expression` at a point. `of_atom` works out single atoms: what the whole launch decides, and loops."""
    text = _Text(of_atom)
    text.lines.append(f"return {text.expression(expression)}")
    made: Function = text.function()
    return made


def step_for(condition: Expression | None, afters: Sequence[Expression], of_atom: OfAtom) -> Step:
    """Return one iteration of a loop's variables as a function that gives their values after it.

    It gives nothing where `condition` ends the loop before, or None where something is not decided.
    """
    text = _Text(of_atom)
    if condition is not None:
        text.lines.append(f"if not {text.expression(condition)}: return ()")
    values = [text.expression(after) for after in afters]
    text.lines.append(f"return ({''.join(f'{value}, ' for value in values)})")
    made: Step = text.function()
    return made


def rounds_for(
    condition: Expression | None, symbols: Sequence[Atom], afters: Sequence[Expression], of_atom: OfAtom
) -> Rounds:
    """Return all rounds of a loop as one function, as `step_for` does for one.

    It gives how many rounds there were where there is a `condition`, else the first variable after them. What no
    variable decides is worked out in the first round alone. No loop may be run within.
    """
    text = _Text(of_atom, frozenset(symbols))
    own = [text.variable(symbol, f"s{number}") for number, symbol in enumerate(symbols)]
    holds = text.expression(condition) if condition is not None else "1"
    once, each = _apart(text.lines, own)
    begun = len(text.lines)
    values = [text.expression(after) for after in afters]
    first_once, then_each = _apart(text.lines, own, begun)
    if first_once:
        first_once = ["if is_first:", *(f" {line}" for line in first_once), " is_first = False"]
    bounds = (f"if {value} > FLOAT_LARGEST or {value} < -FLOAT_LARGEST: return None" for value in values)
    is_same = " and ".join(f"{before} == {after}" for before, after in zip(own, values, strict=True))
    round_ = [*each, f"if not {holds}: break", *first_once, *then_each, "done += 1", *bounds]
    round_ += [f"if {is_same}: return {'ENDLESS' if condition is not None else values[0]}"]
    round_ += [f"{', '.join(own)} = {', '.join(values)}"]
    text.lines = ["begun, is_first = done, True", "try:", *(f" {line}" for line in once), " while done < most:"]
    text.lines += [*(f"  {line}" for line in round_), "finally:", f" known.steps[0] += (done - begun) * {len(own)}"]
    text.lines.append(f"return {'done' if condition is not None else own[0]}")
    text.constants |= {"ENDLESS": ENDLESS, "FLOAT_LARGEST": float(LARGEST)}
    made: Rounds = text.function("done", "most", *own)
    return made


def columns_for(expression: Expression, inputs: Sequence[Atom], drawn: Iterable[Atom], of_atom: OfAtom) -> OfColumns:
    """Return `expression` for columns of its `inputs`, which are `drawn` or follow from what is.

    What none of them decides is worked out once.
    """
    text = _Text(of_atom, frozenset(drawn))
    own = [text.variable(atom, f"s{number}") for number, atom in enumerate(inputs)]
    value = text.expression(expression)
    once, each = _apart(text.lines, own)
    columns = [f"column{number}" for number in range(len(own))]
    head = f"for {', '.join(own)}, in zip({', '.join(columns)}):"
    text.lines = ["found = []", *once, head, *(f" {line}" for line in each), f" found.append({value})", "return found"]
    text.constants["zip"] = zip
    made: OfColumns = text.function(*columns)
    return made


def lanes_for(
    tests: Sequence[tuple[Expression, bool]], expression: Expression, ids: Sequence[Atom], of_atom: OfAtom
) -> OfLanes:
    """Return `expression` in all lanes in which each of `tests` holds, or does not, as its second part says.

    Lane by lane, and in each as far as its tests hold: loops are run in the order in which lanes ask for them.
    """
    text = _Text(of_atom, frozenset(ids), place="now")
    own = [text.variable(atom, f"s{number}") for number, atom in enumerate(ids)]
    names = [text.constant(atom) for atom in ids]
    for test, holds in tests:
        value = text.expression(test)
        text.lines.append(f"if {'not ' if holds else ''}{value}: continue")
    value = text.expression(expression)
    once, each = _apart(text.lines, (*own, "now", "continue"))
    given = [f"{one} = now[{name}] = ids[{name}]" for one, name in zip(own, names, strict=True)]
    loop = [*(f" {line}" for line in (*given, *each)), f" found.append({value})"]
    text.lines = ["found = []", *once, "for ids in lanes:", *loop, "return found"]
    made: OfLanes = text.function("now", "lanes")
    return made


def _apart(lines: Sequence[str], moving: Iterable[str], start: int = 0) -> tuple[list[str], list[str]]:
    """Return the lines from `start` on that no `moving` variable decides, and the others."""
    names, once, each = set(moving), list[str](), list[str]()
    for number, line in enumerate(lines):
        if names.isdisjoint(_NAMES.findall(line)):
            chosen = once
        else:
            chosen = each
            names.update(_MADE.findall(line))
        if number >= start:
            chosen.append(line)
    return once, each


_NAMES = re.compile(r"\b(?:[sv]\d+|now|continue)\b")
_MADE = re.compile(r"\b(v\d+) = ")


class _Text:
    """The lines of one function. Names of values are `v` and a number, those of constants `k` and a number.

    `moving` symbols are variables of the function: see `variable`. Loops that they decide are run at `place`.
    """

    def __init__(self, of_atom: OfAtom, moving: frozenset[Atom] = NO_ATOMS, place: str = "point") -> None:
        self._moving, self._place = moving, place
        self.lines: list[str] = []
        self.constants: dict[str, object] = {
            "LARGEST": LARGEST,
            "LEAST": -LARGEST,
            "of_atom": of_atom,
            "__builtins__": _BUILTINS,
        }
        self._named: dict[Atom, str] = {}
        self._sums: dict[Expression, str] = {}
        self._floats: set[str] = set()  # names of what is a float for sure

    def variable(self, atom: Atom, name: str) -> str:
        """Have the function take the value of `atom` by this name; return the name."""
        self._named[atom] = name
        return name

    def function(self, *arguments: str) -> Callable[..., Any]:
        """Arithmetic that fails has no value: None."""
        body = "\n  ".join(["try:", *(f" {line}" for line in self.lines), "except undecided: return None"])
        self.constants["undecided"] = (ArithmeticError, ValueError, TypeError)
        head = f"def function({', '.join(('point', 'known', *arguments))}):"
        text = f"{head}\n  of, said = point.get, known.symbols.get\n  {body}\n"
        exec(compile(text, "<expression>", "exec"), self.constants)
        made: Callable[..., Any] = self.constants["function"]  # type: ignore[assignment]
        return made

    def expression(self, expression: Expression) -> str:
        """Return the name of its value, or a plain number."""
        if expression.constant is not None:
            return self._number(expression.constant)
        found = self._sums.get(expression)
        if found is None:
            found = self._sums[expression] = self._sum(expression)
        return found

    def _sum(self, expression: Expression) -> str:
        parts = []
        is_float = False
        for monomial, coefficient in expression.terms:
            factors = [self._atom(atom) for atom in monomial]
            is_float = is_float or not self._floats.isdisjoint(factors)
            if coefficient != 1 or not factors:
                factors.insert(0, self._number(coefficient))
            parts.append(" * ".join(factors))
        atom = expression.atom
        if atom is not None and (atom.kind == "symbol" or atom.kind in _SMALL):
            return parts[0]
        name = self._set(" + ".join(parts)) if atom is None else parts[0]
        if is_float:
            self._floats.add(name)
        else:
            self.lines.append(f"if {name}.__class__ is not float and not LEAST <= {name} <= LARGEST: return None")
        return name

    def _atom(self, atom: Atom) -> str:
        found = self._named.get(atom)
        if found is None:
            found = self._named[atom] = self._value(atom)
        return found

    def _value(self, atom: Atom) -> str:
        if atom.kind == "symbol":
            first, second = ("said", "of") if is_of_launch(atom) else ("of", "said")
            name = self._set(f"{first}({self.constant(atom)})")
            self.lines.append(f"if {name} is None: {name} = {second}({self.constant(atom)})")
            return self._decided(name)
        if atom.kind == "literal":
            value = known_value(Expression({(atom,): 1}))
            return self._undecided() if value is None else self._float(self.constant(value))
        if atom.kind == "unknown":
            return self._decided(self._set(f"of_atom({self.constant(atom)}, known, point)"))
        if not atom.varies and all(map(is_of_launch, atom.leaves)):
            name = self._set(f"known.fixed.get({self.constant(atom)})")
            self.lines.append(f"if {name} is None: {name} = of_atom({self.constant(atom)}, known, point)")
            return self._decided(name)
        if atom.kind == "load" and not self._moving.isdisjoint(atom.leaves):
            return self._loaded(atom)
        if atom.kind == "load":  # a draw of what is there may be in `point`
            name = self._set(f"of({self.constant(atom)})")
            self.lines.append(f"if {name} is None: {name} = of_atom({self.constant(atom)}, known, point)")
            return self._decided(name)
        if atom.kind in _RUN:
            place = "point" if self._moving.isdisjoint(atom.leaves) else self._place
            return self._decided(self._set(f"of_atom({self.constant(atom)}, known, {place})"))
        return self._operation(atom.kind, word_of(atom.arguments), atom)

    def _loaded(self, load: Atom) -> str:
        contents = self._decided(self._set(f"known.contents.get({self.constant(str(load.arguments[0]))})"))
        offsets = [self.expression(offset) for offset in load.operands]
        return self._decided(self._set(f"{contents}.at_byte({offsets[0]})")) if offsets else self._undecided()

    def _operation(self, kind: str, word: str, atom: Atom) -> str:
        function = function_of(kind, word)
        if function is None:
            return self._undecided()
        operands = [self.expression(a) for a in atom.operands]
        form = _OPERATORS.get(word) if kind in ("compare", "float", "operator") else _IN_PLACE.get(kind)
        if form is not None and len(operands) < sum(f"{{{n}}}" in form for n in range(3)):
            return self._undecided()
        if kind in ("div", "mod") and len(operands) != _OF_TWO:  # as broken code may make it
            return self._undecided()
        if kind in ("div", "mod"):
            return self._truncated(kind, *operands)
        if kind in _ONLY_IF:
            self.lines.append(f"if not ({_ONLY_IF[kind].format(*operands)}): return None")
        called = word.removeprefix("native_").removeprefix("half_") if kind == "call" else ""
        if called in _CALLS_IN_PLACE and len(operands) == (1 if called == "fabs" else 2):
            form = _IN_PLACE[_CALLS_IN_PLACE[called]]
        if kind == "convert":
            form = "{0}" if word.startswith(("float", "double", "half")) else "int({0})"
        # None of those that are called has no value for what has one.
        name = self._set(form.format(*operands) if form else f"{self.constant(function)}({', '.join(operands)})")
        is_float = self._is_float(called or (word if kind == "float" else kind), form, operands)
        return self._float(name) if is_float else name

    def _is_float(self, what: str, form: str | None, operands: Sequence[str]) -> bool:
        """Return whether what an operation gives is a float for sure."""
        if what in _ALWAYS_FLOAT:
            return True
        of_float = [operand in self._floats for operand in operands]
        if what == "select":
            return all(of_float[1:])
        if what in _FLOAT_OF_ALL:
            return all(of_float) and form != "int({0})"
        return what in _FLOAT_OF_ANY and any(of_float)

    def _float(self, name: str) -> str:
        self._floats.add(name)
        return name

    def _truncated(self, kind: str, a: str, b: str) -> str:
        name = self._set(f"abs({a}) // abs({b})")
        self.lines.append(f"if ({a} < 0) != ({b} < 0): {name} = -{name}")
        return name if kind == "div" else self._set(f"{a} - {b} * {name}")

    def _number(self, value: int) -> str:
        text = str(value) if value.bit_length() <= _EXACT_BITS else self.constant(value)
        return f"({text})" if value < 0 else text

    def constant(self, value: object) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def _set(self, text: str) -> str:
        name = f"v{len(self.lines)}"
        if len(self.lines) < MAX_LINES:
            self.lines.append(f"{name} = {text}")
        elif self.lines[-1] != _NOTHING:
            self.lines.append(_NOTHING)
        return name

    def _decided(self, name: str) -> str:
        self.lines.append(f"if {name} is None: return None")
        return name

    def _undecided(self) -> str:
        self.lines.append("return None")
        return self._set("0")  # for the lines after it, which nothing reaches


_NOTHING = "return None"
_OF_TWO = 2
_BUILTINS = {"abs": abs, "int": int, "float": float}
# Values that are no larger than what they are made of.
_SMALL = frozenset({"lt0", "eq0", "not", "and", "or", "compare", "select", "min", "max", "floormod", "mod", "abs"})
