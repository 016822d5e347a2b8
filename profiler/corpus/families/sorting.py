"""Sorting networks: single steps in global memory, whole blocks in local memory, short rows in private memory."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.trees import FENCE, scratch
from profiler.corpus.writing.types import bytes_of, is_real

KINDS = {"float": 3.0, "int": 3.0, "uint": 2.0, "double": 0.6, "long": 0.5, "ushort": 0.4}


def key_fill(draw: Draw, kind: str) -> Fill:
    """Keys in no order, nearly in order, or of few values."""
    low, high = (0.5, 1000.0) if is_real(kind) else (0, draw.choose((4, 256, 60000)))
    span = (high - low) / 50 if is_real(kind) else max(1, int(high) // 50)
    even = Fill("uniform" if is_real(kind) else "randint", (low, high))
    return draw.choose((even, even, even, Fill("sorted", (low, high)), Fill("clustered", (low, high, span))))


def exchange(hand: Hand, a: str, b: str, ascending: str, kind: str, pairs: tuple[str, str] | None = None) -> str:
    """Statements that put the two elements in order; `ascending` is a condition or empty."""
    test = f"({a} > {b}) == ({ascending})" if ascending else f"{a} > {b}"
    swap = f"const {kind} kept = {a};\n{a} = {b};\n{b} = kept;"
    if pairs:
        swap += f"\nconst int other = {pairs[0]};\n{pairs[0]} = {pairs[1]};\n{pairs[1]} = other;"
        return f"if ({test}) {{\n{swap}\n}}"
    form = hand.draw.weighted({"if": 3, "min max": 2, "xor": 0.5 if not is_real(kind) else 0}, "exchange")
    if form == "min max":
        low, high = f"const {kind} low = min({a}, {b});", f"const {kind} high = max({a}, {b});"
        if not ascending:
            return f"{low}\n{high}\n{a} = low;\n{b} = high;"
        return f"{low}\n{high}\n{a} = {ascending} ? low : high;\n{b} = {ascending} ? high : low;"
    if form == "xor":
        return f"if ({test}) {{\n{a} ^= {b};\n{b} ^= {a};\n{a} ^= {b};\n}}"
    return f"if ({test}) {{\n{swap}\n}}"


@family("bitonic_step", group="sorting")
def bitonic_step(draw: Draw) -> Draft:
    """One compare-exchange step over a whole array, an item a pair or an element."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "float2": 0.5, "int4": 0.4}, "type")
    scalar = kind.rstrip("24")
    has_values = draw.chance(0.35, "values too") and scalar == kind
    pairing = draw.choose(("xor", "pair index", "division", "mirrored"), "pairing")
    direction = draw.choose(("block", "argument", "always up"), "direction")
    vector = scalar != kind
    first, second = {
        "xor": ("i", "i ^ gap"),
        "pair index": ("2 * i - (i & (gap - 1))", "first + gap"),
        "division": ("i / gap * 2 * gap + i % gap", "first + gap"),
        "mirrored": ("i / gap * 2 * gap + i % gap", "i / gap * 2 * gap + 2 * gap - 1 - i % gap"),
    }[pairing]
    up = {"block": "(first & block) == 0", "argument": "up != 0", "always up": ""}[direction]
    index = "uint" if hand.index == "size_t" else hand.index
    load = draw.chance(0.5, "loads first")
    a, b = ("data[first]", "data[second]") if not load else ("a", "b")
    pairs = ("value[first]", "value[second]") if has_values else None
    if vector:
        test = "a.x > b.x" if not up else f"(a.x > b.x) == ({up})"
        body = f"const {kind} a = data[first], b = data[second];\n"
        body += f"if ({test}) {{\ndata[first] = b;\ndata[second] = a;\n}}"
    else:
        body = exchange(hand, a, b, up, kind, pairs)
        if load:
            body = f"{kind} a = data[first], b = data[second];\n{body}\ndata[first] = a;\ndata[second] = b;"
    test = "second > first && second < n" if pairing == "xor" else "second < n"
    ends = f"const {index} first = {first};\nconst {index} second = {second};\n"
    total = "n" if pairing == "xor" else "((n + 1) / 2 + gap)"
    cover = hand.cover("i", total, lambda _: f"{ends}if ({test}) {{\n{body}\n}}", may_be_exact=False)
    buffers = [hand.writes(kind, "data"), *([hand.writes("int", "value")] * has_values)]
    counts = [f"const {index} n", f"const {index} gap"]
    counts += [f"const {index} block"] * (direction == "block") + ["const int up"] * (direction == "argument")
    head = hand.signature("bitonic_step", [*buffers, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) + 4 * has_values
        size = line(wish)
        n = affordable(wish.data, each)
        power = draw.integer(0, min(22, max(0, n.bit_length() - 2)))
        gap = 1 << power
        scalars = {"n": n, "gap": gap}
        scalars |= {"block": gap << draw.integer(1, 4)} if direction == "block" else {}
        scalars |= {"up": draw.integer(0, 1)} if direction == "argument" else {}
        whole = n if pairing == "xor" else (n + 1) // 2 + gap
        lengths = {"data": slack(draw, n)} | ({"value": n} if has_values else {})
        fills = {"data": key_fill(draw, scalar)}
        operations = cover.done(size, (whole,)) * 9 * max(1, each / 4) + size.items
        return sized(size, operations, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "bitonic_step", launch, in_place=("data",))


@family("sort_local", group="sorting")
def sort_local(draw: Draw) -> Draft:
    """Each group sorts a block of its own in local memory: bitonic, odd-even, or by counting what is smaller."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    method = draw.choose(("bitonic", "bitonic", "odd-even", "odd-even merge", "ranks"), "method")
    twice = method in ("bitonic", "odd-even", "odd-even merge") and draw.chance(0.6, "two elements an item")
    has_index = draw.chance(0.35, "indices too") and method != "ranks"
    arrays = {"t": kind} | ({"where": "int"} if has_index else {})
    local = scratch(hand, arrays, 2 if twice else 1)
    names = {"float": "FLT", "double": "DBL", "int": "INT", "uint": "UINT", "long": "LONG", "ushort": "USHRT"}
    highest = f"{names[kind]}_MAX"
    places = ["l", "l + size"] if twice else ["l"]
    total = "(2 * size)" if twice else "size"
    index = "int" if hand.index == "int" else "uint"
    fill = "\n".join(f"t[{p}] = from + {p} < n ? x[from + {p}] : {highest};" for p in places)
    fill += "".join(f"\nwhere[{p}] = from + {p};" for p in places) if has_index else ""

    def swap(a: str, b: str, up: str) -> str:
        pair = (f"where[{a}]", f"where[{b}]") if has_index else None
        return exchange(hand, f"t[{a}]", f"t[{b}]", up, kind, pair)

    if method == "bitonic":
        if twice:
            ends = f"const {index} a = 2 * l - (l & (j - 1));\nconst {index} b = a + j;"
            inner = f"{ends}\n{swap('a', 'b', '(a & k) == 0')}\n{FENCE}"
        else:
            inner = f"const {index} b = l ^ j;\nif (b > l) {{\n{swap('l', 'b', '(l & k) == 0')}\n}}\n{FENCE}"
        inner = f"for ({index} j = k >> 1; j > 0; j >>= 1) {{\n{inner}\n}}"
        steps = f"for ({index} k = 2; k <= {total}; k <<= 1) {{\n{inner}\n}}"
    elif method == "odd-even":
        a = "2 * l + (p & 1)" if twice else "l"
        test = f"a + 1 < {total}" + ("" if twice else " && (l & 1) == (p & 1)")
        inner = f"const {index} a = {a};\nif ({test}) {{\n{swap('a', 'a + 1', '')}\n}}\n{FENCE}"
        steps = f"for ({index} p = 0; p < {total}; ++p) {{\n{inner}\n}}"
    elif method == "odd-even merge":
        take = "l" if not twice else "e"
        inner = f"const {index} a = {take};\nconst {index} b = a + k;\n"
        test = f"a % (2 * p) / k % 2 == (k == p ? 0 : 1) && b < {total} && a / (2 * p) == b / (2 * p)"
        inner += f"if ({test}) {{\n{swap('a', 'b', '')}\n}}"
        if twice:
            inner = f"for ({index} e = l; e < {total}; e += size) {{\n{inner}\n}}"
        inner = f"for ({index} k = p; k > 0; k /= 2) {{\n{inner}\n{FENCE}\n}}"
        steps = f"for ({index} p = 1; p < {total}; p *= 2) {{\n{inner}\n}}"
    else:
        less = draw.choose(("t[k] < mine || (t[k] == mine && k < l)", "t[k] < mine || (t[k] <= mine && k < l)"))
        steps = f"const {kind} mine = t[l];\n{index} rank = 0;\n"
        steps += f"for ({index} k = 0; k < size; ++k) {{\nrank += {less};\n}}\n"
        steps += f"{FENCE}\nt[min(rank, size - 1)] = mine;\n{FENCE}"
    store = "\n".join(
        f"if (from + {p} < n) {{\nout[from + {p}] = t[{p}];" + f"\norder[from + {p}] = where[{p}];" * has_index + "\n}"
        for p in places
    )
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.writes("int", "order")] * has_index)]
    head = hand.signature("sort_block", [*buffers, *local.parameters, f"const {index} n"], local.required)
    source = f"""{head}
{{
    {local.declarations}
    const {index} l = get_local_id(0);
    const {index} size = get_local_size(0);
    const {index} from = get_group_id(0) * {total};
    {fill}
    {FENCE}
    {steps}
    {store}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = 2 * bytes_of(kind) + 4
        size = local.range(wish, each * len(places))
        n = affordable(wish.data, each)
        lengths = {"x": slack(draw, n), "out": n} | ({"order": n} if has_index else {})
        log = size.group.bit_length() + (1 if twice else 0)
        rounds = {"odd-even": size.group * 6, "ranks": size.group * 4}.get(method, log * (log + 1) * 5)
        operations = size.items * (rounds * (1 + (method == "odd-even merge" and twice)) + 12)
        return sized(size, operations, lengths, {"n": n}, {"x": key_fill(draw, kind)}, local.bytes(size))

    return Draft(lay_out(source), "sort_block", launch)
