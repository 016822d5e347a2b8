"""Tiles of tables, a group each."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.sizes import Fills, draft, groups, sized, within_memory


@family("tiles_of_tables", "dynamic_programming")
def tiles_of_tables(draw: Draw) -> Draft:
    """Generate a tile of a comparison's table for each group.

    Diagonal after diagonal in local memory, a barrier between them.
    """
    habits = hand(draw)
    side = draw.choose((8, 16, 32, 64), "tile")
    kind = draw.choose(("int", "int", "float"), "type")
    goal = draw.choose(("edits", "common", "scores", "max_path"), "goal")
    low, high = ("fmin", "fmax") if kind == "float" else ("min", "max")
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    same = "sa[r - 1] == sb[c - 1]"
    cell = {
        "edits": f"{low}({low}(h[r - 1][c], h[r][c - 1]) + 1, h[r - 1][c - 1] + ({same} ? 0 : 1))",
        "common": f"({same} ? h[r - 1][c - 1] + 1 : {high}(h[r - 1][c], h[r][c - 1]))",
        "scores": (
            f"{high}(h[r - 1][c - 1] + scores[(sa[r - 1] & 7) * 8 + (sb[c - 1] & 7)], {high}"
            "(h[r - 1][c], h[r][c - 1]) - 1)"
        ),
        "max_path": f"({high}(h[r - 1][c], h[r][c - 1]) + sa[r - 1] * sb[c - 1]) / 2",
    }[goal]
    s = "SIDE" if draw.chance(0.6) else str(side)
    shared_letters = "uchar" if goal != "max_path" else kind
    load = (
        f"sa[t] = a[(size_t)row * {s} + t];\nsb[t] = b[(size_t)column * {s} + t];\n"
        f"h[0][t + 1] = top[((size_t)row * tiles + column) * {s} + t];\n"
        f"h[t + 1][0] = side[((size_t)row * tiles + column) * {s} + t];\nif (t == 0)\n    h[0][0] = 0;\n{barrier}\n"
    )
    sweep = draw.choose(
        (
            (
                f"for (int d = 0; d < 2 * {s} - 1; d++) {{\n    const int r = t + 1, c = d - t + 1;\n"
                f"    if (c >= 1 && c <= {s})\n        h[r][c] = {cell};\n    {barrier}\n}}\n"
            ),
            (
                f"for (int d = 0; d < {s}; d++) {{\n    if (t <= d) {{\n"
                f"        const int r = t + 1, c = d - t + 1;\n        h[r][c] = {cell};\n    }}\n    {barrier}\n}}\n"
                f"for (int d = 1; d < {s}; d++) {{\n    if (t >= d) {{\n"
                f"        const int r = t + 1, c = {s} + d - t;\n        h[r][c] = {cell};\n    }}\n    {barrier}\n}}\n"
            ),
        ),
        "sweep",
    )
    save = draw.choose(
        (
            (
                f"bottom[((size_t)row * tiles + column) * {s} + t] = h[{s}][t + 1];\n"
                f"right[((size_t)row * tiles + column) * {s} + t] = h[t + 1][{s}];"
            ),
            (
                f"for (int r = 0; r < {s}; r++)\n"
                f"    out[(((size_t)row * tiles + column) * {s} + r) * {s} + t] = h[r + 1][t + 1];"
            ),
            f"if (t == 0)\n    bottom[(size_t)row * tiles + column] = h[{s}][{s}];",
        ),
        "save",
    )
    arrays = (
        f"{habits.near} {kind} h[{s} + 1][{s} + 1];\n"
        f"{habits.near} {shared_letters} sa[{s}];\n{habits.near} {shared_letters} sb[{s}];\n"
    )
    ids = (
        "const int t = get_local_id(0);\nconst int tile = min((int)get_group_id(0), tiles * tiles - 1);\n"
        "const int row = tile / tiles, column = tile % tiles;\n"
    )
    names = [
        habits.takes(shared_letters, "a"),
        habits.takes(shared_letters, "b"),
        habits.takes(kind, "top"),
        habits.takes(kind, "side"),
        habits.gives(kind, "bottom"),
    ]
    names += [
        habits.gives(kind, "right"),
        habits.gives(kind, "out"),
        f"{habits.fixed} {kind} *scores",
        habits.number("tiles", "int"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        count = groups(w, side, 1 << 16)
        whole = within_memory(w.data, 8)
        tiles = max(1, int((whole / side / side) ** 0.5))
        every = tiles * tiles
        letters: Fills = {} if goal == "max_path" else {"a": ("randint", 0, 4), "b": ("randint", 0, 4)}
        buffers = {"a": tiles * side, "b": tiles * side, "out": every * side * side, "scores": 64} | dict.fromkeys(
            ("top", "side", "bottom", "right"), every * side
        )
        return sized(count * side, side, count * side * (20.0 + 2 * side * 16), buffers, {"tiles": tiles}, letters)

    required = f"__attribute__((reqd_work_group_size({side}, 1, 1)))" if draw.chance(0.5) else ""
    before = f"#define SIDE {side}" if s == "SIDE" else ""
    return draft(
        habits, "tile_of_table", names, arrays + ids + load + sweep + save, launch, before=before, attribute=required
    )
