"""Atomics for other ends than histograms: appended elements, buckets, extremes."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.trees import FENCE
from profiler.corpus.writing.types import bytes_of, is_real


def keys_below(draw: Draw, count: int) -> Fill:
    """Below `count`; how often neighbours have the same decides how atomics meet."""
    options = [Fill("randint", (0, count)), Fill("skewed", (0, max(2, count))), Fill("sorted", (0, max(2, count)))]
    options.append(Fill("clustered", (0, max(2, count), max(1, min(count // 8, 64)))))
    return draw.choose(options) if count > 1 else Fill("zeros")


@family("append_buffer", group="atomics")
def append_buffer(draw: Draw) -> Draft:
    """Generate values that pass a test and are stored behind a shared counter.

    One atomic an element, or one a group after counting locally.
    """
    hand = Hand(draw)
    kind = draw.weighted({"float": 3, "int": 2, "uint": 1, "float4": 0.8, "int2": 0.6}, "type")
    part = f"{kind}.x" if kind[-1].isdigit() else kind
    scalar = kind.rstrip("24")
    by_group = draw.chance(0.4, "by group")
    what = draw.choose(("element", "index", "changed"), "what")
    full = draw.choose(("ring", "dropped"), "when full")
    look = "v.x" if "." in part else "v"
    sign = draw.choose((">", "<"), "test")
    test = f"{look} {sign} limit"
    payload = {"element": "v", "index": "i", "changed": "v"}[what]
    if what == "changed" and scalar == kind:
        payload = f"({expression(draw, ['v'], kind, 2)})"
    held = "int" if what == "index" else kind
    counter = draw.choose(("int", "uint"), "counter")
    add = draw.choose(("atomic_inc(counter)", "atomic_add(counter, 1)"))
    put = f"if (to < capacity) {{\nout[to] = {payload};\n}}"
    if full == "ring":
        put = f"out[(uint)to % (uint)capacity] = {payload};"
    capacity_type = counter if full == "dropped" else hand.count_type
    if by_group:
        cover = None
        text = f"""__local {counter} found, base;
        if (get_local_id(0) == 0) {{
            found = 0;
        }}
        {FENCE}
        const {hand.index} i = get_global_id(0);
        {counter} slot = 0;
        {kind} v = {literal(kind, 0)};
        int passes = 0;
        if (i < n) {{
            v = x[i];
            passes = {test};
        }}
        if (passes) {{
            slot = atomic_inc(&found);
        }}
        {FENCE}
        if (get_local_id(0) == 0) {{
            base = atomic_add(counter, found);
        }}
        {FENCE}
        if (passes) {{
            const {counter} to = base + slot;
            {put}
        }}"""
        if full == "dropped":
            text = text.replace("if (to < capacity)", "if (to >= 0 && to < capacity)")
    else:
        inner = f"const {kind} v = x[i];\nif ({test}) {{\nconst {counter} to = {add};\n{put}\n}}"
        cover = hand.cover("i", "n", lambda _: inner)
        text = cover.text
    volatile = draw.choose(("volatile __global", "__global"))
    parameters = [hand.reads(kind, "x"), hand.writes(held, "out"), f"{volatile} {counter}* counter", *hand.counts("n")]
    head = hand.signature("append", [*parameters, f"{capacity_type} capacity", f"{scalar} limit"])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) + bytes_of(held) + 1
        size = line(wish, each, barriers=by_group)
        n = affordable(wish.data, each)
        if cover:
            (n,) = cover.fit(size, n)
        capacity = n if draw.chance(0.6) else draw.log_integer(1, n)
        low, high = (0.5, 1.5) if is_real(kind) else (0, draw.choose((16, 1000)))
        fill = Fill("uniform" if is_real(kind) else "randint", (low, high))
        limit = draw.real(0.4, 1.6) if is_real(kind) else draw.integer(0, int(high))
        done = cover.done(size, (n,)) if cover else min(n, size.items)
        scalars = {"n": n, "capacity": capacity, "limit": limit}
        lengths = {"x": n, "out": capacity, "counter": 1}
        fills = {"x": fill, "counter": Fill("zeros")}
        return sized(size, done * 14 + size.items * (20 if by_group else 2), lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "append", launch, in_place=("counter",))


@family("bucket_lists", group="atomics")
def bucket_lists(draw: Draw) -> Draft:
    """Elements into the buckets of their keys: linked lists by exchange, slots by counting, or the counting alone."""
    hand = Hand(draw)
    form = draw.choose(("linked", "slots", "last", "cells"), "form")
    key_type = draw.choose(("int", "uint", "ushort"), "key")
    ways = ("(uint)k % (uint)buckets", "min((uint)k, (uint)buckets - 1)", "((uint)k * 40503u) % (uint)buckets")
    bucket_of = draw.choose(ways, "bucket of a key")
    payload = draw.choose(("i", "value"), "payload")
    kind = draw.choose(("int", "float")) if payload == "value" else "int"
    thing = "value[i]" if payload == "value" else "i"
    find = f"const {key_type} k = key[i];\nconst uint b = {bucket_of};\n"
    buffers = [hand.reads(key_type, "key")]
    if form == "cells":  # as a grid of particles has them
        find = "const float2 p = key[i];\nconst int cx = clamp((int)(p.x * cells), 0, (int)cells - 1);\n"
        find += "const int cy = clamp((int)(p.y * cells), 0, (int)cells - 1);\nconst uint b = cy * cells + cx;\n"
        buffers = [hand.reads("float2", "key")]
    count = draw.choose(("atomic_inc(&filled[b])", "atomic_add(&filled[b], 1)"))
    linked = "next[i] = atomic_xchg(&head[b], (int)i);"
    slots = f"const int slot = {count};\nif (slot < capacity) {{\nlist[b * capacity + slot] = {thing};\n}}"
    text = {"linked": linked, "slots": slots, "last": "atomic_max(&head[b], (int)i);", "cells": slots}[form]
    cover = hand.cover("i", "n", lambda _: find + text)
    in_place: tuple[str, ...] = ()
    if text == slots:
        buffers += [hand.writes("int", "filled"), hand.writes(kind, "list")]
        in_place = ("filled",)
    else:
        buffers += [hand.writes("int", "head"), *([hand.writes("int", "next")] * (form == "linked"))]
    buffers += [hand.reads(kind, "value")] * (text == slots and payload == "value")
    name = "cells" if form == "cells" else "buckets"
    counts = [*hand.counts("n", name), *(["const int capacity"] if text == slots else [])]
    head = hand.signature("fill_buckets", [*buffers, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = line(wish, 24)
        (n,) = cover.fit(size, affordable(wish.data, 24))
        side = draw.log_integer(1, 1024)
        buckets = side * side if form == "cells" else draw.log_integer(1, 1 << 20)
        capacity = draw.log_integer(1, max(1, min(4 * n // buckets + 8, 10_000_000 // buckets)))
        scalars = {"n": n, name: side if form == "cells" else buckets}
        if text == slots:
            scalars["capacity"] = capacity
            lengths = {"key": slack(draw, n), "filled": buckets, "list": buckets * capacity}
            lengths |= {"value": n} if payload == "value" else {}
            fills = {"filled": Fill("zeros")}
        else:
            lengths = {"key": n, "head": buckets} | ({"next": n} if form == "linked" else {})
            fills = {"head": Fill("const", (-1,))}
        fills["key"] = keys_below(draw, min(60000, 2 * buckets))
        if form == "cells":
            spread = draw.choose((Fill("uniform", (0.0, 1.0)), Fill("clustered", (0.0, 1.0, 0.02))))
            fills["key"] = draw.choose((spread, Fill("uniform", (0.3, 0.5))))
        return sized(size, cover.done(size, (n,)) * 18 + size.items, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "fill_buckets", launch, in_place=in_place)


@family("atomic_extremes", group="atomics")
def atomic_extremes(draw: Draw) -> Draft:
    """Generate the largest or smallest for each key, by atomics on integers or on the bits of positive floats."""
    hand = Hand(draw)
    kind = draw.weighted({"int": 2, "uint": 1, "float": 3}, "type")
    word = draw.choose(("int", "uint")) if kind == "float" else kind
    op = draw.choose(("max", "min"), "operator")
    looks_first, both = draw.chance(0.35, "looks first"), draw.chance(0.3, "both ends")
    place = draw.choose(("key", "one", "neighbours", "blocks"), "place")
    mapped = hand.mapping(kind, 0.35) if kind != "float" else (lambda value: value)
    if kind == "float" and draw.chance(0.4, "of a formula"):
        mapped = lambda value: f"fabs({value} * {value} - 0.75f)"  # noqa: E731
    value = f"as_{word}({mapped('x[i]')})" if kind == "float" else mapped("x[i]")
    at = {"key": "key[i]", "one": "0", "neighbours": "key[i]", "blocks": "i / block"}[place]

    def update(where: str, what: str, name: str = "out") -> str:
        text = f"atomic_{what}(&{name}[{where}], v);"
        test = f"v {'>' if what == 'max' else '<'} {name}[{where}]"
        return f"if ({test}) {{\n{text}\n}}" if looks_first else text

    lines = [f"const {word} v = {value};", f"const int k = {at};", update("k", op)]
    lines += [update("k", "min" if op == "max" else "max", "other")] * both
    if place == "neighbours":
        lines.append(update("max(k - 1, 0)", op))
    cover = hand.cover("i", "n", lambda _: "\n".join(lines))
    buffers = [hand.reads(kind, "x"), hand.writes(word, "out"), *([hand.writes(word, "other")] * both)]
    buffers += [hand.reads("int", "key")] * ("key" in at)
    head = hand.signature("extremes", [*buffers, *hand.counts("n", *(["block"] if place == "blocks" else []))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = line(wish, 12)
        (n,) = cover.fit(size, affordable(wish.data, 12))
        block = draw.log_integer(1, n)
        keys = {"one": 1, "blocks": -(-n // block)}.get(place, draw.log_integer(1, 1 << 20))
        scalars = {"n": n} | ({"block": block} if place == "blocks" else {})
        lengths = {"x": slack(draw, n), "out": keys} | ({"other": keys} if both else {})
        fills = {"x": Fill("uniform", (0.5, 100.0)) if kind == "float" else Fill("randint", (0, 1 << 20))}
        if "key" in at:
            lengths["key"] = n
            fills["key"] = keys_below(draw, keys)
        start = Fill("zeros" if op == "max" else "const", () if op == "max" else (1 << 30,))
        fills |= {"out": start}
        operations = cover.done(size, (n,)) * (12 if not both else 22) + size.items
        return sized(size, operations, lengths, scalars, fills)

    in_place = ("out", *(["other"] * both)) if looks_first else ()
    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "extremes", launch, in_place=in_place)
