"""Arrays are streamed through once: copied, scaled, summed, interleaved; by elements, vectors or whole groups."""

from __future__ import annotations

from profiler.corpus.arrays import Array, Elements, Value, Values, line_draft, type_bytes
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression, statements
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.literals import literal, split_type
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.sizes import draft, fitting_local, sized, within_memory
from profiler.corpus.writing.walk import walk

SCALARS = {"float": 5.0, "double": 1.5, "int": 2.0, "uint": 1.0, "uchar": 0.7, "short": 0.6, "long": 0.6, "char": 0.4}
VECTORS = {"float4": 2.0, "float2": 1.0, "float8": 0.7, "int4": 1.0, "float16": 0.4, "double2": 0.5, "uchar16": 0.5}


@family("linear_combination", group="streaming")
def linear_combination(draw: Draw) -> Draft:
    """Copies, multiples and sums of arrays, with factors as arguments, literals or macros; out of place or in place."""
    habits = hand(draw)
    type_ = draw.weighted({**SCALARS, **VECTORS}, "type")
    scalar = split_type(type_)[0]
    terms = draw.weighted({1: 3.0, 2: 3.0, 3: 1.5, 4: 1.0, 6: 0.5}, "terms")
    factors, values, before, parts = [], [], "", []
    for k in range(terms):
        kind = draw.weighted({"none": 2.0, "argument": 2.0, "literal": 1.0, "macro": 0.5})
        if kind == "argument":
            is_real = scalar in ("float", "double")
            values.append(Value(f"c{k}", scalar, (lambda d: round(d.real(0.1, 0.9), 3)) if is_real else _small))
            factors.append(f"c{k}")
        elif kind == "literal":
            factors.append(literal(scalar, draw.choose((0.25, 0.5, 0.1)) if scalar in ("float", "double") else 3))
        elif kind == "macro":
            before += f"#define FACTOR{k} {literal(scalar, 0.5 if scalar in ('float', 'double') else 2)}\n"
            factors.append(f"FACTOR{k}")
        else:
            factors.append("")
        parts.append(f"{factors[-1]} * a{k}[i]" if factors[-1] else f"a{k}[i]")
    is_plain = split_type(type_)[1] == 1 and scalar in ("float", "double")
    form = draw.choose(("sum", "accumulated", "nested", "variables"), "form")
    lines = []
    if form == "accumulated":
        lines.append(f"{type_} s = {parts[0]};")
        lines += [f"s {draw.choose(('+=', '-=', '+='))} {p};" for p in parts[1:]]
        total = "s"
    elif form == "nested" and is_plain:
        total = parts[0]
        for k in range(1, terms):
            total = f"{draw.choose(('fma', 'mad'))}({factors[k] or literal(type_, 1)}, a{k}[i], {total})"
    elif form == "variables":
        lines += [f"{draw.choose(('', 'const '))}{type_} v{k} = {p};" for k, p in enumerate(parts)]
        total = " + ".join(f"v{k}" for k in range(terms))
    else:
        total = parts[0] + "".join(f" {draw.choose('+-+')} {p}" for p in parts[1:])
    target = draw.choose(("out", "out", "two", "in_place"), "target")
    arrays = [Array(f"a{k}", type_) for k in range(terms)]
    match target:
        case "in_place":
            is_real = scalar in ("float", "double")
            kept = f"{literal(scalar, 0.5)} * out[i]" if is_real else f"(out[i] >> {literal(type_, 1)})"
            lines.append(f"out[i] = {kept} + {total};")
        case "two":
            lines.append(f"out[i] = {total};\nout2[i] = {draw.choose(('a0[i]', total, f'a{terms - 1}[i] - a0[i]'))};")
            arrays.append(Array("out2", type_, True))
        case _:
            lines.append(f"out[i] = {total};")
    arrays.append(Array("out", type_, True))
    return line_draft(draw, habits, Elements("combine_linear", arrays, "\n".join(lines), values, before=before))


def _small(draw: Draw) -> int:
    return draw.integer(1, 5)


@family("vector_loads", group="streaming")
def vector_loads(draw: Draw) -> Draft:
    """`vloadn` and `vstoren` on arrays of scalars, or pointers cast to vectors; widths may change on the way."""
    habits = hand(draw)
    base = draw.weighted({"float": 4.0, "int": 1.5, "double": 1.0, "uchar": 1.0, "short": 0.7, "uint": 0.7}, "type")
    width = draw.choose((2, 3, 4, 4, 8, 16), "width")
    type_ = f"{base}{width}"
    way = draw.choose(("vload", "cast", "mixed"), "way") if width != 3 else "vload"
    inputs = [f"a{k}" for k in range(draw.weighted({1: 3.0, 2: 2.0, 3: 1.0}, "inputs"))]
    shift = draw.weighted({0: 4.0, 1: 1.0}, "unaligned") if way != "cast" else 0
    lines = []
    for k, name in enumerate(inputs):
        at = f"{name} + {shift}" if shift else name
        cast = f"*(({habits.space} {'const ' if habits.const else ''}{type_} *){name} + i)"
        if draw.chance(0.3):
            cast = f"(({habits.space} {'const ' if habits.const else ''}{type_} *){name})[i]"
        lines.append(f"{type_} v{k} = {f'vload{width}(i, {at})' if way != 'cast' else cast};")
    names = [f"v{k}" for k in range(len(inputs))]
    more, temporaries = statements(draw, names, type_, draw.integer(0, 3))
    lines += more
    known = [*temporaries, *names][: draw.integer(1, 4)]
    value = expression(draw, known, type_, draw.integer(0, 3))
    stores = ("same", "halves", "lanes", "one") if width != 3 else ("same", "lanes", "one")
    store = draw.choose(stores, "store")
    arrays = [Array(name, base, per=width) for name in inputs]
    halfway = {2: "", 4: "2", 8: "4", 16: "8"}.get(width, "")
    if store == "same":
        plain = f"*(({habits.space} {type_} *)b + i) = {value};"
        lines.append(plain if way == "cast" else f"vstore{width}({value}, i, b);")
    else:
        lines.append(f"{type_} r = {value};")
    if store == "halves":
        if halfway:
            lines.append(f"vstore{halfway}(r.lo, 2 * i, b);\nvstore{halfway}(r.hi, 2 * i + 1, b);")
        else:
            lines.append("b[2 * i] = r.lo;\nb[2 * i + 1] = r.hi;")
    elif store == "lanes":
        lanes = draw.shuffled(range(width)) if draw.chance(0.3) else list(range(width))
        lines += [f"b[{width} * i + {k}] = r.s{lane:x};" for k, lane in enumerate(lanes)]
    elif store == "one":
        picked = draw.sample(range(width), draw.integer(1, min(width, 4)))
        sign = draw.choose((" + ", " - "))
        lines.append(f"b[i] = {sign.join(f'r.s{p:x}' for p in picked)};")
    arrays.append(Array("b", base, True, per=1 if store == "one" else width))
    if shift:

        def longer(shape: tuple[int, ...], given: Values) -> int:
            return shape[0] * width + 1

        arrays = [Array(a.name, a.type, a.is_written, a.per, None if a.is_written else longer) for a in arrays]
    return line_draft(draw, habits, Elements(f"stream_{base}{width}", arrays, "\n".join(lines)))


@family("group_copies", group="streaming")
def group_copies(draw: Draw) -> Draft:
    """A group fetches a block to local memory with `async_work_group_copy`, works on it, sends it back."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "float4": 1.0, "int": 1.5, "uint": 1.0, "double": 1.0, "int4": 0.5}, "type")
    per = draw.choose((1, 1, 2, 4), "per_item")
    fixed = draw.choose((0, 32, 64, 128, 256), "fixed_group")
    inputs = [f"a{k}" for k in range(draw.weighted({1: 3.0, 2: 1.5}, "inputs"))]
    size = str(fixed) if fixed else "get_local_size(0)"
    block = f"{size} * {per}" if per > 1 else size
    back = draw.choose(("async", "direct"), "back")
    events = draw.choose(("one", "each"), "events") if len(inputs) > 1 else "one"
    fetch = draw.choose(("async", "async", "strided"), "fetch")
    loop = draw.chance(0.35, "several_blocks")
    cells = ["near0"] + [f"near{k}" for k in range(1, len(inputs))]
    lines = []
    base = "base"
    for k, name in enumerate(inputs):
        event = "e" if events == "one" else f"e{k}"
        first = "0" if k == 0 or events == "each" else "e"
        start = f"event_t {event} = " if first == "0" else f"{event} = "
        if fetch == "strided":
            call = f"async_work_group_strided_copy({cells[k]}, {name} + {base} * 2, (size_t)({block}), 2, {first})"
        else:
            call = f"async_work_group_copy({cells[k]}, {name} + {base}, (size_t)({block}), {first})"
        lines.append(f"{start}{call};")
    if events == "one":
        lines.append("wait_group_events(1, &e);")
    else:
        lines += [f"wait_group_events(1, &e{k});" for k in range(len(inputs))]
    target = "near0" if back == "async" else None
    step = "l + k * (int)get_local_size(0)" if draw.chance(0.5) else f"l * {per} + k"
    index = "l" if per == 1 else step
    value = expression(draw, [f"{c}[p]" for c in cells], type_, draw.integer(1, 4))
    work = f"int p = {index};\n" + (f"{target}[p] = {value};" if target else f"out[{base} + p] = {value};")
    lines.append(f"for (int k = 0; k < {per}; k++) {{\n{work}\n}}" if per > 1 else work)
    if target:
        lines.append("barrier(CLK_LOCAL_MEM_FENCE);")
        lines.append(f"event_t done = async_work_group_copy(out + {base}, near0, (size_t)({block}), 0);")
        lines.append("wait_group_events(1, &done);")
    head = ["int l = get_local_id(0);"]
    declared = []
    if fixed:
        head += [f"{habits.near} {type_} {c}[{fixed * per}];" for c in cells]
    else:
        declared = [habits.shares(type_, c) for c in cells]
    if loop:
        inner = "\n".join(lines)
        head.append("for (int g = get_group_id(0); g < blocks; g += get_num_groups(0)) {")
        head.append(f"size_t base = (size_t)g * {block};")
        head.append(f"{inner}\nbarrier(CLK_LOCAL_MEM_FENCE);\n}}")
    else:
        head += [f"size_t base = get_group_id(0) * ({block});", *lines]
    body = "\n".join(head)
    wide = 2 if fetch == "strided" else 1
    bytes_ = type_bytes(type_) * (len(inputs) * wide + 1)
    parameters = [habits.takes(type_, a) for a in inputs] + [habits.gives(type_, "out"), *declared, "int blocks"]
    attribute = f"__attribute__((reqd_work_group_size({fixed}, 1, 1)))" if fixed and draw.chance(0.6) else ""
    each = len(body) / 25

    def launch(draw: Draw, wish: Wish) -> Sized:
        local = fixed or fitting_local(wish, least=1, most=256)
        most = within_memory(1 << 24, bytes_ * per)
        groups = max(1, min(wish.items, most) // local)
        blocks = max(1, within_memory(wish.data, bytes_) // (local * per)) if loop else groups
        count = blocks * local * per
        buffers = {**dict.fromkeys(inputs, count * wide), "out": count}
        near = dict.fromkeys(cells, local * per * type_bytes(type_)) if not fixed else {}
        return sized(groups * local, local, each * count, buffers, {"blocks": blocks}, local_bytes=near)

    return draft(habits, "block_copy", parameters, body, launch, attribute=attribute)


@family("interleaved_streams", group="streaming")
def interleaved_streams(draw: Draw) -> Draft:
    """Channels are put together or taken apart: k arrays to one of k-tuples, and back."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "uchar": 2.0, "int": 1.0, "short": 1.0, "double": 0.7, "ushort": 0.6}, "type")
    channels = draw.choose((2, 3, 4, 5, 6, 8), "channels")
    way = draw.choose(("join", "split", "reorder", "drop", "pad", "planar"), "way")
    others = [f"c{k}" for k in range(channels)]
    arrays, lines = [], []
    cells = [f"mixed[i * {channels} + {k}]" for k in range(channels)]
    base = draw.chance(0.4, "pointer")
    if base:
        cells = [f"m[{k}]" for k in range(channels)]

    def pointer(is_read: bool, name: str, width: int) -> list[str]:
        const = "const " if is_read and habits.const else ""
        return [f"{habits.space} {const}{type_} *{name[0]} = {name} + i * {width};"] if base else []

    def kept(value: str) -> str:
        return value if draw.chance(0.6) else expression(draw, [value], type_, 1)

    match way:
        case "join" | "pad":
            lines += pointer(False, "mixed", channels)
            last = channels - 1 if way == "pad" else channels
            lines += [f"{c} = {kept(f'{o}[i]')};" for c, o in zip(cells[:last], others, strict=False)]
            lines += [f"{c} = {literal(type_, 1)};" for c in cells[last:]]
            arrays += [Array(o, type_) for o in others[:last]]
            arrays.append(Array("mixed", type_, True, per=channels))
        case "split" | "drop":
            lines += pointer(True, "mixed", channels)
            last = draw.integer(1, channels - 1) if way == "drop" else channels
            lines += [f"{o}[i] = {kept(c)};" for c, o in zip(cells[:last], others, strict=False)]
            arrays += [Array(o, type_, True) for o in others[:last]]
            arrays.append(Array("mixed", type_, per=channels))
        case "planar":
            cells = [f"planes[i + {k} * n]" if k else "planes[i]" for k in range(channels)]
            read = draw.chance(0.5)
            mixed = [f"mixed[i * {channels} + {k}]" for k in range(channels)]
            pairs = zip(mixed, cells, strict=True)
            lines += [f"{m} = {kept(c)};" if read else f"{c} = {kept(m)};" for m, c in pairs]
            arrays += [Array("planes", type_, not read, per=channels), Array("mixed", type_, read, per=channels)]
        case _:
            lines += pointer(True, "mixed", channels)
            order = draw.shuffled(range(channels))
            lines += [f"out[i * {channels} + {k}] = {kept(cells[o])};" for k, o in enumerate(order)]
            arrays += [Array("mixed", type_, per=channels), Array("out", type_, True, per=channels)]
    text = "\n".join(lines)
    return line_draft(
        draw, habits, Elements(f"{way}_channels", arrays, text), walk(draw, habits, exact=way != "planar")
    )


@family("running_streams", group="streaming")
def running_streams(draw: Draw) -> Draft:
    """State that is kept in place between launches: moving averages, extremes, differences."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "double": 1.0, "float4": 1.0, "float2": 0.5}, "type")
    scalar = split_type(type_)[0]
    share = literal(scalar, draw.choose((0.5, 0.25, 0.1)))
    vector = type_ != scalar
    updates = {
        "average": f"avg[i] = mix(avg[i], v, {literal(type_, 0.25)});",
        "average_spelled": f"avg[i] += {share} * (v - avg[i]);",
        "extremes": "low[i] = fmin(low[i], v);\nhigh[i] = fmax(high[i], v);",
        "history": "old2[i] = old1[i];\nold1[i] = v;",
        "variance": f"{type_} d = v - avg[i];\navg[i] += {share} * d;\nvar[i] += {share} * (d * d - var[i] + {share});",
        "decay": f"peak[i] = fmax(v, {literal(scalar, 0.9)} * peak[i]);",
        "difference": "out[i] = v - last[i];\nlast[i] = v;",
        "swap": f"{type_} t = last[i];\nlast[i] = v;\nout[i] = t;",
        "filter": f"{type_} y = {share} * v + {share} * last[i];\nlast[i] = y;\nout[i] = {share} * (y + v);",
    }
    chosen = draw.sample(tuple(updates), draw.weighted({1: 3.0, 2: 2.0}, "updates"))
    if {"average", "average_spelled"} <= set(chosen) or ("difference" in chosen and "swap" in chosen):
        chosen = chosen[:1]
    draw.choices["update"] = " ".join(chosen)
    inputs = [f"in{k}" for k in range(draw.integer(1, 3))]
    v = expression(draw, [f"{a}[i]" for a in inputs], type_, draw.integer(0, 3))
    lines = [f"{type_} v = {v};"]
    if draw.chance(0.25, "guarded") and not vector:
        lines.append(f"if (v > {literal(type_, 0.2)}) {{")
    lines += [f"{{\n{updates[c]}\n}}" if len(chosen) > 1 else updates[c] for c in chosen]
    if any(line.startswith("if (v") for line in lines):
        lines.append("}")
    text = "\n".join(lines)
    kept = [n for n in ("avg", "low", "high", "old1", "old2", "var", "peak", "out", "last") if f"{n}[" in text]
    arrays = [*(Array(a, type_) for a in inputs), *(Array(k, type_, True) for k in kept)]
    return line_draft(draw, habits, Elements(f"track_{chosen[0]}", arrays, text))


@family("structure_streams", group="streaming")
def structure_streams(draw: Draw) -> Draft:
    """Arrays of structures: some members read, some written, padded or not; against one array a member."""
    habits = hand(draw)
    base = draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0}, "type")
    members = [f"m{k}" for k in range(draw.choose((2, 3, 4, 5, 6, 8, 11)))]
    wide = f"{base}4" if draw.chance(0.2, "vector_member") else ""
    read = draw.sample(members, draw.integer(1, min(len(members), 4)))
    written = draw.sample(members, draw.integer(1, min(len(members), 3)))
    style = draw.choose(("typedef", "struct"), "spelled")
    pad = f"    {base} unused[{draw.choose((1, 3, 5, 8))}];\n" if draw.chance(0.25, "padded") else ""
    listed = "".join(f"    {base} {m};\n" for m in members) + pad + (f"    {wide} block;\n" if wide else "")
    if style == "typedef":
        before, name = f"typedef struct {{\n{listed}}} item_t;\n", "item_t"
    else:
        before, name = f"struct item {{\n{listed}}};\n", "struct item"
    each = type_bytes(base) * (len(members) + (int(pad.split("[")[1].split("]", maxsplit=1)[0]) if pad else 0))
    if wide:
        alignment = type_bytes(wide)
        each = -(-each // alignment) * alignment + alignment
    target = draw.choose(("in_place", "other", "array", "whole"), "target")
    access = draw.choose(("member", "copy", "pointer"), "access")
    lines = []
    match access:
        case "copy":
            lines.append(f"{name} s = items[i];")
            known = [f"s.{m}" for m in read]
        case "pointer":
            lines.append(f"{habits.space} {name} *s = {draw.choose(('&items[i]', 'items + i'))};")
            known = [f"s->{m}" for m in read]
        case _:
            known = [f"items[i].{m}" for m in read]
    more, temporaries = statements(draw, known, base, draw.integer(0, 2))
    lines += more
    results = [expression(draw, [*temporaries, *known], base, draw.integer(1, 3)) for _ in written]
    arrays = [Array("items", name, True, element_bytes=each)]
    match target:
        case "in_place":
            lines += [f"items[i].{m} = {r};" for m, r in zip(written, results, strict=True)]
        case "other":
            lines += [f"others[i].{m} = {r};" for m, r in zip(written, results, strict=True)]
            arrays.append(Array("others", name, True, element_bytes=each))
        case "array":
            lines += [f"out{k}[i] = {r};" for k, r in enumerate(results)]
            arrays += [Array(f"out{k}", base, True) for k in range(len(results))]
        case _:
            lines.append(f"{name} q = items[i];")
            lines += [f"q.{m} = {r};" for m, r in zip(written, results, strict=True)]
            lines.append("items[i] = q;" if draw.chance(0.5) else "others[i] = q;")
            arrays.append(Array("others", name, True, element_bytes=each))
    text = "\n".join(lines)
    arrays = [a for a in arrays if f"{a.name}" in text]
    return line_draft(draw, habits, Elements("update_items", arrays, text, before=before))
