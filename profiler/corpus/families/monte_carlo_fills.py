"""Buffers of random numbers of several distributions."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.families.monte_carlo import generator
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, loop
from profiler.corpus.writing.sizes import draft, sized
from profiler.corpus.writing.walk import walk


@family("random_fills", "monte_carlo")
def random_fills(draw: Draw) -> Draft:
    """Buffers of random numbers of several distributions, states kept or made anew."""
    habits, random = hand(draw), generator(draw)
    way = walk(draw, habits)
    kept = "uint state" in random.begin and draw.chance(0.5, "kept_state")
    u, b = random.uniform, random.bits
    form = draw.choose(
        (
            "uniform",
            "range",
            "bits",
            "normal",
            "exponential",
            "triangle",
            "dice",
            "bernoulli",
            "sphere",
            "vector",
            "poisson",
        ),
        "form",
    )
    value = {
        "uniform": u, "range": f"low + (high - low) * {u}", "bits": b,
        "normal": (f"sqrt(-2.0f * log({u}"
f" + 1e-7f)) * {draw.choose(('cos', 'sin', 'native_cos', 'cospi'))}(6.2831853f * {u})"),
        "exponential": f"-log({u} + 1e-7f) * high", "triangle": f"({u} + {u}) * 0.5f", "dice": f"{b} % 6u + 1u",
        "bernoulli": f"({u} < low ? 1u : 0u)", "vector": f"(float4)({u}, {u}, {u}, {u})",
    }.get(form, "")  # fmt: skip
    kind = (
        "uint"
        if form in ("bits", "dice", "bernoulli", "poisson")
        else "float4"
        if form in ("vector", "sphere")
        else "float"
    )
    many = draw.choose(("1", "each", "4", "16"), "each")
    extra = ""
    if form == "sphere":
        extra, value = (
            (
                f"const float z = 2.0f * {u} - 1.0f;\nconst float a = 6.2831853f * {u};\n"
                "const float r = sqrt(fmax(1.0f - z * z, 0.0f));\n"
            ),
            "(float4)(r * cos(a), r * sin(a), z, 0.0f)",
        )
    if form == "poisson":
        extra, value = (
            f"uint count = 0u;\nfloat p = {u};\nwhile (p > low && count < 64u) {{\n    p *= {u};\n    count++;\n}}\n",
            "count",
        )
    at = draw.choose(
        (f"(size_t)i * {many} + k", "i + (size_t)k * n") if way.kind != "exact" else (f"(size_t)i * {many} + k",), "at"
    )
    begin = "uint state = states[i] | 1u;" if kept else random.begin
    end = "states[i] = state;" if kept else ""
    if many == "1":
        body = f"{begin}\n{extra}out[i] = {value};\n{end}"
    else:
        body = f"{begin}\n{loop(draw, 'k', '0', many, f'{extra}out[{at}] = {value};')}{end}"
    names = [
        habits.gives(kind, "out"),
        f"{habits.space} uint *states",
        habits.number("each", "int"),
        habits.number("low", "float"),
    ]
    names += [habits.number("high", "float"), habits.number("seed", "uint"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        count = d.log_integer(1, 256) if many == "each" else int(many)
        each = count * (16 if kind == "float4" else 4) + 4
        size = way.size(w, each, max(1, w.data // count))
        cost = random.cost * (4 if form in ("vector", "poisson") else 1.5) + (
            25 if form in ("normal", "exponential", "sphere") else 2
        )
        scalars = {"each": count, "low": 0.25, "high": 4.0, "seed": d.integer(1, 1 << 30), "n": size.count}
        buffers = {"out": size.count * count, "states": size.count}
        return sized(
            size.global_size,
            size.local_size,
            size.done * (5 + cost * count),
            buffers,
            scalars,
            {"states": ("randint", 1, 1 << 31)},
        )

    return draft(habits, "fill_random", names, way.write(body), launch, before=random.before)
