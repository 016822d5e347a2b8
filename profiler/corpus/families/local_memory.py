"""Kernels that live in local memory: tables, exchanges between neighbours, awkward strides, tiles used many times."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import GROUPWISE, Coverage, Groups, draw_coverage
from profiler.corpus.composing.drafting import Buffer, LocalBuffer, Parameter, Parts, Scalar, drafted, each, flat, just
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import cost
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import bytes_of, is_real

FENCE = "barrier(CLK_LOCAL_MEM_FENCE);"
TYPES = ("float", "float", "float", "int", "uint", "float4", "float2")


def draw_groups(draw: Draw, most: int = 1024) -> Groups:
    """Generate a local size that the source fixes, or any power of two."""
    if draw.chance(0.45, "fixed_local_size"):
        return Groups(fixed=draw.choose([s for s in (16, 32, 64, 128, 256) if s <= most], "local_size"))
    return Groups(is_power=True, most=most)


def declare_tile(
    hand: Hand, groups: Groups, name: str, type_: str, per_item: int = 1, beside: int = 0
) -> tuple[str, list[Parameter]]:
    """Local memory for each item of a group: an array where the size is fixed, else a pointer among the parameters."""
    if not groups.fixed:
        return "", [LocalBuffer(name, type_, per_item, beside)]
    return f"{hand.locally} {type_} {name}[{groups.fixed * per_item + beside}];", []


def load_or_zero(draw: Draw, cover: Coverage, pointer: str, type_: str, index: str = "") -> str:
    """Generate an element, or zero beyond the count."""
    i = index or cover.index
    if not cover.has_count:
        return f"{pointer}[{i}]"
    n = cover.count
    if draw.chance(0.2) and "4" not in type_ and "2" not in type_:
        return f"{pointer}[min({i}, ({cover.type})({n} - 1))]"
    return f"({i} < {n}) ? {pointer}[{i}] : ({type_})(0)"


def store_inside(cover: Coverage, statement: str) -> str:
    return f"if ({cover.index} < {cover.count}) {statement}" if cover.has_count else statement


@family("local_table_lookup", group="local_memory")
def local_table_lookup(draw: Draw) -> Draft:
    """Generate a table brought into local memory by the whole group, then read at positions that depend on data."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "int", "uint", "uchar", "float2"), "type")
    groups = draw_groups(draw)
    cover = draw_coverage(draw, hand, forms=GROUPWISE, groups=groups)
    size = draw.choose((16, 64, 256, 512, 1024), "table_size")
    x, table, out, lid, tab, j = (hand.name(n) for n in ("input", "global table", "output", "lane", "scratch", "loop"))
    i = cover.index
    entries = hand.constant("entries", str(size))
    is_constant = draw.chance(0.3)
    bring = draw.choose((
        f"for (int {j} = {lid}; {j} < {entries}; {j} += get_local_size(0)) {tab}[{j}] = {table}[{j}];",
        f"for (int {j} = {lid}; {j} < {entries}; {j} += (int)get_local_size(0)) {{\n{tab}[{j}] = {table}[{j}];\n}}",
        f"if ({lid} == 0) {{\nfor (int {j} = 0; {j} < {entries}; {j}++) {tab}[{j}] = {table}[{j}];\n}}",
    ))  # fmt: skip
    key_type = draw.choose(("int", "uchar", "uint", "float"), "key")
    key = f"(int)({x}[KEY] * {size // 2}.0f)" if key_type == "float" else f"(int){x}[KEY]"
    key = f"{key} & {size - 1}"
    looks = draw.weighted({1: 2.0, 2: 1.0, 4: 1.0, 16: 1.0, 64: 0.5}, "look_ups")
    at = "k2" if looks > 1 else ""
    walk = draw.choose(("chase", "offset", "stride"), "walk")
    advance = {
        "chase": f"k2 = ((int){tab}[k2]{'.x' if type_ == 'float2' else ''} + q2 + k2) & {size - 1};".replace(
            f"(int){tab}[k2].x", f"(int)({tab}[k2].x)"
        ),
        "offset": f"k2 = (k2 + {draw.choose((1, 7, 17))}) & {size - 1};",
        "stride": f"k2 = (k2 + {draw.choose((16, 32, 33))}) & {size - 1};",
    }[walk]
    half = "0.5f * " if is_real(type_) else ""
    shift = "" if is_real(type_) else " >> 1"
    more = f"for (int q2 = 0; q2 < {looks}; q2++) {{\nv = {half}v{shift} + {tab}[{at}];\n{advance}\n}}"
    accumulate = f"int k2 = {key};\n{type_} v = {tab}[k2];\n{more if looks > 1 else ''}"
    accumulate = accumulate.replace("KEY", f"min({i}, ({cover.type})({cover.count} - 1))" if cover.has_count else i)
    combine = draw.choose(("v", mixture(draw, hand, ["v"], type_, 2)))
    parameters: list[Parameter] = [
        Buffer(
            x,
            key_type,
            each,
            None if key_type == "float" else Fill(draw.choose(("randint", "skewed", "sorted")), (0, min(size, 256))),
        ),
        Buffer(table, type_, just(size), is_constant=is_constant),
        Buffer(out, type_, each, None, True),
    ]
    declare = f"{hand.locally} {type_} {tab}[{entries}];\nconst int {lid} = get_local_id(0);\n{bring}\n{FENCE}"
    body = f"{accumulate}\n{store_inside(cover, f'{out}[{i}] = {combine};')}"
    return drafted(
        draw, hand, Parts(("lookup", "local"), cover, parameters, body, flat(8 + 6 * looks + size / 64), before=declare)
    )


@family("local_exchange", group="local_memory")
def local_exchange(draw: Draw) -> Draft:
    """Each item leaves a value in local memory and takes those of others: neighbours, mirrored, rotated, permuted."""
    hand = Hand(draw)
    type_ = draw.choose(TYPES, "type")
    groups = draw_groups(draw)
    cover = draw_coverage(draw, hand, forms=GROUPWISE, groups=groups)
    x, out, lid, size, tile = (hand.name(n) for n in ("input", "output", "lane", "local size", "scratch"))
    i = cover.index
    amount = draw.choose((1, 2, 3, 5, 8, 16))
    partners = {
        "reverse": f"{size} - 1 - {lid}",
        "right": f"({lid} + {amount}) % {size}",
        "left": f"({lid} + {size} - 1) & ({size} - 1)",
        "butterfly": f"{lid} ^ ({size} >> 1)",
        "pairs": f"({lid} ^ 1) & ({size} - 1)",
        "clamped": f"min({lid} + {amount}, {size} - 1)",
        "first": "0",
        "half": f"{lid} / 2",
        "strided": f"({lid} * {draw.choose((3, 5, 7, 9, 17))}) & ({size} - 1)",
        "interleaved": f"(({lid} << 1) | ({lid} / (({size} + 1) / 2))) & ({size} - 1)",
        "below": f"max({lid} - {amount}, 0)",
    }
    count = draw.choose((1, 1, 2, 3, 4), "partners")
    picked = draw.sample(tuple(partners), count)
    names = [f"p{k}" for k in range(count)]
    depth = draw.choose((1, 2, 3))
    rounds = draw.weighted({1: 4.0, 2: 1.0, 3: 1.0}, "rounds")
    before = draw.choose(("v", "v", mixture(draw, hand, ["v"], type_, 2)))
    declare, parameters = declare_tile(hand, groups, tile, type_)
    lines = [f"{type_} v = {load_or_zero(draw, cover, x, type_)};"]
    for number in range(rounds):
        reads = "\n".join(
            f"const {type_} {n}{number or ''} = {tile}[{partners[p]}];" for n, p in zip(names, picked, strict=True)
        )
        mine = [f"{n}{number or ''}" for n in names]
        formula = mixture(draw, hand, mine, type_, depth, ["v"])
        lines += [f"{tile}[{lid}] = {before if number == 0 else 'v'};", FENCE, reads, f"v = {formula};"]
        if number < rounds - 1 or cover.form == "tiles":
            lines.append(FENCE)
    lines.append(store_inside(cover, f"{out}[{i}] = v;"))
    heads = f"{declare}\nconst int {lid} = get_local_id(0);\nconst int {size} = get_local_size(0);"
    parameters = [Buffer(x, type_, each), Buffer(out, type_, each, None, True), *parameters]
    work = flat(10 + rounds * (4 * count + 2**depth))
    return drafted(draw, hand, Parts(("exchange", picked[0]), cover, parameters, "\n".join(lines), work, before=heads))


@family("local_strides", group="local_memory")
def local_strides(draw: Draw) -> Draft:
    """Local memory written or read many times with a stride: rows, columns, padded or not."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "int", "uint", "float2", "float4"), "type")
    per = draw.choose((2, 4, 8, 16), "values_an_item")
    groups = draw_groups(draw, most=min(256, 16384 // bytes_of(type_) // per))
    pad = draw.choose((0, 0, 1, 2), "padding")
    cover = draw_coverage(draw, hand, forms=GROUPWISE, groups=groups)
    x, out, lid, size, tile, j, acc = (
        hand.name(n) for n in ("input", "output", "lane", "local size", "scratch", "loop", "sum")
    )
    i = cover.index
    declare, local = declare_tile(hand, groups, tile, type_, per + pad, 64)
    row, column = f"{lid} * {per + pad} + {j}", f"{j} * {size} + {lid}"
    write, read = draw.choose(((row, column), (column, row), (row, row), (column, column)), "order")
    turned = draw.choose((read, read.replace(f"{j} ", f"({j} ^ 1) ").replace(f"+ {j}", f"+ ({j} ^ 1)")))
    keep = "0.5f * " if is_real(type_) else ""
    shift = "" if is_real(type_) else " >> 1"
    one = f"({type_})(1)"
    put = draw.choose((f"v + ({type_})({j})" if type_ != "float" else f"v + {j}", "v", f"v * {one}"))
    rounds = draw.choose((1, 1, 4, 16), "rounds")
    fill = hand.loop(j, "0", str(per), f"{tile}[{write}] = {put};", unroll=draw.choose((0, 0, per)))
    drain = hand.loop(
        j, "0", str(per), f"{acc} = {keep}{acc}{shift} + {tile}[{turned}];", unroll=draw.choose((0, 0, per))
    )
    inner = f"{fill}\n{FENCE}\n{drain}"
    if rounds > 1:
        inner = f"for (int round2 = 0; round2 < {rounds}; round2++) {{\n{inner}\n{FENCE}\n}}"
    body = f"const {type_} v = {load_or_zero(draw, cover, x, type_)};\n{type_} {acc} = v;\n{inner}\n"
    body += store_inside(cover, f"{out}[{i}] = {acc};") + (f"\n{FENCE}" if cover.form == "tiles" else "")
    heads = f"{declare}\nconst int {lid} = get_local_id(0), {size} = get_local_size(0);"
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(out, type_, each, None, True), *local]
    return drafted(
        draw, hand, Parts(("shuffle", "tile"), cover, parameters, body, flat(8.0 * per * rounds), before=heads)
    )


@family("local_tile_reuse", group="local_memory")
def local_tile_reuse(draw: Draw) -> Draft:
    """One tile of the group read over and over: all pairs, windows, ranks, kernels of smoothing."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "float", "int", "uint", "float2", "float4"), "type")
    groups = draw_groups(draw)
    cover = draw_coverage(draw, hand, forms=GROUPWISE, groups=groups)
    x, out, lid, size, tile, j, acc = (
        hand.name(n) for n in ("input", "output", "lane", "local size", "scratch", "loop", "sum")
    )
    i = cover.index
    declare, local = declare_tile(hand, groups, tile, type_)
    scalar = type_ in {"float", "int", "uint"}
    deeds = {
        "expression": f"{acc} = {mixture(draw, hand, [acc, 'w'], type_, draw.choose((2, 3)), ['v'])};",
        "nearest": (
            f"{acc} = {'fmin' if is_real(type_) else 'min'}({acc}, {'fabs(v - w)' if is_real(type_) else 'v ^ w'});"
        ),
        "average": f"{acc} = {acc} * 0.9f + w * 0.1f;" if is_real(type_) else f"{acc} = ({acc} >> 1) + (w >> 1);",
    }
    if scalar:
        deeds["rank"] = f"{acc} += (w < v || (w == v && {j} < {lid})) ? 1 : 0;"
        deeds["equal"] = f"if (w == v) {acc} = w;"
        deeds["largest_other"] = f"if ({j} != {lid} && w > {acc}) {acc} = w;"
    kind = draw.choose(tuple(deeds), "what")
    window = draw.choose(("all", "all", "behind", "window", "step"), "range")
    radius = draw.choose((2, 4, 8, 16))
    spans = {
        "all": ("0", size, "1"), "behind": ("0", f"{lid} + 1", "1"), "step": ("0", size, str(draw.choose((2, 4, 8)))),
        "window": (f"max({lid} - {radius}, 0)", f"min({lid} + {radius + 1}, {size})", "1"),
    }  # fmt: skip
    first, end, step = spans[window]
    advance = f"{j}++" if step == "1" else f"{j} += {step}"
    rounds = draw.weighted({1: 3.0, 2: 1.0, 4: 1.0, 8: 1.0}, "rounds")
    loop = f"for (int {j} = {first}; {j} < {end}; {advance}) {{\nconst {type_} w = {tile}[{j}];\n{deeds[kind]}\n}}"
    if rounds > 1 and draw.chance(0.5, "rewrites"):
        loop = f"for (int r2 = 0; r2 < {rounds}; r2++) {{\n{loop}\n{FENCE}\n{tile}[{lid}] = {acc};\n{FENCE}\n}}"
    elif rounds > 1:
        loop = f"for (int r2 = 0; r2 < {rounds}; r2++) {{\n{loop}\n}}"
    body = (
        f"const {type_} v = {load_or_zero(draw, cover, x, type_)};\n{tile}[{lid}] = v;\n{FENCE}\n"
        f"{type_} {acc} = v;\n{loop}\n"
    )
    body += store_inside(cover, f"{out}[{i}] = {acc};") + (f"\n{FENCE}" if cover.form == "tiles" else "")
    heads = f"{declare}\nconst int {lid} = get_local_id(0);\nconst int {size} = get_local_size(0);"
    parameters: list[Parameter] = [Buffer(x, type_, each), Buffer(out, type_, each, None, True), *local]
    length = {"window": 2 * radius, "behind": 32, "step": 20}.get(window, groups.fixed or 64)
    work = flat(rounds * length * (2 + cost(deeds[kind])) + 8)
    return drafted(draw, hand, Parts(("tile", kind), cover, parameters, body, work, before=heads))


@family("local_double_buffer", group="local_memory")
def local_double_buffer(draw: Draw) -> Draft:
    """Generate a group that walks along its data: one half of local memory is worked on while the other is filled."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "float", "int", "float4"), "type")
    groups = draw_groups(draw, most=256)
    cover = draw_coverage(draw, hand, forms=("exact", "padded"), groups=groups)
    x, out, parts_, lid, size, tile, acc, j = (
        hand.name(n) for n in ("input", "output", "parts", "lane", "local size", "scratch", "sum", "loop")
    )
    i = cover.index
    declare, local = declare_tile(hand, groups, tile, type_, 2)
    near = draw.choose(
        (f"{size} - 1 - {lid}", f"({lid} + 1) & ({size} - 1)", lid, f"({lid} * 5) & ({size} - 1)"), "partner"
    )
    where = f"(get_group_id(0) * {parts_} + {{part}}) * {size} + {lid}"
    keep = f"{acc} * 0.5f" if is_real(type_) else f"({acc} >> 1)"
    reads = draw.choose((1, 1, 4, 8), "reads")
    take = f"{acc} = {keep} + {tile}[(p2 & 1) * {size} + {near}];"
    if reads > 1:
        take = hand.loop(
            j, "0", str(reads), f"{acc} = {keep} + {tile}[(p2 & 1) * {size} + (({near}) ^ {j} & ({size} - 1))];"
        )
    if draw.chance(0.4):
        take += f"\n{acc} = {mixture(draw, hand, [acc], type_, 2)};"
    ahead = f"if (p2 + 1 < {parts_}) {tile}[((p2 + 1) & 1) * {size} + {lid}] = {x}[{where.format(part='p2 + 1')}];"
    order = draw.choose((f"{ahead}\n{take}", f"{take}\n{ahead}"))
    body = (
        f"{type_} {acc} = ({type_})(0);\n{tile}[{lid}] = {x}[{where.format(part='0')}];\n{FENCE}\n"
        f"for (int p2 = 0; p2 < {parts_}; p2++) {{\n{order}\n{FENCE}\n}}\n"
        + store_inside(cover, f"{out}[{i}] = {acc};")
    )
    heads = f"{declare}\nconst int {lid} = get_local_id(0), {size} = get_local_size(0);"
    parameters: list[Parameter] = [
        Buffer(x, type_, lambda s: s.extent.items * s.of(parts_)),
        Buffer(out, type_, each, None, True),
        *local,
        Scalar(parts_, "int", lambda d: d.log_integer(1, 64)),
    ]
    parts = Parts(
        ("stream", "double_buffer"), cover, parameters, body, lambda s: 8.0 * reads * s.of(parts_), before=heads
    )
    return drafted(draw, hand, parts)
