"""Matrices with vectors: products by rows, by groups and by columns, rank-one updates, norms."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import line, matrix, plane, sized, slack
from profiler.corpus.writing.trees import scratch, tree
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 6.0, "double": 1.5, "int": 1.0}


@family("matvec_rows", group="dense")
def matvec_rows(draw: Draw) -> Draft:
    """One item a row, in either layout."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    width = draw.choose((1, 1, 1, 2, 4, 8), "vector width")
    column_major = width == 1 and draw.chance(0.35, "column major")
    sums = 1 if width > 1 else draw.choose((1, 1, 2, 4), "accumulators")
    ending = draw.choose(("store", "blend", "bias", "finished"), "ending")
    mapped = hand.mapping(kind, 0.15)
    vector = f"{kind}{width}" if width > 1 else kind

    def row(i: str) -> str:
        at = f"m[({{k}}) * rows + {i}]" if column_major else f"m[{i} * columns + {{k}}]"
        if width > 1:
            load = f"vload{width}({{k}}, {{p}})"
            total = f"{vector} sum = {literal(vector, 0)};\n__global const {kind}* along = m + {i} * columns;"
            pair = load.format(k="{k}", p="along"), load.format(k="{k}", p="x")
            add = hand.add_product("sum", *pair, kind)
            loop = hand.loop("k", "0", f"columns / {width}", lambda k: add.format(k=k))
            parts = " + ".join(f"sum.s{e:x}" for e in range(width))
            return f"{total}\n{loop}\n{kind} result = {parts};\n{_end(i)}"
        if sums > 1:
            zeros = "\n".join(f"{kind} sum{e} = {literal(kind, 0)};" for e in range(sums))
            adds = "\n".join(
                hand.add_product(f"sum{e}", mapped(at.format(k=f"k + {e}")), f"x[k + {e}]", kind) for e in range(sums)
            )
            first = f"{hand.index} k = 0;\nfor (; k + {sums - 1} < columns; k += {sums}) {{\n{adds}\n}}"
            rest = (
                f"for (; k < columns; ++k) {{\n{hand.add_product('sum0', mapped(at.format(k='k')), 'x[k]', kind)}\n}}"
            )
            return f"{zeros}\n{first}\n{rest}\n{kind} result = {' + '.join(f'sum{e}' for e in range(sums))};\n{_end(i)}"
        loop = hand.loop(
            "k", "0", "columns", lambda k: hand.add_product("result", mapped(at.format(k=k)), f"x[{k}]", kind)
        )
        return f"{kind} result = {literal(kind, 0)};\n{loop}\n{_end(i)}"

    finish = hand.finished("result", kind)

    def _end(i: str) -> str:
        half = literal(kind, 0.5)
        return {
            "store": f"y[{i}] = result;",
            "blend": f"y[{i}] = {half} * y[{i}] + result;",
            "bias": f"y[{i}] = result + bias[{i}];",
            "finished": f"y[{i}] = {finish};",
        }[ending]

    cover = hand.cover("i", "rows", row)
    buffers = [hand.reads(kind, "m"), hand.reads(kind, "x"), hand.writes(kind, "y")]
    buffers += [hand.reads(kind, "bias")] * (ending == "bias")
    head = hand.signature("matvec", [*buffers, *hand.counts("rows", "columns")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = line(wish, 8 * bytes_of(kind))
        rows, columns = matrix(draw, wish.data, bytes_of(kind) * 1.2, (width, 16384))
        (rows,) = cover.fit(size, rows)
        columns = max(width, min(columns, 140_000_000 // (rows * bytes_of(kind))) // width * width)
        lengths = {"m": rows * columns, "x": slack(draw, columns), "y": rows}
        lengths |= {"bias": rows} if ending == "bias" else {}
        operations = cover.done(size, (rows,)) * (columns * 4 / width + 6) + size.items
        return sized(size, operations, lengths, {"rows": rows, "columns": columns})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "matvec", launch)


@family("matvec_groups", group="dense")
def matvec_groups(draw: Draw) -> Draft:
    """One group a row: each item adds up some columns, then a tree in local memory."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    local = scratch(hand, {"part": kind})
    walks = draw.choose(("group", "strided groups"), "rows")
    apart = draw.weighted({"interleaved": 3, "blocks": 1}, "columns of an item")
    add = hand.add_product("sum", "m[row * columns + {k}]", "x[{k}]", kind)
    if apart == "blocks":
        share = f"const {hand.index} share = (columns + size - 1) / size;"
        last = f"const {hand.index} last = min(({hand.index})((l + 1) * share), ({hand.index})columns);"
        loop = f"{share}\n{last}\nfor ({hand.index} k = l * share; k < last; ++k) {{\n{add.format(k='k')}\n}}"
    else:
        loop = hand.loop("k", "l", "columns", lambda k: add.format(k=k), "size")
    reduce = tree(hand, lambda a, b: f"part[{a}] += part[{b}];", size="size", fixed=local.fixed)
    body = f"{kind} sum = {literal(kind, 0)};\n{loop}\npart[l] = sum;\n{reduce}\n"
    body += f"if (l == 0) {{\ny[row] = {hand.finished('part[0]', kind)};\n}}"
    if walks == "group":
        text = f"const {hand.index} row = get_group_id(0);\n{body}"
    else:
        text = f"for ({hand.index} row = get_group_id(0); row < rows; row += get_num_groups(0)) {{\n{body}\n"
        text += "barrier(CLK_LOCAL_MEM_FENCE);\n}"
    buffers = [hand.reads(kind, "m"), hand.reads(kind, "x"), hand.writes(kind, "y"), *local.parameters]
    head = hand.signature("matvec_group", [*buffers, *hand.counts("rows", "columns")], local.required)
    source = f"""{head}
{{
    {local.declarations}
    const {hand.index} l = get_local_id(0);
    const {hand.index} size = get_local_size(0);
    {text}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = local.range(wish)
        rows, columns = matrix(draw, wish.data, bytes_of(kind) * 1.2, (1, 65536))
        if walks == "group":  # a row for each group, and so its length is what is left to choose
            rows = size.groups
            columns = max(1, min(wish.data // rows, 140_000_000 // (rows * bytes_of(kind))))
        lengths = {"m": rows * columns, "x": columns, "y": rows}
        operations = rows * (columns * 4 + size.group * 8) + size.items * 6
        return sized(size, operations, lengths, {"rows": rows, "columns": columns}, local_bytes=local.bytes(size))

    return Draft(lay_out(source), "matvec_group", launch)


@family("matvec_columns", group="dense")
def matvec_columns(draw: Draw) -> Draft:
    """Generate the transposed product: one item a column, or a part of one.

    Parts are left for later or added atomically.
    """
    hand = Hand(draw)
    kind = draw.weighted({"float": 4, "int": 2, "double": 1}, "type")
    form = draw.choose(("whole column", "part", "atomic") if kind == "int" else ("whole column", "part"), "form")
    skips = draw.chance(0.3, "skips zeros")
    mapped = hand.mapping(kind, 0.2)

    def term(i: str) -> str:
        add = hand.add_product("sum", mapped(f"m[{i} * columns + j]"), f"x[{i}]", kind)
        return f"if (x[{i}] != {literal(kind, 0)}) {{\n{add}\n}}" if skips else add

    zero = f"{kind} sum = {literal(kind, 0)};"
    finish = hand.finished("sum", kind)
    if form == "whole column":
        loop = hand.loop("i", "0", "rows", term)
        cover = hand.cover("j", "columns", lambda j: f"{zero}\n{loop}\ny[{j}] = {finish};")
    else:
        loop = hand.loop("i", "top", f"min(({hand.index})(top + high), ({hand.index})rows)", term, form="for")
        top = f"const {hand.index} top = p * high;"
        store = "y[p * columns + j] = sum;" if form == "part" else "atomic_add(&y[j], sum);"
        cover = hand.cover_plane(
            ("j", "columns"), ("p", "((rows + high - 1) / high)"), lambda j, p: f"{top}\n{zero}\n{loop}\n{store}"
        )
    buffers = [hand.reads(kind, "m"), hand.reads(kind, "x"), hand.writes(kind, "y")]
    counts = hand.counts("rows", "columns", *(["high"] if form != "whole column" else []))
    head = hand.signature("matvec_t", [*buffers, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, 2 * each)
        rows, columns = matrix(draw, wish.data, each * 1.3, (1, 65536))
        high = draw.log_integer(1, max(1, min(rows, 4096)))
        parts = -(-rows // high)
        if cover.is_exact:
            columns = size.global_size[0]
            parts = size.global_size[1] if cover.dimensions == 2 else 1
            high = max(1, min(wish.data, 140_000_000 // each) // (columns * parts))
            rows = high * parts
        done = cover.done(size, (columns, parts) if form != "whole column" else (columns,))
        lengths = {"m": rows * columns, "x": rows, "y": columns * (parts if form == "part" else 1)}
        scalars = {"rows": rows, "columns": columns} | ({"high": high} if form != "whole column" else {})
        operations = done * (min(rows, high if form != "whole column" else rows) * 4 + 6) + size.items
        return sized(size, operations, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "matvec_t", launch)


@family("rank_one_update", group="dense")
def rank_one_update(draw: Draw) -> Draft:
    """Outer products, stored or blended into a matrix; now and then two at once."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "short": 0.4, "long": 0.3, "float4": 1.0, "double2": 0.4}, "type")
    form = draw.choose(("outer", "blend", "two", "difference", "masked"), "form")
    scalar = kind.rstrip("24")
    column_major = draw.chance(0.3, "column major")
    mapped = hand.mapping(kind, 0.3)
    half = literal(scalar, 0.5 if scalar in ("float", "double") else 0)

    def cell(j: str, i: str) -> str:
        at = f"m[{j} * rows + {i}]" if column_major else f"m[{i} * columns + {j}]"
        product = mapped(f"x[{i}] * y[{j}]") if form == "outer" else f"x[{i}] * y[{j}]"
        return {
            "outer": f"{at} = {product};",
            "blend": f"{at} = {half} * {at} + alpha * {product};",
            "two": f"{at} = {half} * {at} + {product} - y[{j}] * x[{i}] * {half} + alpha;",
            "difference": f"{at} = x[{i}] - y[{j}];",
            "masked": f"if ({j} >= {i}) {{\n{at} = {product};\n}} else {{\n{at} = x[{i}] + y[{j}];\n}}",
        }[form]

    cover = hand.cover_plane(("j", "columns"), ("i", "rows"), cell)
    buffers = [hand.writes(kind, "m"), hand.reads(kind, "x"), hand.reads(kind, "y")]
    factor = [f"{scalar} alpha"] * (form in ("blend", "two"))
    head = hand.signature("rank_one", [*buffers, *factor, *hand.counts("rows", "columns")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, 1.3 * each)
        rows, columns = matrix(draw, wish.data, 1.3 * each, (1, 16384))
        if cover.is_exact:
            columns, rows = cover.fit(size, columns, rows)
        scalars = {"rows": rows, "columns": columns} | ({"alpha": 1} if factor else {})
        lengths = {"m": slack(draw, rows * columns), "x": rows, "y": columns}
        return sized(size, cover.done(size, (columns, rows)) * 7 * each / 4 + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "rank_one", launch)


@family("norms", group="dense")
def norms(draw: Draw) -> Draft:
    """Of each row or column: sums of magnitudes or squares, the largest, scaled or not."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 2, "float2": 1, "float4": 1.5, "double2": 0.5}, "type")
    scalar = kind.rstrip("24")
    norm = draw.choose(("one", "two", "largest", "squares", "two scaled", "p"), "norm")
    along = draw.choose(("rows", "columns"), "along")
    one, zero = literal(scalar, 1), literal(scalar, 0)
    size_of = "fabs(v)" if scalar == kind else f"{draw.choose(('length', 'fast_length'))}(v)"
    size_of = size_of.replace("fast_", "") if scalar == "double" else size_of
    squared = "v * v" if scalar == kind else "dot(v, v)"
    power = literal(scalar, draw.choose((1.5, 3, 0.5)))
    step, ending = {
        "one": (f"total += {size_of};", "total"),
        "two": (f"total += {squared};", "sqrt(total)"),
        "largest": (f"total = fmax(total, {size_of});", "total"),
        "squares": (hand.add_product("total", size_of, size_of, scalar), "total"),
        "two scaled": (
            f"{scalar} size = {size_of};\nif (size > scale) {{\n"
            f"total = {one} + total * (scale / size) * (scale / size);\nscale = size;\n}} "
            "else {\ntotal += (size / scale) * (size / scale);\n}",
            "scale * sqrt(total)",
        ),
        "p": (f"total += pow({size_of}, {power});", f"pow(total, {one} / {power})"),
    }[norm]
    load = draw.choose(("named", "weighted"), "load")
    value = "x[{at}]" if load == "named" else "x[{at}] * w[{k}]"

    def vector(i: str) -> str:
        def term(k: str) -> str:
            at = f"{i} * columns + {k}" if along == "rows" else f"({k}) * columns + {i}"
            return f"{kind} v = {value.format(at=at, k=k)};\n{step}"

        loop = hand.loop("k", "0", "columns" if along == "rows" else "rows", term)
        scale = f"{scalar} scale = {one};\n" if norm == "two scaled" else ""
        return f"{scalar} total = {zero};\n{scale}{loop}\nout[{i}] = {ending};"

    cover = hand.cover("i", along, vector)
    buffers = [hand.reads(kind, "x"), hand.writes(scalar, "out")]
    buffers += [hand.reads(scalar, "w")] * (load == "weighted")
    head = hand.signature("norms", [*buffers, *hand.counts("rows", "columns")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 2 * each)
        rows, columns = matrix(draw, wish.data, 1.4 * each, (1, 8192))
        if along == "columns":
            rows, columns = columns, rows
        many, length = (rows, columns) if along == "rows" else (columns, rows)
        if cover.is_exact:
            many = size.items
            length = max(1, min(length, 140_000_000 // (many * each)))
        rows, columns = (many, length) if along == "rows" else (length, many)
        lengths = {"x": rows * columns, "out": many} | ({"w": length} if load == "weighted" else {})
        cost = {"p": 22, "two scaled": 14}.get(norm, 4) * each / 4
        operations = cover.done(size, (many,)) * (length * cost + 12) + size.items
        return sized(size, operations, lengths, {"rows": rows, "columns": columns})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "norms", launch)
