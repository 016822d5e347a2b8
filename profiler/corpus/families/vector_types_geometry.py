"""Geometry on vectors: products, rays against shapes, points through matrices."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, line_draft
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal


@family("vector_geometry", group="vector_types")
def vector_geometry(draw: Draw) -> Draft:
    """Dot and cross products, lengths, normals, reflections, rays against spheres, planes, boxes and triangles."""
    habits = hand(draw)
    width = draw.choose(("4", "3", "4", "2"), "width")
    base = draw.weighted({"float": 5.0, "double": 1.0}, "type")
    type_ = base + width
    layout = draw.choose(("vectors", "packed") if width != "4" else ("vectors",), "layout")
    one, small = literal(base, 1), literal(base, 0.01)
    fast = "fast_" if base == "float" and draw.chance(0.3, "fast") else ""
    forms = {
        "angle": ["r = dot({n}normalize(p), {n}normalize(q));"],
        "distance": ["r = {n}distance(p, q);"],
        "length": ["r = {n}length(p - q);"],
        "projected": ["v = q * (dot(p, q) / (dot(q, q) + {e}));"],
        "reflected": ["T n = {n}normalize(q);", "v = p - 2 * dot(p, n) * n;"],
        "lambert": ["r = fmax(dot({n}normalize(p), {n}normalize(q)), {z}) * ({o} - {e});"],
        "gloss": ["T h = {n}normalize(p + q);", "r = pow(fmax(dot(h, {n}normalize(q)), {z}), {k});"],
        "sphere": ["S b = dot(p, q), c = dot(p, p) - {o};", "S d = b * b - c;", "r = d > {z} ? -b - sqrt(d) : -{o};"],
        "plane": ["S d = dot(p, q);", "r = fabs(d) < {e} ? {z} : ({o} - dot(q, q)) / d;"],
        "box": ["T lo = (-p - {o}) / (q + {e}), hi = ({o} - p) / (q + {e});", "T a = fmin(lo, hi), b = fmax(lo, hi);",
                "r = fmin(fmin(b.x, b.y), {k}) - fmax(fmax(a.x, a.y), {z});"],
        "lerp": ["v = mix(p, q, {h});", "v = v / ({n}length(v) + {e});"],
        "smooth": ["v = smoothstep(p, q + 2 * fabs(p) + {o}, p + q);"],
        "pull": ["T d = q - p;", "S s = dot(d, d) + {e};", "v = d * rsqrt(s) / s;"],
        "weights": ["S a = dot(p, p), b = dot(p, q), c = dot(q, q);", "S w = a * c - b * b + {e};", "r = (c - b) / w;"],
    }  # fmt: skip
    if width != "2":
        forms["normal"] = ["v = cross(p, q);", "v = v / ({n}length(v) + {e});"]
        forms["area"] = ["r = {h} * {n}length(cross(p, q));"]
        forms["volume"] = ["r = dot(p, cross(q, p + q * q));"]
    count = draw.weighted({1: 3.0, 2: 2.0, 3: 1.0}, "formulas")
    chosen = draw.sample(tuple(forms), count)
    draw.choices["formula"] = " ".join(chosen)
    load = {"vectors": "{a}[i]", "packed": f"vload{width}(i, {{a}})"}[layout]
    lines = [f"{type_} p = {load.format(a='a')};", f"{type_} q = {load.format(a='b')};"]
    if draw.chance(0.3, "moved"):
        lines.append(f"p = {expression(draw, ['p', 'q'], type_, 2)} + {literal(type_, 0.1)};")
    lines += [f"{base} r = {literal(base, 0)};", f"{type_} v = {literal(type_, 0)};"]
    if count > 1:
        lines += [f"{base} sum = {literal(base, 0)};"]
    numbers = {"{e}": small, "{o}": one, "{z}": literal(base, 0), "{h}": literal(base, 0.5), "{k}": literal(base, 8)}
    joined = []
    for name in chosen:
        step = []
        for form in forms[name]:
            text = form
            for mark, number in {**numbers, "{n}": fast, "T ": f"{type_} ", "S ": f"{base} "}.items():
                text = text.replace(mark, number)
            step.append(text)
        if count > 1:
            step.append(f"sum {draw.choose(('+=', '-='))} {'r' if step[-1].startswith('r') else 'v.x + v.y'};")
            step = ["{", *step, "}"]
        lines += step
        joined += step
    is_scalar = count > 1 or joined[-1].startswith("r")
    store = draw.choose(("own", "vector", "both"), "store")
    result = ("sum" if count > 1 else "r") if is_scalar else "dot(v, p)"
    arrays = [Array("a", base if layout == "packed" else type_, per=int(width) if layout == "packed" else 1)]
    arrays.append(Array("b", arrays[0].type, per=arrays[0].per))
    text = "\n".join(lines)
    if store in ("own", "both") or layout == "packed":
        text += f"\nout[i] = {result};"
        arrays.append(Array("out", base, True))
    if store in ("vector", "both") and layout == "vectors":
        text += f"\nto[i] = {'v' if not is_scalar else f'p * {result}'};"
        arrays.append(Array("to", type_, True))
    return line_draft(draw, habits, Elements("geometry", arrays, text))


@family("point_transforms", group="vector_types")
def point_transforms(draw: Draw) -> Draft:
    """Points through one matrix, through a matrix each, through chains of matrices; projected, weighted, blended."""
    habits = hand(draw)
    base = draw.weighted({"float": 5.0, "double": 1.0}, "type")
    size = draw.choose((2, 3, 4, 4), "size")
    where = draw.choose(("constant", "each", "arguments", "literals", "indexed"), "matrix")
    if where == "arguments":
        size = 2
    layout = draw.choose(("vectors", "columns", "scalars") if size == 4 else ("scalars",), "layout")
    cells = size * size
    values = []
    lines, arrays = [], []
    share = literal(base, 0.5)
    if layout == "scalars":
        lines += [f"{base} x{k} = p[i * {size} + {k}];" for k in range(size)]
        arrays.append(Array("p", base, per=size))
    else:
        lines.append(f"{base}4 v = p[i];")
        arrays.append(Array("p", f"{base}4"))
    bones = draw.choose((4, 16, 60))
    rows = layout == "vectors"
    kind = base if layout == "scalars" else f"{base}4"
    per = cells if layout == "scalars" else 4
    match where:
        case "constant":
            arrays.append(Array("m", kind, length=lambda s, g: per, space=habits.fixed))
            cell = "m[{k}]"
        case "each":
            arrays.append(Array("m", kind, per=per))
            cell = f"m[i * {per} + {{k}}]"
        case "indexed":
            arrays.append(Array("m", kind, length=lambda s, g: per * bones))
            arrays.append(Array("bone", draw.choose(("uchar", "int")), fill=("randint", 0, bones)))
            lines.append("const int at = bone[i];")
            cell = f"m[at * {per} + {{k}}]"
        case "arguments":
            values = [Value(f"m{k}", base, lambda d: round(d.real(-0.7, 0.7), 3)) for k in range(cells)]
            cell = "m{k}"
        case _:
            numbers = [literal(base, round(draw.real(-0.6, 0.6), 2)) for _ in range(cells)]
            listed = [", ".join(numbers[4 * k : 4 * k + 4]) for k in range(4)]
            cell = "@"

    def element(k: int) -> str:
        if cell != "@":
            return cell.format(k=k)
        return numbers[k] if layout == "scalars" else f"({base}4)({listed[k]})"

    names = [f"y{k}" for k in range(size)]
    if layout == "scalars":
        for r in range(size):
            products = [f"{element(r * size + c)} * x{c}" for c in range(size)]
            lines.append(f"{base} y{r} = {' + '.join(products)};")
    elif rows:
        lines.append(f"{base}4 y = ({base}4)({', '.join(f'dot({element(r)}, v)' for r in range(4))});")
    else:
        products = [f"{element(c)} * v.{'xyzw'[c]}" for c in range(4)]
        if draw.chance(0.4):
            lines.append(f"{base}4 y = {products[0]};")
            lines += [
                f"y = {draw.choose(('mad', 'fma'))}({element(c)}, ({base}4)(v.{'xyzw'[c]}), y);" for c in range(1, 4)
            ]
        else:
            lines.append(f"{base}4 y = {' + '.join(products)};")
    after = draw.choose(("plain", "projected", "blended", "offset", "expression"), "after")
    outputs = names if layout == "scalars" else ["y"]
    last = names[-1] if layout == "scalars" else "y.w"
    results = list(outputs)
    match after:
        case "projected":
            lines.append(f"{base} inverse = {literal(base, 1)} / (fabs({last}) + {literal(base, 0.1)});")
            results = [f"{o} * inverse" for o in outputs]
        case "blended":
            source = [f"x{k}" for k in range(size)] if layout == "scalars" else ["v"]
            results = [f"{share} * ({o} + {s})" for o, s in zip(outputs, source, strict=True)]
        case "offset":
            results = [f"{o} + {share}" for o in outputs]
        case "expression":
            results = [f"clamp({o}, {literal(base, -4)}, {literal(base, 4)})" for o in outputs]
            results = [expression(draw, [r], kind, 2) for r in results]
    if layout == "scalars":
        lines += [f"q[i * {size} + {k}] = {r};" for k, r in enumerate(results)]
        arrays.append(Array("q", base, True, per=size))
    else:
        lines.append(f"q[i] = {results[0]};")
        arrays.append(Array("q", f"{base}4", True))
    return line_draft(draw, habits, Elements("transform", arrays, "\n".join(lines), values))
