"""Triangular and symmetric matrices: products, one step of a substitution or a factorisation, rank-k updates."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, bytes_of, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, plane, side, sized

KINDS = {"float": 5.0, "double": 2.0}


@family("triangular_multiply", group="dense")
def triangular_multiply(draw: Draw) -> Draft:
    """A lower or upper triangle, dense or packed, times a matrix or a vector."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "int": 1.0}, "type")
    is_lower, is_packed = draw.chance(0.6, "lower"), draw.chance(0.3, "packed")
    is_unit, is_vector = draw.chance(0.25, "unit diagonal"), draw.chance(0.3, "vector")
    from_left = draw.chance(0.7, "from the left")
    skips_early = draw.chance(0.3, "tests inside")
    mapped = hand.mapping(kind, 0.15)
    finish = hand.finished("sum", kind)

    def triangle(i: str, k: str) -> str:
        if not is_packed:
            return f"t[{i} * n + {k}]"
        at = f"{i} * ({i} + 1) / 2 + {k}" if is_lower else f"{k} * ({k} + 1) / 2 + {i}"
        return f"t[{at}]"

    def cell(j: str, i: str) -> str:
        at = f"[{{k}} * columns + {j}]" if not is_vector else "[{k}]"
        along, out = (i, at.format(k=i))
        if not from_left:  # the triangle's column meets the row's own
            along, out = i, f"[{j} * n + {i}]" if not is_vector else f"[{i}]"
            at = f"[{j} * n + {{k}}]" if not is_vector else "[{k}]"
        below = is_lower == from_left

        def term(k: str) -> str:
            left = triangle(i, k) if from_left else triangle(k, i)
            add = hand.add_product("sum", mapped(left), f"b{at.format(k=f'({k})')}", kind)
            test = f"{k} {'<' if below else '>'}{'' if is_unit else '='} {along}"
            return f"if ({test}) {{\n{add}\n}}" if skips_early else add

        start, stop = ("0", f"{along}{'' if is_unit else ' + 1'}") if below else (f"{along}{' + 1' * is_unit}", "n")
        if skips_early and not is_packed:
            start, stop = "0", "n"
        first = f"b{at.format(k=along)}" if is_unit else literal(kind, 0)
        return f"{kind} sum = {first};\n{hand.loop('k', start, stop, term)}\nc{out} = {finish};"

    if is_vector:
        cover = hand.cover("i", "n", lambda i: cell("0", i), may_be_exact=False)
    else:
        cover = hand.cover_plane(("j", "columns"), ("i", "n"), cell, may_be_exact=False)
    buffers = [hand.reads(kind, "t"), hand.reads(kind, "b"), hand.writes(kind, "c")]
    head = hand.signature("triangular", [*buffers, *hand.counts("n", *([] if is_vector else ["columns"]))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, 1)
        n, columns = side(wish.data, 4096), 1
        if not is_vector:
            columns = draw.log_integer(1, affordable(4096, n * each * 2, 90_000_000))
        done = cover.done(size, (n,) if is_vector else (columns, n))
        length = n if skips_early and not is_packed else n / 2
        lengths = {"t": n * (n + 1) // 2 if is_packed else n * n, "b": n * columns, "c": n * columns}
        scalars = {"n": n} | ({} if is_vector else {"columns": columns})
        return sized(size, done * (length * 5 + 6) + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "triangular", launch)


@family("substitution_step", group="dense")
def substitution_step(draw: Draw) -> Draft:
    """One column of a forward or backward substitution, for one or many right-hand sides."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    is_forward = draw.chance(0.7, "forward")
    many = draw.chance(0.5, "many right-hand sides")
    divides = draw.choose(("here", "reciprocals", "unit"), "diagonal")
    column_major = draw.chance(0.5, "column major")
    starts_below = draw.chance(0.5, "starts below")  # items count from the step on, or test where they are
    i = ("i + step + 1" if is_forward else "i") if starts_below else "i"
    left = ("n - step - 1" if is_forward else "step") if starts_below else "n"

    def row(name: str, r: str = "") -> str:
        line_of = i.replace("i", name, 1)
        pivot = f"b[step * count + {r}]" if many else "b[step]"
        target = f"[({line_of}) * count + {r}]" if many else f"[{line_of}]"
        low = f"l[step * n + {line_of}]" if column_major else f"l[({line_of}) * n + step]"
        solved = {"here": f"{pivot} / l[step * n + step]", "reciprocals": f"{pivot} * inverse[step]", "unit": pivot}
        change = f"const {kind} solved = {solved[divides]};\nnext{target} = b{target} - {low} * solved;"
        if starts_below:
            return change
        test = f"{name} > step" if is_forward else f"{name} < step"
        done = f"next{target} = {name} == step ? {solved[divides]} : b{target};"
        return f"if ({test}) {{\n{change}\n}} else {{\n{done}\n}}"

    if many:
        cover = hand.cover_plane(("r", "count"), ("i", f"({left})"), lambda r, name: row(name, r), False)
    else:
        cover = hand.cover("i", f"({left})", row, may_be_exact=False)
    buffers = [hand.reads(kind, "l"), hand.reads(kind, "b"), hand.writes(kind, "next")]
    buffers += [hand.reads(kind, "inverse")] * (divides == "reciprocals")
    head = hand.signature("substitute", [*buffers, *hand.counts("n", "step", *(["count"] if many else []))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish, 1)
        n = max(2, side(wish.data, 4000))
        count = draw.log_integer(1, affordable(8192, n * each, 30_000_000)) if many else 1
        step = min(n - 1, int(n * draw.real()))
        lines = (n - step - 1 if is_forward else step) if starts_below else n
        done = cover.done(size, (count, lines) if many else (lines,))
        lengths = {"l": n * n, "b": n * count, "next": n * count}
        lengths |= {"inverse": n} if divides == "reciprocals" else {}
        scalars = {"n": n, "step": step} | ({"count": count} if many else {})
        return sized(size, done * 9 + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "substitute", launch)


@family("triangular_solve", group="dense")
def triangular_solve(draw: Draw) -> Draft:
    """An item solves a whole system for its own right-hand side; with small off-diagonal elements x stays bounded."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    is_forward, interleaved = draw.chance(0.6, "forward"), draw.chance(0.6, "interleaved")
    divides = draw.choose(("multiply", "unit"), "diagonal")
    order = draw.weighted({0: 2, 4: 1, 8: 1, 16: 1}, "private order")  # 0: x lies in global memory
    n = str(order) if order else "n"

    def x(m: str, i: str) -> str:
        if order:
            return f"x[{i}]"
        return f"out[({i}) * count + {m}]" if interleaved else f"out[{m} * n + {i}]"

    def system(m: str) -> str:
        rhs = f"b[({{i}}) * count + {m}]" if interleaved else f"b[{m} * {n} + {{i}}]"
        row = "i" if is_forward else f"({n} - 1 - i)"
        start, stop = ("0", "i") if is_forward else (f"{row} + 1", n)

        def term(k: str) -> str:
            return hand.add_product("sum", f"-t[{row} * {n} + {k}]", x(m, k), kind)

        end = "sum * inverse[{r}]" if divides == "multiply" else "sum"
        inner = f"{kind} sum = {rhs.format(i=row)};\n{hand.loop('k', start, stop, term, form='for')}\n"
        inner += f"{x(m, row)} = {end.format(r=row)};"
        solve = f"for ({hand.index} i = 0; i < {n}; ++i) {{\n{inner}\n}}"
        if not order:
            return solve
        to = f"out[i * count + {m}]" if interleaved else f"out[{m} * {n} + i]"
        return f"{kind} x[{order}];\n{solve}\nfor (int i = 0; i < {order}; ++i) {{\n{to} = x[i];\n}}"

    cover = hand.cover("m", "count", system)
    buffers = [hand.reads(kind, "t"), hand.reads(kind, "b"), hand.writes(kind, "out")]
    buffers += [hand.reads(kind, "inverse")] * (divides == "multiply")
    head = hand.signature("solve_triangle", [*buffers, *hand.counts(*([] if order else ["n"]), "count")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        n = order or draw.log_integer(2, 300)
        size = line(wish, 2 * each * n)
        (count,) = cover.fit(size, max(1, affordable(wish.data, 2 * each) // n))
        lengths = {"t": n * n, "b": n * count, "out": n * count} | ({"inverse": n} if divides == "multiply" else {})
        operations = cover.done(size, (count,)) * n * (n * 2 + 6) + size.items
        scalars = {"count": count} | ({} if order else {"n": n})
        return sized(size, operations, lengths, scalars, {"t": Fill("uniform", (0.1 / n, 1.0 / n))})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "solve_triangle", launch)


@family("rank_k_update", group="dense")
def rank_k_update(draw: Draw) -> Draft:
    """Half of a symmetric matrix: products of one matrix, or of two both ways, with itself."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "int": 1.0}, "type")
    share = draw.choose(("plane", "triangle number", "row"), "share")
    is_lower, two = draw.chance(0.6, "lower"), draw.chance(0.3, "two matrices")
    turned = draw.chance(0.4, "turned")
    ending = draw.choose(("store", "blend", "mirror"), "ending")
    at = "a[({k}) * n + {i}]" if turned else "a[{i} * depth + {k}]"

    def term(k: str) -> str:
        left, right = at.format(i="i", k=k), at.format(i="j", k=k)
        if two:
            lines = hand.add_product("sum", left, right.replace("a[", "b[", 1), kind)
            return lines + "\n" + hand.add_product("sum", left.replace("a[", "b[", 1), right, kind)
        return hand.add_product("sum", left, right, kind)

    loop = hand.loop("k", "0", "depth", term)
    store = {
        "store": "c[i * n + j] = sum;",
        "blend": f"c[i * n + j] = {literal(kind, 0.5)} * c[i * n + j] + sum;",
        "mirror": "c[i * n + j] = sum;\nc[j * n + i] = sum;",
    }[ending]
    cell = f"{kind} sum = {literal(kind, 0)};\n{loop}\n{store}"
    if share == "plane":
        test = f"i < n && {'j <= i' if is_lower else 'j >= i && j < n'}"
        text = f"{hand.item('j', 0)}\n{hand.item('i', 1)}\nif ({test}) {{\n{cell}\n}}"
        done = None
    else:
        x = hand.index
        if share == "row":
            start, stop = ("0", "i + 1") if is_lower else ("i", "n")
            done = hand.cover("i", "n", lambda _: f"for ({x} j = {start}; j < {stop}; ++j) {{\n{cell}\n}}", False)
        else:
            find = f"{x} p = ({x})((sqrt(8.0f * t + 1.0f) - 1.0f) * 0.5f);\n"
            find += "while ((p + 1) * (p + 2) / 2 <= t) {\n++p;\n}\nwhile (p * (p + 1) / 2 > t) {\n--p;\n}\n"
            ends = ("p", "t - p * (p + 1) / 2") if is_lower else ("t - p * (p + 1) / 2", "p")
            find += f"const {x} i = {ends[0]};\nconst {x} j = {ends[1]};\n"
            done = hand.cover("t", "(n * (n + 1) / 2)", lambda _: find + cell, False)
        text = done.text
    buffers = [hand.reads(kind, "a"), *([hand.reads(kind, "b")] * two), hand.writes(kind, "c")]
    head = hand.signature("rank_k", [*buffers, *hand.counts("n", "depth")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (line if done else plane)(wish, 1)
        n = side(wish.data, 3000)
        depth = draw.log_integer(1, affordable(1024, n * each, 40_000_000))
        if done:
            cells = done.done(size, (n if share == "row" else n * (n + 1) // 2,)) * (n / 2 if share == "row" else 1)
        else:
            cells = min(n, size.global_size[0]) * min(n, size.global_size[1]) / 2
        lengths = {"a": n * depth, "c": n * n} | ({"b": n * depth} if two else {})
        operations = cells * (depth * (4 + 4 * two) + 8) + size.items * 2
        return sized(size, operations, lengths, {"n": n, "depth": depth})

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "rank_k", launch)


@family("factorisation_step", group="dense")
def factorisation_step(draw: Draw) -> Draft:
    """A step of an LU or Cholesky factorisation: scale a column, update what is left, swap rows, or look left."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    form = draw.choose(("update", "update", "scale", "swap", "left-looking", "block update"), "form")
    column_major = draw.chance(0.3, "column major")
    symmetric = draw.chance(0.3, "symmetric") and form == "update"
    copies = draw.chance(0.5, "out of place")
    width = draw.choose((2, 4, 8, 16), "panel width")

    def at(r: str, c: str) -> str:
        return f"[({c}) * n + {r}]" if column_major else f"[({r}) * n + {c}]"

    to = "out" if copies or form != "update" else "a"
    keep = "a" if copies else f"{literal(kind, 0.5)} * a"  # shrinks in place, or repeats would grow without end

    def update(j: str, i: str) -> str:
        low, high = at(f"{i} + step + 1", "step"), at("step", f"{j} + step + 1")
        cell = at(f"{i} + step + 1", f"{j} + step + 1")
        scale = f"const {kind} factor = a{low} / a{at('step', 'step')};\n"
        change = f"{to}{cell} = {keep}{cell} - factor * a{high};"
        return f"if ({j} <= {i}) {{\n{scale}{change}\n}}" if symmetric else scale + change

    def block(j: str, i: str) -> str:
        cell = at(f"{i} + step + {width}", f"{j} + step + {width}")
        low, high = at(f"{i} + step + {width}", "step + {k}"), at("step + {k}", f"{j} + step + {width}")
        add = hand.repeat(width, lambda k: f"sum -= a{low.format(k=k)} * a{high.format(k=k)};", "k")
        return f"{kind} sum = a{cell};\n{add}\nout{cell} = sum;"

    def row(i: str) -> str:
        if form == "scale":
            return f"out{at(f'{i} + step + 1', 'step')} = a{at(f'{i} + step + 1', 'step')} / a{at('step', 'step')};"
        if form == "swap":
            one, two = at("step", i), at("pivot", i)
            return f"const {kind} kept = a{one};\na{one} = a{two};\na{two} = kept;"
        below = f"{i} + step + 1"
        loop = hand.loop(
            "k", "0", "step", lambda k: hand.add_product("sum", f"a{at(below, k)}", f"a{at('step', k)}", kind)
        )
        here = at(below, "step")
        return f"{kind} sum = {literal(kind, 0)};\n{loop}\nout{here} = (a{here} - sum) {ending};"

    ending = draw.choose((f"/ a{at('step', 'step')}", f"* rsqrt(a{at('step', 'step')})", "* scale"), "ending")
    gap = {"block update": width, "swap": 0}.get(form, 1)
    left = f"(n - step - {gap})" if form != "swap" else "n"
    if "update" in form:
        cover = hand.cover_plane(("j", left), ("i", left), update if form == "update" else block, False)
    else:
        cover = hand.cover("i", left, row, may_be_exact=False)
    writes = to == "a" or form == "swap"
    buffers = [hand.writes(kind, "a") if writes else hand.reads(kind, "a")]
    buffers += [hand.writes(kind, "out")] * (not writes)
    scaled = form == "left-looking" and ending == "* scale"
    extra = ["pivot"] if form == "swap" else []
    head = hand.signature("factor_step", [*buffers, *hand.counts("n", "step", *extra), *([f"{kind} scale"] * scaled)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        size = (plane if cover.dimensions == 2 else line)(wish, 1)
        n = max(gap + 2, side(wish.data, 3200 if kind == "float" else 2400))
        step = min(n - gap - 1, int(n * draw.real()))
        rest = n - step - gap
        done = cover.done(size, (rest, rest) if "update" in form else (rest,))
        cost = {"left-looking": step * 4 + 8, "block update": width * 4 + 4}.get(form, 9)
        scalars: dict[str, int | float] = {"n": n, "step": step}
        scalars |= {"pivot": int(n * draw.real())} if extra else {}
        scalars |= {"scale": 0.25} if scaled else {}
        lengths = {"a": n * n} | ({} if writes else {"out": n * n})
        return sized(size, done * cost + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "factor_step", launch)
