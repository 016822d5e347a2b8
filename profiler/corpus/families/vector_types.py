"""OpenCL's vectors: arithmetic, picking and shuffling of components, sums over them."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression, statements
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.walk import walk

WIDTHS = {"2": 1.5, "4": 4.0, "8": 1.5, "16": 1.0}
BASES = {"float": 5.0, "int": 1.5, "double": 1.0, "uint": 0.8, "short": 0.7, "uchar": 0.7, "ushort": 0.4, "char": 0.3}


@family("vector_arithmetic", group="vector_types")
def vector_arithmetic(draw: Draw) -> Draft:
    """Whole vectors through chains of operations, with scalars mixed in."""
    habits = hand(draw)
    base = draw.weighted(BASES, "type")
    type_ = base + draw.weighted(WIDTHS, "width")
    inputs = [f"a{k}" for k in range(draw.integer(1, 3))]
    values = []
    lines = [f"{type_} v{k} = {a}[i];" for k, a in enumerate(inputs)]
    known = [f"v{k}" for k in range(len(inputs))]
    if draw.chance(0.4, "scalar") and base in ("float", "double", "int"):
        values.append(Value("s", base, lambda d: d.integer(1, 3)))
        lines.append(f"{type_} w = {draw.choose((f'({type_})(s)', 'v0 * s', 'v0 + s'))};")
        known.append("w")
    if draw.chance(0.3, "vector_argument"):
        lines.append(f"const {type_} c = {literal(type_, 2)};")
        known.append("c")
    more, temporaries = statements(draw, known, type_, draw.weighted({0: 1.0, 1: 2.0, 3: 2.0, 6: 1.0, 12: 0.4}), 3)
    lines += more
    if draw.chance(0.3, "compound"):
        name = (temporaries or known)[-1]
        if name != "c":
            lines += [
                f"{name} {draw.choose(('+=', '-=', '*='))} {literal(type_, 1)};" for _ in range(draw.integer(1, 3))
            ]
            lines.append(f"{name} = {expression(draw, [name], type_, 1)};")
            if base in ("float", "double"):
                lines.append(f"{name} = clamp({name}, {literal(base, -4)}, {literal(base, 4)});")
    result = expression(draw, [*temporaries[-2:], *known], type_, draw.integer(1, 3))
    lines.append(f"b[i] = {result};")
    arrays = [*(Array(a, type_) for a in inputs), Array("b", type_, True)]
    return line_draft(draw, habits, Elements("vector_chain", arrays, "\n".join(lines), values))


def pick(draw: Draw, width: int, count: int) -> str:
    """So many components of a vector, in any order."""
    if width <= 4 and draw.chance(0.6):
        return "".join(draw.choose("xyzw"[:width]) for _ in range(count))
    if width == 2 * count and count > 1 and draw.chance(0.6):
        return draw.choose(("lo", "hi", "even", "odd"))
    return "s" + "".join(f"{draw.integer(0, width - 1):x}" for _ in range(count))


@family("component_shuffles", group="vector_types")
def component_shuffles(draw: Draw) -> Draft:
    """Components are picked, swapped, put together anew, shuffled by a mask; widths change."""
    habits = hand(draw)
    base = draw.weighted(BASES, "type")
    width = int(draw.choose(("4", "4", "8", "16", "2"), "width"))
    other = draw.choose([w for w in (2, 4, 8, 16) if w <= width * 2 and w >= width // 2], "result_width")
    one, two = f"{base}{width}", f"{base}{other}"
    lines = [f"{one} v = a[i];"]
    arrays = [Array("a", one)]
    if draw.chance(0.5, "second_input"):
        lines.append(f"{one} w = c[i];")
        arrays.append(Array("c", one))
    sources = [line.split()[1] for line in lines]
    for _ in range(draw.integer(0, 3)):
        kind = draw.choose(("swizzle", "assign", "shuffle", "rotate", "arithmetic"))
        name = draw.choose(sources)
        if kind == "swizzle":
            lines.append(f"{name} = {draw.choose(sources)}.{pick(draw, width, width)};")
        elif kind == "assign":
            cell = f"s{draw.integer(0, width - 1):x}"
            lines.append(f"{name}.{cell} = {draw.choose(sources)}.s{draw.integer(0, width - 1):x};")
        elif kind == "shuffle":
            unsigned = {"float": "uint", "int": "uint", "uint": "uint", "double": "ulong"}.get(base)
            mask = unsigned or ("ushort" if "short" in base else "uchar")
            listed = ", ".join(str(draw.integer(0, width - 1)) for _ in range(width))
            lines.append(f"{name} = shuffle({draw.choose(sources)}, ({mask}{width})({listed}));")
        elif kind == "rotate":
            listed = ", ".join(f"{name}.s{(j + 1) % width:x}" for j in range(width))
            lines.append(f"{name} = ({one})({listed});")
        else:
            lines.append(f"{name} = {expression(draw, sources, one, 2)};")
    parts = []
    left = other
    while left:
        size = draw.choose([s for s in (1, 2, 4, 8) if s <= left and s <= width])
        source = draw.choose(sources)
        if size == 1 and draw.chance(0.2):
            parts.append(literal(base, draw.integer(0, 3)))
        else:
            parts.append(
                f"{source}.s{draw.integer(0, width - 1):x}" if size == 1 else f"{source}.{pick(draw, width, size)}"
            )
        left -= size
    lines.append(f"{two} r = ({two})({', '.join(parts)});")
    lines.append(f"b[i] = {draw.choose(('r', expression(draw, ['r'], two, 2)))};")
    arrays.append(Array("b", two, True))
    return line_draft(draw, habits, Elements("rearrange", arrays, "\n".join(lines)))


@family("horizontal_vector_sums", group="vector_types")
def horizontal_vector_sums(draw: Draw) -> Draft:
    """Each item brings the components of one or several vectors down to one value: sums, extremes, bits."""
    habits = hand(draw)
    base = draw.weighted({"float": 4.0, "int": 2.0, "double": 1.0, "uint": 1.0, "uchar": 0.7}, "type")
    width = draw.choose((2, 4, 8, 16), "width")
    type_ = f"{base}{width}"
    count = draw.choose((1, 1, 2, 4, 8), "vectors")
    is_real = base in ("float", "double")
    operator = draw.choose(("+", "max", "min", "+") if is_real else ("+", "^", "|", "&", "max", "min"), "operator")

    def join(a: str, b: str) -> str:
        if operator in ("max", "min"):
            return f"{'f' if is_real else ''}{operator}({a}, {b})"
        return f"{a} {operator} {b}"

    lines = []
    form = draw.choose(("loop", "unrolled", "strided"), "loads") if count > 1 else "one"
    match form:
        case "loop":
            lines.append(f"{type_} v = a[i * {count}];")
            lines.append(f"for (int k = 1; k < {count}; k++) {{\n    v = {join('v', f'a[i * {count} + k]')};\n}}")
        case "strided":
            lines.append(f"{type_} v = a[i];\nfor (int k = 1; k < {count}; k++) {{")
            lines.append(f"    v = {join('v', 'a[i + k * n]')};\n}}")
        case "unrolled":
            lines += [f"{type_} v{k} = a[i * {count} + {k}];" for k in range(count)]
            total = "v0"
            for k in range(1, count):
                total = join(total, f"v{k}") if operator in ("max", "min") else f"({total} {operator} v{k})"
            lines.append(f"{type_} v = {total};")
        case _:
            lines.append(f"{type_} v = a[i];")
    if draw.chance(0.4, "changed"):
        lines.append(f"v = {expression(draw, ['v'], type_, 2)};")
    down = draw.choose(("halves", "components", "dot" if operator == "+" and is_real else "halves", "array"), "down")
    name, left = "v", width
    if down == "halves":
        pair = draw.choose((("lo", "hi"), ("even", "odd"), ("hi", "lo")))
        while left > 1:
            left //= 2
            lines.append(
                f"{base}{left if left > 1 else ''} h{left} = {join(f'{name}.{pair[0]}', f'{name}.{pair[1]}')};"
            )
            name = f"h{left}"
        result = name
    elif down == "dot":
        ones = [f"dot(v.{part}, (({base}4)({literal(base, 1)})))" for part in ("lo", "hi")]
        if width == 8:
            result = " + ".join(ones)
        else:
            parts = {2: ["v"], 4: ["v"], 16: ["v.lo.lo", "v.lo.hi", "v.hi.lo", "v.hi.hi"]}[width]
            size = 2 if width == 2 else 4
            result = " + ".join(f"dot({p}, ({base}{size})({literal(base, 1)}))" for p in parts)
    elif down == "array":
        lines.append(f"{base} e[{width}];\nvstore{width}(v, 0, e);\n{base} r = e[0];")
        lines.append(f"for (int k = 1; k < {width}; k++) r = {join('r', 'e[k]')};")
        result = "r"
    else:
        result = "v.s0"
        for k in range(1, width):
            result = join(result, f"v.s{k:x}")
    lines.append(f"out[i] = {result};")
    way = walk(draw, habits, exact=form != "strided")
    arrays = [Array("a", type_, per=count), Array("out", base, True)]
    text = "\n".join(lines)
    return line_draft(draw, habits, Elements("reduce_vectors", arrays, text, (), lambda _: 2.0 * count + 3), way)
