"""Random numbers made in the kernel, and what is estimated with them."""

from __future__ import annotations

from dataclasses import dataclass

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, loop
from profiler.corpus.writing.sizes import draft, sized
from profiler.corpus.writing.walk import Walk, walk


@dataclass(frozen=True, slots=True)
class Generator:
    """`begin` declares the state for item `i`; `uniform` is a float in [0, 1), `bits` a uint, each a new one."""

    before: str
    begin: str
    uniform: str
    bits: str
    cost: float


def generator(draw: Draw) -> Generator:
    kind = draw.choose(("lcg", "xorshift", "xorshift4", "hash", "counter", "permuted", "carry", "lcg64"), "generator")
    first = draw.choose(("(uint)i * 2654435761u + seed", "((uint)i ^ seed) * 747796405u + 1u", "seed + 977u * (uint)i"))
    scale = draw.choose(
        ("(float)({b} >> 8) * 5.9604645e-8f", "({b} >> 8) / 16777216.0f", "(float)({b} & 0xffffffu) * 5.9604645e-8f")
    )
    state, begin, cost = "uint *s", f"uint state = ({first}) | 1u;", 4.0
    if kind == "lcg":
        step = (
            f"*s = *s * {draw.choose((1664525, 1103515245, 22695477))}"
            f"u + {draw.choose((1013904223, 12345, 1))}u;\nreturn *s;"
        )
    elif kind == "xorshift":
        step, cost = "uint x = *s;\nx ^= x << 13;\nx ^= x >> 17;\nx ^= x << 5;\n*s = x;\nreturn x;", 8.0
    elif kind == "xorshift4":
        state, begin, cost = "uint4 *s", f"uint4 state = (uint4)({first}, 362436069u, 521288629u, 88675123u);", 10.0
        step = (
            "const uint t = s->x ^ (s->x << 11);\n*s = s->yzww;\n"
            "s->w = s->w ^ (s->w >> 19) ^ t ^ (t >> 8);\nreturn s->w;"
        )
    elif kind == "hash":
        step, cost = (
            (
                "uint h = (*s)++;\nh = (h ^ 61u) ^ (h >> 16);\nh *= 9u;\n"
                "h ^= h >> 4;\nh *= 0x27d4eb2du;\nh ^= h >> 15;\nreturn h;"
            ),
            10.0,
        )
    elif kind == "counter":
        rounds = draw.choose((4, 7, 10), "rounds")
        state, begin, cost = "uint4 *s", f"uint4 state = (uint4)({first}, (uint)i, 0u, 1u);", 10.0 * rounds
        one = (
            "c = (uint4)(mul_hi(0xcd9e8d57u, c.z) ^ c.y ^ k.x, 0xcd9e8d57u "
            "* c.z, mul_hi(0xd2511f53u, c.x) ^ c.w ^ k.y, 0xd2511f53u * c.x);"
            "\nk += (uint2)(0x9e3779b9u, 0xbb67ae85u);"
        )
        step = f"uint4 c = *s;\nuint2 k = c.xy;\n{loop(draw, 'r', '0', str(rounds), one)}s->z += 1u;\nreturn c.x ^ c.w;"
    elif kind == "permuted":
        state, begin, cost = "ulong *s", f"ulong state = ((ulong)({first}) << 1) | 1ul;", 10.0
        step = (
            "const ulong old = *s;\n*s = old * 6364136223846793005ul + 1442695040888963407ul;\n"
            "const uint x = (uint)(((old >> 18) ^ old) >> 27);\nreturn rotate(x, (uint)(32u - (uint)(old >> 59)));"
        )
    elif kind == "carry":
        state, begin = "uint2 *s", f"uint2 state = (uint2)({first}, 362436069u);"
        step = (
            "s->x = 36969u * (s->x & 65535u) + (s->x >> 16);\n"
            "s->y = 18000u * (s->y & 65535u) + (s->y >> 16);\nreturn (s->x << 16) + s->y;"
        )
        cost = 8.0
    else:
        state, begin = "ulong *s", f"ulong state = (ulong)({first}) + 1ul;"
        step = "*s = *s * 0x5851f42d4c957f2dul + 11ul;\nreturn (uint)(*s >> 32);"
    inside = "\n".join("    " + text for text in step.strip().split("\n"))
    qualifier = draw.choose(("", "static inline ", "static "))
    before = (
        f"{qualifier}uint bits_of({state})\n{{\n{inside}\n}}\n\n{qualifier}float uniform_of({state})\n"
        f"{{\n    const uint b = bits_of(s);\n    return {scale.format(b='b')};\n}}\n"
    )
    return Generator(before, begin, "uniform_of(&state)", "bits_of(&state)", cost + 3)


def trials_size(draw: Draw, wish: Wish, way: Walk, bytes_each: float, cost: float, most: int = 4096) -> Sized:
    """Return sizes for `data` results, each from a number of trials of its own."""
    size = way.size(wish, bytes_each)
    trials = draw.log_integer(1, most)
    scalars = {
        "trials": trials,
        "n": size.count,
        "seed": draw.integer(1, 1 << 30),
        "limit": round(draw.real(0.1, 0.9), 3),
        "width": draw.log_integer(1, 64),
    }
    buffers = dict.fromkeys(("out", "in", "hits", "other"), size.count)
    return sized(size.global_size, size.local_size, size.done * (6.0 + cost * trials), buffers, scalars)


@family("areas_by_darts", "monte_carlo")
def areas_by_darts(draw: Draw) -> Draft:
    """Shares of random points inside a shape, and means of a function over a region."""
    habits, random = hand(draw), generator(draw)
    way = walk(draw, habits)
    form = draw.choose(("disc", "ball", "function", "function2", "ring", "antithetic", "strata", "importance"), "form")
    u = random.uniform
    square = f"const float x = {u};\nr += x * x;"
    each = {
        "disc": f"const float x = {u}, y = {u};\nhits += x * x + y * y {draw.choose(('<', '<='))} 1.0f;",
        "ball": (
            f"float r = 0.0f;\n{loop(draw, 'd', '0', str(draw.choose((3, 4, 6))), square)}if (r < 1.0f)\n    hits++;"
        ),
        "function": f"const float x = {u};\nsum += {finish_value(draw, 'x', 'float')};",
        "function2": (
            f"const float x = {u};\nconst float y = {u};\n"
            f"sum += {finish_value(draw, 'x', 'float')} * {finish_value(draw, 'y', 'float')};"
        ),
        "ring": (
            f"const float x = 2.0f * {u} - 1.0f, y = 2.0f * {u} - 1.0f;\n"
            "const float r = hypot(x, y);\nhits += r > limit && r < 1.0f ? 1 : 0;"
        ),
        "antithetic": f"const float x = {u};\nsum += 0.5f * (sqrt(x) + sqrt(1.0f - x));",
        "strata": f"const float x = ((float)t + {u}) / (float)trials;\nsum += {finish_value(draw, 'x', 'float')};",
        "importance": f"const float x = sqrt({u} + 0.001f);\nsum += exp(-x) / (2.0f * x);",
    }[form]
    store = "out[i] = (float)hits / (float)trials;" if "hits" in each else "out[i] = sum / (float)trials;"
    store = draw.choose((store, store, "atomic_add(&total[0], hits);")) if "hits" in each else store
    body = f"{random.begin}\nuint hits = 0;\nfloat sum = 0.0f;\n{loop(draw, 't', '0', 'trials', each)}{store}"
    body = body.replace("float sum = 0.0f;\n" if "hits" in each else "uint hits = 0;\n", "")
    names = [
        habits.gives("float", "out"),
        f"{habits.space} uint *total",
        habits.number("trials", "int"),
        habits.number("seed", "uint"),
    ]
    names += [habits.number("limit", "float"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        made = trials_size(d, w, way, 4, 2 * random.cost + 12)
        kept = made.launch
        return sized(
            kept.global_size, kept.local_size, made.operations, {**dict(kept.buffers), "total": 1}, dict(kept.scalars)
        )

    return draft(habits, "darts", names, way.write(body), launch, before=random.before)


@family("price_paths", "monte_carlo")
def price_paths(draw: Draw) -> Draft:
    """Paths of prices and what options on them pay."""
    habits, random = hand(draw), generator(draw)
    way = walk(draw, habits)
    payoff = draw.choose(("call", "put", "asian", "barrier", "lookback", "digital", "knock_in", "two"), "payoff")
    u = random.uniform
    normal = draw.choose(("box", "sum12", "polar"), "normal")
    pair = draw.chance(0.4, "fast_math")
    log_, sqrt_, cos_, exp_ = (
        ("native_log", "native_sqrt", "native_cos", "native_exp") if pair else ("log", "sqrt", "cos", "exp")
    )
    if normal == "box":
        z = f"const float z = {sqrt_}(-2.0f * {log_}({u} + 1e-6f)) * {cos_}(6.2831853f * {u});\n"
    elif normal == "sum12":
        z = f"float z = -6.0f;\n{loop(draw, 'q', '0', '12', f'z += {u};')}"
    else:
        z = (
            f"float a = 2.0f * {u} - 1.0f, b = 2.0f * {u} - 1.0f, r = a * a + b * b;\n"
            f"for (int again = 0; again < 8 && (r >= 1.0f || r < 1e-4f); again++) {{\n"
            f"    a = 2.0f * {u} - 1.0f;\n    b = 2.0f * {u} - 1.0f;\n    r = a * a + b * b;\n}}\n"
            f"r = clamp(r, 1e-4f, 0.999f);\nconst float z = a * {sqrt_}(-2.0f * {log_}(r) / r);\n"
        )
    move = draw.choose(
        (
            f"price *= {exp_}(drift + spread * z);",
            "price = fmax(price * (1.0f + drift + spread * z), 0.001f);",
            f"level += drift + spread * z;\nprice = first * {exp_}(clamp(level, -4.0f, 4.0f));",
        ),
        "move",
    )
    if "level" not in move:
        move += "\nprice = clamp(price, 0.01f, 10000.0f);"
    watch = {
        "asian": "sum += price;",
        "lookback": "top = fmax(top, price);",
        "barrier": "if (price > barrier)\n    break;",
        "knock_in": "in |= price > barrier;",
    }.get(payoff, "")
    value = {
        "call": "fmax(price - strike, 0.0f)", "put": "fmax(strike - price, 0.0f)", "asian": ("fmax(sum / (float)steps "
"- strike, 0.0f)"),
        "barrier": ("(price > barrier ? 0.0f : "
"fmax(price - strike, 0.0f))"), "lookback": "top - price", "digital": "(price > strike ? 1.0f : 0.0f)",
        "knock_in": "(in ? fmax(price - strike, 0.0f) : 0.0f)", "two": "fabs(price - strike)",
    }[payoff]  # fmt: skip
    several = draw.chance(0.4, "several_paths")
    declare = "float price = first;\n" + ("float level = 0.0f;\n" if "level" in move else "")
    declare += {"asian": "float sum = 0.0f;\n", "lookback": "float top = first;\n", "knock_in": "int in = 0;\n"}.get(
        payoff, ""
    )
    inner = f"{z}{move}\n{watch}".strip()
    if payoff == "barrier":
        inside = "\n".join("    " + text for text in inner.split("\n"))
        walking = f"for (int t = 0; t < steps; t++) {{\n{inside}\n}}\n"
    else:
        walking = loop(draw, "t", "0", "steps", inner)
    source = draw.choose(("prices[i]", "100.0f"), "first")
    head = f"{random.begin}\nconst float first = {source};\n"
    if several:
        body = (
            f"{head}float mean = 0.0f;\n"
            f"{loop(draw, 'p', '0', 'paths', declare + walking + f'mean += {value};')}out[i] = mean / (float)paths;"
        )
    else:
        body = f"{head}{declare}{walking}out[i] = {value};"
    names = [
        habits.takes("float", "prices"),
        habits.gives("float", "out"),
        habits.number("steps", "int"),
        habits.number("paths", "int"),
    ]
    names += [habits.number(name, "float") for name in ("drift", "spread", "strike", "barrier")]
    names += [habits.number("seed", "uint"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 8)
        steps, paths = d.log_integer(1, 400), d.log_integer(1, 64) if several else 1
        scalars = {
            "steps": steps,
            "paths": paths,
            "drift": 0.0001,
            "spread": round(d.real(0.005, 0.05), 4),
            "strike": 100.0,
        }
        scalars |= {"barrier": round(d.log_real(100.5, 160), 1), "seed": d.integer(1, 1 << 30), "n": size.count}
        cost = 2 * random.cost + 45 if normal != "sum12" else 12 * random.cost + 24
        work = size.done * (8.0 + steps * paths * cost)
        fills = {"prices": ("uniform", 50.0, 150.0)}
        return sized(size.global_size, size.local_size, work, {"prices": size.count, "out": size.count}, scalars, fills)

    return draft(habits, "simulate_prices", names, way.write(body), launch, before=random.before)
