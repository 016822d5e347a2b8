"""Searches: the best few of a row, look-ups in sorted tables, medians of windows."""

from __future__ import annotations

from math import isqrt

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.sorting import key_fill
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, plane, sized, slack
from profiler.corpus.writing.types import bytes_of, is_real


@family("best_few", group="sorting")
def best_few(draw: Draw) -> Draft:
    """Generate the k largest or smallest of each row, held in a private array, or found one after the other."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 4, "int": 2, "double": 0.7, "uint": 0.6}, "type")
    k = draw.choose((1, 2, 3, 4, 5, 8, 10, 16))
    draw.choices["k"] = str(k)
    sign = draw.choose((">", "<"), "sign")
    method = draw.choose(("insertion", "replace worst", "passes"), "method")
    places, turned = draw.chance(0.5, "places too"), draw.chance(0.35, "columns")
    worst = literal(kind, 0 if sign == ">" else 1_000_000)
    at = "c * rows + i" if turned else "i * columns + c"
    out_at = draw.choose((f"i * {k} + r", "r * rows + i"), "layout")
    mapped = hand.mapping(kind, 0.2)
    first = f"{kind} best[{k}];\n" + f"int place[{k}];\n" * places
    start = f"for (int r = 0; r < {k}; ++r) {{\nbest[r] = {worst};\n" + "place[r] = 0;\n" * places + "}\n"
    if method == "insertion":
        shift = f"int r = {k - 1};\nfor (; r > 0 && v {sign} best[r - 1]; --r) {{\nbest[r] = best[r - 1];\n"
        shift += "place[r] = place[r - 1];\n" * places + "}\nbest[r] = v;\n" + "place[r] = c;\n" * places
        step = f"if (v {sign} best[{k - 1}]) {{\n{shift}}}"
    elif method == "replace worst":
        other = "<" if sign == ">" else ">"
        find = f"weak = 0;\nfor (int r = 1; r < {k}; ++r) {{\nif (best[r] {other} best[weak]) {{\nweak = r;\n}}\n}}"
        step = f"if (v {sign} best[weak]) {{\nbest[weak] = v;\n" + "place[weak] = c;\n" * places + f"{find}\n}}"
        start += "int weak = 0;\n"
    else:
        step = ""
    if step:
        loop = f"for ({hand.index} c = 0; c < columns; ++c) {{\nconst {kind} v = {mapped(f'x[{at}]')};\n{step}\n}}\n"
        store = (
            f"for (int r = 0; r < {k}; ++r) {{\nout[{out_at}] = best[r];\n"
            + f"where[{out_at}] = place[r];\n" * places
            + "}"
        )
        body = f"{first}{start}{loop}{store}"
    else:  # each pass looks for the best that comes after the last one
        bound = literal(kind, 1_000_000 if sign == ">" else 0)
        other = "<" if sign == ">" else ">"
        inner = f"const {kind} v = {mapped(f'x[{at}]')};\nif (v {sign} found && v {other} last) {{\nfound = v;\n"
        inner += "at = c;\n" * places + "}"
        body = (
            f"{kind} last = {bound};\nfor (int r = 0; r < {k}; ++r) {{\n{kind} found = {worst};\n"
            + "int at = 0;\n" * places
        )
        body += f"for ({hand.index} c = 0; c < columns; ++c) {{\n{inner}\n}}\nout[{out_at}] = found;\n"
        body += f"where[{out_at}] = at;\n" * places + "last = found;\n}"
    cover = hand.cover("i", "rows", lambda _: body)
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.writes("int", "where")] * places)]
    head = hand.signature("best_few", [*buffers, *hand.counts("rows", "columns")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, each + k * (each + 4))
        rows, columns = matrix(draw, wish.data, each * 1.2 + k, (1, 8192))
        rows = min(rows, int(60_000_000 / (k * (each + 4))))
        (rows,) = cover.fit(size, rows)
        columns = max(1, min(columns, affordable(1 << 25, each * rows, 80_000_000)))
        lengths = {"x": rows * columns, "out": rows * k} | ({"where": rows * k} if places else {})
        cost = 5 * k if method == "passes" else 5 + k / 4
        operations = cover.done(size, (rows,)) * (columns * cost + 4 * k) + size.items
        scalars = {"rows": rows, "columns": columns}
        return sized(size, operations, lengths, scalars, {"x": key_fill(draw, kind)})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "best_few", launch)


@family("sorted_look_up", group="sorting")
def sorted_look_up(draw: Draw) -> Draft:
    """Look-ups in a sorted table: lower bounds, interpolation between two entries, intervals; one a query."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 3, "int": 2, "double": 1, "uint": 0.7}, "type")
    form = draw.choose(("halving", "branchless", "linear", "strides"), "search")
    result = draw.choose(
        ("place", "value", "interpolated", "count") if is_real(kind) else ("place", "value", "count"), "result"
    )
    sign = draw.choose(("<", "<="), "bound")
    middle = draw.choose(("(low + high) / 2", "low + (high - low) / 2", "(low + high) >> 1"))
    hand.index = hand.count_type = "int"
    search = {
        "halving": f"int low = 0, high = m;\nwhile (low < high) {{\nconst int middle = {middle};\n"
        f"if (table[middle] {sign} v) {{\n"
        "low = middle + 1;\n} else {\nhigh = middle;\n}\n}",
        "branchless": f"int low = 0;\nfor (int step = top; step > 0; step >>= 1) {{\nconst int next = low + step;\n"
        f"low = (next <= m && table[min(next, m) - 1] {sign} v) ? next : low;\n}}",
        "linear": f"int low = 0;\nwhile (low < m && table[low] {sign} v) {{\n++low;\n}}",
        "strides": f"int low = 0;\nwhile (low + stride < m && table[low + stride] {sign} v) {{\nlow += stride;\n}}\n"
        f"while (low < m && table[low] {sign} v) {{\n++low;\n}}",
    }[form]
    small = literal(kind, 0.001)
    between = f"const int right = clamp(low, 1, m - 1);\nconst {kind} from = table[right - 1];\n"
    between += f"const {kind} part = (v - from) / (table[right] - from + {small});\n"
    between += "out[i] = mix(values[right - 1], values[right], part);"
    end = {
        "place": "out[i] = low;",
        "value": "out[i] = values[min(low, m - 1)];",
        "interpolated": between,
        "count": "atomic_inc(&out[min(low, m - 1)]);",
    }[result]
    cover = hand.cover("i", "n", lambda _: f"const {kind} v = x[i];\n{search}\n{end}")
    held = kind if result in ("value", "interpolated") else "int"
    buffers = [hand.reads(kind, "x"), hand.reads(kind, "table"), hand.writes(held, "out")]
    buffers += [hand.reads(kind, "values")] * (held == kind and result in ("value", "interpolated"))
    extra = ["top"] * (form == "branchless") + ["stride"] * (form == "strides")
    head = hand.signature("look_up", [*buffers, *hand.counts("n", "m", *extra)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = 3 * bytes_of(kind)
        size = line(wish, each)
        (n,) = cover.fit(size, affordable(wish.data, each, 120_000_000))
        m = draw.log_integer(2, 2000 if form in ("linear", "strides") else 1 << 21)
        low, high = (0.5, 100.0) if is_real(kind) else (0, 100_000)
        spread = draw.choose(("uniform", "clustered", "sorted"))
        queries = {"clustered": Fill("clustered", (low, high, high / 100 if is_real(kind) else high // 100))}
        queries |= {"sorted": Fill("sorted", (low, high))}
        even = Fill("uniform" if is_real(kind) else "randint", (low, high))
        stride = max(1, isqrt(m))
        scalars = {"n": n, "m": m} | ({"top": 1 << (m.bit_length() - 1)} if form == "branchless" else {})
        scalars |= {"stride": stride} if form == "strides" else {}
        lengths = {"x": slack(draw, n), "table": m, "out": m if result == "count" else n}
        lengths |= {"values": m} if result in ("value", "interpolated") else {}
        cost = {"linear": m * 2, "strides": stride * 3}.get(form, m.bit_length() * 6)
        fills = {"x": queries.get(spread, even), "table": Fill("sorted", (low, high))}
        return sized(size, cover.done(size, (n,)) * (cost + 8) + size.items, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "look_up", launch)


@family("median_windows", group="sorting")
def median_windows(draw: Draw) -> Draft:
    """Generate the median, or another rank, of a window of an image or a series, by exchanges or by counting."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 3, "uchar": 2, "int": 1, "ushort": 0.5}, "type")
    wide = draw.choose((3, 5), "width") if draw.chance(0.7, "image") else 0
    window = wide * wide if wide else draw.choose((3, 5, 7, 9))
    draw.choices["window"] = str(window)
    method = draw.choose(("exchanges", "counting", "forgetful"), "method")
    edge = draw.choose(("clamp", "inside only"), "edge")
    rank = draw.choose((window // 2, window // 2, 0, window - 1, window // 4), "rank")
    half = (wide or window) // 2
    if wide:
        cell = "image[clamp((int)y + dy, 0, (int)height - 1) * width + clamp((int)x + dx, 0, (int)width - 1)]"
        cell = cell if edge == "clamp" else "image[(y + dy) * width + x + dx]"
        load = (
            f"for (int dy = -{half}; dy <= {half}; ++dy) {{\nfor (int dx = -{half}; dx <= {half}; ++dx) {{\n"
            f"v[c++] = {cell};\n}}\n}}"
        )
    else:
        cell = "image[clamp((int)x + dx, 0, (int)width - 1)]" if edge == "clamp" else "image[x + dx]"
        load = f"for (int dx = -{half}; dx <= {half}; ++dx) {{\nv[c++] = {cell};\n}}"
    swap = f"const {kind} low = min(v[a], v[b]);\nv[b] = max(v[a], v[b]);\nv[a] = low;"
    find = {
        "exchanges": f"for (int a = 0; a <= {rank}; ++a) {{\nfor (int b = a + 1; b < {window}; ++b) {{\n{swap}\n"
        f"}}\n}}\n"
        f"const {kind} found = v[{rank}];",
        "counting": f"{kind} found = v[0];\nfor (int a = 0; a < {window}; ++a) {{\nint less = 0;\n"
        f"for (int b = 0; b < {window}; ++b) {{\n"
        f"less += v[b] < v[a] || (v[b] == v[a] && b < a);\n}}\nif (less == {rank}) {{\nfound = v[a];\n}}\n}}",
        "forgetful": f"int first = 0, last = {window - 1};\nwhile (last - first > 1) {{\n"
        f"for (int b = first + 1; b <= last; ++b) {{\nconst int a = first;\n"
        f"{swap}\n}}\nfor (int a = first + 1; a < last; ++a) {{\nconst int b = last;\n{swap}\n}}\n++first;\n"
        f"--last;\n}}\n"
        f"const {kind} found = v[first];",
    }[method]
    body = f"{kind} v[{window}];\nint c = 0;\n{load}\n{find}\n"
    to = "out[y * width + x]" if wide else "out[x]"
    changed = draw.choose(("found", "found", "keep"), "use")
    here = to.replace("out", "image", 1)
    body += f"{to} = found;" if changed == "found" else f"{to} = {here} > found ? found : {here};"
    if wide:
        test = f"x >= {half} && y >= {half} && x + {half} < width && y + {half} < height"
        inner = body if edge == "clamp" else f"if ({test}) {{\n{body}\n}}"
        cover = hand.cover_plane(("x", "width"), ("y", "height"), lambda x, y: inner)
    else:
        inner = body if edge == "clamp" else f"if (x >= {half} && x + {half} < width) {{\n{body}\n}}"
        cover = hand.cover("x", "width", lambda _: inner)
    buffers = [hand.reads(kind, "image"), hand.writes(kind, "out")]
    head = hand.signature("median", [*buffers, *hand.counts("width", *(["height"] if wide else []))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = 2 * bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, each)
        if wide:
            height, width = matrix(draw, wish.data, each, (1, 8192))
            if cover.is_exact:
                width, height = cover.fit(size, width, height)
            done = cover.done(size, (width, height))
        else:
            height = 1
            (width,) = cover.fit(size, affordable(wish.data, each))
            done = cover.done(size, (width,))
        cost = {"exchanges": (rank + 1) * window * 4, "counting": window * window * 4}.get(method, window * window * 2)
        scalars = {"width": width} | ({"height": height} if wide else {})
        fills = {"image": Fill("randint", (0, 256)) if not is_real(kind) else Fill("random")}
        lengths = {"image": width * height, "out": width * height}
        return sized(size, done * (cost + 6 * window) + size.items, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "median", launch)
