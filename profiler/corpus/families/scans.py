"""Prefix sums by groups: doubling steps, up and down sweeps, and the parts that a longer scan is made of."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, sized, slack
from profiler.corpus.writing.operators import operator
from profiler.corpus.writing.trees import FENCE, scratch
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 4.0, "int": 3.0, "uint": 1.5, "double": 0.8, "long": 0.4, "float2": 0.4}
OPERATORS = ("sum", "max", "min", "or")


@family("scan_doubling", group="scans")
def scan_doubling(draw: Draw) -> Draft:
    """Each step adds the element twice as far to the left: one array with two barriers, or two arrays in turn."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    op = operator(hand, kind, OPERATORS)
    arrays = draw.choose(("one", "two", "two halves"), "arrays")
    exclusive, sums = draw.chance(0.45, "exclusive"), draw.chance(0.6, "group sums")
    names = {"from": op.total, "to": op.total} if arrays == "two" else {"from": op.total}
    local = scratch(hand, names, 2 if arrays == "two halves" else 1)
    load = f"i < n ? {op.mapped('x[i]')} : {op.identity}"
    before = f"(l > 0 && i - 1 < n) ? {op.mapped('x[i - 1]')} : {op.identity}" if exclusive else load
    bound = draw.choose(("d < size", "(d << 1) <= size"), "bound")
    if arrays == "one":
        body = f"{op.total} other = {op.identity};\nif (l >= d) {{\nother = from[l - d];\n}}\n{FENCE}\n"
        steps = body + op.join("from[l]", "other") + f"\n{FENCE}"
        result = "from[l]"
    elif arrays == "two":
        joined = op.combined("from[l]", "from[l - d]")
        swap = f"__local {op.total}* kept = from;\nfrom = to;\nto = kept;"
        steps = f"to[l] = l >= d ? {joined} : from[l];\n{FENCE}\n{swap}"
        result = "from[l]"
        if not local.parameters:  # arrays cannot change places, pointers to them can
            swap = "flip = 1 - flip;"
            joined = op.combined("a[l]", "a[l - d]")
            pointers = f"__local {op.total}* a = flip ? to : from;\n__local {op.total}* b = flip ? from : to;\n"
            steps = f"{pointers}b[l] = l >= d ? {joined} : a[l];\n{FENCE}\n{swap}"
            result = "(flip ? to[l] : from[l])"
    else:
        joined = op.combined("from[now * size + l]", "from[now * size + l - d]")
        target = "from[(1 - now) * size + l]"
        steps = f"if (l >= d) {{\n{target} = {joined};\n}} else {{\n{target} = from[now * size + l];\n}}\n"
        steps += f"now = 1 - now;\n{FENCE}"
        result = "from[now * size + l]"
    flags = {"one": "", "two": "" if local.parameters else "int flip = 0;", "two halves": "int now = 0;"}[arrays]
    keep = f"if (l == size - 1) {{\nsums[get_group_id(0)] = {result};\n}}" if sums else ""
    parameters = [hand.reads(kind, "x"), hand.writes(op.total, "out"), *([hand.writes(op.total, "sums")] * sums)]
    index = "int" if hand.index == "int" else "uint"
    head = hand.signature("scan_doubling", [*parameters, *local.parameters, f"const {index} n"], local.required)
    source = f"""{op.declarations}
{head}
{{
    {local.declarations}
    const {index} i = get_global_id(0);
    const {index} l = get_local_id(0);
    const {index} size = get_local_size(0);
    {flags}
    from[l] = {before};
    {FENCE}
    for ({index} d = 1; {bound}; d {draw.choose(("*= 2", "<<= 1"))}) {{
        {steps}
    }}
    if (i < n) {{
        out[i] = {result};
    }}
    {keep}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(op.total)
        size = local.range(wish, 2 * each)
        n = affordable(wish.data, 2 * each)
        lengths = {"x": slack(draw, n), "out": n} | ({"sums": size.groups} if sums else {})
        operations = size.items * (8 + size.group.bit_length() * 8)
        return sized(size, operations, lengths, {"n": n}, None, local.bytes(size))

    return Draft(lay_out(source), "scan_doubling", launch)


@family("scan_sweeps", group="scans")
def scan_sweeps(draw: Draw) -> Draft:
    """Generate a tree up and down again, two elements an item; with padded indices now and then."""
    hand = Hand(draw)
    kind = draw.weighted({k: w for k, w in KINDS.items() if k != "float2"}, "type")
    mapped = hand.mapping(kind, 0.3)
    padded = draw.chance(0.35, "padded")
    inclusive, sums = draw.chance(0.3, "inclusive"), draw.chance(0.6, "group sums")
    apart = draw.chance(0.5, "halves apart")
    grid = draw.chance(0.3, "many blocks")
    shift = draw.choose((4, 5))
    local = scratch(hand, {"t": kind}, 3 if padded else 2)
    at = (lambda text: f"PAD({text})") if padded else (lambda text: text)
    macro = f"#define PAD(i) ((i) + ((i) >> {shift}))\n" if padded else ""
    first, second = ("l", "l + size") if apart else ("2 * l", "2 * l + 1")
    index = "int" if hand.index == "int" else "uint"
    zero = literal(kind, 0)
    offset = draw.chance(0.7, "offset counts up")
    up_left, up_right = "step * (2 * l + 1) - 1", "step * (2 * l + 2) - 1"
    up = f"t[{at(up_right)}] += t[{at(up_left)}];"
    down = f"const {kind} kept = t[{at(up_left)}];\nt[{at(up_left)}] = t[{at(up_right)}];\nt[{at(up_right)}] += kept;"
    if offset:
        climb = f"{index} step = 1;\nfor ({index} d = size; d > 0; d >>= 1) {{\n{FENCE}\n"
        climb += f"if (l < d) {{\n{up}\n}}\nstep *= 2;\n}}"
        descend = f"for ({index} d = 1; d < 2 * size; d *= 2) {{\nstep >>= 1;\n{FENCE}\nif (l < d) {{\n{down}\n}}\n}}"
    else:
        climb = f"for ({index} step = 1; step <= size; step *= 2) {{\n{FENCE}\nif (l < size / step) {{\n{up}\n}}\n}}"
        descend = f"for ({index} step = size; step > 0; step /= 2) {{\n{FENCE}\nif (l < size / step) {{\n{down}\n}}\n}}"
    top = at("2 * size - 1")
    keep = f"sums[block] = t[{top}];\n" if sums else ""
    add = [f" + {mapped(f'x[from + {e}]')}" if inclusive else "" for e in (first, second)]
    body = f"""
    const {index} from = block * 2 * size;
    t[{at(first)}] = from + {first} < n ? {mapped(f"x[from + {first}]")} : {zero};
    t[{at(second)}] = from + {second} < n ? {mapped(f"x[from + {second}]")} : {zero};
    {climb}
    {FENCE}
    if (l == 0) {{
        {keep}t[{top}] = {zero};
    }}
    {descend}
    {FENCE}
    if (from + {first} < n) {{
        out[from + {first}] = t[{at(first)}]{add[0]};
    }}
    if (from + {second} < n) {{
        out[from + {second}] = t[{at(second)}]{add[1]};
    }}"""
    if grid:
        loop = f"for ({index} block = get_group_id(0); block * 2 * size < n; block += get_num_groups(0)) {{\n"
        body = f"{loop}{body}\n{FENCE}\n}}"
    else:
        body = f"const {index} block = get_group_id(0);\n{body}"
    parameters = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.writes(kind, "sums")] * sums)]
    head = hand.signature("scan_sweeps", [*parameters, *local.parameters, f"{index} n"], local.required)
    source = f"""{macro}{head}
{{
    {local.declarations}
    const {index} l = get_local_id(0);
    const {index} size = get_local_size(0);
    {body}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish, 4 * each)
        n = affordable(wish.data, 2 * each)
        blocks = -(-n // (2 * size.group)) if grid else size.groups
        lengths = {"x": slack(draw, n), "out": n} | ({"sums": blocks} if sums else {})
        operations = blocks * size.group * (24 + size.group.bit_length() * 10)
        return sized(size, operations, lengths, {"n": n}, None, local.bytes(size))

    return Draft(lay_out(source), "scan_sweeps", launch)


@family("scan_shares", group="scans")
def scan_shares(draw: Draw) -> Draft:
    """Each item scans a block, a row or a column of its own and carries the total along; several carries or resets."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    op = operator(hand, kind, OPERATORS)
    layout = draw.choose(("rows", "columns"), "layout")
    exclusive, backwards = draw.chance(0.4, "exclusive"), draw.chance(0.2, "backwards")
    segments = draw.choose(("none", "none", "flags", "zeros"), "segments")
    offsets, keeps = draw.chance(0.35, "offsets"), draw.chance(0.35, "totals")
    decay = draw.chance(0.2, "decay") and kind in ("float", "double") and op.name == "sum"
    k = "(length - 1 - k)" if backwards else "k"
    at = f"i * length + {k}" if layout == "rows" else f"{k} * count + i"
    reset = {
        "none": "",
        "flags": f"if (flags[{at}]) {{\ncarry = {op.identity};\n}}\n",
        "zeros": f"if (x[{at}] {'<' if kind in ('float', 'double') else '=='} {literal(kind, 0.6)}) {{\n"
        f"carry = {op.identity};\n}}\n",
    }[segments if not (segments == "zeros" and kind == "float2") else "none"]
    draw.choices["segments"] = "flags" if "flags" in reset else "zeros" if reset else "none"
    has_flags = "flags" in reset
    value = op.mapped(f"x[{at}]")
    shrink = f"carry *= {literal(kind, draw.choose((0.5, 0.9, 0.99)))};\n" if decay else ""
    store = f"out[{at}] = carry;"
    step = f"const {op.total} v = {value};\n{reset}{shrink}"
    step += f"{store}\n{op.join('carry', 'v')}" if exclusive else f"{op.join('carry', 'v')}\n{store}"
    start = "offsets[i]" if offsets else op.identity
    loop = f"for ({hand.index} k = 0; k < length; {draw.choose(('++k', 'k++', 'k += 1'))}) {{\n{step}\n}}"
    total = "\ntotals[i] = carry;" if keeps else ""
    cover = hand.cover("i", "count", lambda _: f"{op.total} carry = {start};\n{loop}{total}")
    parameters = [hand.reads(kind, "x"), hand.writes(op.total, "out"), *([hand.reads("uchar", "flags")] * has_flags)]
    parameters += [hand.reads(op.total, "offsets")] * offsets + [hand.writes(op.total, "totals")] * keeps
    head = hand.signature("scan_shares", [*parameters, *hand.counts("count", "length")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) + bytes_of(op.total) + has_flags
        size = line(wish, each * 2)
        n = affordable(wish.data, each * 2)
        length = draw.log_integer(1, min(n, 16384))
        (count,) = cover.fit(size, max(1, n // length))
        length = max(1, min(length, affordable(1 << 25, each * count, 120_000_000)))
        lengths = {"x": count * length, "out": count * length} | ({"flags": count * length} if has_flags else {})
        lengths |= ({"offsets": count} if offsets else {}) | ({"totals": count} if keeps else {})
        fills = {"flags": Fill("skewed", (0, draw.choose((2, 8, 40))))} if has_flags else {}
        operations = cover.done(size, (count,)) * (length * (6 + op.cost) + 6) + size.items
        return sized(size, operations, lengths, {"count": count, "length": length}, fills)

    return Draft(lay_out(f"{op.declarations}\n{head}\n{{\n{cover.text}\n}}"), "scan_shares", launch)


@family("scan_add_offsets", group="scans")
def scan_add_offsets(draw: Draw) -> Draft:
    """Generate the last part of a scan of several launches.

    Each block's offset is looked up, or added up again, and added.
    """
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    find = draw.choose(("looked up", "added up", "shared"), "offset")
    unit = draw.choose(("group", "argument", "shift"), "block")
    several = draw.choose((1, 1, 2, 4), "elements an item")
    mapped = hand.mapping(kind, 0.2)
    in_place = draw.chance(0.4, "in place")
    index = "int" if hand.index == "int" else "uint"
    block = {"group": "get_group_id(0)", "argument": "i / block", "shift": "(i >> block)"}[unit]
    if find == "shared":
        block = "get_group_id(0)"
    to, old = ("x", f"{literal(kind, 0 if 'int' in kind or kind == 'long' else 0.5)} * x") if in_place else ("out", "x")
    get = {"looked up": "offsets[b]", "added up": "offset", "shared": "offset"}[find]
    add = f"if (b < blocks) {{\n{to}[i] = {mapped(f'{old}[i]') if not in_place else f'{old}[i]'} + {get};\n}}"
    if find == "added up":
        walk = f"for ({index} p = 0; p < min(b, ({index})16); ++p) {{\noffset += offsets[b - p];\n}}"
        start = f"{kind} offset = {literal(kind, 0)};"
        add = add.replace("if (b < blocks) {\n", f"if (b < blocks) {{\n{start}\n{walk}\n", 1)
    each_at = "i = get_global_id(0) + r * get_global_size(0)"
    if find == "shared":
        each_at = f"i = get_group_id(0) * get_local_size(0) * {several} + r * get_local_size(0) + get_local_id(0)"
    body = f"const {index} {each_at};\nif (i < n) {{\nconst {index} b = {block};\n{add}\n}}"
    once = body.replace(" + r * get_global_size(0)", "").replace(" * 1 + r * get_local_size(0)", "")
    text = f"for (int r = 0; r < {several}; ++r) {{\n{body}\n}}" if several > 1 else once
    if find == "shared":
        read = "common = offsets[min((int)get_group_id(0), (int)blocks - 1)];"
        share = f"__local {kind} common;\nif (get_local_id(0) == 0) {{\n{read}\n}}"
        text = f"{share}\n{FENCE}\nconst {kind} offset = common;\n{text}"
    parameters = [hand.writes(kind, "x") if in_place else hand.reads(kind, "x"), hand.reads(kind, "offsets")]
    parameters += [] if in_place else [hand.writes(kind, "out")]
    uses_block = unit != "group" and find != "shared"
    counts = [f"{index} n", f"{index} blocks", *([f"{index} block"] * uses_block)]
    head = hand.signature("add_offsets", [*parameters, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 1, barriers=find == "shared" or (unit == "group"))
        n = affordable(wish.data, 2.2 * each)
        shift = draw.integer(0, 12)
        block = {"shift": 1 << shift, "argument": draw.log_integer(1, 5000)}.get(unit, size.group)
        blocks = max(1, min(-(-n // block), affordable(n, 8)))
        scalars = {"n": n, "blocks": blocks}
        scalars |= {"block": shift if unit == "shift" else block} if uses_block else {}
        lengths = {"x": n, "offsets": blocks} | ({} if in_place else {"out": slack(draw, n)})
        done = min(n, size.items * several)
        return sized(size, done * (8 + (40 if find == "added up" else 0)) + size.items * 6, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "add_offsets", launch)
