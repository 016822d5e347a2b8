"""Stages that are loops: over rows, windows and sparse rows, until a condition holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from model.launch.launch import Fill
from profiler.corpus.composing.chain import FENCE, Chain
from profiler.corpus.composing.drafting import Sizes, each, just
from profiler.corpus.composing.private import private_work
from profiler.corpus.expressions import cost

Stage = Callable[[Chain], None]


def _trips(chain: Chain, most: int) -> tuple[str, Callable[[Sizes], float]]:
    """Return how often a loop runs: a number or an argument."""
    if chain.draw.chance(0.45):
        number = chain.draw.choose([n for n in (4, 8, 10, 16, 32, 50, 64, 100, 256) if n <= most])
        return chain.hand.constant("steps", str(number)), lambda _: float(number)
    name = chain.scalar("iterations", "int", lambda d: d.log_integer(1, most))
    return name, lambda sizes: float(sizes.of(name))


def row(chain: Chain) -> None:
    """Along a dimension of the data with one or several accumulators; each element has a row or a column of its own."""
    draw, hand = chain.draw, chain.hand
    width = chain.scalar("row length", "int", lambda d: d.log_integer(2, 2048))
    chain.data_scalars.append(width)
    x = chain.buffer("matrix", chain.type, lambda s: (s.bound + 1) * s.of(width))
    j = hand.fresh("loop")
    where = draw.choose(
        (f"{chain.at} * {width} + {j}", f"{j} * ({chain.total}) + {chain.at}", f"(size_t){chain.at} * {width} + {j}")
    )
    factor = f"{x}[{where}]"
    if draw.chance(0.5):
        y = chain.buffer("weights2", chain.type, lambda s: s.of(width), is_constant=draw.chance(0.15))
        factor = f"{factor} * {y}[{j}]"
    count = draw.weighted({1: 3.0, 2: 1.5, 3: 0.5, 4: 1.0})
    sums = [chain.variable("sum", chain.whole(0)) for _ in range(count)]
    weight, value = cost(factor) + 3, hand.fresh("e")
    lines = [_gathered(chain, name, value) for name in sums]
    if count == 1 and draw.chance(0.5):
        lines = [re.sub(rf"\b{value}\b", factor, lines[0])]
    else:
        lines.insert(0, f"const {chain.type} {value} = {factor};")
    unroll = draw.choose((0, 0, 0, 2, 4))
    if draw.chance(0.2) and chain.is_scalar:
        lines.append(f"if ({sums[0]} > {chain.real(1e6 if chain.is_real else 100000)}) break;")
    chain.lines.append(hand.loop(j, "0", width, "\n".join(lines), unroll=unroll))
    chain.spend(lambda s: s.of(width) * (weight + 3.0 * count))
    if chain.is_real:
        for name in sums:
            chain.add(
                f"{name} = {name} / ({chain.base}){width};"
                if draw.chance(0.7)
                else f"{name} *= {chain.real(1)} / {width};"
            )
            chain.add(f"{name} = clamp({name}, {chain.whole(-4)}, {chain.whole(4)});")


def _gathered(chain: Chain, acc: str, value: str) -> str:
    """Return a statement that brings a value into an accumulator.

    Over a row it grows no faster than the row's length.
    """
    draw = chain.draw
    if not chain.is_real:
        return f"{acc} {draw.choose(('+=', '+=', '^=', '|='))} {value};"
    return draw.choose(
        (
            f"{acc} += {value};",
            f"{acc} += {value};",
            f"{acc} = {chain.hand.add_product(value, chain.whole(0.5), acc)};",
            f"{acc} = fmax({acc}, {value});",
            f"{acc} = {acc} * {chain.real(0.5)} + {value};",
            f"{acc} += {value} * {value} * {chain.real(0.25)};",
            f"{acc} += fabs({value} - {chain.real(0.75)});",
            f"{acc} += {chain.carried(value, [], 2)};",
        )
    )


def window(chain: Chain) -> None:
    """Elements before and behind, weighted or compared."""
    draw, hand = chain.draw, chain.hand
    radius = draw.choose((1, 2, 3, 5, 8, 16))
    x = chain.buffer("signal", chain.type, each)
    j, acc, here = (
        hand.fresh("loop"),
        chain.variable("sum", chain.value if chain.names else chain.whole(0)),
        hand.fresh("near"),
    )
    at = f"clamp((int){chain.at} + {j}, 0, {chain.total} - 1)"
    if draw.chance(0.3):
        at = f"min(max((int){chain.at} + {j}, 0), {chain.total} - 1)"
    kinds = {
        "mean": f"{acc} += {here} * {chain.real(float(f'{0.5 / radius:.2g}'))};"
        if chain.is_real
        else f"{acc} += {here};",
        "largest": f"{acc} = max({acc}, {here});",
        "smallest": f"{acc} = min({acc}, {here});",
        "expression": f"{acc} = {chain.carried(acc, [here], 2)};",
    }
    if chain.is_real:
        table = chain.buffer("taps", chain.base, just(2 * radius + 1), is_constant=draw.chance(0.5))
        kinds["weighted"] = f"{acc} = {acc} * {chain.real(0.5)} + {table}[{j} + {radius}] * {here};"
        kinds["nearness"] = (
            f"{acc} = {acc} * {chain.real(0.5)} + exp(-fabs({here} - {acc})) * {here} * {chain.real(0.25)};"
        )
    kind = draw.choose(tuple(kinds), "window")
    if chain.is_real and kind != "weighted":
        chain.parameters.pop()
    inner = f"const {chain.type} {here} = {x}[{at}];\n{kinds[kind]}"
    chain.add(
        hand.loop(j, f"-{radius}", str(radius + 1), inner, unroll=draw.choose((0, 0, 2 * radius + 1))),
        repeated=2 * radius + 1,
    )
    chain.settle(acc, 16.0)


def sparse_row(chain: Chain) -> None:
    """Add a loop over a row of a CSR matrix, of even or very uneven length."""
    draw, hand = chain.draw, chain.hand
    mean = draw.choose((2, 4, 8, 16, 64))
    skew = draw.choose((0, 0, 1, 2))
    rows = chain.buffer(
        "row start",
        "int",
        lambda s: s.bound + 1,
        lambda _, s: Fill("csr_rows", (s.bound * mean, *((skew,) if skew else ()))),
    )
    columns = chain.buffer("columns", "int", lambda s: s.bound * mean, lambda _, s: Fill("randint", (0, s.bound)))
    x = chain.buffer("vector2", chain.type, each)
    j, acc, here = hand.fresh("loop"), chain.variable("sum", chain.whole(0)), hand.fresh("near")
    factor = f"{x}[{columns}[{j}]]"
    if draw.chance(0.6):
        values = chain.buffer("nonzeros", chain.type, lambda s: s.bound * mean)
        factor = f"{values}[{j}] * {factor}"
    keep = f"{acc} * {chain.real(0.5)}" if chain.is_real else f"{acc}"
    deeds = (
        f"{acc} = {keep} + {here};",
        f"{acc} = max({acc}, {here});",
        f"{acc} = {chain.carried(acc, [here], 2)};",
    )
    deed = draw.choose(deeds if chain.is_real else deeds[:2])
    form = draw.choose(("for", "bounds", "while"))
    inside = f"const {chain.type} {here} = {factor};\n{deed}"
    first, last = f"{rows}[{chain.at}]", f"{rows}[{chain.at} + 1]"
    if form == "bounds":
        a, b = hand.fresh("row first"), hand.fresh("row last")
        chain.lines.append(f"const int {a} = {first}, {b} = {last};")
        first, last = a, b
    if form == "while":
        chain.lines.append(f"int {j} = {first};\nwhile ({j} < {last}) {{\n{inside}\n{j}++;\n}}")
    else:
        chain.lines.append(f"for (int {j} = {first}; {j} < {last}; {j}++) {{\n{inside}\n}}")
    amount = mean * (6.0 + cost(deed))
    chain.spend(lambda _: amount)
    chain.settle(acc, 1000.0)


def until(chain: Chain) -> None:
    """As often as the value wants, within a bound."""
    if not (chain.is_scalar and chain.is_real):
        iterated(chain)
        return
    draw, hand = chain.draw, chain.hand
    most = draw.choose((10, 20, 50, 100))
    source = chain.value
    v, j = chain.variable("residual", f"fabs({source}) + {chain.real(0.5)}"), hand.fresh("loop")
    shrink = chain.real(draw.choose((0.5, 0.75, 0.9)))
    small = chain.real(draw.choose((0.25, 0.1, 0.01)))
    extra = chain.variable("collected", source) if draw.chance(0.6) else ""
    step = f"{v} *= {shrink};" + (f"\n{extra} = {chain.carried(extra, [v], 2)};" if extra else "")
    loops = (
        f"int {j} = 0;\nwhile ({v} > {small} && {j} < {most}) {{\n{step}\n{j}++;\n}}",
        f"for (int {j} = 0; {j} < {most}; {j}++) {{\nif ({v} < {small}) break;\n{step}\n}}",
        f"int {j} = 0;\ndo {{\n{step}\n}} while (++{j} < {most} && {v} > {small});",
    )
    chain.add(draw.choose(loops), repeated=8)


def own_count(chain: Chain) -> None:
    """As often as a buffer says for each element."""
    draw, hand = chain.draw, chain.hand
    most = draw.choose((8, 32, 128))
    fill = Fill(draw.choose(("randint", "skewed", "sorted")), (0, most))
    counts = chain.buffer("repeats", draw.choose(("int", "uchar", "short")), each, fill)
    source = chain.value
    v, j = chain.variable("walk", source), hand.fresh("loop")
    step = f"{v} = {chain.carried(v, [source], draw.choose((1, 2, 3)))};"
    chain.add(hand.loop(j, "0", f"{counts}[{chain.at}]", step), repeated=most / 2)


def iterated(chain: Chain) -> None:
    """One or two formulas applied over and over."""
    draw, hand = chain.draw, chain.hand
    count, trips = _trips(chain, draw.choose((16, 100, 1000)))
    source = chain.value
    v, j = chain.variable("state", source), hand.fresh("loop")
    steps = [f"{v} = {chain.carried(v, chain.names[-3:-1], draw.choose((1, 2, 3)))};"]
    if draw.chance(0.4):
        w = chain.variable("second2", source)
        steps.append(f"{w} = {chain.carried(w, [v], draw.choose((1, 2)))};")
    text = "\n".join(steps)
    chain.lines.append(hand.loop(j, "0", count, text, unroll=draw.choose((0, 0, 0, 4))))
    amount = 2 + cost(text)
    chain.spend(lambda s: amount * trips(s))


def shared_rows(chain: Chain) -> None:
    """Tiles of a vector that all need, brought into local memory part by part."""
    if not chain.is_group_wise or not chain.has_room(chain.type):
        row(chain)
        return
    draw, hand = chain.draw, chain.hand
    lane, size, tile = chain.lane(), chain.local_size(), chain.local_array("scratch", chain.type)
    count = chain.scalar("tiles2", "int", lambda d: d.log_integer(1, 32))
    x = chain.buffer("shared3", chain.type, lambda s: s.of(count) * 1024)
    source, acc = chain.value, chain.variable("sum", chain.whole(0))
    t, j, here = hand.fresh("part2"), hand.fresh("loop"), hand.fresh("near")
    deed = chain.carried(acc, [here, source], draw.choose((1, 2, 3)))
    inner = hand.loop(
        j, "0", size, f"const {chain.type} {here} = {tile}[{j}];\n{acc} = {deed};", unroll=draw.choose((0, 0, 4))
    )
    chain.lines.append(
        f"for (int {t} = 0; {t} < {count}; {t}++) {{\n"
        f"{tile}[{lane}] = {x}[{t} * {size} + {lane}];\n{FENCE}\n{inner}\n{FENCE}\n}}"
    )
    amount = 2 + cost(deed)
    chain.spend(lambda s: s.of(count) * amount * (s.extent.local_size or (64,))[0])


LOOPS: Mapping[str, Stage] = {
    "row": row,
    "window": window,
    "sparse_row": sparse_row,
    "until": until,
    "own_count": own_count,
    "iterated": iterated,
    "private_work": private_work,
    "shared_rows": shared_rows,
}
