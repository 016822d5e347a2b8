"""Histograms: into global memory, through a group's own copy, or an item's; of values, channels, pairs and rows."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.trees import FENCE
from profiler.corpus.writing.types import bytes_of, is_real

KINDS = {"uchar": 2.0, "int": 2.0, "uint": 2.0, "float": 2.5, "ushort": 0.7, "double": 0.5}
CONTENTS = ("even", "even", "skewed", "sorted", "clustered", "same")


def contents(draw: Draw, kind: str, bins: int) -> Fill:
    """Values of which the bins are made; how they follow each other decides how often atomics meet."""
    shape = draw.choose(CONTENTS)
    high = min(256, bins) if kind == "uchar" else max(2, bins)
    if is_real(kind):
        even = Fill("uniform", (0.0, 1.0))
        options = {"sorted": Fill("sorted", (0.0, 1.0)), "clustered": Fill("clustered", (0.0, 1.0, 0.02))}
        options |= {"same": Fill("const", (0.37,)), "skewed": Fill("skewed", (0.001, 1.0))}
        return options.get(shape, even)
    options = {"sorted": Fill("sorted", (0, high)), "clustered": Fill("clustered", (0, high, max(1, high // 16)))}
    options |= {"same": Fill("const", (high // 2,)), "skewed": Fill("skewed", (0, high))}
    return options.get(shape, Fill("randint", (0, high)))


def bin_of_value(hand: Hand, kind: str, bins: str, value: str, is_power: bool) -> str:
    """Generate an expression for the bin of a value, always below `bins`."""
    if is_real(kind):
        scaled = f"{value} * {bins}"
        return hand.draw.choose(
            (f"min((uint)({scaled}), (uint)({bins} - 1))", f"clamp((int)({scaled}), 0, (int)({bins}) - 1)")
        )
    options = [f"min((uint){value}, (uint)({bins} - 1))", f"(uint){value} % {bins}"]
    if is_power:
        options += [f"{value} & ({bins} - 1)", f"((uint){value} >> {hand.draw.integer(0, 3)}) & ({bins} - 1)"]
    if hand.draw.chance(0.2, "hashed") and is_power:
        return f"(((uint){value} * 2654435761u) >> 16) & ({bins} - 1)"
    return hand.draw.choose(options, "bin")


@family("histogram_global", group="histograms")
def histogram_global(draw: Draw) -> Draft:
    """Every element by an atomic on global memory; counts or weights, one histogram or one a row or slice."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    is_argument = draw.chance(0.5, "bins are an argument")
    number = draw.choose((2, 8, 16, 64, 256, 256, 1024, 4096))
    bins = "bins" if is_argument else draw.choose((str(number), "BINS"))
    add = draw.choose(("inc", "add", "weights", "many"), "adds")
    copies = draw.weighted({"one": 3, "by group": 1, "by item": 0.7}, "copies")
    skips = draw.chance(0.25, "skips some")
    pack = draw.choose((2, 4)) if draw.chance(0.25, "vector loads") and kind in ("uchar", "int", "uint", "float") else 1
    held = f"{kind}{pack}" if pack > 1 else kind
    whole = f"({bins})" if is_argument else f"{bins}"
    offset = {"one": "", "by group": f"get_group_id(0) % copies * {whole} + "}.get(
        copies, f"get_global_id(0) % copies * {whole} + "
    )

    def one(value: str) -> str:
        at = f"&counts[{offset}({text_of_bin.replace('VALUE', value)})]"
        change = {"inc": f"atomic_inc({at});", "add": f"atomic_add({at}, 1);", "many": f"atomic_add({at}, step);"}
        text = change.get(add, f"atomic_add({at}, weights[i]);")
        test = f"{value} > {literal(kind, 0.1 if is_real(kind) else 1)}"
        return f"if ({test}) {{\n{text}\n}}" if skips else text

    text_of_bin = bin_of_value(hand, kind, whole, "VALUE", not is_argument)
    if pack > 1:
        lines = [f"const {held} v = x[i];", *(one(f"v.s{e}") for e in range(pack))]
    else:
        lines = [f"const {kind} v = x[i];", one("v")] if draw.chance(0.6) else [one("x[i]")]
    cover = hand.cover("i", "n", lambda _: "\n".join(lines))
    result = draw.choose(("int", "uint"), "counter")
    buffers = [hand.reads(held, "x"), hand.writes(result, "counts")]
    buffers += [hand.reads(result, "weights")] * (add == "weights")
    counts = hand.counts("n", *(["bins"] if is_argument else []), *(["copies"] if offset else []))
    counts += [f"const {result} step"] * (add == "many")
    head = hand.signature("histogram", [*buffers, *counts])
    define = f"#define BINS {number}\n" if bins == "BINS" else ""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(held)
        size = line(wish, each + 4)
        (n,) = cover.fit(size, affordable(max(1, wish.data // pack), each + 4))
        count = draw.log_integer(1, 1 << 18) if is_argument else number
        several = draw.log_integer(1, 64)
        scalars = {"n": n} | ({"bins": count} if is_argument else {}) | ({"copies": several} if offset else {})
        scalars |= {"step": draw.integer(1, 9)} if add == "many" else {}
        lengths = {"x": slack(draw, n), "counts": count * (several if offset else 1)}
        lengths |= {"weights": n} if add == "weights" else {}
        # An atomic costs some 10 plain operations on a processor, and more where many meet.
        operations = cover.done(size, (n,)) * 14 * pack + size.items
        return sized(size, operations, lengths, scalars, {"x": contents(draw, kind, count)})

    return Draft(lay_out(f"{define}{head}\n{{\n{cover.text}\n}}"), "histogram", launch)


@family("histogram_local", group="histograms")
def histogram_local(draw: Draw) -> Draft:
    """Generate a copy in local memory for each group, sometimes several.

    It is added to the result or stored beside the others'.
    """
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    number = draw.choose((8, 16, 32, 64, 128, 256, 256, 512, 1024, 2048))
    copies = draw.choose((1, 1, 1, 2, 4)) if number <= 512 else 1
    draw.choices["bins"], draw.choices["copies"] = str(number), str(copies)
    bins = draw.choose((str(number), "BINS"))
    finish = draw.choose(("atomic", "atomic if any", "own part"), "finish")
    walk = draw.choose(("one", "grid stride", "group's block"), "walk")
    fixed = draw.choose((0, 0, 32, 64, 128, 256), "fixed local size")
    by_argument = draw.chance(0.25, "local argument") and not fixed
    index = hand.index
    bin_of = bin_of_value(hand, kind, bins, "v", True)
    own = f"l % {copies} * {bins} + " if copies > 1 else ""
    add = draw.choose((f"atomic_inc(&mine[{own}b]);", f"atomic_add(&mine[{own}b], 1);"))
    bin_first = draw.chance(0.6, "bin has a name")
    take = f"const {kind} v = x[i];\n"
    take += f"const {index} b = {bin_of};\n{add}" if bin_first else add.replace("b]", f"({bin_of})]")
    total = f"{bins} * {copies}" if copies > 1 else bins
    clear = f"for ({index} b = l; b < {total}; b += size) {{\nmine[b] = 0;\n}}"
    if walk == "one":
        loop = f"const {index} i = get_global_id(0);\nif (i < n) {{\n{take}\n}}"
    elif walk == "grid stride":
        loop = hand.loop("i", "get_global_id(0)", "n", lambda _: take, "get_global_size(0)")
    else:
        ends = f"const {index} share = (n + get_num_groups(0) - 1) / get_num_groups(0);\n"
        ends += f"const {index} first = get_group_id(0) * share;\n"
        ends += f"const {index} last = min(({index})(first + share), ({index})n);\n"
        loop = ends + hand.loop("i", "first + l", "last", lambda _: take, "size", "for")
    sum_up = " + ".join(f"mine[{c} * {bins} + b]" if c else "mine[b]" for c in range(copies))
    out = {
        "atomic": f"atomic_add(&counts[b], {sum_up});",
        "atomic if any": f"const int found = {sum_up};\nif (found) {{\natomic_add(&counts[b], found);\n}}",
        "own part": f"counts[get_group_id(0) * {bins} + b] = {sum_up};",
    }[finish]
    merge = f"for ({index} b = l; b < {bins}; b += size) {{\n{out}\n}}"
    counter = draw.choose(("int", "uint"), "counter")
    parameters = [hand.reads(kind, "x"), hand.writes(counter, "counts")]
    parameters += [f"__local {counter}* mine"] * by_argument + hand.counts("n")
    head = hand.signature("histogram", parameters, (fixed,) if fixed else None)
    source = f"""{f"#define BINS {number}" if bins == "BINS" else ""}
{head}
{{
    {"" if by_argument else f"__local {counter} mine[{number * copies}];"}
    const {index} l = get_local_id(0);
    const {index} size = get_local_size(0);
    {clear}
    {FENCE}
    {loop}
    {FENCE}
    {merge}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 1, local=fixed or None, barriers=True)
        parts = size.groups * number if finish == "own part" else number
        if parts > 8_000_000:
            size = line(Wish(1 << 14, wish.data, wish.local), 1, local=fixed or None, barriers=True)
            parts = size.groups * number
        n = affordable(wish.data, each, 120_000_000)
        done = min(n, size.items) if walk == "one" else n
        operations = done * 12 + size.groups * (number * (copies + 12) + 40) + size.items * 4
        local = {"mine": number * copies * 4} if by_argument else {}
        lengths = {"x": slack(draw, n), "counts": parts}
        return sized(size, operations, lengths, {"n": n}, {"x": contents(draw, kind, number)}, local)

    return Draft(lay_out(source), "histogram", launch)
