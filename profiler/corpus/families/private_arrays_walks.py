"""Rings and stacks of each work-item's own."""

from __future__ import annotations

from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.families.private_arrays import row_element
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real


@family("private_ring", group="private_arrays")
def private_ring(draw: Draw) -> Draft:
    """Generate a ring buffer along each row: moving averages, delays, recursive filters, running extremes."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "float", "int", "double"), "type")
    cover = draw_coverage(draw, hand)
    n = draw.choose((2, 3, 4, 5, 8, 16, 32), "ring")
    x, out, width, a, j, i = (hand.name(r) for r in ("input", "output", "row length", "ring", "loop", "index"))
    source = row_element(draw, cover, x, width, j)
    size = hand.constant("taps", str(n))
    half = hand.literal(0.5, type_) if is_real(type_) else "1"
    kinds = {
        "mean": (f"{type_} acc = 0;", f"acc += v - {a}[at2];\n{a}[at2] = v;", f"acc / {size}"),
        "delay": (
            "",
            f"const {type_} old2 = {a}[at2];\n{a}[at2] = v * {half} + old2 * {half};"
            if is_real(type_)
            else f"const {type_} old2 = {a}[at2];\n{a}[at2] = v ^ old2;",
            "old2",
        ),
        "largest": (
            f"{type_} acc = 0;",
            f"{a}[at2] = v;\nacc = {a}[0];\nfor (int k2 = 1; k2 < {size}; k2++) acc = max(acc, {a}[k2]);",
            "acc",
        ),
        "filter": (
            f"{type_} acc = 0;",
            (
                f"{a}[at2] = v;\nacc = 0;\n"
                f"for (int k2 = 0; k2 < {size}; k2++) acc += {a}[(at2 + k2) % {size}] * "
                f"{hand.literal(0.0625, type_) if is_real(type_) else 'k2'};"
            ),
            "acc",
        ),
        "formula": (
            "",
            f"const {type_} old2 = {a}[at2];\n{a}[at2] = {mixture(draw, hand, ['v', 'old2'], type_, 3)};",
            f"{a}[at2]",
        ),
        "difference": ("", f"const {type_} old2 = {a}[at2];\n{a}[at2] = v;", "v - old2"),
    }
    kind = draw.choose(tuple(kinds), "kind")
    declare, update, value = kinds[kind]
    advance = draw.choose(
        (f"at2 = (at2 + 1) % {size};", f"if (++at2 == {size}) at2 = 0;", f"at2 = at2 + 1 < {size} ? at2 + 1 : 0;")
    )
    if n & (n - 1) == 0 and draw.chance(0.5):
        advance = f"at2 = (at2 + 1) & ({size} - 1);"
    sink = draw.choose(("row", "last", "largest"), "result")
    target = source.replace(f"{x}[", f"{out}[", 1)
    store = {
        "row": f"{target} = {value};",
        "last": f"last2 = {value};",
        "largest": f"last2 = max(last2, ({type_})({value}));",
    }[sink]
    inner = f"const {type_} v = {source};\n{update}\n{store}\n{advance}"
    before = f"{type_} {a}[{size}];\nfor (int k2 = 0; k2 < {size}; k2++) {a}[k2] = 0;\n{declare}\nint at2 = 0;"
    end = "" if sink == "row" else f"{out}[{i}] = last2;"
    keep = "" if sink == "row" else f"{type_} last2 = 0;"
    body = f"{before}\n{keep}\n{hand.loop(j, '0', width, inner)}\n{end}"
    dear = n if kind in {"largest", "filter"} else 1
    parameters: list[Parameter] = [
        Buffer(x, type_, lambda s: (s.bound + 1) * s.of(width)),
        Buffer(out, type_, (lambda s: (s.bound + 1) * s.of(width)) if sink == "row" else each, None, True),
        Scalar(width, "int", lambda d: d.log_integer(4, 2000)),
    ]
    parts = Parts(
        ("ring", kind),
        cover,
        parameters,
        body,
        lambda s: (8.0 + 3 * dear) * s.of(width),
        data_per_element=lambda scalars: float(scalars[width]),
    )
    return drafted(draw, hand, parts)


@family("private_stack", group="private_arrays")
def private_stack(draw: Draw) -> Draft:
    """Generate a walk over an implicit tree with a stack: depth first, cut off by values, or bounded in steps."""
    hand = Hand(draw)
    cover = draw_coverage(draw, hand)
    depth = draw.choose((4, 6, 8, 10), "depth")
    room = depth * 2 + 2
    tree, x, out, i = hand.name("nodes"), hand.name("input"), hand.name("output"), cover.index
    stack, top = draw.choose((("stack", "sp"), ("todo", "count2"), ("pending", "depth2")))
    total = (2 << depth) - 1
    order = draw.choose(("left_first", "right_first", "nearest"), "order")
    push = f"{stack}[{top}++] = 2 * node + {{}};"
    both = f"{push.format(1)}\n{push.format(2)}"
    if order == "right_first":
        both = f"{push.format(2)}\n{push.format(1)}"
    elif order == "nearest":
        both = (
            f"if (key < {tree}[node]) {{ {push.format(2)} {push.format(1)} }}\n"
            f"else {{ {push.format(1)} {push.format(2)} }}"
        )
    cut = draw.choose(
        (
            f"fabs({tree}[node] - key) < radius2",
            f"{tree}[node] > key - radius2",
            f"{tree}[node] * key < 1.5f",
            "((node * 7) & 3) != 0",
        ),
        "cut",
    )
    gather = draw.choose(
        (
            "acc += {tree}[node] * 0.01f;",
            "best = fmin(best, fabs({tree}[node] - key));",
            "visits++;",
            f"acc = {mixture(draw, hand, ['acc', 'w2'], 'float', 2)};",
        )
    )
    gather = gather.replace("{tree}", tree)
    if "w2" in gather:
        gather = f"const float w2 = {tree}[node];\n{gather}"
    result = "visits" if "visits" in gather else ("best" if "best" in gather else "acc")
    limit = draw.choose((0, 64, 256), "bound")
    guard = f" && steps2++ < {limit}" if limit else ""
    steps = "int steps2 = 0;\n" if limit else ""
    walk = f"const int node = {stack}[--{top}];\n{gather}\nif (2 * node + 2 < {total} && {cut}) {{\n{both}\n}}"
    kinds = {"visits": "int visits = 0;", "best": "float best = 100.0f;", "acc": "float acc = 0.0f;"}
    radius = draw.choose(("argument", "literal"), "radius")
    parameters: list[Parameter] = [
        Buffer(tree, "float", lambda _: total),
        Buffer(x, "float", each),
        Buffer(out, "int" if result == "visits" else "float", each, None, True),
    ]
    head = ""
    if radius == "argument":
        parameters.append(Scalar("radius2", "float", lambda d: round(d.real(0.05, 1.0), 3)))
    else:
        head = f"const float radius2 = {hand.literal(round(draw.real(0.05, 0.8), 2))};\n"
    body = (
        f"{head}const float key = {x}[{i}];\n{kinds[result]}\nint {stack}[{room}];\n"
        f"int {top} = 0;\n{steps}{stack}[{top}++] = 0;\nwhile ({top} > 0{guard}) {{\n{walk}\n}}\n"
        f"{out}[{i}] = {result};"
    )
    work = flat(6.0 * (min(limit, total) if limit else total * 0.6))
    return drafted(draw, hand, Parts(("traverse", order), cover, parameters, body, work))
