"""Triangular matrices: products, one step of a substitution, whole systems."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, plane, side, sized
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 5.0, "double": 2.0}


@family("triangular_multiply", group="dense")
def triangular_multiply(draw: Draw) -> Draft:
    """Generate a lower or upper triangle, dense or packed, times a matrix or a vector."""
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
    """Generate triangular systems: an item solves a whole one for its own right-hand side.

    With small off-diagonal elements x stays bounded.
    """
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
