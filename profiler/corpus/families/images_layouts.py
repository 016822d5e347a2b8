"""Colours from sensors' mosaics, and other layouts of pixels."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.images import size_parameters, typed_ids
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.plane import plane
from profiler.corpus.writing.sizes import Fills, draft, sized


@family("sensor_mosaics", "images")
def sensor_mosaics(draw: Draw) -> Draft:
    """From one colour a pixel to three, and other changes of layout: planes, pairs of lines, packed words."""
    habits = hand(draw)
    way = typed_ids(plane(draw, habits))
    form = draw.choose(
        (
            "linear",
            "nearest",
            "gradient",
            "green",
            "to_planes",
            "from_planes",
            "pack565",
            "unpack565",
            "pairs_422",
            "quarter_420",
            "bytes",
            "bin2",
        ),
        "form",
    )
    raw = draw.choose(("float", "ushort", "uchar"), "raw")

    def at(dx: int, dy: int) -> str:
        x = f"clamp(x {'+' if dx > 0 else '-'} {abs(dx)}, 0, width - 1)" if dx else "x"
        y = f"clamp(y {'+' if dy > 0 else '-'} {abs(dy)}, 0, height - 1)" if dy else "y"
        return f"(float)raw[{y} * width + {x}]"

    cross = f"({at(1, 0)} + {at(-1, 0)} + {at(0, 1)} + {at(0, -1)}) * 0.25f"
    slanted = f"({at(1, 1)} + {at(-1, 1)} + {at(1, -1)} + {at(-1, -1)}) * 0.25f"
    flat, tall = f"({at(1, 0)} + {at(-1, 0)}) * 0.5f", f"({at(0, 1)} + {at(0, -1)}) * 0.5f"
    place = "y * width + x"
    if form in ("linear", "gradient"):
        green = cross
        if form == "gradient":
            green = f"(fabs({at(1, 0)} - {at(-1, 0)}) < fabs({at(0, 1)} - {at(0, -1)}) ? {flat} : {tall})"
        layout = draw.choose(("branches", "switch"), "layout")
        values = [
            f"(float4)({at(0, 0)}, {green}, {slanted}, 1.0f)",
            f"(float4)({flat}, {at(0, 0)}, {tall}, 1.0f)",
            f"(float4)({tall}, {at(0, 0)}, {flat}, 1.0f)",
            f"(float4)({slanted}, {green}, {at(0, 0)}, 1.0f)",
        ]
        if layout == "switch":
            text = (
                "float4 c;\nswitch ((x & 1) + 2 * (y & 1)) {\n"
                + "".join(
                    f"{'default' if k == 3 else f'case {k}'}:\n    c = {value};\n    break;\n"
                    for k, value in enumerate(values)
                )
                + "}\n"
            )
        else:
            text = (
                f"float4 c;\nif (y & 1)\n    c = (x & 1) ? {values[3]} : {values[2]};\n"
                f"else if (x & 1)\n    c = {values[1]};\nelse\n    c = {values[0]};\n"
            )
        text += f"rgba[{place}] = c;"
    elif form == "nearest":
        text = (
            "const int bx = x & ~1, by = y & ~1;\n"
            "const int rx = min(bx + 1, width - 1), ry = min(by + 1, height - 1);\n"
        ) + (
            f"rgba[{place}"
            "] = (float4)((float)raw[by * width + bx], 0.5f * ((float)raw[by * width "
            "+ rx] + (float)raw[ry * width + bx]), (float)raw[ry * width + rx], 1.0f);"
        )
    elif form == "green":
        text = f"if (((x ^ y) & 1) == 0)\n    plane[{place}] = {cross};\nelse\n    plane[{place}] = {at(0, 0)};"
    elif form == "to_planes":
        text = f"const uchar4 p = packed[{place}];\n" + "".join(
            f"plane[{k} * width * height + {place}] = (float)p.{c} / 255.0f;\n"
            for k, c in enumerate(draw.choose(("xyz", "zyx", "xyzw"), "order"))
        )
    elif form == "from_planes":
        text = (
            f"rgba[{place}] = (float4)("
            + ", ".join(f"source[{k} * width * height + {place}]" for k in range(3))
            + ", 1.0f);"
        )
    elif form == "pack565":
        text = (
            f"const uchar4 p = packed[{place}];\n"
            f"shorts[{place}] = (ushort)(((p.x >> 3) << 11) | ((p.y >> 2) << 5) | (p.z >> 3));"
        )
    elif form == "unpack565":
        text = (
            f"const ushort p = words[{place}];\n"
            f"rgba[{place}"
            "] = (float4)((float)(p >> 11) / 31.0f, (float)((p >> 5) & 63) / 63.0f, (float)(p & 31) / 31.0f, 1.0f);"
        )
    elif form == "pairs_422":
        text = (
            "const uchar4 p = packed[(y * width + x) >> 1];\n"
            "const float l = (x & 1) ? (float)p.z : (float)p.x, u = (float)p.y - 128.0f, v = (float)p.w - 128.0f;\n"
            f"rgba[{place}] = (float4)(l + 1.4f * v, l - 0.34f * u - 0.71f * v, l + 1.77f * u, 255.0f);"
        )
    elif form == "quarter_420":
        text = (
            "const int h = (y >> 1) * ((width + 1) >> 1) + (x >> 1);\n"
            f"const float l = {at(0, 0)}"
            ", u = source[h] - 0.5f, v = source[((width + 1) >> 1) * ((height + 1) >> 1) + h] - 0.5f;\n"
            f"rgba[{place}] = (float4)(l + 1.4f * v, l - 0.34f * u - 0.71f * v, l + 1.77f * u, 1.0f);"
        )
    elif form == "bytes":
        text = (
            f"const uchar4 p = packed[{place}];\nbytes[3 * ({place})] = p.x;\n"
            f"bytes[3 * ({place}) + 1] = p.y;\nbytes[3 * ({place}) + 2] = p.z;"
        )
    else:
        text = (
            "float sum = 0.0f;\nfor (int j = 0; j < 2; j++)\n    for (int i = 0; i < 2; i++)\n"
            "        sum += (float)raw[min(2 * y + j, height - 1) * width + min(2 * x + i, width - 1)];\n"
            f"plane[{place}] = sum * 0.25f;"
        )
    names = [
        habits.takes(raw, "raw"),
        habits.takes("uchar4", "packed"),
        habits.takes("ushort", "words"),
        habits.takes("float", "source"),
    ]
    names += [
        habits.gives("float4", "rgba"),
        habits.gives("float", "plane"),
        habits.gives("ushort", "shorts"),
        habits.gives("uchar", "bytes"),
        *size_parameters(habits),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        area = way.size(d, w, 28)
        every = area.width * area.height
        buffers = dict.fromkeys(("raw", "packed", "words", "rgba", "shorts"), every) | {
            "source": 3 * every + 4,
            "plane": 4 * every,
            "bytes": 3 * every,
        }
        fills: Fills = {"packed": ("randint", 0, 256), "words": ("randint", 0, 65536)}
        if raw != "float":
            fills["raw"] = ("randint", 0, 256)
        scalars = {"width": area.width, "height": area.height}
        return sized(
            area.global_size,
            area.local_size,
            area.done * (30.0 if form in ("linear", "gradient") else 14.0),
            buffers,
            scalars,
            fills,
        )

    return draft(habits, "mosaic", names, way.write(text), launch)
