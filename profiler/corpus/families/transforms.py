"""Transforms: Fourier steps in global and local memory, by definition, and their kin."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import finish_value, hand, literal, loop
from profiler.corpus.writing.sizes import draft, power_below, sized
from profiler.corpus.writing.walk import walk


@family("fourier_pass", "transforms")
def fourier_pass(draw: Draw) -> Draft:
    """One pass of a fast Fourier transform over global memory, of radix 2, 4 or 8."""
    habits = hand(draw)
    kind = draw.choose(("float", "float", "double"), "type")
    way = walk(draw, habits)
    radix = draw.choose((2, 2, 4, 8), "radix")
    pair = f"{kind}2"
    twiddle = draw.choose(("computed", "native", "pi", "table", "constant_table", "stepped"), "twiddles")
    if kind == "double" and twiddle in ("native", "pi"):
        twiddle = "computed"
    layout = draw.choose(("pairs", "pairs", "separate"), "layout")
    out = draw.choose(("in_order", "in_place", "bit_order"), "order")
    two_pi = "6.28318530718" + ("f" if kind == "float" else "")
    half = literal(0.5, kind)

    def load(at: str) -> str:
        return f"in[{at}]" if layout == "pairs" else f"({pair})(re[{at}], im[{at}])"

    def store(at: str, value: str) -> str:
        return (
            f"out[{at}] = {value};"
            if layout == "pairs"
            else f"out_re[{at}] = ({value}).x;\nout_im[{at}] = ({value}).y;"
        )

    before = (
        f"{pair} times({pair} a, {pair} b)\n{{\n"
        f"    return ({pair})(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);\n}}\n"
    )
    angle = f"-{two_pi} * ({kind})(k * {{q}}) / ({kind})(span * {radix})"

    def turn(q: int) -> str:
        a = angle.format(q=q)
        return {
            "computed": f"({pair})(cos({a}), sin({a}))", "native": f"({pair})(native_cos({a}), native_sin({a}))",
            "pi": (f"({pair})(cospi(-2.0f * (float)(k * {q}) / (float)(span * {radix}"
f")), sinpi(-2.0f * (float)(k * {q}) / (float)(span * {radix})))"),
            "table": (f"table[(k * {q} * (table_size / span / {radix}"
")) & (table_size - 1)]"), "constant_table": f"table[(k * {q} * (table_size / span / {radix})) & (table_size - 1)]",
            "stepped": f"step{q}",
        }[twiddle]  # fmt: skip

    head = "const int k = i & (span - 1);\nconst int base = i - k;\n"
    where_in = [f"i + {q} * n" if out == "in_order" else f"base * {radix} + k + {q} * span" for q in range(radix)]
    where_out = [f"base * {radix} + k + {q} * span" for q in range(radix)]
    if out == "bit_order":
        where_out = [f"i * {radix} + {q}" for q in range(radix)]
    text = head
    if twiddle == "stepped":
        text += f"const {kind} a1 = {angle.format(q=1)};\nconst {pair} step1 = ({pair})(cos(a1), sin(a1));\n"
        text += "".join(f"const {pair} step{q} = times(step{q - 1}, step1);\n" for q in range(2, radix))
    text += "".join(f"{pair} v{q} = {load(where_in[q])};\n" for q in range(radix))
    text += "".join(f"v{q} = times(v{q}, {turn(q)});\n" for q in range(1, radix))
    quarter = "({p})({a}.y, -{a}.x)"
    if radix == 2:
        text += f"const {pair} d = (v0 - v1) * {half};\nv0 = (v0 + v1) * {half};\nv1 = d;\n"
    elif radix == 4:
        text += (
            f"const {pair} a = v0 + v2, b = v0 - v2, c = v1 + v3, d = v1 - v3;\n"
            f"v0 = (a + c) * {half};\nv2 = (a - c) * {half};\n"
            f"v1 = (b + {quarter.format(p=pair, a='d')}) * {half};\n"
            f"v3 = (b - {quarter.format(p=pair, a='d')}) * {half};\n"
        )
    else:
        text += f"{pair} t;\n"
        for a, b in ((0, 4), (1, 5), (2, 6), (3, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 1), (2, 3), (4, 5), (6, 7)):
            text += (
                f"t = v{a} - v{b};\nv{a} = (v{a} + v{b}) * {literal(0.7071, kind)};\n"
                f"v{b} = t * {literal(0.7071, kind)};\n"
            )
            if draw.chance(0.3):
                text += f"v{b} = {quarter.format(p=pair, a=f'v{b}')};\n"
    text += "\n".join(store(where_out[q], f"v{q}") for q in range(radix))
    near = habits.fixed if twiddle == "constant_table" else f"const {habits.space}"
    names = [habits.takes(pair, "in"), habits.gives(pair, "out"), habits.takes(kind, "re"), habits.takes(kind, "im")]
    names += [habits.gives(kind, "out_re"), habits.gives(kind, "out_im"), f"{near} {pair} *table"]
    names += [habits.number("span", "int"), habits.number("table_size", "int"), habits.number("n", "int")]

    def launch(d: Draw, w: Wish) -> Sized:
        each = radix * (32 if kind == "double" else 16)
        size = way.size(w, each * 2, max(1, power_below(w.data) // radix))
        span = 1 << d.integer(0, max(0, size.count.bit_length() - 1))
        table = 1 << d.integer(1, 12)
        whole = (-(-size.count // span) * span) * radix
        lengths = dict.fromkeys(("in", "out", "re", "im", "out_re", "out_im"), whole) | {"table": table}
        cost = radix * (12.0 + (40.0 if twiddle in ("computed", "pi") else 12.0 if twiddle == "native" else 6.0))
        return sized(
            size.global_size,
            size.local_size,
            size.done * cost,
            lengths,
            {"span": span, "table_size": table, "n": size.count},
        )

    return draft(habits, "fft_pass", names, way.write(text), launch, before=before if "times(" in text else "")


@family("transforms_by_definition", "transforms")
def transforms_by_definition(draw: Draw) -> Draft:
    """Each coefficient as a sum over all samples: Fourier, cosine, Hartley, single frequencies, chirps."""
    habits = hand(draw)
    kind = draw.choose(("float", "float", "double"), "type")
    way = walk(draw, habits)
    what = draw.choose(
        (
            "fourier",
            "inverse",
            "cosine",
            "sine",
            "hartley",
            "goertzel",
            "rotation",
            "windowed",
            "power",
            "autocorrelation",
        ),
        "what",
    )
    f = "f" if kind == "float" else ""
    pick = draw.choose(("full", "native", "pi", "table"), "functions") if kind == "float" else "full"
    two_pi = f"6.283185307{f}"
    phase = f"({kind})((i * k) % samples) / ({kind})samples"
    c, s = {
        "full": (f"cos({two_pi} * p)", f"sin({two_pi} * p)"), "native": ((f"native_cos({two_pi}"
" * p)"), f"native_sin({two_pi} * p)"),
        "pi": ("cospi(2.0f * p)", "sinpi(2.0f * p)"), "table": (("table[(int)(p "
"* 1023.0f)].x"), "table[(int)(p * 1023.0f)].y"),
    }[pick]  # fmt: skip
    head = (
        f"const {kind} p = {phase.replace('(i * k)', '((uint)i * (uint)k)').replace('% samples', '% (uint)samples')};\n"
    )
    zero = literal(0, kind)
    if what in ("fourier", "power"):
        each, declare = f"{head}re += in[k] * {c};\nim -= in[k] * {s};", f"{kind} re = {zero}, im = {zero};\n"
        store = "out[i] = re * re + im * im;" if what == "power" else "out[2 * i] = re;\nout[2 * i + 1] = im;"
    elif what == "inverse":
        each = f"{head}re += in[2 * k] * {c} - in[2 * k + 1] * {s};"
        declare, store = f"{kind} re = {zero};\n", f"out[i] = re / ({kind})samples;"
    elif what in ("cosine", "sine", "hartley"):
        term = {"cosine": c, "sine": s, "hartley": f"({c} + {s})"}[what]
        each, declare, store = (
            f"{head}sum += in[k] * {term};",
            f"{kind} sum = {zero};\n",
            f"out[i] = {finish_value(draw, 'sum', kind, 1)};",
        )
    elif what == "goertzel":
        declare = (
            f"const {kind} w = 2 * cos({two_pi} * ({kind})(i % samples) / ({kind})samples);\n"
            f"{kind} s1 = {zero}, s2 = {zero};\n"
        )
        each, store = (
            f"const {kind} s0 = in[k] + w * s1 - s2;\ns2 = s1;\ns1 = s0 * {literal(0.999, kind)};",
            "out[i] = s1 * s1 + s2 * s2 - w * s1 * s2;",
        )
    elif what == "rotation":
        declare = (
            f"const {kind} a = {two_pi} * ({kind})(i % samples) / ({kind})samples;\n"
            f"const {kind} c = cos(a), s = sin(a);\n{kind} x = 1, y = 0, re = 0, im = 0;\n"
        )
        each = f"re += in[k] * x;\nim += in[k] * y;\nconst {kind} t = x * c - y * s;\ny = x * s + y * c;\nx = t;"
        store = "out[2 * i] = re;\nout[2 * i + 1] = im;"
    elif what == "windowed":
        declare = f"{kind} re = {zero}, im = {zero};\n"
        each = (
            f"{head}const {kind} v = in[i + k] * ({literal(0.54, kind)} - {literal(0.46, kind)} * {c});\n"
            f"re += v * {c};\nim += v * {s};"
        )
        store = "out[i] = sqrt(re * re + im * im);"
    else:
        declare, each, store = (
            f"{kind} sum = {zero};\n",
            habits.add_product("sum", "in[k]", "in[k + i]"),
            f"out[i] = sum / ({kind})samples;",
        )
    body = way.write(declare + loop(draw, "k", "0", "samples", each) + store)
    names = [
        habits.takes(kind, "in"),
        habits.gives(kind, "out"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} float2 *table",
    ]
    names += [habits.number("samples", "int"), habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 32)
        samples = d.log_integer(2, 16384)
        buffers = {"in": max(2 * samples, size.count + samples), "out": 2 * size.count, "table": 1024}
        cost = {"goertzel": 5.0, "rotation": 9.0, "autocorrelation": 4.0}.get(
            what, {"native": 20.0, "table": 14.0}.get(pick, 45.0)
        )
        return sized(
            size.global_size,
            size.local_size,
            size.done * (10 + cost * samples),
            buffers,
            {"samples": samples, "n": size.count},
        )

    return draft(habits, "spectrum", names, body, launch)
