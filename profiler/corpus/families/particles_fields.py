"""Bodies and fields on grids, steps in time, and things that rays and spheres hit."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.sparse_groups import float_add
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import Fills, draft, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("steps_in_time", "particles")
def steps_in_time(draw: Draw) -> Draft:
    """Integrators: Euler, leapfrog, Verlet, Runge-Kutta, with walls, periodic boxes and damping."""
    habits = hand(draw)
    kind = draw.weighted({"float4": 3.0, "float": 2.0, "float2": 1.0, "double": 1.0}, "type")
    way = walk(draw, habits)
    scalar = "double" if kind == "double" else "float"

    def c(value: float) -> str:
        return literal(value, scalar)

    law = draw.choose(("given", "spring", "pendulum", "field"), "law")
    a = {"given": "acc[i]", "spring": f"-(x) * {c(0.5)}", "pendulum": "-sin(x)", "field": f"acc[i] - (x) * {c(0.25)}"}[
        law
    ]

    def at(x: str) -> str:
        return a.replace("(x)", f"({x})")

    scheme = draw.choose(("euler", "leapfrog", "verlet", "midpoint", "rk4", "verlet_positions", "adams"), "scheme")
    dt = draw.choose(("dt", c(0.01)), "dt")
    step = {
        "euler": f"v += {at('x')} * {dt};\nx += v * {dt};",
        "leapfrog": f"v += {at('x')} * {dt} * {c(0.5)};\nx += v * {dt};\nv += {at('x')} * {dt} * {c(0.5)};",
        "verlet": (
            f"const {kind} a0 = {at('x')};\nx += v * {dt} + a0 * ({dt} * {dt} * {c(0.5)});\n"
            f"v += (a0 + {at('x')}) * ({dt} * {c(0.5)});"
        ),
        "midpoint": f"const {kind} midway = x + v * ({dt} * {c(0.5)});\nv += {at('midway')} * {dt};\nx += v * {dt};",
        "rk4": f"const {kind} k1 = {at('x')};\nconst {kind} k2 = {at(f'x + v * ({dt} * {c(0.5)})')};\n"
        f"const {kind} k3 = {at(f'x + v * ({dt} * {c(0.5)}) + k1 * ({dt} * {dt} * {c(0.25)})')};\n"
        f"const {kind} k4 = {at(f'x + v * {dt} + k2 * ({dt} * {dt} * {c(0.5)})')};\n"
        f"x += v * {dt} + (k1 + k2 + k3) * ({dt} * {dt} / 6);\n"
        f"v += (k1 + {c(2)} * k2 + {c(2)} * k3 + k4) * ({dt} / 6);",
        "verlet_positions": f"const {kind} next = {c(2)} * x - v + {at('x')} * ({dt} * {dt});\nv = x;\nx = next;",
        "adams": f"const {kind} a1 = {at('x')};\nv += ({c(1.5)} * a1 - {c(0.5)} * old[i]) * {dt};\nx += v * {dt};",
    }[scheme]
    wall = draw.choose(("", "clamp", "periodic", "reflect", "damp"), "wall")
    one = f"({kind})({c(1)})" if kind[-1].isdigit() else c(1)
    reflect = f"\nif (fabs(x) > {one})\n    v = -v;"
    reflect = f"\nv = select(v, -v, isgreater(fabs(x), {one}));" if kind[-1].isdigit() else reflect
    step += {
        "": "",
        "clamp": (f"\nx = clamp(x, -{one} * {c(4)}, {one} * {c(4)});"),
        "periodic": "\nx -= floor(x);",
        "damp": f"\nv *= {c(0.99)};",
        "reflect": reflect,
    }[wall]
    many = draw.chance(0.4, "several_steps")
    body = way.write(
        f"{kind} x = pos[i];\n{kind} v = vel[i];\n"
        + (loop(draw, "s", "0", "steps", step) if many else step + "\n")
        + draw.choose(
            (
                "new_pos[i] = x;\nnew_vel[i] = v;",
                "new_pos[i] = x;",
                (f"energy[i] = {finish_value(draw, 'x', kind, 1)};\nnew_vel[i] = v;"),
            ),
            "store",
        )
    )
    names = [habits.takes(kind, name) for name in ("pos", "vel", "acc", "old")] + [
        habits.gives(kind, name) for name in ("new_pos", "new_vel", "energy")
    ]
    names += [habits.number("dt", scalar), habits.number("steps", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        each = {"float4": 16, "float": 4}.get(kind, 8)
        size = way.size(w, 6 * each)
        steps = d.log_integer(1, 1000) if many else 1
        lengths = dict.fromkeys(("pos", "vel", "acc", "old", "new_pos", "new_vel", "energy"), size.count)
        cost = (90.0 if law == "pendulum" else 14.0) * (4 if scheme == "rk4" else 1) * each / 6
        return sized(
            size.global_size,
            size.local_size,
            size.done * (8 + cost * steps),
            lengths,
            {"dt": 0.01, "steps": steps, "n": size.count},
        )

    return draft(habits, "advance_bodies", names, body, launch)


@family("deposit_on_grid", "particles")
def deposit_on_grid(draw: Draw) -> Draft:
    """Each particle adds to the grid points around it with atomics."""
    habits = hand(draw)
    way = walk(draw, habits)
    real = draw.chance(0.5, "float_atomics")
    flat = draw.chance(0.5, "two_dimensions")
    shape = draw.choose(("nearest", "linear", "linear", "window"), "shape")
    axes = "xy" if flat else "xyz"
    packed = draw.chance(0.5, "packed")
    load = f"const float{2 if flat else 4} p = pos[i];\n" if packed else ""
    value = {a: f"p.{a}" if packed else f"p{a}[i]" for a in axes}
    body = load + "".join(
        f"const float f{a} = clamp({value[a]}, 0.0f, 0.999f) * (float)(side - 1);\nconst int c{a} = (int)f{a};\n"
        for a in axes
    )

    def index(offsets: dict[str, str]) -> str:
        parts = {a: f"(c{a} + {offsets[a]})" if offsets[a] != "0" else f"c{a}" for a in axes}
        return (
            f"{parts['y']} * side + {parts['x']}"
            if flat
            else f"({parts['z']} * side + {parts['y']}) * side + {parts['x']}"
        )

    def add(where: str, amount: str) -> str:
        return (
            f"add_float(&grid[{where}], {amount});"
            if real
            else f"atomic_add(&grid[{where}], (int)({amount} * 256.0f));"
        )

    charge = draw.choose(("charge[i]", "1.0f"), "charge")
    if shape == "nearest":
        body += add(index(dict.fromkeys(axes, "0")), charge)
    elif shape == "linear":
        body += "".join(f"const float w{a} = f{a} - (float)c{a};\n" for a in axes)
        if draw.chance(0.5, "unrolled"):
            for corner in range(2 ** len(axes)):
                bits = {a: (corner >> k) & 1 for k, a in enumerate(axes)}
                weight = " * ".join(f"w{a}" if bits[a] else f"(1.0f - w{a})" for a in axes)
                body += add(index({a: str(b) for a, b in bits.items()}), f"{charge} * {weight}") + "\n"
        else:
            weight = " * ".join(f"(o{a} ? w{a} : 1.0f - w{a})" for a in axes)
            loops = "".join(f"for (int o{a} = 0; o{a} < 2; o{a}++)\n" for a in reversed(axes))
            body += f"{loops}{{\n{add(index({a: f'o{a}' for a in axes}), f'{charge} * {weight}')}\n}}\n"
    else:
        loops = "".join(
            f"for (int {a} = max(c{a} - 1, 0); {a} <= min(c{a} + 1, side - 1); {a}++)\n" for a in reversed(axes)
        )
        where = "y * side + x" if flat else "(z * side + y) * side + x"
        weight = " * ".join(f"fmax(1.5f - fabs((float){a} - f{a}), 0.0f)" for a in axes)
        body += f"{loops}{{\n{add(where, f'{charge} * {weight}')}\n}}\n"
    kind = "float" if real else "int"
    names = [
        habits.takes("float2" if flat else "float4", "pos"),
        *(habits.takes("float", f"p{a}") for a in axes),
        habits.takes("float", "charge"),
    ]
    names += [
        f"{'volatile ' if draw.chance(0.4) else ''}{habits.space} {kind} *grid",
        habits.number("side", "int"),
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 24)
        side = d.log_integer(2, 2048 if flat else 128)
        spread = d.choose(
            (("uniform", 0.0, 1.0), ("uniform", 0.45, 0.55), ("sorted", 0.0, 1.0), ("clustered", 0.0, 1.0, 0.01))
        )
        fills: Fills = dict.fromkeys(("pos", "px", "py", "pz"), spread)
        lengths = dict.fromkeys(("pos", "px", "py", "pz", "charge"), size.count) | {"grid": side ** len(axes)}
        corners = {"nearest": 1, "linear": 2 ** len(axes), "window": 3 ** len(axes)}[shape]
        work = size.done * (14.0 + corners * (24 if real else 16))
        return sized(size.global_size, size.local_size, work, lengths, {"side": side, "n": size.count}, fills)

    return draft(habits, "deposit", names, way.write(body), launch, before=float_add(draw, habits) if real else "")


@family("field_at_particles", "particles")
def field_at_particles(draw: Draw) -> Draft:
    """Values of a grid at places between its points: nearest, linear, cubic; and pushing particles by them."""
    habits = hand(draw)
    kind = draw.weighted({"float": 2.0, "float4": 1.0, "float2": 1.0}, "type")
    way = walk(draw, habits)
    flat = draw.chance(0.5, "two_dimensions")
    axes = "xy" if flat else "xyz"
    shape = draw.choose(("nearest", "linear", "linear_mix", "cubic" if flat else "linear"), "shape")
    body = f"const float{2 if flat else 4} p = pos[i];\n" + "".join(
        (
            f"const float f{a} = clamp(p.{a}, 0.0f, 0.999f) * (float)(side - 1);\n"
            f"const int c{a} = (int)f{a};\nconst float w{a} = f{a} - (float)c{a};\n"
        )
        for a in axes
    )
    base = "cy * side + cx" if flat else "(cz * side + cy) * side + cx"
    if shape == "nearest":
        body += f"const {kind} value = field[{base}];\n"
    elif shape == "linear_mix":
        body += f"const int at = {base};\n"
        row = "mix(field[at{o}], field[at{o} + 1], ({k})(wx))"
        layer = "mix({r0}, {r1}, ({k})(wy))"
        one = layer.format(r0=row.format(o="", k=kind), r1=row.format(o=" + side", k=kind), k=kind)
        two = layer.format(
            r0=row.format(o=" + side * side", k=kind), r1=row.format(o=" + side * side + side", k=kind), k=kind
        )
        body += f"const {kind} value = {one if flat else f'mix({one}, {two}, ({kind})(wz))'};\n"
    elif shape == "linear":
        loops = "".join(f"for (int o{a} = 0; o{a} < 2; o{a}++)\n" for a in reversed(axes))
        where = "(cy + oy) * side + cx + ox" if flat else "((cz + oz) * side + cy + oy) * side + cx + ox"
        weight = " * ".join(f"(o{a} ? w{a} : 1.0f - w{a})" for a in axes)
        body += f"{kind} value = ({kind})(0.0f);\n{loops}    value += field[{where}] * ({weight});\n"
    else:
        body += f"""{kind} value = ({kind})(0.0f);
for (int oy = -1; oy <= 2; oy++)
    for (int ox = -1; ox <= 2; ox++) {{
        const float dx = fabs((float)ox - wx), dy = fabs((float)oy - wy);
        const float kx = dx < 1.0f ? (1.5f * dx - 2.5f) * dx * dx + 1.0f
            : ((-0.5f * dx + 2.5f) * dx - 4.0f) * dx + 2.0f;
        const float ky = dy < 1.0f ? (1.5f * dy - 2.5f) * dy * dy + 1.0f
            : ((-0.5f * dy + 2.5f) * dy - 4.0f) * dy + 2.0f;
        value += field[clamp(cy + oy, 0, side - 1) * side + clamp(cx + ox, 0, side - 1)] * (kx * ky);
    }}
"""
    push = draw.choose(
        (
            "out[i] = {v};",
            "out[i] = 0.5f * out[i] + {v};",
            "out[i] = {v} * charge[i];",
            "if (charge[i] > 1.0f)\n    out[i] = {v};",
        ),
        "use",
    )
    body += push.format(v=finish_value(draw, "value", kind))
    names = [
        habits.takes("float2" if flat else "float4", "pos"),
        habits.takes(kind, "field"),
        habits.takes("float", "charge"),
        habits.gives(kind, "out"),
    ]
    names += [habits.number("side", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 44, min(w.data, 1 << 22) if d.chance(0.5) else d.log_integer(1, 1 << 21))
        cells = within_memory(w.data, 32)
        side = max(2, round(cells ** (1 / 2 if flat else 1 / 3)))
        spread = d.choose(
            (("uniform", 0.0, 1.0), ("uniform", 0.45, 0.55), ("sorted", 0.0, 1.0), ("clustered", 0.0, 1.0, 0.01))
        )
        lengths = dict.fromkeys(("pos", "charge", "out"), size.count) | {"field": side ** len(axes)}
        cost = {"nearest": 14.0, "cubic": 400.0}.get(shape, 60.0)
        return sized(
            size.global_size,
            size.local_size,
            size.done * cost,
            lengths,
            {"side": side, "n": size.count},
            {"pos": spread},
        )

    return draft(habits, "sample_field", names, way.write(body), launch)
