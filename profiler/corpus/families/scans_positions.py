"""Scans that say where elements go: segments within a group, compaction and partition, sums along an image's rows."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, sized, slack
from profiler.corpus.writing.trees import FENCE, scratch
from profiler.corpus.writing.types import bytes_of, is_real


def _keeps(hand: Hand, kind: str) -> str:
    """Generate a test of `v` that some elements pass; `limit` is an argument."""
    odd = "(v & 1) == 0" if not is_real(kind) else "v * v > limit"
    return hand.draw.choose(("v > limit", "v < limit", "v >= limit", odd), "test")


def _contents(draw: Draw, kind: str) -> tuple[Fill, int | float]:
    """Of the elements, and a limit somewhere among them."""
    if is_real(kind):
        return draw.choose((Fill("random"), Fill("clustered", (0.5, 1.5, 0.05)))), draw.real(0.45, 1.55)
    high = draw.choose((4, 16, 1000))
    options = (Fill("randint", (0, high)), Fill("skewed", (0, high)), Fill("sorted", (0, high)))
    return draw.choose(options), draw.integer(0, high)


@family("scan_segmented", group="scans")
def scan_segmented(draw: Draw) -> Draft:
    """Within a group, sums start anew at each head; heads are flags or changes of a key."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 4, "int": 3, "uint": 1, "double": 0.7}, "type")
    by_key = draw.chance(0.5, "by key")
    local = scratch(hand, {"t": kind, "head": "int"})
    combine = draw.choose(("sum", "max"), "operator")
    mapped = hand.mapping(kind, 0.3)
    zero = literal(kind, 0)
    only_tails = draw.chance(0.35, "tails only")
    join = "t[l] = other + t[l];" if combine == "sum" else "t[l] = max(other, t[l]);"
    head = "(l == 0 || i >= n || key[i] != key[i - 1])" if by_key else "(l == 0 || (i < n && mark[i] != 0))"
    form = draw.choose(("flags", "distance"), "heads")
    if form == "flags":
        steps = f"{kind} other = {zero};\nint was = 1;\nif (l >= d) {{\nother = t[l - d];\nwas = head[l - d];\n}}\n"
        steps += f"{FENCE}\n"
        steps += f"if (l >= d && !head[l]) {{\n{join}\nhead[l] = was;\n}}\n{FENCE}"
        before = f"head[l] = {head};"
    else:  # how far each lies from its head, by a maximum that doubles
        steps = f"{kind} other = {zero};\nconst int far = l - head[l] >= d;\nif (far) {{\nother = t[l - d];\n}}\n"
        steps += f"{FENCE}\n"
        steps += f"if (far) {{\n{join}\n}}\n{FENCE}"
        walk = f"if ({_head_at(by_key)}) {{\nbreak;\n}}\nfirst = p - 1;"
        before = f"int first = l;\nfor (int p = l; p > 0; --p) {{\n{walk}\n}}\nhead[l] = first;"
    store = "out[i] = t[l];"
    if only_tails:
        following = "key[i + 1] != key[i]" if by_key else "mark[i + 1] != 0"
        store = f"if (l == size - 1 || i == n - 1 || {following}) {{\nout[i] = t[l];\n}}"
    marks = hand.reads("int", "key") if by_key else hand.reads("uchar", "mark")
    parameters = [hand.reads(kind, "x"), marks, hand.writes(kind, "out"), *local.parameters, "const int n"]
    source = f"""
{hand.signature("scan_segments", parameters, local.required)}
{{
    {local.declarations}
    const int i = get_global_id(0);
    const int l = get_local_id(0);
    const int size = get_local_size(0);
    const int g0 = i - l;
    t[l] = i < n ? {mapped("x[i]")} : {zero};
    {before}
    {FENCE}
    for (int d = 1; d < size; d *= 2) {{
        {steps}
    }}
    if (i < n) {{
        {store}
    }}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish, 2 * each + 4)
        n = affordable(wish.data, 2 * each + 4)
        name = "key" if by_key else "mark"
        keys = draw.log_integer(2, max(2, n))
        fill = Fill("sorted", (0, keys)) if by_key else Fill("skewed", (0, draw.choose((2, 8, 100))))
        operations = size.items * (12 + size.group.bit_length() * 12 + (0 if form == "flags" else size.group))
        return sized(
            size, operations, {"x": n, name: slack(draw, n), "out": n}, {"n": n}, {name: fill}, local.bytes(size)
        )

    return Draft(lay_out(source), "scan_segments", launch)


def _head_at(by_key: bool) -> str:
    return "g0 + p >= n || key[g0 + p] != key[g0 + p - 1]" if by_key else "g0 + p >= n || mark[g0 + p] != 0"


@family("compaction", group="scans")
def compaction(draw: Draw) -> Draft:
    """Return what passes a test is moved together, by positions found before, an item's own count or a group's scan."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 3, "int": 3, "uint": 1, "double": 0.7}, "type")
    form = draw.choose(("positions", "own block", "group scan", "group counter"), "form")
    test = _keeps(hand, kind)
    what = draw.choose(("element", "index", "both"), "what")
    index = hand.index

    def put(to: str, at: str) -> str:
        lines = [f"out[{to}] = v;"] * (what != "index") + [f"where[{to}] = {at};"] * (what != "element")
        return "\n".join(lines)

    value = f"const {kind} v = x[{{at}}];\n"
    buffers = [hand.reads(kind, "x")] + [hand.writes(kind, "out")] * (what != "index")
    buffers += [hand.writes("int", "where")] * (what != "element")
    local, cover, required = None, None, None
    by_flag = draw.chance(0.4, "flags")
    if form == "positions":
        flag = "flag[i]" if by_flag else f"({test})"
        buffers += [hand.reads("int", "position"), *([hand.reads("uchar", "flag")] * by_flag)]
        inner = f"{value.format(at='i')}if ({flag}) {{\nconst int to = position[i];\n{put('to', 'i')}\n}}"
        cover = hand.cover("i", "n", lambda _: inner)
        text, counts = cover.text, hand.counts("n")
    elif form == "own block":
        buffers.append(hand.writes("int", "counts"))
        at = draw.choose(("i * length", "i"), "layout")
        read, to = ("i * length + k", "i * length + kept") if at != "i" else ("k * count + i", "kept * count + i")
        keep = f"if ({test}) {{\n{put(to, read)}\n++kept;\n}}"
        loop = f"for ({index} k = 0; k < length; ++k) {{\n{value.format(at=read)}{keep}\n}}"
        cover = hand.cover("i", "count", lambda _: f"{index} kept = 0;\n{loop}\ncounts[i] = kept;")
        text, counts = cover.text, hand.counts("count", "length")
    else:
        by_scan = form == "group scan"
        local = scratch(hand, {"rank": "int"} if by_scan else {"counter": "int"}, 1)
        required = local.required
        buffers += [hand.writes("int", "counts"), *local.parameters]
        first = f"const int passes = i < n && ({test});"
        if by_scan:
            steps = f"const int other = l >= d ? rank[l - d] : 0;\n{FENCE}\nrank[l] += other;\n{FENCE}"
            # The mask keeps the index inside the group's part even if a value carried over a barrier were lost.
            find = f"rank[l] = passes;\n{FENCE}\nfor (int d = 1; d < size; d <<= 1) {{\n{steps}\n}}\n"
            find += "const int to = i - l + ((rank[l] - passes) & (size - 1));"
            last = "if (l == size - 1) {\ncounts[get_group_id(0)] = rank[l];\n}"
        else:
            find = f"if (l == 0) {{\ncounter[0] = 0;\n}}\n{FENCE}\nint slot = 0;\nif (passes) {{\n"
            find += f"slot = atomic_inc(&counter[0]);\n}}\n{FENCE}\nconst int to = i - l + (slot & (size - 1));"
            last = "if (l == 0) {\ncounts[get_group_id(0)] = counter[0];\n}"
        text = f"""{local.declarations}
        const int i = get_global_id(0);
        const int l = get_local_id(0);
        const int size = get_local_size(0);
        const {kind} v = x[min(i, n - 1)];
        {first}
        {find}
        if (passes) {{
            {put("to", "i")}
        }}
        {last}"""
        counts = ["const int n"]
    uses_limit = "limit" in test and not (form == "positions" and by_flag)
    head = hand.signature("compact", [*buffers, *counts, *([f"{kind} limit"] * uses_limit)], required)

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * 2 + 9
        size = local.range(wish, each) if local else line(wish, each)
        fill, limit = _contents(draw, kind)
        scalars: dict[str, int | float] = {"limit": limit} if uses_limit else {}
        fills = {"x": fill}
        n = affordable(wish.data, each)
        lengths = {"x": n, "out": n, "where": n}
        operations = min(n, size.items) * 8.0 + size.items * 3
        if cover and form == "positions":
            (n,) = cover.fit(size, n)
            m = draw.log_integer(1, n)
            lengths = {"x": n, "out": m, "where": m, "position": n, "flag": n}
            fills |= {"position": Fill("sorted", (0, m)), "flag": Fill("randint", (0, 2))}
            scalars |= {"n": n}
            operations = cover.done(size, (n,)) * 9.0 + size.items
        elif cover:
            length = draw.log_integer(1, min(n, 8192))
            (count,) = cover.fit(size, max(1, n // length))
            length = max(1, min(length, affordable(1 << 25, each * count, 150_000_000)))
            n = count * length
            lengths = {"x": n, "out": n, "where": n, "counts": count}
            scalars |= {"count": count, "length": length}
            operations = cover.done(size, (count,)) * (length * 7 + 6) + size.items
        else:
            whole = size.items  # a group writes to its own part, however many elements there are
            lengths = {"x": n, "out": whole, "where": whole, "counts": size.groups}
            scalars |= {"n": n}
            operations = size.items * (16 + (size.group.bit_length() * 6 if form == "group scan" else 6))
        lengths = {k: v for k, v in lengths.items() if any(b.endswith(f" {k}") for b in buffers)}
        fills = {k: v for k, v in fills.items() if k in lengths}
        return sized(size, operations, lengths, scalars, fills, local.bytes(size) if local else {})

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "compact", launch)


@family("integral_rows", group="scans")
def integral_rows(draw: Draw) -> Draft:
    """Generate sums along the rows or columns of an image, of it and its squares; a row for each item or group."""
    hand = Hand(draw)
    kind = draw.weighted({"uchar": 2, "float": 3, "ushort": 0.6, "uchar4": 0.8, "int": 0.6}, "type")
    total = {"uchar": "uint", "ushort": "uint", "uchar4": "uint4"}.get(kind, kind)
    wide = draw.chance(0.25, "float total") and kind == "uchar"
    total = "float" if wide else total
    along = draw.choose(("rows", "columns"), "along")
    bordered = draw.chance(0.4, "zero border")
    squares = draw.chance(0.35, "squares too")
    by_group = draw.chance(0.35, "group") and along == "rows" and kind != "uchar4"
    pitch = draw.chance(0.4, "pitch")
    step = "pitch" if pitch else "width"
    out_step = "(width + 1)" if bordered else "width"
    convert = f"convert_{total}" if kind == "uchar4" else f"({total})"
    read = f"{convert}({{}})".format(f"image[y * {step} + x]")
    edge = "1" if bordered else "0"
    cell = f"(y + {edge}) * {out_step} + x + {edge}"
    zero = literal(total, 0)
    add = f"const {total} v = {read};\nsum += v;\nout[{cell}] = sum;"
    add += f"\n{hand.add_product('power', 'v', 'v', total)}\nout2[{cell}] = power;" if squares else ""
    start = f"{total} sum = {zero};" + f"\n{total} power = {zero};" * squares
    local = scratch(hand, {"t": total}) if by_group else None
    cover = None
    if local:
        other = draw.chance(0.5, "carry from memory")
        last = f"(y + {edge}) * {out_step} + min(x0 + size, width) - 1 + {edge}"
        carry = f"carry = out[{last}];" if other else "carry += t[size - 1];"
        fence = FENCE if not other else "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
        text = f"""{local.declarations}
        const int y = get_group_id(0);
        const int l = get_local_id(0);
        const int size = get_local_size(0);
        {total} carry = {zero};
        for (int x0 = 0; x0 < width; x0 += size) {{
            const int x = x0 + l;
            t[l] = x < width ? {read} : {zero};
            {FENCE}
            for (int d = 1; d < size; d *= 2) {{
                const {total} left = l >= d ? t[l - d] : {zero};
                {FENCE}
                t[l] += left;
                {FENCE}
            }}
            if (x < width) {{
                out[{cell}] = carry + t[l];
            }}
            {fence}
            {carry}
            {FENCE}
        }}"""
        squares = False
    elif along == "rows":
        loop = hand.loop("x", "0", "width", lambda _: add, form="for")
        cover = hand.cover("y", "height", lambda _: f"{start}\n{loop}", may_be_exact=False)
        text = cover.text
    else:
        loop = f"for ({hand.index} y = 0; y < height; ++y) {{\n{add}\n}}"
        cover = hand.cover("x", "width", lambda _: f"{start}\n{loop}", may_be_exact=False)
        text = cover.text
    buffers = [hand.reads(kind, "image"), hand.writes(total, "out"), *([hand.writes(total, "out2")] * squares)]
    kind_of = "int" if local else hand.count_type
    counts = [f"const {kind_of} {name}" for name in ("width", "height", *(["pitch"] if pitch else []))]
    parameters = [*buffers, *(local.parameters if local else []), *counts]
    head = hand.signature("integral", parameters, local.required if local else None)

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * 1.5 + bytes_of(total) * (2 if squares else 1) * 1.5
        size = local.range(Wish(min(wish.items, 1 << 20), wish.data, wish.local)) if local else line(wish)
        height, width = matrix(draw, wish.data, each, (1, 8192))
        if local:
            height = size.groups
            width = max(1, min(wish.data, int(150_000_000 / each)) // height)
        elif along == "columns":
            height, width = width, height
        step = width + (draw.integer(0, 1 + width // 8) if pitch else 0)
        cells = (width + 1) * (height + 1) if bordered else width * height
        lengths = {"image": step * height, "out": cells} | ({"out2": cells} if squares else {})
        scalars = {"width": width, "height": height} | ({"pitch": step} if pitch else {})
        lines, length = (width, height) if along == "columns" else (height, width)
        done = lines if local or not cover else cover.done(size, (lines,))
        cost = 8 + (size.group.bit_length() * 6 if local else 0)
        operations = done * (length * cost + 6) + size.items
        return sized(size, operations, lengths, scalars, None, local.bytes(size) if local else {})

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "integral", launch)
