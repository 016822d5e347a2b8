"""Descents: intervals halved until a root is near, trees walked from the root by what an element is."""

from __future__ import annotations

import re
from collections.abc import Callable

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, Sizes, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import cost
from profiler.corpus.family import Draft, family


def _pitch(form: str, count: str, width: str, height: str) -> str:
    """Return how many elements there are, as the kernel knows it."""
    if form == "plane":
        return f"({width} * {height})"
    return f"(int){count}" if count else "(int)get_global_size(0)"


@family("bisection", group="divergence")
def bisection(draw: Draw) -> Draft:
    """Generate a root in an interval that is halved until it is small.

    Roots of polynomials, equations of state, inverse functions.
    """
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 3.0, "double": 1.0}, "type")
    f = "f" if real == "float" else ""
    cover = draw_coverage(draw, hand)
    x, out, i = hand.name("input"), hand.name("output"), cover.index
    functions = {
        "cubic": "t * t * t + p * t - q",
        "power": "t * t * t * t - q * t - p",
        "exponential": "exp(-t) - p * t",
        "logarithm": f"log(t + 0.01{f}) + p * t",
        "kepler": f"t - 0.5{f} * sin(t) - q",
        "cosine": "cos(t) - p * t",
        "root": f"sqrt(t) * p + t - q * 2.0{f}",
        "rational": f"t / (1.0{f} + t * t) - 0.25{f} * p",
        "gas": f"(p + 3.0{f} / (t * t + 0.1{f})) * (3.0{f} * t - 1.0{f}) - 8.0{f} * q",
        "horner": f"((t - 0.5{f}) * t + p) * t - q",
    }
    kind = draw.choose(tuple(functions), "function")
    formula = functions[kind]
    if draw.chance(0.6, "helper"):
        helper = f"{hand.inline}{real} g({real} t, {real} p, {real} q) {{ return {formula}; }}"
    else:
        macro = re.sub(r"\b([tpq])\b", r"(\1)", formula)
        helper = f"#define g(t, p, q) ({macro})"

    def at(where: str) -> str:
        return f"g({where}, p, q)"

    tolerance = f"{draw.choose(('1e-3', '1e-4', '1e-5', '1e-6'))}{f}"
    steps = draw.choose((16, 24, 32, 50, 100))
    method = draw.choose(
        ("halving", "halving", "false_position", "newton_guarded", "sign_product", "ternary"), "method"
    )
    start = f"{real} a = 0.0{f}, b = {draw.choose((4.0, 8.0, 10.0))}{f};\n{real} fa = {at('a')};"
    pick = {
        "halving": (
            f"{real} m = 0.5{f} * (a + b);\n{real} fm = {at('m')};\n"
            f"if ((fa < 0.0{f}) == (fm < 0.0{f})) {{ a = m; fa = fm; }}\nelse b = m;"
        ),
        "sign_product": (
            f"{real} m = (a + b) / 2.0{f};\n{real} fm = {at('m')};\nif (fa * fm > 0.0{f}) {{\na = m;\n"
            f"fa = fm;\n}} else {{\nb = m;\n}}"
        ),
        "ternary": (
            f"{real} m = a + (b - a) * 0.5{f};\n{real} fm = {at('m')};\n"
            "int is_same = signbit(fm) == signbit(fa);\na = is_same ? m : a;\nb = is_same ? b : m;"
        ),
        "false_position": f"{real} fb = {at('b')};\n"
        f"{real} m = clamp(a - fa * (b - a) / (fabs(fb - fa) + 0.01{f}), a, b);\n"
        f"m = 0.5{f} * (m + 0.5{f} * (a + b));\n"
        f"{real} fm = {at('m')};\nif ((fa < 0.0{f}) == (fm < 0.0{f})) {{ a = m; fa = fm; }} else b = m;",
        "newton_guarded": f"{real} m = 0.5{f} * (a + b);\n{real} fm = {at('m')};\n"
        f"{real} slope = ({at(f'm + 0.01{f}')} - fm) * 100.0{f};\n"
        f"if (fabs(slope) > 0.1{f}) {{\n{real} guess = m - fm / slope;\n"
        f"if (guess > a && guess < b) m = guess;\nfm = {at('m')};\n}}\n"
        f"if ((fa < 0.0{f}) == (fm < 0.0{f})) {{ a = m; fa = fm; }} else b = m;",
    }[method]
    loops = {
        "tolerance": f"int it = 0;\nwhile (b - a > {tolerance} && it < {steps}) {{\n{pick}\nit++;\n}}",
        "fixed": f"for (int it = 0; it < {steps}; it++) {{\n{pick}\n}}",
        "break": f"for (int it = 0; it < {steps}; ++it) {{\n{pick}\nif (fabs(fm) < {tolerance}) break;\n}}",
    }
    loop = draw.choose(tuple(loops), "loop")
    y = hand.name("second input")
    parameters: list[Parameter] = [Buffer(x, real, each), Buffer(out, real, each, None, True)]
    if draw.chance(0.5, "two_parameters"):
        parameters.append(Buffer(y, real, each))
        load = f"const {real} p = {x}[{i}], q = {y}[{i}];"
    elif draw.chance(0.5):
        parameters.append(Scalar("q", real, lambda d: round(d.real(0.5, 2.0), 3)))
        load = f"const {real} p = {x}[{i}];"
    else:
        load = f"const {real} p = {x}[{i}];\nconst {real} q = p * 0.5{f} + 0.25{f};"
    body = f"{load}\n{start}\n{loops[loop]}\n{out}[{i}] = {draw.choose((f'0.5{f} * (a + b)', 'a', 'b'))};"
    evaluations = {"newton_guarded": 4, "false_position": 3}.get(method, 1) * min(steps, 24)
    work = flat((cost(formula) + 8) * evaluations)
    return drafted(draw, hand, Parts(("solve", kind), cover, parameters, body, work, helpers=helper))


@family("tree_descent", group="divergence")
def tree_descent(draw: Draw) -> Draft:
    """Decision trees, search trees and k-d trees, walked from the root by what an element is."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    cover = draw_coverage(draw, hand)
    depth, x, out, i = hand.name("depth"), hand.name("input"), hand.name("output"), cover.index
    node, threshold, child = hand.name("node"), hand.name("thresholds"), hand.name("children")
    features = draw.choose((1, 2, 4, 8, 16), "features")
    trees = draw.choose((1, 1, 1, 4, 16), "trees")
    layout = draw.choose(("implicit", "links", "implicit"), "layout")
    which = hand.name("feature of")
    parameters: list[Parameter] = [
        Buffer(x, "float", lambda s: s.bound * features),
        Buffer(out, "float", each, is_written=True),
        Scalar(depth, "int", lambda d: d.integer(2, 18)),
    ]
    value = f"{x}[{i} * {features} + f]" if draw.chance(0.6, "rows") else f"{x}[f * FEATURE_PITCH + {i}]"
    value = value.replace("FEATURE_PITCH", _pitch(cover.form, cover.count, cover.width, cover.height))
    feature = "const int f = 0;"
    if features > 1 and draw.chance(0.6, "feature_table"):
        parameters.append(
            Buffer(which, draw.choose(("int", "uchar")), _nodes(depth, trees), Fill("randint", (0, features)))
        )
        feature = f"const int f = {which}[offset + {node}];"
    elif features > 1:
        feature = f"const int f = level % {features};"
    parameters.append(Buffer(threshold, "float", _nodes(depth, trees), Fill("uniform", (0.6, 1.4))))
    right = f"{value} > {threshold}[offset + {node}]"
    step = draw.choose(
        (f"{node} = 2 * {node} + 1 + ({right} ? 1 : 0);",
         f"if ({right}) {node} = 2 * {node} + 2;\nelse {node} = 2 * {node} + 1;",
         f"{node} = ({node} << 1) + ({right}) + 1;")
    )  # fmt: skip
    if layout == "links":
        parameters.append(
            Buffer(child, "int", _nodes(depth, trees), lambda d, s: Fill("randint", (0, 1 << s.of(depth))))
        )
        step = f"{node} = {child}[offset + {node}];\nif ({right}) {node} += 1;"
    loop = f"for (int level = 0; level < {depth}; level++) {{\n{feature}\n{step}\n}}"
    early = draw.chance(0.3, "leaves_early")
    if early:
        loop = loop[:-1] + f"if ({threshold}[offset + {node}] < {draw.choose((0.65, 0.7, 0.62))}f) break;\n}}"
    if trees == 1:
        body = f"const int offset = 0;\nint {node} = 0;\n{loop}\n{out}[{i}] = {threshold}[{node}];"
    else:
        each_tree = (
            f"const int offset = tree * (2 << {depth});\nint {node} = 0;\n{loop}\n"
            f"votes += {threshold}[offset + {node}];"
        )
        body = (
            f"float votes = 0.0f;\nfor (int tree = 0; tree < {trees}; tree++) {{\n{each_tree}\n}}\n"
            f"{out}[{i}] = votes / {trees}.0f;"
        )

    def work(sizes: Sizes) -> float:
        return 20.0 * trees * sizes.of(depth)

    title = ("walk", draw.choose(("tree", "forest", "nodes")))
    return drafted(draw, hand, Parts(title, cover, parameters, body, work, data_per_element=lambda _: float(features)))


def _nodes(depth: str, trees: int) -> Callable[[Sizes], int]:
    return lambda sizes: trees * (2 << sizes.of(depth))
