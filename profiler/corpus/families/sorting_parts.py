"""What longer sorts are made of: ranks, digits, merges."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.sorting import KINDS, key_fill
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.trees import FENCE, scratch
from profiler.corpus.writing.types import bytes_of, is_real


@family("rank_sort", group="sorting")
def rank_sort(draw: Draw) -> Draft:
    """Each element finds its place by counting the smaller ones, all of them or those nearby, straight or by tiles."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    tiled, nearby = draw.chance(0.4, "tiles"), draw.chance(0.3, "nearby only")
    puts = draw.choose(("sorted", "rank", "both"), "puts")
    tie = draw.choose(("(x[k] == mine && k < i)", "(x[k] <= mine && k < i)"))
    style = draw.choose(("add", "if", "split"), "style")
    index = "int"
    test = f"x[k] < mine || {tie}"
    count = f"rank += {test};" if style == "add" else f"if ({test}) {{\n++rank;\n}}"
    put = ["out[to] = mine;"] * (puts != "rank") + ["rank_of[i] = to;"] * (puts != "sorted")
    to = "const int to = min(rank, n - 1);"
    if tiled:
        local = scratch(hand, {"t": kind})
        inner = f"const int k = k0 + e;\n{count.replace('x[k]', 't[e]')}"
        text = f"""{local.declarations}
        const int i = get_global_id(0);
        const int l = get_local_id(0);
        const int size = get_local_size(0);
        const {kind} mine = x[min(i, n - 1)];
        int rank = 0;
        for (int k0 = 0; k0 < n; k0 += size) {{
            t[l] = x[min(k0 + l, n - 1)];
            {FENCE}
            const int stop = min(size, n - k0);
            for (int e = 0; e < stop; ++e) {{
                {inner}
            }}
            {FENCE}
        }}
        if (i < n) {{
            {to}
            {chr(10).join(put)}
        }}"""
        cover, nearby = None, False
    else:
        local = None
        start, stop = ("max(0, i - reach)", "min(n, i + reach + 1)") if nearby else ("0", "n")
        if style == "split":
            before = f"for (int k = {start}; k < i; ++k) {{\nrank += x[k] <= mine;\n}}"
            loop = f"{before}\nfor (int k = i + 1; k < {stop}; ++k) {{\nrank += x[k] < mine;\n}}"
        else:
            loop = f"for (int k = {start}; k < {stop}; ++k) {{\n{count}\n}}"
        first = "int rank = 0;" if not nearby else "int rank = max(0, i - reach);"
        inner = f"const {kind} mine = x[i];\n{first}\n{loop}\n{to}\n" + "\n".join(put)
        hand.index = index
        cover = hand.cover("i", "n", lambda _: inner)
        text = cover.text
    buffers = [hand.reads(kind, "x")] + [hand.writes(kind, "out")] * (puts != "rank")
    buffers += [hand.writes("int", "rank_of")] * (puts != "sorted") + (local.parameters if local else [])
    counts = ["const int n", *(["const int reach"] * nearby)]
    head = hand.signature("rank_sort", [*buffers, *counts], local.required if local else None)

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = 2 * bytes_of(kind) + 4
        narrowed = Wish(min(wish.items, 1 << 18), wish.data, wish.local)
        size = local.range(narrowed) if local else line(narrowed)
        n = min(affordable(wish.data, each), 1 << 18)
        if cover:
            (n,) = cover.fit(size, n)
        reach = draw.log_integer(1, min(n, 4096))
        work = min(n, 2 * reach) if nearby else n
        done = cover.done(size, (n,)) if cover else size.items
        lengths = {"x": n} | ({"out": n} if puts != "rank" else {}) | ({"rank_of": n} if puts != "sorted" else {})
        scalars = {"n": n} | ({"reach": reach} if nearby else {})
        extra = local.bytes(size) if local else {}
        return sized(size, done * (work * 4 + 8) + size.items, lengths, scalars, {"x": key_fill(draw, kind)}, extra)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "rank_sort", launch)


@family("radix_digits", group="sorting")
def radix_digits(draw: Draw) -> Draft:
    """Generate counts of each digit in an item's or a group's block of keys, or where each key of a block is to go."""
    hand = Hand(draw)
    kind = draw.weighted({"uint": 3, "int": 1, "ulong": 0.7, "float": 0.7}, "type")
    bits = draw.choose((1, 2, 4, 4, 8))
    draw.choices["bits"] = str(bits)
    form = draw.choose(("count items", "count groups", "scatter", "flag"), "form")
    digits = 1 << bits
    word = "ulong" if kind == "ulong" else "uint"
    bits_of = {"float": "as_uint(key)", "int": "((uint)key ^ 0x80000000u)"}.get(kind, "key")
    digit = draw.choose((f"({bits_of} >> shift) & {digits - 1}", f"({bits_of} >> shift) % {digits}"))
    major = draw.choose(("d * blocks + g", f"g * {digits} + d"), "layout")
    has_values = draw.chance(0.4, "values too") and form == "scatter"
    read = f"const {kind} key = keys[k];\nconst uint d = (uint)({digit});\n"
    walk = draw.choose(("g * length + e", "e * blocks + g"), "walk")
    index = hand.index
    cover = None
    over = f"for ({index} e = 0; e < length; ++e) {{\nconst {index} k = {walk};\nif (k < n) {{\n{read}{{}}\n}}\n}}"
    over = over.replace("{}", "BODY")
    if form == "count items":
        tables = f"int found[{digits}];\nfor (int d = 0; d < {digits}; ++d) {{\nfound[d] = 0;\n}}\n"
        store = f"for (int d = 0; d < {digits}; ++d) {{\ncounts[{major}] = found[d];\n}}"
        cover = hand.cover("g", "blocks", lambda _: f"{tables}{over.replace('BODY', '++found[d];')}\n{store}", False)
    elif form == "scatter":
        tables = f"int next[{digits}];\nfor (int d = 0; d < {digits}; ++d) {{\nnext[d] = counts[{major}];\n}}\n"
        put = (
            "const int to = next[d]++;\nif (to < n) {\nout[to] = key;\n"
            + "values_out[to] = values[k];\n" * has_values
            + "}"
        )
        cover = hand.cover("g", "blocks", lambda _: tables + over.replace("BODY", put), False)
    elif form == "flag":
        flag = f"const {kind} key = keys[k];\nflags[k] = ({digit}) == wanted;"
        cover = hand.cover("k", "n", lambda _: flag)
    if cover:
        text = cover.text
    else:
        text = f"""__local int found[{digits}];
        const {index} g = get_group_id(0);
        const {index} l = get_local_id(0);
        for ({index} d = l; d < {digits}; d += get_local_size(0)) {{
            found[d] = 0;
        }}
        {FENCE}
        for ({index} k = g * length + l; k < min(({index})((g + 1) * length), ({index})n); k += get_local_size(0)) {{
            {read}atomic_inc(&found[d]);
        }}
        {FENCE}
        for ({index} d = l; d < {digits}; d += get_local_size(0)) {{
            counts[{major.replace("blocks", "get_num_groups(0)")}] = found[d];
        }}"""
    buffers = [hand.reads(kind, "keys")]
    if form == "flag":
        buffers.append(hand.writes(draw.choose(("uchar", "int")), "flags"))
        counts = [*hand.counts("n"), f"const {word} wanted"]
    else:
        buffers.append(hand.reads("int", "counts") if form == "scatter" else hand.writes("int", "counts"))
        buffers += [hand.writes(kind, "out")] * (form == "scatter")
        buffers += [hand.reads("int", "values"), hand.writes("int", "values_out")] * has_values
        counts = hand.counts("n", "length", *(["blocks"] if form != "count groups" else []))
    head = hand.signature("radix", [*buffers, *counts, "const uint shift"])
    deal = hand.count_type != "ulong"
    text = text if deal else text.replace("to < n", "(uint)to < n")

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = 2 * bytes_of(kind) + 9
        size = line(wish, 12, barriers=form == "count groups")
        n = affordable(wish.data, each)
        scalars: dict[str, int] = {"n": n, "shift": draw.integer(0, 24 // bits) * bits}
        high = draw.choose((1 << 30, 1 << 16, 256))
        fills = {"keys": Fill("uniform", (0.5, 1000.0)) if kind == "float" else Fill("randint", (0, high))}
        if form == "flag" and cover:
            (n,) = cover.fit(size, n)
            scalars |= {"n": n, "wanted": draw.integer(0, digits - 1)}
            lengths = {"keys": slack(draw, n), "flags": n}
            return sized(size, cover.done(size, (n,)) * 7 + size.items, lengths, scalars, fills)
        length = draw.log_integer(1, min(n, 8192))
        blocks = size.groups if not cover else max(1, min(-(-n // length), 8_000_000 // digits))
        if blocks * digits > 10_000_000:
            size = line(Wish(1 << 13, wish.data, wish.local), barriers=True)
            blocks = size.groups
        scalars["length"] = length
        lengths = {"keys": n, "counts": blocks * digits}
        if cover:
            scalars["blocks"] = blocks
        if form == "scatter":
            fills["counts"] = Fill("sorted", (0, max(2, n)))
            lengths |= {"out": n} | ({"values": n, "values_out": n} if has_values else {})
        done = cover.done(size, (blocks,)) if cover else blocks
        operations = done * (min(length, n) * 9 + digits * 4) + size.items * 3
        return sized(size, operations, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "radix", launch)


@family("merge_sorted", group="sorting")
def merge_sorted(draw: Draw) -> Draft:
    """Two sorted arrays, or neighbouring runs of one: each item bisects for its start and merges some elements."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 2, "int": 3, "uint": 1, "double": 0.5}, "type")
    form = draw.choose(("diagonals", "ranks", "runs"), "form")
    each = draw.choose((1, 2, 4, 8, 16, 32)) if form == "diagonals" else 1
    draw.choices["elements an item"] = str(each)
    or_equal = draw.choose(("<", "<="), "ties")
    if form == "diagonals":
        bisect = f"""int low = max(0, d - nb), high = min(d, na);
        while (low < high) {{
            const int middle = {draw.choose(("(low + high) / 2", "(low + high) >> 1", "low + (high - low) / 2"))};
            if (a[middle] {or_equal} b[d - 1 - middle]) {{
                low = middle + 1;
            }} else {{
                high = middle;
            }}
        }}
        int i = low, j = d - low;"""
        take = "out[d + e] = takes ? a[i] : b[j];\ni += takes;\nj += !takes;"
        if draw.chance(0.5, "branches"):
            take = "if (takes) {\nout[d + e] = a[i++];\n} else {\nout[d + e] = b[j++];\n}"
        step = f"const int takes = j >= nb || (i < na && a[min(i, na - 1)] {or_equal} b[min(j, nb - 1)]);\n{take}"
        body = (
            f"const int d = s * {each};\n{bisect}\nfor (int e = 0; e < {each} && d + e < na + nb; ++e) {{\n{step}\n}}"
        )
        total = f"((na + nb + {each - 1}) / {each})"
    elif form == "ranks":
        search = "int low = 0, high = {n};\nwhile (low < high) {{\nconst int middle = (low + high) / 2;\n"
        search += (
            "if ({y}[middle] {s} v) {{\nlow = middle + 1;\n}} else {{\nhigh = middle;\n}}\n}}\nout[{i} + low] = v;"
        )
        first = f"const {kind} v = a[s];\n{search.format(n='nb', y='b', s='<', i='s')}"
        second = f"const {kind} v = b[s - na];\n{search.format(n='na', y='a', s='<=', i='s - na')}"
        body, total = f"if (s < na) {{\n{first}\n}} else {{\n{second}\n}}", "(na + nb)"
    else:
        body = f"""const int first = s * 2 * run;
        const int middle = min(first + run, n);
        const int last = min(first + 2 * run, n);
        int i = first, j = middle;
        for (int k = first; k < last; ++k) {{
            if (i < middle && (j >= last || a[i] {or_equal} a[j])) {{
                out[k] = a[i];
                ++i;
            }} else {{
                out[k] = a[j];
                ++j;
            }}
        }}"""
        total = "((n + 2 * run - 1) / (2 * run))"
    hand.index = hand.count_type = "int"
    cover = hand.cover("s", total, lambda _: body, may_be_exact=False)
    buffers = [hand.reads(kind, "a"), *([hand.reads(kind, "b")] * (form != "runs")), hand.writes(kind, "out")]
    head = hand.signature("merge", [*buffers, *hand.counts(*(("n", "run") if form == "runs" else ("na", "nb")))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = line(wish)
        n = max(2, affordable(wish.data, 2.1 * bytes_of(kind)))
        high = n if not is_real(kind) else 1000.0
        fills = {"a": Fill("sorted", (0.5, high) if is_real(kind) else (0, max(2, high)))}
        if form == "runs":
            run = draw.log_integer(1, max(1, n // 2))
            shares = -(-n // (2 * run))
            done = cover.done(size, (shares,)) / shares
            lengths = {"a": n, "out": n}
            return sized(size, done * n * 7 + size.items * 3, lengths, {"n": n, "run": run}, fills)
        na = max(1, min(n - 1, int(n * draw.choose((0.5, 0.5, 0.1, 0.95)))))
        fills["b"] = fills["a"]
        done = cover.done(size, (-(-n // each),))
        operations = done * (n.bit_length() * 7 + each * 8) + size.items * 2
        return sized(size, operations, {"a": na, "b": n - na, "out": n}, {"na": na, "nb": n - na}, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "merge", launch)
