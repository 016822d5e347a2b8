"""Transforms of small blocks and single levels of wavelets."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.hand import hand, literal
from profiler.corpus.writing.sizes import draft, power_below, sized, within_memory
from profiler.corpus.writing.walk import walk


@family("block_transforms", "transforms")
def block_transforms(draw: Draw) -> Draft:
    """Cosine and other transforms of small blocks, private or in local memory, with quantisation if wanted."""
    habits = hand(draw)
    b = draw.choose((4, 8, 8), "block")
    kind = draw.weighted({"float": 4.0, "int": 1.5, "short": 0.5}, "type")
    work = "float" if kind == "float" else "int"
    form = draw.choose(("private", "private", "rows_only", "lifted", "definition"), "form")
    way = walk(draw, habits)
    quantise = draw.choose(("", "divide", "table", "threshold"), "quantise")
    one = "basis[{u} * {b} + {x}]"
    clear = f"{work} block[{b * b}];\nfor (int k = 0; k < {b * b}; k++)\n    block[k] = in[(size_t)i * {b * b} + k];\n"
    scale = " / 64" if work == "int" else ""
    if form == "private":
        passes = ""
        for line_step, item in ((b, 1), (1, b)):
            passes += (
                f"for (int r = 0; r < {b}; r++) {{\n    {work} line[{b}];\n    for (int u = 0; u < {b}; u++) {{\n"
                f"        {work} sum = 0;\n        for (int x = 0; x < {b}; x++)\n"
                f"            sum += block[r * {line_step} + x * {item}] * {one.format(u='u', b=b, x='x')};\n"
                f"        line[u] = sum{scale};\n"
                f"    }}\n    for (int u = 0; u < {b}; u++)\n"
                f"        block[r * {line_step} + u * {item}] = line[u];\n}}\n"
            )
    elif form == "rows_only":
        passes = f"for (int r = 0; r < {b}; r++) {{\n"
        passes += (
            "".join(
                (
                    f"    {{\n        const {work} p = block[r * {b} + {k}], q = block[r * {b} + {b - 1 - k}];\n"
                    f"        block[r * {b} + {k}] = (p + q){' / 2' if work == 'int' else ' * 0.5f'};\n"
                    f"        block[r * {b} + {b - 1 - k}] = (p - q){' / 2' if work == 'int' else ' * 0.5f'};\n    }}\n"
                )
                for k in range(b // 2)
            )
            + "}\n"
        )
    elif form == "lifted":
        step, passes = b // 2, ""
        while step:
            half = " / 2" if work == "int" else " * 0.5f"
            passes += (
                f"for (int k = 0; k < {b * b}; k++)\n    if (!(k & {step})) {{\n"
                f"        const {work} p = block[k], q = block[k + {step}];\n"
                f"        block[k] = (p + q){half};\n        block[k + {step}] = (p - q){half};\n    }}\n"
            )
            step //= 2
    else:
        clear = ""
        passes = (
            f"{work} block[{b * b}];\nfor (int u = 0; u < {b * b}; u++) {{\n"
            f"    {work} sum = 0;\n    for (int x = 0; x < {b * b}; x++)\n"
            f"        sum += in[(size_t)i * {b * b} + x] * basis[(u / {b}"
            f") * {b} + x / {b}] * basis[(u % {b}) * {b} + x % {b}];\n"
            f"    block[u] = sum{scale};\n}}\n"
        )
    value = {
        "": "block[k]",
        "divide": "block[k] / 16",
        "table": "block[k] / steps[k]",
        "threshold": "(block[k] > 1 || block[k] < -1 ? block[k] : 0)",
    }[quantise]
    zigzag = draw.chance(0.3, "reordered")
    save = (
        f"for (int k = 0; k < {b * b}; k++)\n    out[(size_t)i * {b * b} + {'order[k]' if zigzag else 'k'}] = {value};"
    )
    near = draw.choose((habits.fixed, f"const {habits.space}"), "basis_space")
    names = [
        habits.takes(kind, "in"),
        habits.gives(kind, "out"),
        f"{near} {work} *basis",
        f"{near} {work} *steps",
        f"{near} int *order",
        habits.number("n"),
    ]

    def launch(d: Draw, w: Wish) -> Sized:
        size = way.size(w, 8.0 * b * b, max(1, w.data // (b * b)))
        buffers = {"in": size.count * b * b, "out": size.count * b * b, "basis": b * b, "steps": b * b, "order": b * b}
        whole = work == "int"
        fills: dict[str, tuple[str | int | float, ...]] = {
            "order": ("perm",),
            "basis": ("randint", -8, 8) if whole else ("uniform", -0.35, 0.35),
        }
        fills["steps"] = ("randint", 1, 64) if whole else ("uniform", 1.0, 8.0)
        cost = {"private": 8.0 * b**3, "definition": 8.0 * b**4}.get(form, 12.0 * b * b)
        return sized(
            size.global_size, size.local_size, size.done * (cost + 8 * b * b), buffers, {"n": size.count}, fills
        )

    return draft(habits, "block_transform", names, way.write(clear + passes + save), launch)


@family("wavelet_steps", "transforms")
def wavelet_steps(draw: Draw) -> Draft:
    """One level of a wavelet, forward or back, by filters or lifting; Walsh passes; banks of filters; bit reversal."""
    habits = hand(draw)
    kind = draw.weighted({"float": 4.0, "double": 1.0, "int": 1.5}, "type")
    way = walk(draw, habits)
    whole = kind == "int"
    half, root = (" >> 1", " >> 1") if whole else (f" * {literal(0.5, kind)}", f" * {literal(0.7071, kind)}")
    form = draw.choose(
        ("haar", "haar_back", "daubechies", "lifting", "walsh", "polyphase", "reverse_bits", "haar_levels", "upsample"),
        "form",
    )
    two_d = draw.chance(0.3, "columns") and form in ("haar", "haar_back", "lifting")
    at = "in[{a}]" if not two_d else "in[(({a}) / pitch * 2 + ({a}) % 2) % rows * pitch + ({a}) / 2 % pitch]"

    def read(a: str) -> str:
        return at.format(a=a) if not two_d else f"in[({a}) % length]"

    taps = draw.choose((4, 6, 8, 12), "taps")
    text = {
        "haar": (
            f"const {kind} a = {read('2 * i')}, b = {read('2 * i + 1')};\n"
            f"out[i] = (a + b){root};\nout[n + i] = (a - b){root};"
        ),
        "haar_back": (
            f"const {kind} s = in[i], d = in[n + i];\nout[2 * i] = (s + d){root};\nout[2 * i + 1] = (s - d){root};"
        ),
        "daubechies": (
            f"{kind} low = 0, high = 0;\nfor (int k = 0; k < {taps}; k++) {{\n"
            f"    const {kind} v = in[(2 * i + k) % length];\n    low += v * weights[k];\n"
            f"    high += v * ((k & 1) ? -weights[{taps - 1} - k] : weights[{taps - 1} - k]);\n"
            f"}}\nout[i] = low;\nout[n + i] = high;"
        ),
        "lifting": (
            f"const {kind} even = in[2 * i], after = in[min(2 * (int)i + 2, (int)length - 1)];\n"
            f"const {kind} d = in[2 * i + 1] - ((even + after){half});\n"
            f"const {kind} before = in[max(2 * (int)i - 1, 0)] - even;\n"
            f"out[n + i] = d;\nout[i] = even + ((d + before){half}{half});"
        ),
        "walsh": (
            "const int k = i & (span - 1);\nconst int p = ((i - k) << 1) + k;\n"
            f"const {kind} a = in[p], b = in[p + span];\nout[p] = (a + b){half};\nout[p + span] = (a - b){half};"
        ),
        "polyphase": (
            f"{kind} sum = 0;\nfor (int k = 0; k < {taps}; k++)\n"
            f"    sum += in[((size_t)i * span + k * span) % length] * weights[(k + i) % {taps}];\nout[i] = sum;"
        ),
        "reverse_bits": draw.choose(
            (
                (
                    "uint r = 0, v = i;\nfor (int b = 0; b < bits; b++) {\n"
                    "    r = (r << 1) | (v & 1);\n    v >>= 1;\n}\nout[r] = in[i];"
                ),
                (
                    "uint r = i;\nr = ((r >> 1) & 0x55555555u) | ((r & 0x55555555u) << 1);\n"
                    "r = ((r >> 2) & 0x33333333u) | ((r & 0x33333333u) << 2);\n"
                    "r = ((r >> 4) & 0x0f0f0f0fu) | ((r & 0x0f0f0f0fu) << 4);\n"
                    "r = ((r >> 8) & 0x00ff00ffu) | ((r & 0x00ff00ffu) << 8);\n"
                    "r = ((r >> 16) | (r << 16)) >> (32 - bits);\nout[i] = in[r];"
                ),
            )
        ),
        "haar_levels": (
            f"{kind} v[{taps // 4 * 4}];\nfor (int k = 0; k < {taps // 4 * 4}; k++)\n"
            f"    v[k] = in[((size_t)i * {taps // 4 * 4} + k) % length];\n"
            f"for (int s = 1; s < {taps // 4 * 4}; s <<= 1)\n"
            f"    for (int k = 0; k + s < {taps // 4 * 4}; k += 2 * s) {{\n"
            f"        const {kind} a = v[k], b = v[k + s];\n"
            f"        v[k] = (a + b){half};\n        v[k + s] = (a - b){half};\n"
            f"    }}\nout[i] = v[0];\nout[n + i] = v[1];"
        ),
        "upsample": (
            f"{kind} sum = 0;\nfor (int k = i % span; k < {taps}; k += span)\n"
            "    sum += in[(i / span + k / span) % length] * weights[k];\nout[i] = sum;"
        ),
    }[form]
    text = text.replace("(i - k)", "((int)i - k)").replace("k = i &", "k = (int)i &").replace("k = i %", "k = (int)i %")
    names = [
        habits.takes(kind, "in"),
        habits.gives(kind, "out"),
        f"{draw.choose((habits.fixed, f'const {habits.space}'))} {kind} *weights",
    ]
    names += [
        habits.number("span", "int"),
        habits.number("bits", "uint"),
        habits.number("length", "uint"),
        habits.number("n"),
    ]
    if way.kind == "exact":
        names = [*names[:-1], habits.number("n")]

    def launch(d: Draw, w: Wish) -> Sized:
        bits = d.integer(1, max(1, within_memory(w.data, 40).bit_length() - 1))
        count = 1 << bits if form == "reverse_bits" else max(1, w.data // 2)
        used = way
        size = used.size(w, 40, count)
        span = 1 << d.integer(0, 8)
        if form == "walsh":
            span = min(span, power_below(size.count))
        length = 2 * (-(-size.count // span) * span)
        if form == "reverse_bits":
            bits = max(1, (size.count - 1).bit_length())
            length = max(length, 1 << bits)
        fills = {"weights": ("randint", 0, 2) if whole else ("uniform", -0.2, 0.2)}
        buffers = {"in": length, "out": length, "weights": 16}
        scalars = {"span": span, "bits": bits, "length": length, "n": size.count}
        cost = {
            "daubechies": 12.0 * taps,
            "polyphase": 12.0 * taps,
            "haar_levels": 10.0 * taps,
            "reverse_bits": 40.0,
        }.get(form, 12.0)
        return sized(size.global_size, size.local_size, size.done * cost, buffers, scalars, fills)

    return draft(habits, "wavelet", names, way.write(text), launch)
