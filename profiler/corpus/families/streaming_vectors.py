"""Arrays are streamed through once: by vectors, by whole groups, interleaved."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression, statements
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.arrays import Array, Elements, Values, line_draft, type_bytes
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal
from profiler.corpus.writing.sizes import draft, fitting_local, sized, within_memory
from profiler.corpus.writing.walk import walk


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
    """Generate a group fetches a block to local memory with `async_work_group_copy`, works on it, sends it back."""
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
