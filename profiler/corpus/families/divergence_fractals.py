"""Iterations that end sooner or later: escape-time fractals, Newton's basins, bounded Collatz walks, marched rays."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import Coverage, draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, Sizes, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family


def _point(draw: Draw, hand: Hand, cover: Coverage, real: str) -> tuple[str, list[Parameter]]:
    """Statements that declare the plane's point `cx`, `cy` of an element."""
    i, half = cover.index, "f" if real == "float" else ""
    span, left = f"{draw.choose((3.0, 2.5, 0.05, 1.0))}{half}", f"{draw.choose((2.0, 1.5, 0.75))}{half}"
    source = draw.choose(("index", "index", "buffers", "pairs"), "points")
    if source == "buffers":
        x, y = hand.name("input"), hand.name("second input")
        wide = Fill("uniform", (-1.8, 1.2))
        buffers: list[Parameter] = [Buffer(x, real, each, wide), Buffer(y, real, each, wide)]
        return f"{real} cx = {x}[{i}];\n{real} cy = {y}[{i}];", buffers
    if source == "pairs":
        x = hand.name("input")
        points = Buffer(x, f"{real}2", each, Fill("uniform", (-1.8, 1.2)))
        return f"{real}2 c0 = {x}[{i}];\n{real} cx = c0.x, cy = c0.y;", [points]
    if cover.form == "plane":
        w, h = cover.width, cover.height
        return f"{real} cx = col * {span} / {w} - {left};\n{real} cy = row * {span} / {h} - {left};", []
    pitch = hand.name("pitch")
    scalar: list[Parameter] = [Scalar(pitch, cover.type.replace("size_t", "uint"), lambda d: d.log_integer(16, 4096))]
    step = f"{real} scale = {span} / {pitch};\n"
    return (
        f"{step}{real} cx = ({i} % {pitch}) * scale - {left};\n{real} cy = ({i} / {pitch} % {pitch}) * scale - {left};",
        scalar,
    )


def _limit(draw: Draw, hand: Hand, most: int) -> tuple[str, list[Parameter]]:
    if draw.chance(0.5, "limit_is_argument"):
        name = hand.name("iterations")
        return name, [Scalar(name, "int", lambda d: d.log_integer(8, most))]
    return hand.constant("max iter", str(draw.choose([n for n in (16, 32, 50, 100, 128, 255, 256) if n <= most]))), []


@family("escape_time", group="divergence")
def escape_time(draw: Draw) -> Draft:
    """Mandelbrot, Julia and their relations: iterated until the point leaves a circle."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 4.0, "double": 1.0}, "type")
    f = "f" if real == "float" else ""
    cover = draw_coverage(draw, hand)
    point, parameters = _point(draw, hand, cover, real)
    limit, more = _limit(draw, hand, 1000)
    sort = draw.choose(("mandelbrot", "julia", "burning_ship", "tricorn", "cubic"), "fractal")
    z = draw.choose((("zx", "zy"), ("re", "im"), ("u", "v")))
    x, y = z
    vector = draw.chance(0.25, "as_vector")
    step_x = {
        "cubic": f"{x}*{x}*{x} - 3.0{f}*{x}*{y}*{y} + kx",
        "burning_ship": f"{x}*{x} - {y}*{y} + kx",
    }.get(sort, draw.choose((f"{x}*{x} - {y}*{y} + kx", f"({x} - {y}) * ({x} + {y}) + kx", "xx - yy + kx")))
    squares = f"{real} xx = {x}*{x}, yy = {y}*{y};\n" if "xx" in step_x else ""
    step_y = {
        "cubic": f"3.0{f}*{x}*{x}*{y} - {y}*{y}*{y} + ky",
        "burning_ship": f"2.0{f} * fabs({x}*{y}) + ky",
        "tricorn": f"-2.0{f}*{x}*{y} + ky",
    }.get(sort, draw.choose((f"2.0{f}*{x}*{y} + ky", f"({x}+{x})*{y} + ky")))
    k = f"{real} kx = {hand.literal(-0.7, real)}, ky = {hand.literal(0.27015, real)};" if sort == "julia" else ""
    k = k or f"{real} kx = cx, ky = cy;"
    start = (
        f"{real} {x} = cx, {y} = cy;" if sort == "julia" or draw.chance(0.3) else f"{real} {x} = 0.0{f}, {y} = 0.0{f};"
    )
    radius = f"{draw.choose((4.0, 16.0, 100.0))}{f}"
    inside = f"{x}*{x} + {y}*{y} {draw.choose(('<', '<='))} {radius}"
    out_of = f"{x}*{x} + {y}*{y} > {radius}"
    advance = f"{squares}{real} nextx = {step_x};\n{y} = {step_y};\n{x} = nextx;"
    if vector:
        start = f"{real}2 z = ({real}2)(cx, cy);"
        x, y = "z.x", "z.y"
        inside, out_of = f"dot(z, z) < {radius}", f"dot(z, z) >= {radius}"
        advance = f"z = ({real}2)(z.x*z.x - z.y*z.y, 2.0{f}*z.x*z.y) + ({real}2)(kx, ky);"
        if draw.chance(0.4):
            advance += f"\nz = clamp(z, ({real}2)(-50.0{f}), ({real}2)(50.0{f}));"
    loops = {
        "while": f"int it = 0;\nwhile (it < {limit} && {inside}) {{\n{advance}\nit++;\n}}",
        "break": f"int it;\nfor (it = 0; it < {limit}; it++) {{\n{advance}\nif ({out_of}) break;\n}}",
        "condition": f"int it = 0;\nfor (; {inside} && it < {limit}; ++it) {{\n{advance}\n}}",
        "do": f"int it = 0;\ndo {{\n{advance}\n++it;\n}} while (it < {limit} && {inside});",
    }
    if real == "float" and draw.chance(0.15, "interior_test"):
        loops["break"] = (
            f"float q = (cx - 0.25f)*(cx - 0.25f) + cy*cy;\nint it = {limit};\n"
            f"if (q*(q + (cx - 0.25f)) > 0.25f*cy*cy) {{\nfor (it = 0; it < {limit}; it++) {{\n"
            f"{advance}\nif ({out_of}) break;\n}}\n}}"
        )
    loop = loops[draw.choose(tuple(loops), "loop")]
    results = {
        "count": ("int", "it"),
        "share": ("float", f"(float)it / {limit}"),
        "grey": ("uchar", f"(uchar)(it * 255 / {limit})"),
        "colour": ("uchar4", "(uchar4)(it & 255, (it * 3) & 255, (it * 7) & 255, 255)"),
        "inside": ("uchar", f"it == {limit} ? 255 : 0"),
        "smooth": ("float", f"it + 1.0f - log2(log2((float)({x}*{x} + {y}*{y}) + 2.8f))"),
        "packed": ("uint", "(uint)it * 0x10101u | 0xff000000u"),
        "distance": ("float", f"(float)sqrt({x}*{x} + {y}*{y} + 1.0{f})"),
    }
    kind = draw.choose(tuple(results), "result")
    type_, value = results[kind]
    if kind in {"smooth", "distance"}:  # the last value may have jumped far
        value = f"fmin({value}, 1000.0f)"
    out = hand.name("output")
    body = f"{point}\n{k}\n{start}\n{loop}\n{out}[{cover.index}] = {value};"
    parameters = [*parameters, Buffer(out, type_, each, is_written=True), *more]

    def work(sizes: Sizes) -> float:
        return 10.0 * 0.5 * int(sizes.scalars.get(limit, 100)) + 20

    return drafted(draw, hand, Parts((sort,), cover, parameters, body, work))


@family("newton_basins", group="divergence")
def newton_basins(draw: Draw) -> Draft:
    """Newton's iteration in the complex plane until a root is near; which one it was."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 4.0, "double": 1.0}, "type")
    f = "f" if real == "float" else ""
    cover = draw_coverage(draw, hand)
    point, parameters = _point(draw, hand, cover, real)
    limit, more = _limit(draw, hand, 128)
    power = draw.choose((3, 4, 5), "power")
    relax = hand.literal(draw.choose((1.0, 0.9, 0.8, 1.1)), real)
    product = {
        3: "px = x*x - y*y;\npy = 2*x*y;",
        4: "px = x*x*x - 3*x*y*y;\npy = 3*x*x*y - y*y*y;",
        5: "px = x*x*x*x - 6*x*x*y*y + y*y*y*y;\npy = 4*x*x*x*y - 4*x*y*y*y;",
    }[power].replace("*", " * " if draw.chance(0.3) else "*")
    tolerance = f"{draw.choose(('1e-4', '1e-3', '1e-6'))}{f}"
    near = draw.choose(("step", "value"), "ends_by")
    step = f"""
        {real} px, py;
        {product}
        {real} vx = px * x - py * y - 1.0{f};
        {real} vy = px * y + py * x;
        {real} den = {power}.0{f} * (px * px + py * py) + 0.0001{f};
        {real} dx = (vx * px + vy * py) / den;
        {real} dy = (vy * px - vx * py) / den;
        x = clamp(x - {relax} * dx, -20.0{f}, 20.0{f});
        y = clamp(y - {relax} * dy, -20.0{f}, 20.0{f});
        """
    done = f"fabs(dx) + fabs(dy) < {tolerance}" if near == "step" else f"vx*vx + vy*vy < {tolerance}"
    if draw.chance(0.5, "for"):
        loop = f"int it;\nfor (it = 0; it < {limit}; it++) {{{step}if ({done}) break;\n}}"
    else:
        loop = f"int it = 0;\nwhile (it < {limit}) {{{step}it++;\nif ({done}) break;\n}}"
    roots = {
        "sector": (
            f"int root = (int)floor((atan2(y, x) + 3.14159265{f}) * {power / 2}{f} / 3.14159265{f} + 0.5{f}) % {power};"
        ),
        "side": f"int root = x > 0.0{f} ? 0 : (y > 0.0{f} ? 1 : 2);",
        "none": "int root = 0;",
    }
    which = draw.choose(tuple(roots), "root")
    type_, value = draw.choose(
        (
            ("int", "root * 256 + it"),
            ("float", f"root + (float)it / {limit}"),
            ("uchar", "(uchar)(root * 80 + (it & 63))"),
        ),
    )
    out = hand.name("output")
    body = f"{point}\n{real} x = cx, y = cy;\n{loop}\n{roots[which]}\n{out}[{cover.index}] = {value};"
    parameters = [*parameters, Buffer(out, type_, each, is_written=True), *more]
    return drafted(draw, hand, Parts(("newton", "basins"), cover, parameters, body, flat(300)))


@family("bounded_collatz", group="divergence")
def bounded_collatz(draw: Draw) -> Draft:
    """Integer walks such as 3n + 1 with a bound on the steps."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("uint", "ulong", "int", "long"), "type")
    cover = draw_coverage(draw, hand)
    limit, parameters = _limit(draw, hand, 1000)
    i, v = cover.index, hand.name("value")
    if draw.chance(0.5, "from_buffer"):
        x = hand.name("input")
        parameters.append(Buffer(x, type_, each, Fill("randint", (1, 1 << 20))))
        start = f"{x}[{i}]"
    else:
        start = f"({type_})({i}) + {draw.choose((1, 3, 27))}"
    odd = draw.choose(("mod", "and"))
    test = f"{v} % 2 == 0" if odd == "mod" else f"({v} & 1) == 0"
    half = draw.choose((f"{v} / 2", f"{v} >> 1"))
    steps = {
        "branch": f"if ({test}) {v} = {half};\nelse {v} = 3 * {v} + 1;",
        "ternary": f"{v} = ({test}) ? {half} : 3 * {v} + 1;",
        "shortcut": f"{v} = ({test}) ? {half} : (3 * {v} + 1) / 2;",
        "trailing": f"while (({v} & 1) == 0) {v} >>= 1;\nif ({v} > 1) {v} = 3 * {v} + 1;",
        "masked": f"{v} = ((3 * {v} + 1) & -({v} & 1)) | (({v} >> 1) & -(({v} & 1) ^ 1));",
        "five": f"if ({v} % 2 == 0) {v} /= 2;\nelse if ({v} % 3 == 0) {v} /= 3;\nelse {v} = ({v} * 5 + 1) & 0xffffff;",
    }
    sort = draw.choose(tuple(steps), "step")
    peak = draw.chance(0.4, "keeps_peak")
    track = f"\nif ({v} > peak) peak = {v};" if peak else ""
    if peak and draw.chance(0.5):
        track = f"\npeak = max(peak, {v});"
    loops = (
        f"int steps = 0;\nwhile ({v} > 1 && steps < {limit}) {{\n{steps[sort]}{track}\nsteps++;\n}}",
        f"int steps;\nfor (steps = 0; steps < {limit}; steps++) {{\nif ({v} <= 1) break;\n{steps[sort]}{track}\n}}",
        f"int steps = 0;\ndo {{\n{steps[sort]}{track}\n}} while ({v} > 1 && ++steps < {limit});",
    )
    out = hand.name("output")
    keep = f"{type_} peak = {v};\n" if peak else ""
    parameters.append(Buffer(out, "int", each, is_written=True))
    body = f"{type_} {v} = {start};\n{keep}{draw.choose(loops)}\n{out}[{i}] = steps;"
    if peak:
        other = hand.name("second output")
        parameters.append(Buffer(other, type_, each, is_written=True))
        body += f"\n{other}[{i}] = peak;"
    return drafted(draw, hand, Parts(("collatz", sort), cover, parameters, body, flat(250)))


@family("sphere_marching", group="divergence")
def sphere_marching(draw: Draw) -> Draft:
    """Rays that step by the distance to the nearest surface until they hit or leave."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    cover = draw_coverage(draw, hand)
    point, parameters = _point(draw, hand, cover, "float")
    limit, more = _limit(draw, hand, 100)
    shapes = {
        "sphere": "length({p} - (float3)(0.0f, 0.0f, 3.0f)) - {r}",
        "floor": "{p}.y + {r}",
        "torus": "length((float2)(length({p}.xz - (float2)(0.0f, 3.0f)) - {r}, {p}.y)) - 0.25f",
        "box": "length(fmax(fabs({p} - (float3)(0.5f, 0.0f, 3.0f)) - (float3)({r}), (float3)(0.0f)))",
        "cylinder": "length({p}.xz - (float2)(-0.5f, 2.5f)) - {r}",
        "waves": "{p}.y + 1.0f + 0.2f * sin(2.0f * {p}.x) * cos({r} * {p}.z)",
        "repeated": "length(fabs({p} - floor({p})) - (float3)(0.5f)) - 0.2f * {r}",
    }
    picked = draw.sample(tuple(shapes), draw.integer(1, 4))
    terms = [shapes[name].format(p="p", r=f"{draw.choose((0.5, 0.75, 1.0, 1.25))}f") for name in picked]
    text = terms[0]
    for term in terms[1:]:
        text = draw.choose((f"fmin({text}, {term})", f"min({term}, {text})", f"fmax({text}, -({term}))"))
    is_helper = draw.chance(0.6, "helper")
    helper = f"{hand.inline}float scene(const float3 p)\n{{\nreturn {text};\n}}" if is_helper else ""
    sense = "scene(p)" if is_helper else text
    near = hand.constant("epsilon", draw.choose(("0.001f", "0.01f", "0.0001f")))
    far = hand.constant("far away", draw.choose(("20.0f", "50.0f", "8.0f")))
    direction = draw.choose(
        ("normalize((float3)(cx, cy, 1.0f))", "(float3)(cx, cy, 1.0f) * rsqrt(cx*cx + cy*cy + 1.0f)")
    )
    move = draw.choose(("d", "0.8f * d", "fmax(d, 0.01f)"))
    form = draw.choose(("p_from_t", "p_steps"), "march")
    place = "const float3 p = t * dir;" if form == "p_from_t" else ""
    advance = f"t += {move};" if form == "p_from_t" else f"p += dir * {move};\nt += {move};"
    begin = "float t = 0.0f;" if form == "p_from_t" else "float3 p = (float3)(0.0f);\nfloat t = 0.0f;"
    loop = (
        f"int n_steps = 0;\nfor (; n_steps < {limit}; n_steps++) {{\n{place}\n"
        f"const float d = {sense};\nif (d < {near}) break;\n{advance}\nif (t > {far}) break;\n}}"
    )
    type_, value = draw.choose(
        (("float", "t"), ("int", "n_steps"), ("uchar", f"t > {far} ? 0 : (uchar)(255 - min(n_steps * 2, 255))"),
         ("float4", "(float4)(t, (float)n_steps, cx, cy)"))
    )  # fmt: skip
    out = hand.name("output")
    body = f"{point}\nconst float3 dir = {direction};\n{begin}\n{loop}\n{out}[{cover.index}] = {value};"
    parameters = [*parameters, Buffer(out, type_, each, is_written=True), *more]
    parts = Parts(
        ("march", draw.choose(("rays", "scene", "field"))), cover, parameters, body, flat(400), helpers=helper
    )
    return drafted(draw, hand, parts)
