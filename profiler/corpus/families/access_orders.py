"""In which order memory is touched: chains of links, computed orders, tables that map values."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.families.access import TYPES, finished
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, Values, Words, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.walk import walk


@family("pointer_chasing", group="access")
def pointer_chasing(draw: Draw) -> Draft:
    """Each work-item follows links for so many hops: one chain or several, with or without work on the way."""
    habits = hand(draw)
    index_type = draw.choose(("int", "uint"), "index_element")
    type_ = draw.weighted({"float": 3.0, "int": 2.0, "double": 1.0, "none": 2.0}, "payload")
    hops = draw.log_integer(2, 128)
    form = draw.choose(("argument", "literal", "until", "macro"), "hops")
    chains = draw.weighted({1: 4.0, 2: 1.0, 4: 0.5}, "chains")
    wrap = draw.choose(("filled", "masked"), "bounded")
    nodes = 1 << draw.integer(4, 20)
    entry = draw.choose((f"i & {nodes - 1}", f"(i * 7) & {nodes - 1}", f"(uint)i % {nodes}u"))
    before = f"#define HOPS {hops}\n" if form == "macro" else ""
    values = [Value("hops", "int", lambda d: d.log_integer(1, 300))] if form == "argument" else []
    end = {"argument": "hops", "macro": "HOPS"}.get(form, str(hops))
    lines = [f"{index_type} p{k} = ({entry}) ^ {k};" if k else f"{index_type} p0 = {entry};" for k in range(chains)]
    step, cells = [], [f"p{k}" for k in range(chains)]
    if type_ != "none":
        lines.append(f"{type_} sum = {literal(type_, 0)};")
        half = f"{literal(type_, 0.5)} * sum" if type_ != "int" else "(sum >> 1)"
        step += [f"sum = {half} + data[{p}];" for p in cells]
    follow = "next[{p}]" if wrap == "filled" else f"next[{{p}}] & {nodes - 1}"
    step += [f"{p} = {follow.format(p=p)};" for p in cells]
    if form == "until":
        step.append(f"if (p0 {draw.choose(('==', '<'))} {draw.choose((0, 1, 5))}) break;")
    inner = "\n    ".join(step)
    loop = draw.choose(("for", "while"))
    if loop == "for":
        lines.append(f"for (int h = 0; h < {end}; {draw.choose(('h++', '++h'))}) {{\n    {inner}\n}}")
    else:
        lines.append(f"int h = {end};\nwhile (h-- > 0) {{\n    {inner}\n}}")
    result = "sum" if type_ != "none" else " + ".join(cells)
    lines.append(f"out[i] = {result};")
    fill: Words = draw.choose((("perm",), ("randint", 0, nodes), ("clustered", 0, nodes, 8)))
    arrays = [Array("next", index_type, length=lambda s, g: nodes, fill=fill)]
    if type_ != "none":
        arrays.append(Array("data", type_, length=lambda s, g: nodes))
    arrays.append(Array("out", index_type if type_ == "none" else type_, True))

    def operations(given: Values) -> float:
        return 4.0 * chains * float(given.get("hops", hops)) + 3

    return line_draft(draw, habits, Elements("follow_links", arrays, "\n".join(lines), values, operations, before))


@family("reordered_access", group="access")
def reordered_access(draw: Draw) -> Draft:
    """Reversed, bit-reversed, wrapped, rotated, shuffled in blocks: the other end's index is computed."""
    habits = hand(draw)
    type_ = draw.weighted(TYPES, "type")
    bits = draw.integer(4, 20)
    size = 1 << bits
    block = draw.choose((2, 4, 8, 16, 32, 64, 128))
    odd = draw.choose((3, 5, 7, 11, 101, 997))
    orders = {
        "reversed": "n - 1 - i",
        "bit_reversed": "rev",
        "wrapped": f"i % {draw.choose((7, 10, 100, 1000, 12345))}",
        "masked": f"i & {size - 1}",
        "rotated": "(i + shift) % n",
        "rotated_branch": "p",
        "block_reversed": f"(i / {block}) * {block} + ({block - 1} - i % {block})",
        "block_swapped": f"i ^ {block}",
        "odd_even": "p",
        "multiplied": f"(uint)i * {odd}u % (uint)n",
        "grey": f"(i ^ (i >> 1)) & {size - 1}",
        "morton": "m",
    }
    order = draw.choose(tuple(orders), "order")
    place, lines, values = orders[order], [], []
    small = order in ("bit_reversed", "masked", "grey", "morton")
    match order:
        case "bit_reversed":
            form = draw.choose(("loop", "swaps"))
            if form == "loop":
                step = "rev = (rev << 1) | (v & 1);\n    v >>= 1;"
                lines.append(f"uint v = i & {size - 1}, rev = 0;\nfor (int b = 0; b < {bits}; b++) {{\n    {step}\n}}")
            else:
                swaps = (("0x55555555u", 1), ("0x33333333u", 2), ("0x0f0f0f0fu", 4), ("0x00ff00ffu", 8))
                lines.append("uint rev = i;")
                lines += [f"rev = ((rev >> {b}) & {m}) | ((rev & {m}) << {b});" for m, b in swaps]
                lines.append(f"rev = ((rev >> 16) | (rev << 16)) >> {32 - bits};")
        case "rotated" | "rotated_branch":
            values.append(Value("shift", "int", lambda d: d.log_integer(1, 1 << 16)))
            if order == "rotated_branch":
                lines.append("int p = i + shift % n;\nif (p >= n) {\n    p -= n;\n}")
        case "odd_even":
            lines.append("int p = 2 * (int)i;\nif (p >= (int)n) {\n    p = 2 * ((int)i - ((int)n + 1) / 2) + 1;\n}")
            lines.append("p = min(p, (int)n - 1);")
        case "morton":
            half = bits // 2
            lines.append(f"uint a = i & {(1 << half) - 1}, c = (i >> {half}) & {(1 << half) - 1}, m = 0;")
            lines.append(f"for (int b = 0; b < {half}; b++) {{\n    m |= ((a >> b) & 1) << (2 * b);")
            lines.append("    m |= ((c >> b) & 1) << (2 * b + 1);\n}")
    side = draw.choose(("read", "write" if order in ("reversed", "rotated", "block_reversed") else "read"), "side")

    def length(shape: tuple[int, ...], given: Values) -> int:
        return size if small else shape[0] + 20000 if order == "wrapped" else shape[0] + 2 * block

    type_in = Array("src", type_, length=length)
    if side == "read":
        lines.append(f"dst[i] = {finished(draw, f'src[{place}]', type_)};")
        arrays = [type_in, Array("dst", type_, True)]
    else:
        lines.append(f"dst[{place}] = {finished(draw, 'src[i]', type_)};")
        arrays = [Array("src", type_), Array("dst", type_, True, length=length)]
    if draw.chance(0.3, "second_input"):
        arrays.append(Array("w", type_))
        left, right = lines[-1].rstrip(";").split(" = ", 1)
        lines[-1] = f"{left} = {expression(draw, [right, 'w[i]'], type_, 1)};"
    arrays = [Array(a.name, a.type, a.is_written, 1 if small or not a.length else 2, a.length) for a in arrays]
    needs_n = "n" in place or order in ("rotated_branch", "odd_even")
    way = walk(draw, habits, exact=not needs_n)
    return line_draft(draw, habits, Elements(f"{order}_order", arrays, "\n".join(lines), values), way)


@family("lookup_tables", group="access")
def lookup_tables(draw: Draw) -> Draft:
    """Values are mapped through a table: in constant, global or local memory, or written into the program."""
    habits = hand(draw)
    key = draw.choose(("uchar", "uchar", "ushort", "int", "uint", "float"), "key")
    type_ = draw.weighted({"float": 3.0, "uchar": 2.0, "int": 2.0, "short": 1.0, "float4": 0.7, "uint": 1.0}, "type")
    size = 1 << draw.weighted({4: 1.0, 5: 1.0, 6: 1.0, 8: 4.0, 10: 1.0, 12: 0.6}, "bits")
    where = draw.choose(("constant_argument", "global", "program", "private", "packed"), "where")
    if where in ("program", "private", "packed"):
        size = min(size, 64 if where == "program" else 16)
        type_ = "uint" if where == "packed" else {"float4": "float"}.get(type_, type_)
    before, inside, arrays = "", "", [Array("keys", key)]
    if key == "float":
        arrays = [Array("keys", key, fill=("uniform", 0.0, 1.0))]
    numbers = [literal(type_, draw.integer(0, 200) / (1 if type_[0] != "f" else 64)) for _ in range(min(size, 64))]
    listed = "{" + ", ".join(numbers) + "}"
    match where:
        case "constant_argument":
            arrays.append(Array("table", type_, length=lambda s, g: size, space=f"{habits.fixed}"))
        case "global":
            arrays.append(Array("table", type_, length=lambda s, g: size))
        case "program":
            before = f"{habits.fixed} {type_} table[{size}] = {listed};\n"
        case "private":
            inside = f"{draw.choose(('', 'const '))}{type_} table[{size}] = {listed};"
    steps = draw.weighted({1: 4.0, 2: 1.5, 3: 0.7}, "look_ups")
    at = f"(int)(keys[i] * {float(size - 1)}f)" if key == "float" else f"keys[i] & {size - 1}"
    lines = [f"{draw.choose(('int', 'uint'))} k = {at};"]
    if where == "packed":
        # Sixteen values of two bits each in one word.
        lines.append(f"uint v = (0x{draw.integer(1 << 30, (1 << 32) - 1):x}u >> (2 * (k & 15))) & 3u;")
    elif draw.chance(0.3, "interpolated") and type_ == "float":
        lines.append(f"float f = {draw.choose(('0.25f', '0.5f'))};")
        lines.append(f"float v = mix(table[k], table[min((int)k + 1, {size - 1})], f);")
    else:
        lines.append(f"{type_} v = table[k];")
    more = range(1, steps if where != "packed" else 1)
    lines += [f"v = {expression(draw, ['v', f'table[(k + {s * 3}) & {size - 1}]'], type_, 1)};" for s in more]
    lines.append(f"out[i] = {finished(draw, 'v', type_)};")
    arrays.append(Array("out", type_, True))
    return line_draft(draw, habits, Elements("look_up", arrays, "\n".join(lines), (), None, before, inside))
