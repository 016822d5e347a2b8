"""Much held in registers at once: many accumulators, unrolled products, outer products, values that live long."""

from __future__ import annotations

from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat, times
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real

TYPES = ("float", "float", "float", "int", "uint", "double", "float4", "float2")


@family("many_accumulators", group="register_heavy")
def many_accumulators(draw: Draw) -> Draft:
    """Dot products and sums along rows with 2 to 32 accumulators, rolled or written out."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(TYPES, "type")
    cover = draw_coverage(draw, hand)
    count = draw.choose((2, 3, 4, 6, 8, 12, 16, 24, 32), "accumulators")
    first, second, out, width, i = (hand.name(r) for r in ("input", "second input", "output", "row length", "index"))
    style = draw.choose(("scalars", "scalars", "array"), "style")
    acc = [f"s{k}" for k in range(count)] if style == "scalars" else [f"acc2[{k}]" for k in range(count)]
    turned = draw.choose(("row", "row", "column"), "layout") if cover.count else "row"
    total = f"(int){cover.count}"

    def at(name: str, k: str) -> str:
        return f"{name}[{i} * {width} + {k}]" if turned == "row" else f"{name}[({k}) * {total} + {i}]"

    kind = draw.choose(("dot", "sum", "squares", "difference", "shared", "extreme", "formula"), "what")
    shape = mixture(draw, hand, ["p2", "q2"], type_, 2)

    def update(k: int, j: str) -> str:
        a, b = at(first, j), at(second, j)
        name = acc[k]
        match kind:
            case "dot":
                return f"{name} = {hand.add_product(a, b, name)};" if is_real(type_) else f"{name} += {a} * {b};"
            case "sum":
                return f"{name} += {a};"
            case "squares":
                return f"{name} += {a} * {a};"
            case "difference":
                return f"{name} += {'fabs' if is_real(type_) else ''}({a} - {b});"
            case "shared":
                return f"{name} += {a} * {second}[{j}];"
            case "extreme":
                return f"{name} = max({name}, {a});"
        return f"{{\nconst {type_} p2 = {a}, q2 = {name};\n{name} = {shape};\n}}"

    rolled = style == "array" and draw.chance(0.6)
    if rolled:
        inner = hand.loop(
            "k2", "0", str(count), update(0, "j2 + k2").replace("acc2[0]", "acc2[k2]"), unroll=draw.choose((0, count))
        )
    else:
        inner = "\n".join(update(k, f"j2 + {k}" if k else "j2") for k in range(count))
    declare = "\n".join(f"{type_} {a} = 0;" for a in acc)
    if style == "array":
        declare = f"{type_} acc2[{count}];\n" + hand.loop("k2", "0", str(count), "acc2[k2] = 0;")
    loop = (
        f"int j2 = 0;\nfor (; j2 + {count} <= {width}; j2 += {count}) {{\n{inner}\n}}\n"
        f"for (; j2 < {width}; j2++) {{\n{update(0, 'j2')}\n}}"
    )
    joined = acc
    while len(joined) > 1 and draw.chance(0.7):
        joined = [f"({' + '.join(joined[k : k + 2])})" for k in range(0, len(joined), 2)]
    if kind == "extreme":
        joined = [f"max({a}, {acc[0]})" for a in acc[1:]]
    result = " + ".join(joined)
    if style == "array" and count > 6:
        result = "t2"
        loop += f"\n{type_} t2 = 0;\n" + hand.loop(
            "k2", "0", str(count), "t2 += acc2[k2];" if kind != "extreme" else "t2 = max(t2, acc2[k2]);"
        )
    body = f"{declare}\n{loop}\n{out}[{i}] = {result};"
    reads = kind in {"dot", "difference", "shared"}
    parameters: list[Parameter] = [
        Buffer(first, type_, lambda s: (s.bound + 1) * s.of(width)),
        Buffer(out, type_, each, None, True),
    ]
    if reads:
        length = (lambda s: s.of(width) + 64) if kind == "shared" else (lambda s: (s.bound + 1) * s.of(width))
        parameters.append(Buffer(second, type_, length))
    parameters.append(Scalar(width, "int", lambda d: d.log_integer(4, 4000)))
    parts = Parts(
        (kind, f"by{count}"),
        cover,
        parameters,
        body,
        lambda s: 4.0 * s.of(width),
        data_per_element=lambda scalars: float(scalars[width]),
    )
    return drafted(draw, hand, parts)


@family("register_tile", group="register_heavy")
def register_tile(draw: Draw) -> Draft:
    """Generate a block of results of each item, built up by outer products of short columns and rows."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("float", "float", "double", "int", "float4"), "type")
    cover = draw_coverage(draw, hand)
    rows, columns = draw.choose((1, 2, 4, 8), "rows"), draw.choose((1, 2, 3, 4, 6, 8), "columns")
    left, right, out, depth, i = (hand.name(r) for r in ("input", "second input", "output", "depth", "index"))
    own = draw.choose(("left_own", "both_own"), "shared")
    style = draw.choose(("scalars", "array", "array_2d"), "style")
    cells = {
        (r, c): {"scalars": f"t{r}{c}", "array": f"t2[{r * columns + c}]", "array_2d": f"t2[{r}][{c}]"}[style]
        for r in range(rows)
        for c in range(columns)
    }
    b_at = (
        f"{right}[j2 * {columns} + {{}}]" if own == "left_own" else f"{right}[({i} * {depth} + j2) * {columns} + {{}}]"
    )
    a_at = f"{left}[({i} * {depth} + j2) * {rows} + {{}}]"
    lines = [f"const {type_} a{r} = {a_at.format(r)};" for r in range(rows)]
    lines += [f"const {type_} b{c} = {b_at.format(c)};" for c in range(columns)]
    keep = hand.literal(0.5, type_) if is_real(type_) and draw.chance(0.3) else ""
    for (r, c), cell in cells.items():
        lines.append(
            f"{cell} = {hand.add_product(f'a{r}', f'b{c}', cell)};"
            if is_real(type_) and not keep
            else f"{cell} = {cell}{f' * {keep}' if keep else ''} + a{r} * b{c};"
        )
    declare = {
        "scalars": "\n".join(f"{type_} {cell} = 0;" for cell in cells.values()),
        "array": f"{type_} t2[{rows * columns}];\n" + hand.loop("k2", "0", str(rows * columns), "t2[k2] = 0;"),
        "array_2d": (
            f"{type_} t2[{rows}][{columns}];\nfor (int p2 = 0; p2 < {rows}; p2++)\n"
            f"for (int q2 = 0; q2 < {columns}; q2++) t2[p2][q2] = 0;"
        ),
    }[style]
    update = "\n".join(lines)
    if style == "array_2d" and draw.chance(0.5):
        take_left = hand.loop("p2", "0", str(rows), f"a2[p2] = {a_at.format('p2')};")
        take_right = hand.loop("q2", "0", str(columns), f"b2[q2] = {b_at.format('q2')};")
        update = f"{type_} a2[{rows}], b2[{columns}];\n{take_left}\n{take_right}\n"
        update += (
            f"for (int p2 = 0; p2 < {rows}; p2++)\n"
            f"for (int q2 = 0; q2 < {columns}; q2++) t2[p2][q2] += a2[p2] * b2[q2];"
        )
    unroll = draw.choose((0, 0, 2, 4))
    sink = draw.choose(("all", "sum"), "result")
    names = list(cells.values())
    stores = "\n".join(f"{out}[{i} * {len(names)} + {k}] = {cell};" for k, cell in enumerate(names))
    end = stores if sink == "all" else f"{out}[{i}] = {' + '.join(names)};"
    body = f"{declare}\n{hand.loop('j2', '0', depth, update, unroll=unroll)}\n{end}"
    parameters: list[Parameter] = [
        Buffer(left, type_, lambda s: s.bound * s.of(depth) * rows),
        Buffer(
            right,
            type_,
            (lambda s: s.of(depth) * columns) if own == "left_own" else (lambda s: s.bound * s.of(depth) * columns),
        ),
        Buffer(out, type_, times(len(names) if sink == "all" else 1), None, True),
        Scalar(depth, "int", lambda d: d.log_integer(2, 1000)),
    ]
    parts = Parts(
        ("tile", f"{rows}x{columns}"),
        cover,
        parameters,
        body,
        lambda s: 2.5 * rows * columns * s.of(depth),
        data_per_element=lambda scalars: float(scalars[depth]) * (rows + columns) / 2,
    )
    return drafted(draw, hand, parts)


@family("long_lived_values", group="register_heavy")
def long_lived_values(draw: Draw) -> Draft:
    """8 to 64 values of each item that are all needed until the end: spilled where registers end."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(TYPES, "type")
    cover = draw_coverage(draw, hand)
    count = draw.choose((8, 12, 16, 24, 32, 48, 64), "values")
    x, out, rounds, i = hand.name("input"), hand.name("output"), hand.name("iterations"), cover.index
    names = [f"r{k}" for k in range(count)]
    source = draw.choose(("row", "near", "derived"), "source")
    loads = {
        "row": [f"{type_} {n} = {x}[{i} * {count} + {k}];" for k, n in enumerate(names)],
        "near": [f"{type_} {n} = {x}[{i} + {k}];" for k, n in enumerate(names)],
        "derived": [f"{type_} r0 = {x}[{i}];"]
        + [
            f"{type_} {n} = r{k} * {hand.literal(0.5, type_) if is_real(type_) else 3} + {hand.literal(1, type_)};"
            for k, n in enumerate(names[1:])
        ],
    }[source]
    span = draw.choose((1, 2, 5, 7), "span")
    shape = draw.choose(("mix", "formula", "rotate", "few_formulas"), "update")
    forms = [
        mixture(draw, hand, ["p2", "q2"], type_, draw.choose((1, 2))) for _ in range({"few_formulas": 4}.get(shape, 1))
    ]
    updates = []
    for k, n in enumerate(names):
        other = names[(k + span) % count]
        if shape == "mix":
            updates.append(
                f"{n} = {n} * {hand.literal(0.75, type_)} + {other} * {hand.literal(0.25, type_)};"
                if is_real(type_)
                else f"{n} = {n} ^ ({other} + {k});"
            )
        elif shape == "rotate":
            updates.append(
                f"{n} = {other};"
                if k < count - 1
                else f"{n} = r0 {'*' if is_real(type_) else '+'} {hand.literal(0.5, type_) if is_real(type_) else 7};"
            )
        else:
            updates.append(f"{n} = mix_{k % len(forms)}({n}, {other});")
    helpers = ""
    if shape in {"formula", "few_formulas"}:
        head = f"{hand.inline}{type_} mix_{{}}({type_} p2, {type_} q2) {{{{\nreturn {{}};\n}}}}"
        helpers = "\n".join(head.format(k, text) for k, text in enumerate(forms))
    loop = hand.loop("j2", "0", rounds, "\n".join(updates))
    order = names if draw.chance(0.5) else draw.shuffled(names)
    result = " + ".join(order) if is_real(type_) else " ^ ".join(order)
    body = "\n".join(loads) + f"\n{loop}\n{out}[{i}] = {result};"
    length = {"row": times(count), "near": lambda s: s.bound + count, "derived": each}[source]
    parameters: list[Parameter] = [
        Buffer(x, type_, length),
        Buffer(out, type_, each, None, True),
        Scalar(rounds, "int", lambda d: d.log_integer(1, 200)),
    ]
    parts = Parts(
        ("hold", f"{count}"),
        cover,
        parameters,
        body,
        lambda s: 4.0 * count * s.of(rounds),
        helpers,
        data_per_element=lambda _: float(count) if source == "row" else 1.0,
    )
    return drafted(draw, hand, parts)


@family("unrolled_products", group="register_heavy")
def unrolled_products(draw: Draw) -> Draft:
    """Chains of multiply-adds written out, dependent or not, from a few loaded values."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("float", "float", "double", "float4", "float2", "int", "float8"), "type")
    cover = draw_coverage(draw, hand)
    chains, length = draw.choose((1, 2, 3, 4, 6, 8), "chains"), draw.choose((4, 8, 16, 32, 64), "length")
    x, y, out, i = hand.name("input"), hand.name("second input"), hand.name("output"), cover.index
    names = [f"u{k}" for k in range(chains)]
    contract = [
        hand.literal(round(draw.real(0.3, 0.7), 2), type_) if is_real(type_) else str(draw.integer(2, 9))
        for _ in range(chains)
    ]
    step = draw.choose(("constant", "second", "neighbour"), "step")
    updates = []
    for number in range(length):
        for k, n in enumerate(names):
            other = {"constant": "f2", "second": "g2", "neighbour": names[(k + 1) % chains]}[step]
            quarter = hand.literal(0.25, type_) if is_real(type_) else "1"
            add = f"({other} * {quarter})" if step == "neighbour" else other
            updates.append(
                f"{n} = {hand.add_product(n, f'({type_})({contract[k]})', add)};"
                if is_real(type_)
                else f"{n} = {n} * {contract[k]} + {add};"
            )
        if number == length // 2 and draw.chance(0.3):
            updates.append(f"f2 = {expression(draw, ['f2', 'g2'], type_, 2)};")
    declare = f"{type_} f2 = {x}[{i}], g2 = {y}[{i}];\n" + "\n".join(
        f"{type_} {n} = f2 + ({type_})({hand.literal(k, type_)});" for k, n in enumerate(names)
    )
    as_macro = draw.chance(0.25, "macro")
    text = "\n".join(updates)
    helpers = ""
    if as_macro and step != "neighbour":
        other = "f2" if step == "constant" else "g2"
        one = " ".join(f"{n} = {n} * ({type_})({contract[k]}) + {other};" for k, n in enumerate(names))
        helpers = f"#define STEP1 {one}\n#define STEP4 STEP1 STEP1 STEP1 STEP1\n#define STEP16 STEP4 STEP4 STEP4 STEP4"
        text = "STEP16\n" * (length // 16) + "STEP4\n" * (length % 16 // 4)
    rounds = hand.name("iterations")
    again = draw.chance(0.4, "in_a_loop")
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(y, type_, each), Buffer(out, type_, each, None, True)]
    if again:
        text = hand.loop("j2", "0", rounds, text)
        parameters.append(Scalar(rounds, "int", lambda d: d.log_integer(1, 500)))
    body = f"{declare}\n{text}\n{out}[{i}] = {' + '.join(names)};"
    amount = 2.0 * chains * length
    work = (lambda s: amount * s.of(rounds)) if again else flat(amount)
    return drafted(draw, hand, Parts(("fma", f"{chains}x{length}"), cover, parameters, body, work, helpers))
