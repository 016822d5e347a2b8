"""What factorisations are made of: rank-k updates of symmetric matrices, and single steps."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, plane, side, sized
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 5.0, "double": 2.0}


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
    """Generate a step of an LU or Cholesky factorisation.

    Scale a column, update what is left, swap rows, or look left.
    """
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
