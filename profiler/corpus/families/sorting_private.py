"""Short rows sorted in private memory, by every simple method."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.sorting import KINDS, key_fill
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.types import bytes_of

METHODS = {
    "insertion": """
        for (int k = 1; k < COUNT; ++k) {
        const TYPE now = v[k];
        int p = k - 1;
        while (p >= 0 && v[p] AFTER now) {
        v[p + 1] = v[p];
        --p;
        }
        v[p + 1] = now;
        }""",
    "selection": """
        for (int a = 0; a < LAST; ++a) {
        int b = a;
        for (int k = a + 1; k < COUNT; ++k) {
        if (v[b] AFTER v[k]) {
        b = k;
        }
        }
        SWAP
        }""",
    "bubbles": """
        for (int e = LAST; e > 0; --e) {
        for (int a = 0; a < e; ++a) {
        const int b = a + 1;
        if (v[a] AFTER v[b]) {
        SWAP
        }
        }
        }""",
    "bubbles until done": """
        int moved = 1;
        while (moved) {
        moved = 0;
        for (int a = 0; a < LAST; ++a) {
        const int b = a + 1;
        if (v[a] AFTER v[b]) {
        SWAP
        moved = 1;
        }
        }
        }""",
    "gaps": """
        for (int gap = HALF; gap > 0; gap /= 2) {
        for (int k = gap; k < COUNT; ++k) {
        const TYPE now = v[k];
        int p = k;
        for (; p >= gap && v[p - gap] AFTER now; p -= gap) {
        v[p] = v[p - gap];
        }
        v[p] = now;
        }
        }""",
    "binary insertion": """
        for (int k = 1; k < COUNT; ++k) {
        const TYPE now = v[k];
        int low = 0, high = k;
        while (low < high) {
        const int middle = (low + high) / 2;
        if (v[middle] AFTER now) {
        high = middle;
        } else {
        low = middle + 1;
        }
        }
        for (int p = k; p > low; --p) {
        v[p] = v[p - 1];
        }
        v[low] = now;
        }""",
}


@family("sort_private", group="sorting")
def sort_private(draw: Draw) -> Draft:
    """Each item sorts a short row in a private array, by insertion, selection, bubbles, gaps or a network."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "uchar": 0.5}, "type")
    length = draw.choose((3, 4, 5, 7, 8, 9, 12, 16, 25, 32))
    method = draw.choose((*METHODS, "network"), "method")
    draw.choices["length"] = str(length)
    keeps = draw.choose(("all", "all", "median", "middle mean", "extremes"), "keeps")
    layout = draw.choose(("i * {n} + {k}", "{k} * count + i", "i * pitch + {k}"), "layout")
    descending = draw.chance(0.3, "descending")
    sign = "<" if descending else ">"
    swap = f"const {kind} kept = v[a];\nv[a] = v[b];\nv[b] = kept;"
    n = str(length)
    sort = METHODS.get(method, "").replace("SWAP", swap).replace("TYPE", kind).replace("AFTER", sign)
    sort = sort.replace("LAST", str(length - 1)).replace("HALF", str(max(1, length // 2))).replace("COUNT", n)
    if method == "network":
        order = ("max", "min") if descending else ("min", "max")
        cell = f"const {kind} low = {order[0]}(v[{{a}}], v[{{b}}]);\n"
        cell += f"v[{{b}}] = {order[1]}(v[{{a}}], v[{{b}}]);\nv[{{a}}] = low;"
        if length <= 9:
            cells = [cell.format(a=a, b=a + 1) for r in range(length) for a in range(r % 2, length - 1, 2)]
            sort = "\n".join("{\n" + text + "\n}" for text in cells)
        else:
            inner = f"for (int a = r & 1; a + 1 < {n}; a += 2) {{\n{cell.format(a='a', b='a + 1')}\n}}"
            sort = f"for (int r = 0; r < {n}; ++r) {{\n{inner}\n}}"
    at = layout.format(n=n, k="k")
    middle = length // 2
    mean = f"(v[{middle}] + v[{middle - 1}]) / 2"
    store = {
        "all": f"for (int k = 0; k < {n}; ++k) {{\nout[{layout.format(n=n, k='k')}] = v[k];\n}}",
        "median": f"out[i] = v[{middle}];",
        "middle mean": f"out[i] = {mean};",
        "extremes": f"out[i] = v[{length - 1}] - v[0];",
    }[keeps]
    body = f"{kind} v[{n}];\nfor (int k = 0; k < {n}; ++k) {{\nv[k] = x[{at}];\n}}\n{sort}\n{store}"
    cover = hand.cover("i", "count", lambda _: body)
    pitch = "pitch" in layout
    counts = hand.counts("count", *(["pitch"] if pitch else []))
    head = hand.signature("sort_rows", [hand.reads(kind, "x"), hand.writes(kind, "out"), *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        # Rows may overlap as windows do, or lie apart.
        step = draw.choose((1, length, length + 3)) if pitch and keeps != "all" else length
        size = line(wish, 2.5 * each * length)
        count = max(1, affordable(wish.data, 2.5 * each) // length)
        (count,) = cover.fit(size, count)
        reach = (count - 1) * step + length if pitch else count * length
        lengths = {"x": slack(draw, reach), "out": reach if keeps == "all" else count}
        scalars = {"count": count} | ({"pitch": step} if pitch else {})
        cost = {"bubbles until done": 5, "bubbles": 3, "network": 3, "gaps": 2.5}.get(method, 2) * length * length
        operations = cover.done(size, (count,)) * (cost + 5 * length) + size.items
        fill = Fill("randint", (0, 256)) if kind == "uchar" else key_fill(draw, kind)
        return sized(size, operations, lengths, scalars, {"x": fill})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "sort_rows", launch)
