"""Steps of simulations on a plane: diffusion, waves, fields that act on each other."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.families.stencils import bounded
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, plane_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal

REALS = {"float": 4.0, "double": 1.2}
EDGES = {"clamp": 2.0, "min_max": 1.0, "wrap": 1.0, "skip": 3.0, "mirror": 0.7, "ternary": 0.7}


class Neighbours:
    """Of the element at `cx`, `cy` of several fields; how a place is spelled is the same throughout a kernel."""

    def __init__(self, draw: Draw) -> None:
        self.edge = draw.weighted(EDGES, "boundary")
        self.spelled = draw.choose(("places", "indices", "function"), "places")
        self.lines = ["const int cx = x, cy = y, w = width, h = height;"]
        self.before = ""
        self._named: dict[tuple[int, int], str] = {}
        if self.spelled == "function":
            self.before = "static int offset_of(int a, int b, int w)\n{\n    return b * w + a;\n}\n"
        if self.spelled == "places":
            around = {"at": (0, 0), "west": (-1, 0), "east": (1, 0), "north": (0, -1), "south": (0, 1)}
            for name, (dx, dy) in around.items():
                self.lines.append(f"const int {name} = {self._index(dx, dy)};")
                self._named[dx, dy] = name

    def _index(self, dx: int, dy: int) -> str:
        across, down = bounded(self.edge, "cx", dx, "w"), bounded(self.edge, "cy", dy, "h")
        if self.spelled == "function":
            return f"offset_of({across}, {down}, w)"
        return f"({down}) * w + {across}" if dy else f"cy * w + {across}"

    def cell(self, field: str, dx: int = 0, dy: int = 0) -> str:
        return f"{field}[{self._named.get((dx, dy)) or self._index(dx, dy)}]"

    def whole(self, inner: list[str], written: list[str], type_: str, draw: Draw) -> str:
        """With the guard where neighbours beyond the edge are not to be read."""
        if self.edge != "skip":
            return "\n".join([*self.lines, *inner])
        test = draw.choose(
            ("cx > 0 && cy > 0 && cx < w - 1 && cy < h - 1", "cx >= 1 && cx + 1 < w && cy >= 1 && cy + 1 < h")
        )
        other = [f"{name}[cy * w + cx] = {literal(type_, 0)};" for name in written] if draw.chance(0.5) else []
        tail = " else {\n" + "\n".join(other) + "\n}" if other else ""
        return "\n".join([*self.lines, f"if ({test}) {{", *inner, f"}}{tail}"])


def laplacian(draw: Draw, at: Neighbours, field: str, type_: str) -> str:
    """Generate the sum of differences to the neighbours, of one kind or another."""
    kind = draw.weighted({"five": 3.0, "nine": 1.0, "differences": 1.0, "diagonal": 0.5, "fused": 0.7}, "laplacian")
    c = at.cell(field)
    four = [at.cell(field, *d) for d in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    corners = [at.cell(field, *d) for d in ((-1, -1), (1, -1), (-1, 1), (1, 1))]
    match kind:
        case "nine":
            near, far = literal(type_, 0.2), literal(type_, 0.05)
            return f"({near} * ({' + '.join(four)}) + {far} * ({' + '.join(corners)}) - {c})"
        case "differences":
            west, east, north, south = four
            return f"(({west} - {c}) - ({c} - {east}) + ({north} - {c}) - ({c} - {south}))"
        case "diagonal":
            return f"({' + '.join(corners)} - {literal(type_, 4)} * {c})"
        case "fused":
            return f"{draw.choose(('fma', 'mad'))}({literal(type_, -4)}, {c}, {' + '.join(four)})"
    return f"({' + '.join(draw.shuffled(four))} - {literal(type_, 4)} * {c})"


def rate(draw: Draw, name: str, values: list[Value], type_: str, low: float, high: float) -> str:
    """Generate a coefficient: an argument drawn for each launch, or a literal."""
    if draw.chance(0.5):
        values.append(Value(name, type_, lambda d: round(d.real(low, high), 4)))
        return name
    return literal(type_, round((low + high) / 2, 3))


@family("diffusion_step", group="stencils")
def diffusion_step(draw: Draw) -> Draft:
    """Heat and its like: one field, a source, a conductivity that is a number, a field or depends on the values."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    at, values = Neighbours(draw), list[Value]()
    lines = [f"const {type_} c = {at.cell('u')};", f"{type_} lap = {laplacian(draw, at, 'u', type_)};"]
    kind = draw.choose(("number", "field", "values", "edges", "time"), "conductivity")
    arrays = [Array("u", type_), Array("next", type_, True)]
    k = rate(draw, "alpha", values, type_, 0.05, 0.2)
    match kind:
        case "field":
            arrays.append(Array("conduct", type_))
            k = f"{k} * {at.cell('conduct')}"
        case "values":
            k = f"{k} / ({literal(type_, 1)} + c * c)"
        case "edges":
            arrays.append(Array("conduct", type_))
            half = literal(type_, 0.5)
            sides = [(-1, 0), (1, 0), (0, -1), (0, 1)]
            flux = [f"({at.cell('conduct')} + {at.cell('conduct', *d)}) * ({at.cell('u', *d)} - c)" for d in sides]
            lines[1] = f"{type_} lap = {half} * ({' + '.join(flux)});"
        case "time":
            k = f"{k} * {draw.choose(('exp(-c * c)', 'native_exp(-c)', 'rsqrt(c * c + 1)', 'cos(c)'))}"
            k = k.replace("native_", "" if type_ == "double" else "native_")
    value = f"c + {k} * lap"
    if draw.chance(0.35, "source"):
        arrays.append(Array("heat", type_))
        value += f" + {literal(type_, 0.01)} * {at.cell('heat')}"
    if draw.chance(0.25, "cooling"):
        value += f" - {literal(type_, 0.02)} * (c - {literal(type_, 0.5)})"
    if draw.chance(0.25, "wall"):
        arrays.append(Array("wall", draw.choose(("uchar", "int")), fill=("randint", 0, draw.choose((2, 5, 40)))))
        value = f"{at.cell('wall')} == 0 ? c : {value}"
    lines.append(f"{at.cell('next')} = {value};")
    return plane_draft(
        draw, habits, Elements("diffuse", arrays, at.whole(lines, ["next"], type_, draw), values, None, at.before)
    )


@family("wave_step", group="stencils")
def wave_step(draw: Draw) -> Draft:
    """Generate the next displacement from this one and the last.

    Damped, with a speed that varies, sponges at the rim.
    """
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    at, values = Neighbours(draw), list[Value]()
    speed = rate(draw, "speed", values, type_, 0.1, 0.4)
    arrays = [Array("now", type_), Array("before", type_), Array("after", type_, True)]
    two = literal(type_, 2)
    lines = [f"const {type_} c = {at.cell('now')};", f"const {type_} lap = {laplacian(draw, at, 'now', type_)};"]
    if draw.chance(0.4, "varying_speed"):
        arrays.append(Array("medium", type_))
        speed = f"{speed} * {at.cell('medium')}"
    value = f"{two} * c - {at.cell('before')} + {speed} * lap"
    damping = draw.choose(("none", "factor", "velocity", "sponge"), "damping")
    match damping:
        case "factor":
            value = f"{literal(type_, 0.99)} * ({value})"
        case "velocity":
            value += f" - {literal(type_, 0.05)} * (c - {at.cell('before')})"
        case "sponge":
            lines.append(
                f"const int rim = min(min(cx, w - 1 - cx), min(cy, h - 1 - cy));\n{type_} soft = {literal(type_, 1)};"
            )
            lines.append(
                f"if (rim < {draw.choose((4, 8, 20))}) soft = {literal(type_, 0.9)} + {literal(type_, 0.005)} * rim;"
            )
            value = f"soft * ({value})"
    lines.append(f"{at.cell('after')} = {value};")
    if draw.chance(0.25, "energy"):
        arrays.append(Array("energy", type_, True))
        lines.append(
            f"{at.cell('energy')} = {literal(type_, 0.5)} * (c - {at.cell('before')}) * (c - {at.cell('before')});"
        )
    return plane_draft(
        draw, habits, Elements("wave", arrays, at.whole(lines, ["after"], type_, draw), values, None, at.before)
    )


@family("coupled_fields", group="stencils")
def coupled_fields(draw: Draw) -> Draft:
    """Two to four fields that act on each other: substances that react, water and its speed, gradients, vortices."""
    habits = hand(draw)
    type_ = draw.weighted(REALS, "type")
    at, values = Neighbours(draw), list[Value]()
    kind = draw.choose(("reaction", "shallow", "vortex", "gradient", "grown", "stretch"), "fields")

    def slope(field: str, dx: int, dy: int) -> str:
        form = f"({at.cell(field, dx, dy)} - {at.cell(field, -dx, -dy)})"
        return f"{literal(type_, 0.5)} * {form}"

    arrays, lines, written = [], [], []
    match kind:
        case "reaction":
            du, dv = (rate(draw, n, values, type_, 0.05, 0.2) for n in ("du", "dv"))
            feed = rate(draw, "feed", values, type_, 0.02, 0.06)
            lines += [f"const {type_} u = {at.cell('a')}, v = {at.cell('b')};"]
            react = draw.choose(("u * v * v", "u * v", "u * u * u - v", "u - v * u * u"))
            lines.append(f"const {type_} r = {react};")
            spread, one = laplacian(draw, at, "a", type_), literal(type_, 1)
            lines.append(f"{at.cell('a2')} = u + {du} * {spread} - {feed} * r + {feed} * ({one} - u);")
            lines.append(f"{at.cell('b2')} = v + {dv} * {laplacian(draw, at, 'b', type_)} + {feed} * r - {feed} * v;")
            arrays, written = ["a", "b"], ["a2", "b2"]
        case "shallow":
            dt = rate(draw, "dt", values, type_, 0.01, 0.1)
            lines.append(f"const {type_} dx = {slope('depth', 1, 0)}, dy = {slope('depth', 0, 1)};")
            lines.append(
                f"{at.cell('vx2')} = {at.cell('vx')} - {dt} * dx;\n{at.cell('vy2')} = {at.cell('vy')} - {dt} * dy;"
            )
            lines.append(
                f"{at.cell('depth2')} = {at.cell('depth')} - {dt} * ({slope('vx', 1, 0)} + {slope('vy', 0, 1)});"
            )
            arrays, written = ["depth", "vx", "vy"], ["depth2", "vx2", "vy2"]
        case "vortex":
            lines.append(f"{at.cell('curl')} = {slope('vy', 1, 0)} - {slope('vx', 0, 1)};")
            if draw.chance(0.6):
                lines.append(f"{at.cell('spread')} = {slope('vx', 1, 0)} + {slope('vy', 0, 1)};")
            arrays, written = ["vx", "vy"], ["curl", *(["spread"] if len(lines) > 1 else [])]
        case "gradient":
            lines.append(f"const {type_} gx = {slope('p', 1, 0)}, gy = {slope('p', 0, 1)};")
            size = draw.choose(("sqrt(gx * gx + gy * gy)", "fabs(gx) + fabs(gy)", "hypot(gx, gy)", "gx * gx + gy * gy"))
            lines.append(f"{at.cell('size')} = {size};")
            if draw.chance(0.6):
                lines.append(
                    f"{at.cell('angle')} = {draw.choose(('atan2(gy, gx + 0.001f)', 'gx * gy', 'gx / (fabs(gy) + 1)'))};"
                )
            arrays, written = ["p"], ["size", *(["angle"] if len(lines) > 2 else [])]
        case "grown":
            lines.append(f"const {type_} prey = {at.cell('a')}, hunters = {at.cell('b')};")
            meet = draw.choose(("prey * hunters", "prey * hunters / (prey + 1)", "fmin(prey, hunters)"))
            lines.append(f"const {type_} eaten = {literal(type_, 0.02)} * {meet};")
            spread = f"{literal(type_, 0.05)} * {laplacian(draw, at, 'a', type_)}"
            lines.append(f"{at.cell('a2')} = prey * {literal(type_, 1.01)} - eaten + {spread};")
            lines.append(f"{at.cell('b2')} = hunters * {literal(type_, 0.99)} + eaten;")
            arrays, written = ["a", "b"], ["a2", "b2"]
        case _:
            names = [at.cell(f, dx, dy) for f in ("vx", "vy") for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (0, 0))]
            picked = draw.sample(names, draw.integer(4, 8))
            lines += [f"{at.cell(o)} = {expression(draw, picked, type_, 4)};" for o in ("sx", "sy")]
            arrays, written = ["vx", "vy"], ["sx", "sy"]
    text = at.whole(lines, written, type_, draw)
    fields = [*(Array(a, type_) for a in arrays), *(Array(o, type_, True) for o in written)]
    return plane_draft(draw, habits, Elements(f"step_{kind}", fields, text, values, None, at.before))
