"""Steps over graphs by vertex: breadth-first levels, labels, ranks, colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse import pattern_fills
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import Fills, Words, draft, rows_for, sized, within_memory
from profiler.corpus.writing.walk import Walk, walk


def graph_size(draw: Draw, wish: Wish, way: Walk, vertex_bytes: int = 32, cost: float = 5.0) -> Sized:
    """Generate a graph with `data` edges as neighbour lists `rows`, `cols`."""
    edges = within_memory(wish.data, 16)
    size = way.size(wish, vertex_bytes, rows_for(draw, wish, edges))
    work = size.done * (4 + cost * edges / size.count)
    buffers = {"rows": size.count + 1, "cols": edges, "weights": edges}
    scalars = {"n": size.count, "edges": edges}
    return sized(size.global_size, size.local_size, work, buffers, scalars, pattern_fills(draw, edges, size.count))


def with_vertices(
    made: Sized, lengths: dict[str, int], scalars: Mapping[str, int | float], fills: Mapping[str, Words]
) -> Sized:
    """Generate the same with more arguments: buffers of so many elements a vertex, scalars, contents."""
    count = dict(made.launch.scalars)["n"]
    more = tuple((name, int(count) * each) for name, each in lengths.items())
    words = tuple(
        (name, Fill(str(fill[0]), tuple(v for v in fill[1:] if not isinstance(v, str)))) for name, fill in fills.items()
    )
    launch = made.launch
    launch = replace(
        launch,
        buffers=launch.buffers + more,
        scalars=launch.scalars + tuple(scalars.items()),
        fills=tuple(pair for pair in launch.fills if pair[0] not in fills) + words,
    )
    return Sized(launch, made.operations)


def graph(habits: Hand) -> list[str]:
    return [habits.takes("int", "rows"), habits.takes("int", "cols")]


def neighbours(draw: Draw, habits: Hand, inner: str, v: str = "v", stops: bool = False) -> str:
    """Generate a loop over the edges `e` of vertex `v`; `inner` may name the neighbour `u`.

    `stops` where it holds a `break`.
    """
    head = draw.choose(("rows[{v}]|rows[{v} + 1]", "first|last"), "bounds").format(v=v)
    first, last = head.split("|")
    before = f"const int first = rows[{v}], last = rows[{v} + 1];\n" if first == "first" else ""
    body = f"const int u = cols[e];\n{inner}"
    if stops:
        inside = "\n".join(f"    {text}" for text in body.split("\n"))
        return f"{before}for (int e = {first}; e < {last}; e++) {{\n{inside}\n}}\n"
    return before + loop(draw, "e", first, last, body)


@family("breadth_first_level", "graphs")
def breadth_first_level(draw: Draw) -> Draft:
    """One level of a breadth-first search, an item a vertex, looking forward from the front or back to it."""
    habits = hand(draw)
    way = walk(draw, habits, exact=False)
    kind = draw.choose(("int", "int", "uchar", "short"), "level_type")
    form = draw.choose(("forward", "masks", "back", "back_bits", "back_parent", "both"), "form")
    changed = draw.choose(("", "*again = 1;", "atomic_inc(again);", "again[0] = 1;"), "flag")
    if form == "forward":
        claim = f"if (level[u] == ({kind})UNSEEN) {{\n    level[u] = depth + 1;\n    {changed}\n}}"
        body = f"if (level[v] == depth) {{\n{neighbours(draw, habits, claim)}}}"
    elif form == "masks":
        claim = f"if (!seen[u]) {{\n    cost[u] = cost[v] + 1;\n    next[u] = 1;\n    {changed}\n}}"
        body = f"if (front[v]) {{\n{neighbours(draw, habits, claim)}}}"
    elif form == "back":
        found = f"if (level[u] == depth) {{\n    out[v] = depth + 1;\n    {changed}\n    break;\n}}"
        body = f"if (level[v] == ({kind})UNSEEN) {{\n{neighbours(draw, habits, found, stops=True)}}}"
    elif form == "back_bits":
        found = "if (bits[u >> 5] & (1u << (u & 31))) {\n    next[v] = 1;\n    break;\n}"
        body = f"if (!(bits[v >> 5] & (1u << (v & 31)))) {{\n{neighbours(draw, habits, found, stops=True)}}}"
    elif form == "back_parent":
        found = f"if (front[u]) {{\n    parent[v] = u;\n    next[v] = 1;\n    {changed}\n    break;\n}}"
        body = f"next[v] = 0;\nif (!seen[v]) {{\n{neighbours(draw, habits, found, stops=True)}}}"
    else:
        count = neighbours(draw, habits, "hits += level[u] == depth;")
        body = f"int hits = 0;\n{count}out[v] = hits > 0 ? depth + 1 : level[v];"
    names = [
        *graph(habits),
        f"{habits.space} {kind} *level",
        habits.takes("uchar", "front"),
        habits.takes("uchar", "seen"),
    ]
    names += [habits.gives("uchar", "next"), habits.gives("int", "cost"), habits.gives("int", "parent")]
    names += [habits.gives(kind, "out"), habits.takes("uint", "bits"), f"{habits.space} int *again"]
    names += [habits.number("depth", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        made = graph_size(d, w, way)
        spread = d.choose((2, 4, 10, 100))
        lengths = dict.fromkeys(("level", "front", "seen", "next", "cost", "parent", "out", "bits"), 1)
        fills: Fills = {"level": ("randint", 0, spread), "front": ("randint", 0, 2), "seen": ("randint", 0, 2)}
        fills |= {"bits": ("randint", 0, d.choose((2, 1 << 16, 1 << 31)))}
        made = with_vertices(made, lengths, {"depth": d.integer(0, spread)}, fills)
        return Sized(replace(made.launch, buffers=(*made.launch.buffers, ("again", 1))), made.operations)

    unseen = draw.choose((0, 1, 3))
    text = way.write(body, "v")
    return draft(
        habits, "bfs_step", names, text, launch, before=f"#define UNSEEN {unseen}" if "UNSEEN" in text else "",
        in_place=("level", "cost"),
    )  # fmt: skip


@family("rank_by_neighbours", "graphs")
def rank_by_neighbours(draw: Draw) -> Draft:
    """Ranks pulled from neighbours: weighted by degree, damped, with a residual if wanted."""
    habits, kind = hand(draw), draw.weighted({"float": 3.0, "double": 1.0}, "type")
    way = walk(draw, habits)
    term = draw.choose(
        (
            "rank[u] / degree[u]",
            "rank[u] * inverse[u]",
            "rank[u] / max(rows[u + 1] - rows[u], 1)",
            "rank[u]",
            "rank[u] * weights[e]",
        ),
        "term",
    )
    damp = draw.choose(("damping", literal(0.85, kind)), "damping")
    last = draw.choose(
        (
            f"out[v] = (1 - {damp}) / n + {damp} * sum;",
            f"out[v] = {damp} * sum + base;",
            f"const {kind} fresh = mad({damp}, sum, base);\nerror[v] = fabs(fresh - rank[v]);\nout[v] = fresh;",
            f"if (fabs(sum - rank[v]) > base)\n    out[v] = {damp} * sum;",
            "out[v] = sum / (first_of + 1);",
        ),
        "last",
    ).replace("first_of", "rows[v + 1] - rows[v]")
    last = (
        last.replace(f"mad({damp}", f"mad(({kind}){damp}")
        .replace("base", f"({kind})base")
        .replace(f"mad(({kind}){damp}, sum", f"mad(({kind}){damp}, sum")
    )
    add = draw.choose(
        (f"sum += {term};", f"if (u != (int)v)\n    sum += {term};", f"sum += degree[u] > 0 ? {term} : 0;"), "add"
    )
    body = way.write(f"{kind} sum = 0;\n{neighbours(draw, habits, add)}{last}", "v")
    names = [
        *graph(habits),
        habits.takes(kind, "weights"),
        habits.takes("int", "degree"),
        habits.takes(kind, "inverse"),
    ]
    names += [habits.takes(kind, "rank"), habits.gives(kind, "out"), habits.gives(kind, "error")]
    names += [habits.number("damping", "float"), habits.number("base", "float"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        made = graph_size(d, w, way, 56, 6)
        lengths = dict.fromkeys(("degree", "inverse", "rank", "out", "error"), 1)
        return with_vertices(made, lengths, {"damping": 0.75, "base": 0.125}, {"degree": ("randint", 1, 64)})

    return draft(habits, "rank", names, body, launch)


@family("label_spreading", "graphs")
def label_spreading(draw: Draw) -> Draft:
    """Labels from neighbours: the smallest, the largest, the most frequent of a few, or an agreement of bits."""
    habits = hand(draw)
    way = walk(draw, habits)
    form = draw.choose(("min", "max", "frequent", "bits", "jump", "second", "same"), "form")
    few = draw.choose((4, 8, 16), "labels")
    if form in ("min", "max"):
        compare = draw.choose(
            (
                f"best = {form}(best, label[u]);",
                f"if (label[u] {'<' if form == 'min' else '>'} best)\n    best = label[u];",
            )
        )
        inner = f"int best = label[v];\n{neighbours(draw, habits, compare)}out[v] = best;"
        inner += draw.choose(("", "\nif (best != label[v])\n    *again = 1;"), "flag")
    elif form == "frequent":
        inner = (
            f"int votes[{few}];\n{loop(draw, 'l', '0', str(few), 'votes[l] = 0;')}"
            f"{neighbours(draw, habits, f'votes[label[u] & {few - 1}]++;')}"
            f"int best = 0;\n{loop(draw, 'l', '1', str(few), 'if (votes[l] > votes[best]) best = l;')}out[v] = best;"
        )
    elif form == "bits":
        mix = draw.choose(
            ("mask |= label[u];", "mask &= label[u];", "mask ^= rotate(label[u], 1);", "mask |= 1 << (label[u] & 31);")
        )
        inner = f"int mask = label[v];\n{neighbours(draw, habits, mix)}out[v] = {finish_value(draw, 'mask', 'int')};"
    elif form == "jump":
        inner = (
            f"int root = label[v];\nfor (int hop = 0; hop < {few} && label[root] != root; hop++)\n"
            "    root = label[root];\nout[v] = root;"
        )
    elif form == "second":
        step = (
            "const int l = label[u];\nif (l < low) {\n    second = low;\n"
            "    low = l;\n} else if (l < second)\n    second = l;"
        )
        inner = f"int low = label[v], second = low;\n{neighbours(draw, habits, step)}out[v] = second;"
    else:
        inner = (
            "int same = 0;\n"
            f"{neighbours(draw, habits, 'same += label[u] == label[v] ? 1 : 0;')}out[v] "
            "= same * 2 > rows[v + 1] - rows[v];"
        )
    names = [
        *graph(habits),
        habits.takes("int", "label"),
        habits.gives("int", "out"),
        f"{habits.space} int *again",
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        made = graph_size(d, w, way, 24)
        count = int(dict(made.launch.scalars)["n"])
        labels = d.choose((("perm",), ("iota",), ("randint", 0, min(count, few)), ("randint", 0, count)))
        made = with_vertices(made, {"label": 1, "out": 1}, {}, {"label": labels})
        return Sized(replace(made.launch, buffers=(*made.launch.buffers, ("again", 1))), made.operations)

    return draft(habits, "spread", names, way.write(inner, "v"), launch)
