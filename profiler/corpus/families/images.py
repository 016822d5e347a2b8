"""Pixels wherever they lie: in images with samplers or in buffers; and filters over windows of them."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import Hand, hand, loop
from profiler.corpus.writing.plane import Area, Plane, plane
from profiler.corpus.writing.sizes import Fills, Words, draft, sized

STORES = {"image": 4.0, "float": 3.0, "uchar": 2.0, "uchar4": 1.5, "float4": 1.5, "ushort": 0.5, "int": 0.4}
PIXEL_BYTES = {"image": 16, "float": 4, "uchar": 1, "uchar4": 4, "float4": 16, "ushort": 2, "int": 4}
ADDRESSES = ("CLK_ADDRESS_CLAMP_TO_EDGE", "CLK_ADDRESS_CLAMP", "CLK_ADDRESS_CLAMP_TO_EDGE", "CLK_ADDRESS_NONE")


@dataclass(frozen=True, slots=True)
class Pixels:
    """How a kernel reads `in` and writes `out`; a pixel's value is a `float` or a `float4` whatever is stored."""

    store: str
    border: str  # of buffers: clamp, mirror, wrap, zero
    value: str
    before: str
    habits: Hand

    def read(self, x: str, y: str, source: str = "in", inside: bool = False) -> str:
        """Generate the value at any place; `inside` where it is known to lie in the image."""
        if self.store == "image":
            return f"read_imagef({source}, smp, (int2)({x}, {y}))"
        safe_x, safe_y = x, y
        if not inside:
            safe_x, safe_y = self._safe(x, "width"), self._safe(y, "height")
        text = f"{source}[({safe_y}) * width + {safe_x}]"
        if self.store == "uchar4":
            text = f"convert_float4({text})"
        elif self.store not in ("float", "float4"):
            text = f"(float){text}"
        if self.border == "zero" and not inside:
            test = f"(({x}) >= 0 && ({x}) < width && ({y}) >= 0 && ({y}) < height)"
            return f"({test} ? {text} : ({self.value})(0.0f))"
        return text

    def _safe(self, at: str, size: str) -> str:
        if self.border == "mirror":
            return f"clamp(abs_of({at}), 0, {size} - 1)"
        if self.border == "wrap":
            return f"wrapped({at}, {size})"
        return f"clamp({at}, 0, {size} - 1)"

    def write(self, x: str, y: str, value: str, target: str = "out") -> str:
        if self.store == "image":
            return f"write_imagef({target}, (int2)({x}, {y}), {value});"
        at = f"{target}[({y}) * width + {x}]"
        if self.store in ("float", "float4"):
            return f"{at} = {value};"
        return (
            f"{at} = convert_{self.store}_sat({value});" if self.store != "int" else f"{at} = convert_int_rte({value});"
        )

    @property
    def zero(self) -> str:
        return "(float4)(0.0f)" if self.value == "float4" else "0.0f"

    def source(self, name: str = "in") -> str:
        return f"read_only image2d_t {name}" if self.store == "image" else self.habits.takes(self.store, name)

    def target(self, name: str = "out") -> str:
        return f"write_only image2d_t {name}" if self.store == "image" else self.habits.gives(self.store, name)

    def parameters(self) -> list[str]:
        return [self.source(), self.target(), *size_parameters(self.habits)]

    def lengths(self, area: Area, *names: str) -> tuple[dict[str, int], dict[str, tuple[int, int, int]], Fills]:
        """Buffers, images and contents for these names, each as large as the area."""
        if self.store == "image":
            return {}, dict.fromkeys(names, (area.width, area.height, 1)), {}
        whole: Words = ("randint", 0, 256) if self.store not in ("float", "float4") else ("uniform", 0.1, 1.0)
        return dict.fromkeys(names, area.width * area.height), {}, dict.fromkeys(names, whole)


def size_parameters(habits: Hand) -> list[str]:
    return [habits.number("width", "int"), habits.number("height", "int")]


def pixels(draw: Draw, habits: Hand, stores: dict[str, float] | None = None) -> Pixels:
    store = draw.weighted(stores or STORES, "pixels")
    if store == "image":
        sampler = f"CLK_NORMALIZED_COORDS_FALSE | {draw.choose(ADDRESSES[:3])} | CLK_FILTER_NEAREST"
        scope = draw.choose((f"{habits.fixed} sampler_t", "const sampler_t"))
        return Pixels(store, "sampler", "float4", f"{scope} smp = {sampler};\n", habits)
    border = draw.weighted({"clamp": 4.0, "mirror": 1.0, "wrap": 1.0, "zero": 1.0}, "border")
    before = ""
    if border == "mirror":
        before = "int abs_of(int v)\n{\n    return v < 0 ? -v : v;\n}\n"
    if border == "wrap":
        before = "int wrapped(int v, int size)\n{\n    v %= size;\n    return v < 0 ? v + size : v;\n}\n"
    return Pixels(store, border, "float4" if store.endswith("4") else "float", before, habits)


def picture(
    dots: Pixels,
    way: Plane,
    draw: Draw,
    wish: Wish,
    cost: float,
    names: tuple[str, ...] = ("in", "out"),
    bytes_more: float = 0,
) -> tuple[Sized, Area]:
    """Generate a launch over pictures of about `data` pixels."""
    area = way.size(draw, wish, PIXEL_BYTES[dots.store] * len(names) + bytes_more)
    buffers, images, fills = dots.lengths(area, *names)
    vector = 3.0 if dots.value == "float4" else 1.0
    scalars = {"width": area.width, "height": area.height}
    made = sized(
        area.global_size, area.local_size, area.done * (6 + vector * cost), buffers, scalars, fills, images=images
    )
    return made, area


def typed_ids(way: Plane) -> Plane:
    """Places are compared with negative ones, so they are signed."""
    return Plane(way.kind, "int")


@family("window_filters", "images")
def window_filters(draw: Draw) -> Draft:
    """Box, Gaussian and other weighted means over a window."""
    habits = hand(draw)
    dots, way = pixels(draw, habits), typed_ids(plane(draw, habits))
    weights = draw.choose(("box", "table", "constant_table", "gauss", "tent", "cross", "ring"), "weights")
    fixed = draw.choose((0, 1, 2, 3, 5), "radius")
    r = str(fixed) if fixed else "radius"
    weight = {
        "box": "",
        "gauss": "exp(-(float)(dx * dx + dy * dy) * falloff)",
        "tent": f"(float)({r} + 1 - abs(dx)) * (float)({r} + 1 - abs(dy))",
        "table": f"weights[(dy + {r}) * (2 * {r} + 1) + dx + {r}]",
        "constant_table": f"weights[(dy + {r}) * (2 * {r} + 1) + dx + {r}]",
        "cross": "(dx == 0 || dy == 0 ? 1.0f : 0.25f)",
        "ring": f"(dx * dx + dy * dy <= {r} * {r} ? 1.0f : 0.125f)",
    }[weights]
    v, total = dots.value, weights in ("gauss", "tent", "cross", "ring")
    pixel = dots.read("x + dx", "y + dy")
    if not weight:
        add = f"sum += {pixel};"
    else:
        add = f"const float w = {weight};\nsum += {pixel} * w;" + ("\nall += w;" if total else "")
    inner = loop(draw, "dx", f"-{r}", f"{r} + 1", add)
    rows = loop(draw, "dy", f"-{r}", f"{r} + 1", inner)
    unrolled = bool(fixed) and fixed <= 1 and not weight and draw.chance(0.5, "unrolled")
    if unrolled:
        rows = "".join(f"sum += {dots.read(f'x + {i}', f'y + {j}')};\n" for j in (-1, 0, 1) for i in (-1, 0, 1))
        rows = rows.replace("+ -1", "- 1").replace("+ 0", "")
    norm = "sum / all" if total else f"sum / (float)((2 * {r} + 1) * (2 * {r} + 1))" if not weight else "sum"
    result = draw.choose(
        (
            norm,
            norm,
            f"mix({dots.read('x', 'y')}, {norm}, {'(float4)(0.5f)' if v == 'float4' else '0.5f'})",
            f"{dots.read('x', 'y')} - {norm}",
            f"fabs({dots.read('x', 'y')} - {norm})",
        ),
        "result",
    )
    body = way.write(
        f"{v} sum = {dots.zero};\n" + ("float all = 0.0f;\n" if total else "") + rows + dots.write("x", "y", result)
    )
    near = habits.fixed if weights == "constant_table" else f"const {habits.space}"
    names = [
        *dots.parameters(),
        f"{near} float *weights",
        habits.number("radius", "int"),
        habits.number("falloff", "float"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        radius = fixed or d.log_integer(1, 12)
        window = (2 * radius + 1) ** 2
        made, _ = picture(dots, way, d, w, window * (22 if weights == "gauss" else 5))
        return with_more(
            made,
            {"weights": window},
            {"radius": radius, "falloff": round(d.real(0.01, 0.2), 3)},
            {"weights": ("uniform", 0.0, 2.0 / window)},
        )

    return draft(habits, "window_mean", names, body, launch, before=dots.before)


def with_more(made: Sized, buffers: dict[str, int], scalars: dict[str, int | float], fills: Fills) -> Sized:
    """Generate the same launch with more arguments."""
    kept = made.launch
    words: Fills = {name: (fill.kind, *fill.arguments) for name, fill in kept.fills}
    return sized(
        kept.global_size,
        kept.local_size,
        made.operations,
        {**dict(kept.buffers), **buffers},
        {**dict(kept.scalars), **scalars},
        {**words, **fills},
        images=dict(kept.images),
    )
