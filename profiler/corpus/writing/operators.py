"""What a reduction or scan combines elements with, and how that is written."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.corpus.writing.habits import Hand, Text, literal
from profiler.corpus.writing.types import is_real

_WIDER = {"char": "int", "uchar": "uint", "short": "int", "ushort": "uint"}
_LOWEST = {
    "float": "-FLT_MAX",
    "double": "-DBL_MAX",
    "int": "INT_MIN",
    "uint": "0u",
    "long": "LONG_MIN",
    "ulong": "0ul",
}
_HIGHEST = {"float": "FLT_MAX", "double": "DBL_MAX", "int": "INT_MAX", "uint": "UINT_MAX"}
_HIGHEST |= {"long": "LONG_MAX", "ulong": "ULONG_MAX"}


@dataclass(frozen=True, slots=True)
class Operator:
    """`{a}` and `{b}` are the two operands of `pattern`; elements are mapped before they are combined."""

    name: str
    total: str  # type of what is accumulated
    identity: str
    pattern: str
    mapped: Text
    declarations: str  # before the kernel: a helper function or macro
    cost: float  # simple operations an element

    @property
    def scalar(self) -> str:
        return self.total.rstrip("0123456789")

    def start(self, name: str) -> str:
        return f"{self.total} {name} = {self.identity};"

    def combined(self, a: str, b: str) -> str:
        return self.pattern.format(a=a, b=b)

    def join(self, a: str, b: str) -> str:
        """Return a statement that adds total `b` to total `a`."""
        whole = self.combined(a, b)
        return f"{a} += {b};" if whole == f"{a} + {b}" else f"{a} = {whole};"

    def add(self, total: str, element: str) -> str:
        return self.join(total, self.mapped(element))

    def end(self, total: str) -> str:
        return total


def operator(hand: Hand, kind: str, names: tuple[str, ...] = ()) -> Operator:
    """Return one that suits elements of that type, now and then of something made of each element."""
    draw = hand.draw
    scalar = kind.rstrip("0123456789")
    total = _WIDER.get(kind, kind)
    if kind == "float" and draw.chance(0.06, "wide total"):
        total = "double"
    options = {"sum": 5.0, "min": 1, "max": 1.5}
    options |= {"product": 0.5, "magnitude": 1} if is_real(kind) else {"or": 0.6, "and": 0.4, "xor": 0.6}
    name = draw.weighted({n: w for n, w in options.items() if not names or n in names}, "operator")
    zero = literal(total, 0)
    basic = total.rstrip("0123456789")
    low, high = (f"({total})({end})" if basic != total else end for end in (_LOWEST[basic], _HIGHEST[basic]))
    identity, pattern = {
        "sum": (zero, "{a} + {b}"),
        "magnitude": (zero, "{a} + fabs({b})"),
        "product": (literal(total, 1), "{a} * {b}"),
        "min": (high, draw.choose(("min({a}, {b})", "({b} < {a} ? {b} : {a})"))),
        "max": (low, draw.choose(("max({a}, {b})", "({a} < {b} ? {b} : {a})"))),
        "or": (zero, "{a} | {b}"),
        "xor": (zero, "{a} ^ {b}"),
        "and": (literal(total, -1) if "u" not in total else f"~{literal(basic, 0)}", "{a} & {b}"),
    }[name]
    mapped: Text = hand.mapping(kind, 0.35) if name not in ("product",) else lambda value: value
    if total != kind:
        inner = mapped
        mapped = lambda value: f"({total}){inner(value)}"  # noqa: E731
    declarations = ""
    if scalar == kind and name not in ("magnitude",) and draw.chance(0.25, "helper"):
        text, loose = pattern.format(a="a", b="b"), pattern.format(a="(a)", b="(b)")
        pattern = "combine({a}, {b})"
        macro = f"#define combine(a, b) ({loose})"
        function = f"{draw.choose(('', 'static '))}{total} combine({total} a, {total} b)\n{{\nreturn {text};\n}}"
        declarations = draw.choose((macro, function))
    elif kind != scalar and "?" in pattern:
        pattern = "min({a}, {b})" if name == "min" else "max({a}, {b})"
    return Operator(name, total, identity, pattern, mapped, declarations, 2 + 2 * (mapped("v") != "v"))
