"""Histograms of more than one thing: colours by channel, pairs, neighbours; and those of single items."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.histograms import KINDS, bin_of_value, contents
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out
from profiler.corpus.writing.ndrange import affordable, line, matrix, sized
from profiler.corpus.writing.trees import FENCE
from profiler.corpus.writing.types import bytes_of


@family("histogram_private", group="histograms")
def histogram_private(draw: Draw) -> Draft:
    """Each item counts a share of its own in a private array, or in its own part of global memory; no atomics."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    number = draw.choose((4, 8, 16, 32, 64, 256))
    draw.choices["bins"] = str(number)
    place = draw.choose(("private", "global", "comparisons") if number <= 16 else ("private", "global"), "place")
    counter = draw.choose(("int", "uint", "ushort", "uchar") if place == "private" else ("int", "uint"), "counter")
    walk = draw.choose(("rows", "strided"), "walk")
    out = draw.choose(("g * {n} + {b}", "{b} * count + g"), "layout")
    at = "g * length + k" if walk == "rows" else "k * count + g"
    bin_of = bin_of_value(hand, kind, str(number), "v", True)
    if place == "comparisons":
        zero = "\n".join(f"int c{b} = 0;" for b in range(number))
        take = f"const int b = {bin_of};\n" + "\n".join(f"c{b} += b == {b};" for b in range(number))
        store = "\n".join(f"counts[{out.format(n=number, b=b)}] = c{b};" for b in range(number))
    else:
        at_bin = "mine[{b}]" if place == "private" else f"counts[{out}]"
        array = f"{counter} mine[{number}];\n" if place == "private" else ""
        cell = at_bin.format(b="b", n=number)
        zero = f"{array}for (int b = 0; b < {number}; ++b) {{\n{cell} = 0;\n}}"
        take = at_bin.format(b=f"({bin_of})", n=number) + draw.choose(("++;", " += 1;"))
        store = f"for (int b = 0; b < {number}; ++b) {{\ncounts[{out.format(n=number, b='b')}] = mine[b];\n}}"
        store = store if place == "private" else ""
    loop = f"for ({hand.index} k = 0; k < length; ++k) {{\nconst {kind} v = x[{at}];\n{take}\n}}"
    cover = hand.cover("g", "count", lambda _: f"{zero}\n{loop}\n{store}")
    result = draw.choose(("int", "uint")) if place == "private" else counter
    head = hand.signature(
        "histogram", [hand.reads(kind, "x"), hand.writes(result, "counts"), *hand.counts("count", "length")]
    )

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 5 * number)
        count, length = matrix(draw, wish.data, each * 1.2, (1, 65536))
        count = min(count, 30_000_000 // number)
        (count,) = cover.fit(size, count)
        length = max(1, min(length, affordable(1 << 25, each * count, 60_000_000)))
        cost = 6 + (2 * number if place == "comparisons" else 2)
        operations = cover.done(size, (count,)) * (length * cost + 4 * number) + size.items
        lengths = {"x": count * length, "counts": count * number}
        scalars = {"count": count, "length": length}
        return sized(size, operations, lengths, scalars, {"x": contents(draw, kind, number)})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "histogram", launch)


@family("histogram_channels", group="histograms")
def histogram_channels(draw: Draw) -> Draft:
    """Colours by channel, pairs of values in two dimensions, co-occurrences at a distance, brightness of a pixel."""
    hand = Hand(draw)
    form = draw.choose(("channels", "pairs", "neighbours", "brightness", "weighted pairs"), "form")
    number = draw.choose((4, 8, 16, 32, 64, 256))
    if form in ("pairs", "neighbours", "weighted pairs"):
        number = min(number, 64)
    draw.choices["bins"] = str(number)
    shift = 8 - number.bit_length() + 1
    local_copy = draw.chance(0.45, "local copy")
    planar = draw.chance(0.4, "planar") and form == "channels"
    interleaved = draw.chance(0.4, "interleaved") and form == "channels"
    place = "mine" if local_copy else "counts"
    pixel = draw.choose(("uchar4", "uchar3"), "pixel") if form in ("channels", "brightness") else "uchar"
    names = list("xyzw" if pixel == "uchar4" and draw.chance(0.5, "alpha") else "xyz")
    channels = len(names) if form == "channels" else 1

    increments = draw.chance(0.5, "increments")

    def add(at: str, what: str = "1") -> str:
        return f"atomic_inc(&{place}[{at}]);" if what == "1" and increments else f"atomic_add(&{place}[{at}], {what});"

    if planar:
        take = "\n".join(add(f"{c} * {number} + (image[{c} * n + i] >> {shift})") for c in range(channels))
        pixel = "uchar"
    elif form == "channels":
        cell = "{c} * {n} + (p.{name} >> {s})" if not interleaved else "(p.{name} >> {s}) * {m} + {c}"
        cells = [cell.format(c=c, n=number, name=name, s=shift, m=channels) for c, name in enumerate(names)]
        take = f"const {pixel} p = image[i];\n" + "\n".join(map(add, cells))
    elif form == "brightness":
        sums = ("(77 * p.x + 150 * p.y + 29 * p.z) >> 8", "max(p.x, max(p.y, p.z))", "(p.x + p.y + p.z) / 3")
        grey = draw.choose(sums, "brightness")
        take = f"const {pixel} p = image[i];\nconst int grey = {grey};\n{add(f'grey >> {shift}')}"
    elif form == "neighbours":
        other = "image[min((uint)(i + apart), (uint)(n - 1))]"
        take = add(f"(image[i] >> {shift}) * {number} + ({other} >> {shift})")
    else:
        weight = "weights[i]" if form == "weighted pairs" else "1"
        take = add(f"(image[i] >> {shift}) * {number} + (other[i] >> {shift})", weight)
    total = number * number if form in ("pairs", "neighbours", "weighted pairs") else number * channels
    buffers = [hand.reads(pixel, "image"), *([hand.reads("uchar", "other")] * ("pairs" in form))]
    buffers += [hand.reads("int", "weights")] * (form == "weighted pairs") + [hand.writes("int", "counts")]
    counts = hand.counts("n", *(["apart"] if form == "neighbours" else []))
    cover = hand.cover("i", "n", lambda _: take) if not local_copy else None
    if cover:
        text = cover.text
    else:
        index = hand.index
        loop = f"for ({index} i = get_global_id(0); i < n; i += get_global_size(0)) {{\n{take}\n}}"
        text = f"""__local int mine[{total}];
        for (int b = get_local_id(0); b < {total}; b += get_local_size(0)) {{
        mine[b] = 0;
        }}
        {FENCE}
        {loop}
        {FENCE}
        for (int b = get_local_id(0); b < {total}; b += get_local_size(0)) {{
        atomic_add(&counts[b], mine[b]);
        }}"""
    head = hand.signature("histograms", [*buffers, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(pixel) * (channels if planar else 1)
        size = line(wish, each + 5, barriers=local_copy)
        n = affordable(wish.data, each + 5)
        if cover:
            (n,) = cover.fit(size, n)
        done = cover.done(size, (n,)) if cover else n
        fill = draw.choose(
            (
                Fill("randint", (0, 256)),
                Fill("skewed", (0, 256)),
                Fill("clustered", (0, 256, 8)),
                Fill("sorted", (0, 256)),
            )
        )
        lengths = {"image": n * (channels if planar else 1), "counts": total}
        lengths |= ({"other": n} if "pairs" in form else {}) | ({"weights": n} if form == "weighted pairs" else {})
        scalars = {"n": n} | ({"apart": draw.log_integer(1, 4096)} if form == "neighbours" else {})
        fills = {"image": fill} | ({"other": Fill("clustered", (0, 256, 16))} if "pairs" in form else {})
        merging = size.groups * total * 12 if local_copy else 0
        return sized(size, done * 12 * channels + merging + size.items * 3, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "histograms", launch)
