"""Attention: scores, weighted values, and both in one go with a running maximum."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.softmax import SPREAD, exponential
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, plane, sized
from profiler.corpus.writing.trees import FENCE
from profiler.corpus.writing.types import bytes_of

NARROW = Fill("uniform", (-0.5, 0.5))


@family("attention_scores", group="attention")
def attention_scores(draw: Draw) -> Draft:
    """Scaled products of queries and keys; masks, biases by distance, several heads, keys shared between them."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 6, "double": 1}, "type")
    heads_first = draw.chance(0.5, "heads first")
    mask = draw.choose(("none", "causal", "window", "given", "distance"), "mask")
    shared = draw.chance(0.3, "shared keys")
    turned = draw.chance(0.25, "keys turned")
    width = draw.choose((1, 1, 2, 4)) if not turned else 1
    draw.choices["vector width"] = str(width)
    skips = draw.chance(0.5, "skips masked")
    key_head = "(h / 2)" if shared else "h"
    heads = "((heads + 1) / 2)" if shared else "heads"
    q_row = "(h * queries + i) * depth" if heads_first else "(i * heads + h) * depth"
    k_row = f"({key_head} * keys + j) * depth" if heads_first else f"(j * {heads} + {key_head}) * depth"
    k_cell = f"k[({key_head} * depth + {{d}}) * keys + j]" if turned else f"k[{k_row} + {{d}}]"
    low = literal(kind, -1e9)
    seen = {
        "causal": "j <= i",
        "window": "j <= i && j + reach > i",
        "given": "mask[i * keys + j] != 0",
    }.get(mask, "")
    if width > 1:
        pair = f"vload{width}(d, q + {q_row}), vload{width}(d, k + {k_row})"
        dot = f"sum += dot({pair});"
        loop = hand.loop("d", "0", f"depth / {width}", lambda d: dot.replace("(d,", f"({d},"), form="for")
    else:
        loop = hand.loop(
            "d", "0", "depth", lambda d: hand.add_product("sum", f"q[{q_row} + {d}]", k_cell.format(d=d), kind)
        )
    scale = draw.choose(("scale", f"rsqrt(({kind})depth)"), "scale")
    value = f"sum * {scale}" + (f" - slope * ({kind})abs((int)i - (int)j)" if mask == "distance" else "")
    inner = f"{kind} sum = {literal(kind, 0)};\n{loop}\n"
    to = "scores[(h * queries + i) * keys + j]"
    if seen and skips:
        inner = f"{kind} score = {low};\nif ({seen}) {{\n{inner}score = {value};\n}}\n{to} = score;"
    else:
        inner += f"{to} = {f'({seen}) ? {value} : {low}' if seen else value};"
    split = f"const {hand.index} h = r / queries;\nconst {hand.index} i = r % queries;\n"
    cover = hand.cover_plane(("j", "keys"), ("r", "(heads * queries)"), lambda j, r: split + inner, may_be_exact=False)
    buffers = [hand.reads(kind, "q"), hand.reads(kind, "k"), hand.writes(kind, "scores")]
    buffers += [hand.reads("uchar", "mask")] * (mask == "given")
    factors = [f"const {kind} scale"] * (scale == "scale") + [f"const {kind} slope"] * (mask == "distance")
    counts = hand.counts("heads", "queries", "keys", "depth", *(["reach"] if mask == "window" else []))
    head = hand.signature("attention_scores", [*buffers, *factors, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, 1)
        cells = affordable(wish.data, each * 1.3, 100_000_000)
        heads = draw.log_integer(1, min(16, cells))
        keys = draw.log_integer(1, max(1, min(4096, cells // heads)))
        queries = max(1, cells // (heads * keys))
        depth = max(1, draw.choose((16, 32, 64, 80, 128, 8)) // width) * width
        rows = max(queries, keys) * heads
        while rows * depth * each > 30_000_000 and depth > 2 * width:
            depth = depth // 2 // width * width
        queries = min(queries, 30_000_000 // (heads * depth * each))
        scalars: dict[str, int | float] = {"heads": heads, "queries": queries, "keys": keys, "depth": depth}
        scalars |= {"scale": 0.125} if scale == "scale" else {}
        scalars |= {"slope": 0.01} if mask == "distance" else {}
        scalars |= {"reach": draw.log_integer(1, keys)} if mask == "window" else {}
        lengths = {"q": heads * queries * depth, "k": heads * keys * depth, "scores": heads * queries * keys}
        lengths |= {"mask": queries * keys} if mask == "given" else {}
        fills = {"q": NARROW, "k": NARROW} | ({"mask": Fill("randint", (0, 2))} if mask == "given" else {})
        share = 0.6 if seen and skips else 1
        operations = cover.done(size, (keys, heads * queries)) * (depth * 4 * share / width**0.5 + 12) + size.items
        return sized(size, operations, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "attention_scores", launch)


@family("attention_values", group="attention")
def attention_values(draw: Draw) -> Draft:
    """Values weighted by what softmax left, or by scores that are turned into weights on the way."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1, "float4": 1.5}, "type")
    scalar = kind.rstrip("4")
    on_the_way = draw.choose(("weights", "exponentials", "relu"), "weights")
    exp = exponential(hand, scalar)
    causal, skips = draw.chance(0.35, "causal"), draw.chance(0.3, "skips small")
    heads_first = draw.chance(0.5, "heads first")
    v_at = "v[(h * keys + {j}) * depth + d]" if heads_first else "v[({j} * heads + h) * depth + d]"
    residual = draw.chance(0.3, "residual")
    stop = f"min(({hand.index})keys, ({hand.index})(i + 1))" if causal else "keys"
    score = "p[(h * queries + i) * keys + {j}]"
    weight = {"weights": score, "exponentials": f"{exp}({score})", "relu": f"fmax({score}, {literal(scalar, 0)})"}[
        on_the_way
    ]

    def term(j: str) -> str:
        w = weight.format(j=j)
        lines = hand.add_product("sum", w if "(" not in w else "w", v_at.format(j=j), "int")
        if w.endswith(")") or skips or on_the_way == "exponentials":
            lines = f"const {scalar} w = {w};\n" + hand.add_product("sum", "w", v_at.format(j=j), "int")
            lines += "\nnorm += w;" * (on_the_way != "weights")
        if skips:
            first, rest = lines.split("\n", 1)
            lines = f"{first}\nif (w > {literal(scalar, 0.75)}) {{\n{rest}\n}}"
        elif "const" not in lines:
            lines = hand.add_product("sum", w, v_at.format(j=j), "int")
        return lines

    start = f"{kind} sum = {literal(kind, 0)};" + f"\n{scalar} norm = {literal(scalar, 0.001)};" * (
        on_the_way != "weights"
    )
    to = "out[(i * heads + h) * depth + d]" if heads_first else "out[(h * queries + i) * depth + d]"
    whole = "sum" if on_the_way == "weights" else "sum / norm"
    end = f"{to} = {whole}{' + x[(h * queries + i) * depth + d]' * residual};"
    split = f"const {hand.index} h = r / queries;\nconst {hand.index} i = r % queries;\n"
    body = f"{split}{start}\n{hand.loop('j', '0', stop, term)}\n{end}"
    cover = hand.cover_plane(("d", "depth"), ("r", "(heads * queries)"), lambda d, r: body, may_be_exact=False)
    buffers = [hand.reads(scalar, "p"), hand.reads(kind, "v"), hand.writes(kind, "out")]
    buffers += [hand.reads(kind, "x")] * residual
    head = hand.signature("attention_values", [*buffers, *hand.counts("heads", "queries", "keys", "depth")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(scalar)
        size = (plane if cover.dimensions == 2 else line)(wish, 1)
        cells = affordable(wish.data, each * 1.3, 100_000_000)
        heads = draw.log_integer(1, min(16, cells))
        keys = draw.log_integer(1, max(1, min(4096, cells // heads)))
        queries = max(1, min(cells // (heads * keys), 60_000 // heads))
        depth = draw.choose((8, 16, 32, 64)) if kind == scalar else draw.choose((4, 8, 16))
        while max(queries, keys) * heads * depth * bytes_of(kind) > 20_000_000 and depth > 1:
            depth //= 2
        scalars = {"heads": heads, "queries": queries, "keys": keys, "depth": depth}
        rows = heads * queries
        lengths = {"p": rows * keys, "v": heads * keys * depth, "out": rows * depth}
        lengths |= {"x": rows * depth} if residual else {}
        cost = (5 if on_the_way == "weights" else 16) * (0.6 if causal else 1)
        operations = cover.done(size, (depth, rows)) * (keys * cost + 10) + size.items
        return sized(size, operations, lengths, scalars, {"p": Fill("uniform", (0.01, 1.0)), "v": SPREAD})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "attention_values", launch)


@family("attention_online", group="attention")
def attention_online(draw: Draw) -> Draft:
    """Generate attention of one query an item with a running maximum; keys read straight or by tiles of a group."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 6, "double": 1}, "type")
    depth = draw.choose((4, 8, 16, 32, 64))
    tile = draw.choose((0, 0, 8, 16, 32), "tile")
    if tile * depth * bytes_of(kind) > 8192:
        tile = 8
    draw.choices["depth"] = str(depth)
    causal = draw.chance(0.4, "causal") and not tile
    branch = draw.chance(0.4, "branches on a new maximum")
    exp = exponential(hand, kind)
    unrolls = draw.choose(("", "#pragma unroll\n", "#pragma unroll 4\n"), "pragma")
    macro = draw.chance(0.5, "macro")
    n = "DEPTH" if macro else str(depth)
    zero = literal(kind, 0)

    def dims(text: str) -> str:
        return f"{unrolls}for (int d = 0; d < {n}; ++d) {{\n{text}\n}}"

    key, val = ("keys_here[e][d]", "values_here[e][d]") if tile else (f"k[j * {n} + d]", f"v[j * {n} + d]")
    score = f"{kind} score = {zero};\n{dims(hand.add_product('score', 'query[d]', key, kind))}\nscore *= scale;\n"
    if branch:
        rescale = (
            f"const {kind} shrink = {exp}(top - score);\nsum *= shrink;\n{dims('result[d] *= shrink;')}\ntop = score;"
        )
        step = f"{score}if (score > top) {{\n{rescale}\n}}\nconst {kind} w = {exp}(score - top);\nsum += w;\n"
        step += dims(hand.add_product("result[d]", "w", val, kind))
    else:
        step = f"{score}const {kind} next = fmax(top, score);\nconst {kind} shrink = {exp}(top - next);\n"
        step += f"const {kind} w = {exp}(score - next);\nsum = sum * shrink + w;\n"
        step += dims(f"result[d] = result[d] * shrink + w * {val};") + "\ntop = next;"
    start = f"{kind} query[{n}], result[{n}];\n" + dims(f"query[d] = q[i * {n} + d];\nresult[d] = {zero};")
    start += f"\n{kind} top = {literal(kind, -50)}, sum = {zero};"
    end = dims(f"out[i * {n} + d] = result[d] / sum;")
    stop = "min(count, i + 1)" if causal else "count"
    hand.index = hand.count_type = "int"
    cover = None
    if tile:
        text = f"""__local {kind} keys_here[{tile}][{n}];
        __local {kind} values_here[{tile}][{n}];
        const int l = get_local_id(0);
        const int i = min((int)get_global_id(0), queries - 1);
        {start}
        for (int j0 = 0; j0 < count; j0 += {tile}) {{
            for (int e = l; e < {tile} * {n}; e += get_local_size(0)) {{
                const int at = min(j0 * {n} + e, count * {n} - 1);
                keys_here[e / {n}][e % {n}] = k[at];
                values_here[e / {n}][e % {n}] = v[at];
            }}
            {FENCE}
            for (int e = 0; e < min({tile}, count - j0); ++e) {{
                {step}
            }}
            {FENCE}
        }}
        if (get_global_id(0) < queries) {{
            {end}
        }}"""
    else:
        loop = f"for (int j = 0; j < {stop}; ++j) {{\n{step}\n}}"
        cover = hand.cover("i", "queries", lambda _: f"{start}\n{loop}\n{end}")
        text = cover.text
    names = ("q", "k", "v")
    buffers = [*(hand.reads(kind, name) for name in names), hand.writes(kind, "out")]
    head = hand.signature("attention", [*buffers, f"const {kind} scale", *hand.counts("queries", "count")])
    define = f"#define DEPTH {depth}\n" if macro else ""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * depth
        narrowed = Wish(min(wish.items, 1 << 19), wish.data, wish.local)
        size = line(narrowed, 3 * each, most=256, barriers=bool(tile))
        rows = max(2, affordable(wish.data, 5 * bytes_of(kind)) // depth)
        count = draw.log_integer(1, min(rows, 16384))
        queries = max(1, rows - count)
        if cover:
            (queries,) = cover.fit(size, queries)
        done = cover.done(size, (queries,)) if cover else size.items
        lengths = {"q": queries * depth, "k": count * depth, "v": count * depth, "out": queries * depth}
        scalars = {"queries": queries, "count": count, "scale": 0.25}
        operations = done * (count * (depth * 7 + 24) * (0.6 if causal else 1) + depth * 6) + size.items
        return sized(size, operations, lengths, scalars, {"q": NARROW, "k": NARROW, "v": SPREAD})

    return Draft(lay_out(f"{define}{head}\n{{\n{text}\n}}"), "attention", launch)
