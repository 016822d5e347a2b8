"""Sums over windows with weights: signals, pictures with channels, volumes."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import draft, fitting_local, groups, sized, within_memory
from profiler.corpus.writing.walk import walk

WEIGHT_FILL = ("uniform", -0.05, 0.05)


@family("signal_filters", "convolution")
def signal_filters(draw: Draw) -> Draft:
    """Convolution and correlation of signals in one dimension, direct, with several channels, strides and gaps."""
    habits = hand(draw)
    kind = draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0, "float2": 0.5, "float4": 0.7, "short": 0.4}, "type")
    way = walk(draw, habits)
    total = "int" if kind == "short" else kind
    fixed = draw.choose((0, 0, 3, 5, 9, 16, 31), "taps")
    taps = str(fixed) if fixed else "taps"
    stride, gap = draw.choose((1, 1, 1, 2, 4), "stride"), draw.choose((1, 1, 2, 3), "gap")
    where = draw.choose(("constant", "global", "global"), "weights")
    flip = draw.chance(0.5, "flipped")
    weight = f"weights[{taps} - 1 - k]" if flip else "weights[k]"
    zero = f"({total})(0)" if total[-1].isdigit() else literal(0, total)
    edge = draw.choose(("padded", "clamp", "test", "causal"), "edge")
    base = f"i * {stride} + k * {gap}" if stride > 1 or gap > 1 else "i + k"
    if edge == "padded":
        each = habits.add_product(
            "sum", f"in[{base}]", weight, kind.startswith(("float", "double")) and kind[-1] not in "24"
        )
    elif edge == "clamp":
        each = f"sum += in[clamp((int)({base}) - {taps} / 2, 0, (int)length - 1)] * {weight};"
    elif edge == "test":
        each = (
            f"const int at = (int)({base}) - {taps} / 2;\n"
            f"if (at >= 0 && at < (int)length)\n    sum += in[at] * {weight};"
        )
    else:
        each = f"sum += (int)i * {stride} >= k ? in[(int)i * {stride} - k] * {weight} : {zero};"
    unroll = fixed and fixed <= 9 and edge == "padded" and draw.chance(0.4, "unrolled")
    if unroll:
        walking = "".join(
            each.replace("[k]", f"[{k}]").replace("+ k", f"+ {k}").replace("- k]", f"- {k}]") + "\n"
            for k in range(fixed)
        )
    else:
        walking = loop(draw, "k", "0", taps, each)
    body = way.write(f"{total} sum = {zero};\n{walking}out[i] = {finish_value(draw, 'sum', total, 1)};")
    scalar = kind.rstrip("24")
    names = [
        habits.takes(kind, "in"),
        f"{habits.fixed if where == 'constant' else 'const ' + habits.space} {scalar} *weights",
    ]
    names += [
        habits.gives(total, "out"),
        habits.number("taps", "int"),
        habits.number("length", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        count = fixed or d.log_integer(1, 512)
        size = way.size(w, 36, max(1, w.data // stride))
        length = size.count * stride + count * gap
        length = within_memory(length, 18)
        buffers = {
            "in": max(length, (size.count - 1) * stride + (count - 1) * gap + 1),
            "weights": count,
            "out": size.count,
        }
        scalars = {"taps": count, "length": buffers["in"], "n": size.count}
        fills = {"weights": WEIGHT_FILL} if kind.startswith(("float", "double")) else {"weights": ("randint", 0, 4)}
        return sized(size.global_size, size.local_size, size.done * (4.0 + 4 * count), buffers, scalars, fills)

    return draft(habits, "filter_signal", names, body, launch)


@family("tiled_signal_filters", "convolution")
def tiled_signal_filters(draw: Draw) -> Draft:
    """Generate a stretch of the signal with its margins in local memory, then the sum over the taps."""
    habits = hand(draw)
    kind = draw.weighted({"float": 4.0, "double": 0.7, "int": 1.0}, "type")
    local = draw.choose((0, 32, 64, 128, 256), "group")
    most = draw.choose((8, 16, 32), "most_radius")
    group = str(local) if local else "(int)get_local_size(0)"
    fixed = draw.choose((0, 1, 3, most), "radius")
    r = str(fixed) if fixed else "radius"
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    how = draw.choose(("strided", "halo", "three"), "loading")
    safe = "clamp({at}, 0, n - 1)"
    if how == "strided":
        load = (
            f"for (int k = t; k < {group} + 2 * {r}; k += {group})\n"
            f"    tile[k] = in[{safe.format(at=f'base - {r} + k')}];\n"
        )
    elif how == "halo":
        load = (
            f"tile[t + {r}] = in[{safe.format(at='base + t')}];\nif (t < {r}) {{\n"
            f"    tile[t] = in[{safe.format(at=f'base + t - {r}')}];\n"
            f"    tile[t + {group} + {r}] = in[{safe.format(at=f'base + {group} + t')}];\n}}\n"
        )
    else:
        load = (
            f"for (int k = t - {r}; k < {group} + {r}; k += {group})\n"
            f"    tile[k + {r}] = base + k < 0 || base + k >= n ? 0 : in[base + k];\n"
        )
    total = f"{kind} sum = {literal(0, kind)};\n" + loop(
        draw, "k", "0", f"2 * {r} + 1", habits.add_product("sum", "tile[t + k]", "weights[k]", kind != "int")
    )
    store = "if (base + t < n)\n    out[base + t] = " + finish_value(draw, "sum", kind, 1) + ";"
    array = f"{habits.near} {kind} tile[{local} + 2 * {most}];\n" if local else ""
    body = (
        f"{array}const int t = get_local_id(0);\n"
        f"const int base = get_group_id(0) * {group};\n{load}{barrier}\n{total}{store}"
    )
    names = [
        habits.takes(kind, "in"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} {kind} *weights",
        habits.gives(kind, "out"),
    ]
    names += [
        habits.number("radius", "int"),
        habits.number("n", "int"),
        *([] if local else [habits.shares(kind, "tile")]),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = local or fitting_local(w, 32)
        radius = min(fixed or d.integer(1, most), size)
        items = groups(w, size) * size
        n = within_memory(w.data, 16)
        fills = {"weights": WEIGHT_FILL if kind != "int" else ("randint", 0, 4)}
        local_bytes = {"tile": (size + 2 * most) * (8 if kind == "double" else 4)}
        work = items * (12.0 + 4 * (2 * radius + 1))
        return sized(
            items,
            size,
            work,
            {"in": n, "weights": 2 * most + 1, "out": n},
            {"radius": radius, "n": n},
            fills,
            local_bytes,
        )

    return draft(habits, "filter_tiles", names, body, launch)
