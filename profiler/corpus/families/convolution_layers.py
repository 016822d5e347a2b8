"""Convolution over several channels, and over volumes."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.convolution import WEIGHT_FILL
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, loop
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import draft, sized


@family("channel_convolution", "convolution")
def channel_convolution(draw: Draw) -> Draft:
    """Layers of networks: maps of several channels, with strides, gaps, groups, biases and what follows."""
    habits = hand(draw)
    way = plane(draw, habits, exact=False)
    form = draw.choose(("full", "full", "depthwise", "pointwise", "transposed", "grouped"), "form")
    order = draw.choose(("planes", "interleaved"), "layout")
    k = 1 if form == "pointwise" else draw.choose((3, 3, 5, 7), "kernel")
    stride, gap = draw.choose((1, 1, 2), "stride"), draw.choose((1, 1, 2), "dilation")
    many = draw.choose((1, 1, 2, 4, 8), "outputs_an_item") if form in ("full", "pointwise") else 1
    pad = draw.choose(("test", "clamp", "none"), "padding")
    reach = (k - 1) * gap

    def pixel(c: str, yy: str, xx: str) -> str:
        return (
            f"in[(({c}) * in_height + {yy}) * in_width + {xx}]"
            if order == "planes"
            else f"in[(({yy}) * in_width + {xx}) * channels + {c}]"
        )

    shift = f" - {reach // 2}" if pad != "none" else ""
    if form == "transposed":
        place = f"const int ty = (int)y + {k // 2} - v, tx = (int)x + {k // 2} - u;\n"
        value = (
            f"if (ty >= 0 && tx >= 0 && ty % {stride} == 0 && tx % {stride}"
            f" == 0 && ty / {stride} < in_height && tx / {stride} < in_width) {{\n    {{add}}\n}}"
        )
        yy, xx = f"ty / {stride}", f"tx / {stride}"
    else:
        yy, xx = f"(int)y * {stride} + v * {gap}{shift}", f"(int)x * {stride} + u * {gap}{shift}"
        place = f"const int py = {yy}, px = {xx};\n"
        if pad == "clamp":
            place = f"const int py = clamp({yy}, 0, in_height - 1), px = clamp({xx}, 0, in_width - 1);\n"
        value = (
            "if (py >= 0 && px >= 0 && py < in_height && px < in_width) {{\n    {add}\n}}" if pad == "test" else "{add}"
        )
        value = value.replace("{{", "{").replace("}}", "}") if pad == "test" else value
        yy, xx = "py", "px"
    c = "c" if form != "depthwise" else "(int)o"
    if many > 1:
        add = (
            f"const float p = {pixel(c, yy, xx)};\nfor (int m = 0; m < {many}; m++)\n"
            f"    sums[m] += p * weights[(((o * {many} + m) * channels + c) * {k} + v) * {k} + u];"
        )
        declare = f"float sums[{many}] = {{0.0f}};\n"
    else:
        at = f"((o * channels + c) * {k} + v) * {k} + u" if form != "depthwise" else f"(o * {k} + v) * {k} + u"
        add = habits.add_product("sum", pixel(c, yy, xx), f"weights[{at}]")
        declare = "float sum = " + draw.choose(("0.0f", "bias[o]"), "bias") + ";\n"
    inner = place + value.replace("{add}", add)
    loops = inner if k == 1 else loop(draw, "v", "0", str(k), loop(draw, "u", "0", str(k), inner))
    first, last = (
        ("(int)o / 4 * 4 % channels", "min((int)o / 4 * 4 % channels + 4, channels)")
        if form == "grouped"
        else ("0", "channels")
    )
    if form != "depthwise":
        loops = loop(draw, "c", first, last, loops)
    active = draw.choose(
        (
            "{v}",
            "fmax({v}, 0.0f)",
            "({v} > 0.0f ? {v} : 0.1f * {v})",
            "clamp({v}, 0.0f, 6.0f)",
            "1.0f / (1.0f + exp(-{v}))",
            "tanh({v})",
        ),
        "activation",
    )
    out_at = "({o} * height + y) * width + x" if order == "planes" else "(y * width + x) * outputs + {o}"
    if many > 1:
        store = (
            f"for (int m = 0; m < {many}; m++)\n"
            f"    out[{out_at.format(o=f'(o * {many} + m)')}] = {active.format(v='sums[m]')};"
        )
    else:
        store = f"out[{out_at.format(o='o')}] = {active.format(v='sum')};"
    per_channel = draw.choose(("loop", "depth"), "over_outputs")
    body = declare + loops + store
    if k == 1:
        body = f"const int u = 0, v = 0;\n{body}"
    over = "outputs" if many == 1 else f"outputs / {many}"
    body = (
        way.write(loop(draw, "o", "0", over, body))
        if per_channel == "loop"
        else way.write(f"const int o = (int)(y / height);\n{body}".replace("y / height", "plane_of"))
    )
    if per_channel != "loop":
        body = body.replace("(int)(plane_of)", "chosen")
    names = [
        habits.takes("float", "in"),
        f"{draw.choose((habits.fixed, f'const {habits.space}', f'const {habits.space}'))} float *weights",
    ]
    names += [habits.takes("float", "bias"), habits.gives("float", "out")]
    names += [
        habits.number(name, "int")
        for name in ("channels", "outputs", "chosen", "in_width", "in_height", "width", "height")
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        channels, outputs = d.log_integer(1, 64), d.log_integer(1, 64)
        if form == "depthwise":
            outputs = channels
        outputs = max(1, outputs // many) * many
        if many * k * k * channels * outputs > 16000:
            channels = max(1, channels // 8)
            outputs = channels if form == "depthwise" else outputs
        area = way.size(
            d,
            Wish(w.items, max(1, w.data // outputs), w.local),
            4 * outputs + 4 * channels * (stride * stride if form != "transposed" else 1),
        )
        if form == "transposed":
            across, down = -(-area.width // stride) + 1, -(-area.height // stride) + 1
        elif pad == "none":
            across, down = area.width * stride + reach, area.height * stride + reach
        else:
            across, down = area.width * stride, area.height * stride
        buffers = {
            "in": channels * across * down,
            "weights": outputs * channels * k * k,
            "bias": outputs,
            "out": outputs * area.width * area.height,
        }
        scalars = {
            "channels": channels,
            "outputs": outputs,
            "chosen": d.integer(0, max(1, outputs // many) - 1),
            "in_width": across,
            "in_height": down,
        }
        scalars |= {"width": area.width, "height": area.height}
        depth = 1 if form == "depthwise" else min(4, channels) if form == "grouped" else channels
        each = outputs if per_channel == "loop" else many
        work = (
            area.done
            * each
            * (6.0 + depth * k * k * (8 if pad == "test" else 6) / (stride * stride if form == "transposed" else 1))
        )
        return sized(area.global_size, area.local_size, work, buffers, scalars, {"weights": WEIGHT_FILL})

    return draft(habits, "layer", names, body, launch)


@family("volume_filters", "convolution")
def volume_filters(draw: Draw) -> Draft:
    """Windows in three dimensions over volumes in buffers or images."""
    habits = hand(draw)
    stored = draw.choose(("buffer", "buffer", "image"), "stored")
    way = plane(draw, habits, exact=stored == "buffer")
    r = draw.choose((1, 1, 2), "radius")
    form = draw.choose(("weights", "mean", "max", "median_of_axes", "laplace", "gauss"), "form")
    sampler = (
        f"{habits.fixed} sampler_t smp = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;"
    )

    def voxel(i: str, j: str, k: str) -> str:
        if stored == "image":
            return f"read_imagef(volume, smp, (int4)((int)x + {i}, (int)y + {j}, z + {k}, 0)).x"
        return (
            f"in[(clamp(z + {k}, 0, depth - 1) * height + clamp((int)y + {j}"
            f", 0, height - 1)) * width + clamp((int)x + {i}, 0, width - 1)]"
        )

    side = 2 * r + 1
    if form == "laplace":
        parts = [voxel(*(str(s) if a == axis else "0" for a in range(3))) for axis in range(3) for s in (1, -1)]
        inner, result = f"const float sum = {' + '.join(parts)};\n", f"sum - 6.0f * {voxel('0', '0', '0')}"
    elif form == "median_of_axes":
        inner = "".join(
            (
                f"const float m{axis} = fmin(fmax({voxel(*('1' if a == axis else '0' for a in range(3)))}"
                f", {voxel(*('-1' if a == axis else '0' for a in range(3)))}), {voxel('0', '0', '0')});\n"
            )
            for axis in range(3)
        )
        result = "fmax(fmin(m0, m1), fmin(fmax(m0, m1), m2))"
    else:
        add = {
            "weights": (f"sum += {voxel('i', 'j', 'k')} * weights[((k + {r}"
f") * {side} + j + {r}) * {side} + i + {r}];"), "mean": f"sum += {voxel('i', 'j', 'k')};",
            "max": f"sum = fmax(sum, {voxel('i', 'j', 'k')});", "gauss": (f"sum += {voxel('i', 'j', 'k')}"
" * native_exp(-0.5f * (float)(i * i + j * j + k * k));"),
        }[form]  # fmt: skip
        inner = "float sum = 0.0f;\n" + loop(
            draw,
            "k",
            f"-{r}",
            f"{r} + 1",
            loop(draw, "j", f"-{r}", f"{r} + 1", loop(draw, "i", f"-{r}", f"{r} + 1", add)),
        )
        result = "sum" if form != "mean" else f"sum / {side**3}.0f"
    layers = draw.choose(("all", "one"), "layers")
    store = f"out[(z * height + y) * width + x] = {finish_value(draw, result, 'float', 1)};"
    text = loop(draw, "z", "0", "depth", inner + store) if layers == "all" else f"const int z = layer;\n{inner}{store}"
    names = [
        "read_only image3d_t volume",
        habits.takes("float", "in"),
        f"{habits.fixed} float *weights",
        habits.gives("float", "out"),
    ]
    names += [habits.number(name, "int") for name in ("width", "height", "depth", "layer")]

    def launch(d: Draw, w: Wish) -> Sized:
        depth = d.log_integer(1, 128)
        area = way.size(d, Wish(w.items, max(1, w.data // depth), w.local), depth * (20 if stored == "image" else 8))
        if stored == "image" and max(area.width, area.height) > 2048:
            area = way.size(d, Wish(min(w.items, 1 << 20), 1 << 16, w.local), depth * 20)
        every = area.width * area.height * depth
        images = {"volume": (area.width, area.height, depth)}
        scalars = {"width": area.width, "height": area.height, "depth": depth, "layer": d.integer(0, depth - 1)}
        work = (
            area.done
            * (depth if layers == "all" else 1)
            * (6.0 + (7 if form in ("laplace", "median_of_axes") else side**3) * (12 if stored == "image" else 8))
        )
        return sized(
            area.global_size,
            area.local_size,
            work,
            {"in": every, "weights": side**3, "out": every},
            scalars,
            {"weights": WEIGHT_FILL},
            images=images,
        )

    return draft(habits, "filter_volume", names, way.write(text), launch, before=sampler if stored == "image" else "")
