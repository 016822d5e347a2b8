"""A programmer who writes small kernels plainly: qualifiers, index types, forms of loops and of small expressions.

There are three, so that not all kernels look alike: this one, that of `profiler.corpus.writing.habits`, who cares how
the work is shared among items, and that of `profiler.corpus.composing.hand`, who cares for names and macros.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent, indent

from profiler.corpus.draw import Draw


@dataclass(frozen=True, slots=True)
class Hand:
    kernel: str
    space: str
    near: str
    fixed: str
    const: bool
    restrict: str
    index: str  # type of indices
    count: str  # type of counts that are arguments
    fused: str  # how a product is added

    def takes(self, kind: str, name: str) -> str:
        """Return a buffer that is only read."""
        return f"{'const ' if self.const else ''}{self.space} {kind} *{self.restrict} {name}"

    def gives(self, kind: str, name: str) -> str:
        """Return a buffer that is written."""
        return f"{self.space} {kind} *{self.restrict} {name}"

    def shares(self, kind: str, name: str) -> str:
        """Local memory that the host sizes."""
        return f"{self.near} {kind} *{name}"

    def number(self, name: str, kind: str = "") -> str:
        return f"{'const ' if self.const else ''}{kind or self.count} {name}"

    def add_product(self, total: str, a: str, b: str, is_real: bool = True) -> str:
        """Return the statement that adds a * b."""
        if self.fused == "plain" or not is_real:
            return f"{total} += {a} * {b};"
        if self.fused == "spelled":
            return f"{total} = {total} + {a} * {b};"
        return f"{total} = {self.fused}({a}, {b}, {total});"


def hand(draw: Draw) -> Hand:
    bare = draw.chance(0.4)
    return Hand(
        kernel="kernel" if bare else "__kernel",
        space="global" if bare else "__global",
        near="local" if bare else "__local",
        fixed="constant" if bare else "__constant",
        const=draw.chance(0.7),
        restrict=draw.weighted({"": 2.0, " restrict": 1.0}),
        index=draw.weighted({"int": 4.0, "uint": 1.5, "size_t": 2.0}, "index"),
        count=draw.weighted({"int": 3.0, "uint": 1.0}),
        fused=draw.weighted({"plain": 4.0, "spelled": 1.0, "mad": 1.0, "fma": 0.7}),
    )


def literal(value: float, kind: str) -> str:
    """Return a constant as one writes it for this type."""
    if kind.startswith("float"):
        return f"{float(value)!r}f"
    return f"{float(value)!r}" if kind.startswith("double") else str(int(value))


def loop(draw: Draw, variable: str, first: str, end: str, body: str, kind: str = "int", step: str = "1") -> str:
    """`body` for `variable` from `first` below `end`; it holds no `continue`."""
    body = indent(dedent(body).strip("\n"), "    ")
    step = f"{variable}++" if step == "1" else f"{variable} += {step}"
    if draw.chance(0.15):
        return f"{{\n{kind} {variable} = {first};\nwhile ({variable} < {end}) {{\n{body}\n    {step};\n}}\n}}\n"
    pragma = draw.weighted({"": 8.0, "#pragma unroll\n": 1.0, "#pragma unroll 4\n": 1.0})
    return f"{pragma}for ({kind} {variable} = {first}; {variable} < {end}; {step}) {{\n{body}\n}}\n"


_REAL_FORMS = (
    "{v}", "fabs({v})", "{v} * {a}", "{v} * {a} + {b}", "fmin({v}, {c})", "fmax({v}, {b})", "{v} / (1 + fabs({v}))",
    "sqrt(fabs({v}) + {b})", "({v} > {b} ? {v} : {a} * {v})", "clamp({v}, -{c}, {c})", "{a} - {v}", "{v} - floor({v})",
    "native_recip(fabs({v}) + {b})", "exp(-fmin(fabs({v}), {c}))", "log(fabs({v}) + {b})", "mix({v}, {a}, {b})",
    "tanh({v})", "rsqrt(fabs({v}) + {b})", "(fabs({v}) < {b} ? {b} : {v})", "smoothstep({b}, {c}, {v})",
)  # fmt: skip
_INTEGER_FORMS = (
    "{v}", "({v} & 1023)", "({v} ^ ({v} >> 3))", "max({v}, {k})", "min({v}, {c})", "{v} * 3 + 1", "({v} >> 1)",
    "({v} > {k} ? {v} : {k})", "{v} - {k}", "({v} | {k})", "rotate({v}, {k})", "popcount({v})", "({v} % {c})",
)  # fmt: skip


def finish_value(draw: Draw, value: str, kind: str, deepest: int = 2) -> str:
    """Return what is done with a result before it is stored; stays as small as `value` is, or smaller."""
    for _ in range(draw.weighted({0: 2.0, 1: 2.0, deepest: 1.0})):
        if kind.startswith(("float", "double")):
            scalar = re.sub(r"\d+$", "", kind)
            form = draw.choose(_REAL_FORMS).replace("native_recip", "1 / " if scalar == "double" else "native_recip")
            a, b, c = (literal(draw.choose(n), scalar) for n in ((0.25, 0.5, 0.75), (0.125, 0.5), (2.0, 8.0, 64.0)))
            if kind != scalar:  # vectors: no comparisons, constants that all built-in functions take
                form = "fabs({v})" if "?" in form or "mix" in form or "smooth" in form or "clamp" in form else form
                b, c = f"({kind})({b})", f"({kind})({c})"
            value = form.format(v=value, a=a, b=b, c=c)
        else:
            low, high = draw.choose((1, 3, 7)), draw.choose((17, 255, 4096))
            value = draw.choose(_INTEGER_FORMS).format(v=value, k=f"({kind}){low}", c=f"({kind}){high}")
        if not re.fullmatch(r"\w+|\(.*\)", value):
            value = f"({value})"
    return value
