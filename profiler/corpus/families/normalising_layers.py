"""What lies between the products of a network: pooling, embeddings, activations fused with biases and residuals."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.families.softmax import SPREAD
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, plane, sized, slack
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 5.0, "double": 1.0}


@family("pooling", group="normalising")
def pooling(draw: Draw) -> Draft:
    """Generate the largest, mean or length of windows of an image or a series, or of whole planes.

    Windows have strides and borders.
    """
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "uchar": 0.7, "float4": 1.0, "int": 0.5}, "type")
    total = {"uchar": "int"}.get(kind, kind)
    whole = draw.choose(("largest", "mean", "length", "least") if kind in KINDS else ("largest", "mean"), "pool")
    form = draw.choose(("image", "image", "series", "plane"), "over")
    window, is_literal = draw.choose((2, 3, 4, 5, 7)), draw.chance(0.6, "literal window")
    w = str(window) if is_literal else "window"
    border = draw.choose(("none", "skip", "clamp"), "border") if form != "plane" else "none"
    places = draw.chance(0.25, "places") and whole == "largest" and kind != "float4" and form != "plane"
    channels_last = draw.chance(0.4, "channels last")
    zero = literal(total, 0)
    step = {
        "largest": f"best = max(best, ({total})v);",
        "least": f"best = min(best, ({total})v);",
        "mean": "best += v;",
        "length": "best += v * v;",
    }[whole]
    if kind == "float4":
        step = step.replace("(float4)v", "v")
    if places:
        step = "if (v > best) {\nbest = v;\nplace = (int)(AT);\n}"
    scalar = total.rstrip("4")
    area = {"image": f"({scalar})({w} * {w})", "series": f"({scalar})({w})", "plane": f"({scalar})(high * wide)"}[form]
    finish = {"mean": f"best / {area}", "length": "sqrt(best)"}.get(whole, "best")
    out_kind = kind if kind != "uchar" else draw.choose(("uchar", "int"))
    if form == "plane":
        at = "(p * channels + c)" if channels_last else "(c * high * wide + p)"
        loop = hand.loop("p", "0", "(high * wide)", lambda _: f"const {kind} v = x[{at}];\n{step}", form="for")
        start = (
            f"{total} best = x[{at.replace('p', '0')}];" if whole in ("largest", "least") else f"{total} best = {zero};"
        )
        cover = hand.cover("c", "channels", lambda _: f"{start}\n{loop}\nout[c] = {finish};", may_be_exact=False)
        counts = hand.counts("channels", "high", "wide")
    elif form == "series":
        tests = {"none": "", "skip": "if (t >= 0 && t < wide) {\nSTEP\n}", "clamp": ""}[border]
        place = "clamp(t, 0, (int)wide - 1)" if border == "clamp" else "t"
        shift = " - pad" if border != "none" else ""
        cell = f"c * wide + {place}" if not channels_last else f"{place} * channels + c"
        inner = f"const {kind} v = x[{cell}];\n{step.replace('AT', 't')}"
        inner = tests.replace("STEP", inner) if tests else inner
        loop = f"for (int e = 0; e < {w}; ++e) {{\nconst int t = (int)o * stride + e{shift};\n{inner}\n}}"
        to = "c * outs + o" if not channels_last else "o * channels + c"
        body = _start(total, whole, places) + f"{loop}\nout[{to}] = {finish};" + f"\nplaces[{to}] = place;" * places
        cover = hand.cover_plane(("o", "outs"), ("c", "channels"), lambda x, y: body, may_be_exact=False)
        counts = hand.counts("channels", "wide", "outs", "stride")
    else:
        shift = " - pad" if border != "none" else ""
        test = "if (u >= 0 && u < wide && t >= 0 && t < high) {\nSTEP\n}" if border == "skip" else ""
        u, t = ("clamp(u, 0, (int)wide - 1)", "clamp(t, 0, (int)high - 1)") if border == "clamp" else ("u", "t")
        cell = f"({t} * wide + {u}) * channels + c" if channels_last else f"(c * high + {t}) * wide + {u}"
        inner = f"const {kind} v = x[{cell}];\n{step.replace('AT', 't * wide + u')}"
        inner = test.replace("STEP", inner) if test else inner
        across = f"for (int f = 0; f < {w}; ++f) {{\nconst int u = (int)o * stride + f{shift};\n{inner}\n}}"
        loop = f"for (int e = 0; e < {w}; ++e) {{\nconst int t = (int)q * stride + e{shift};\n{across}\n}}"
        to = "(q * outs + o) * channels + c" if channels_last else "(c * rows + q) * outs + o"
        split = f"const {hand.index} c = r / rows;\nconst {hand.index} q = r % rows;\n"
        body = (
            f"{split}{_start(total, whole, places)}{loop}\nout[{to}] = {finish};"
        ) + f"\nplaces[{to}] = place;" * places
        cover = hand.cover_plane(("o", "outs"), ("r", "(channels * rows)"), lambda x, y: body, may_be_exact=False)
        counts = hand.counts("channels", "high", "wide", "rows", "outs", "stride")
    counts += ["const int pad"] * (border != "none") + ["const int window"] * (not is_literal and form != "plane")
    buffers = [hand.reads(kind, "x"), hand.writes(out_kind, "out"), *([hand.writes("int", "places")] * places)]
    head = hand.signature("pool", [*buffers, *counts])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * 2.5 + 4
        size = (plane if cover.dimensions == 2 else line)(wish)
        side = window if is_literal else draw.integer(1, 9)
        data = affordable(max(wish.data, side * side), each)
        channels = draw.log_integer(1, max(1, min(512, data // (side * side))))
        fills = {"x": Fill("randint", (0, 256))} if kind in ("uchar", "int") else {}
        stride = draw.integer(1, side)
        high, wide = matrix(draw, max(side * side, data // channels), each, (1, 4096))
        high, wide = max(side, high), max(side, wide)
        if form == "series":
            high, wide = 1, max(side, data // channels)
        channels = max(1, min(channels, int(170_000_000 / (high * wide * each))))
        cells = channels * high * wide
        if form == "plane":
            done = cover.done(size, (channels,)) * high * wide
            lengths = {"x": cells, "out": channels}
            scalars = {"channels": channels, "high": high, "wide": wide}
            return sized(size, done * 4 + size.items, lengths, scalars, fills)
        outs, rows = (wide - side) // stride + 1, (high - side) // stride + 1 if form == "image" else 1
        scalars = {"channels": channels, "wide": wide, "outs": outs, "stride": stride}
        scalars |= {"high": high, "rows": rows} if form == "image" else {}
        scalars |= ({"pad": draw.integer(0, side - 1)} if border != "none" else {}) | (
            {} if is_literal else {"window": side}
        )
        done = cover.done(size, (outs, channels * rows))
        results = outs * rows * channels
        lengths = {"x": slack(draw, cells), "out": results} | ({"places": results} if places else {})
        taps = side * side if form == "image" else side
        return sized(size, done * (taps * 7 + 12) + size.items, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "pool", launch)


def _start(total: str, pool: str, places: bool) -> str:
    low = {"largest": -1000, "least": 1000}.get(pool, 0)
    return f"{total} best = {literal(total, low)};\n" + "int place = 0;\n" * places


@family("embedding_rows", group="normalising")
def embedding_rows(draw: Draw) -> Draft:
    """Rows of a table are looked up, scaled, given positions, or added up by bags; or gradients are added back."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 0.7, "float4": 2, "float2": 0.6, "int": 0.5}, "type")
    form = draw.choose(("look up", "with positions", "bags", "weighted bags", "one hot"), "form")
    id_type = draw.choose(("int", "uint", "ushort"), "ids")
    turned = draw.chance(0.2, "table turned")
    row = "id * width + d" if not turned else "d * rows + id"
    skips = draw.chance(0.3, "skips padding")
    scalar = kind.rstrip("24")
    zero = literal(kind, 0)
    fetch = f"const {hand.index} id = ids[{{}}];\n"
    mapped = hand.mapping(kind, 0.25)
    if form == "look up":
        value = mapped(f"table[{row}]")
        value = f"(id == 0 ? {zero} : {value})" if skips else value
        body = fetch.format("t") + f"out[t * width + d] = {value};"
    elif form == "with positions":
        scale = literal(scalar, draw.choose((0.5, 2, 1.25)))
        body = fetch.format("t") + f"out[t * width + d] = table[{row}] * {scale} + positions[t % period * width + d];"
    elif form == "one hot":
        hot, cold = literal(kind, 1), zero
        body = (
            fetch.format("t") + f"out[t * width + d] = id == d ? {hot} : {cold};"
            if kind in ("float", "int", "double")
            else ""
        )
        body = (
            body
            or fetch.format("t") + f"out[t * width + d] = table[{row}] - out[t * width + d] * {literal(scalar, 0.5)};"
        )
    else:
        weight = " * weights[t * bag + b]" if form == "weighted bags" else ""
        add = f"sum += table[{row}]{weight};"
        add = f"if (id != 0) {{\n{add}\n}}" if skips else add
        loop = hand.loop("b", "0", "bag", lambda b: fetch.format(f"t * bag + {b}") + add, form="for")
        mean = draw.choose(("sum", f"sum / ({scalar})bag"), "mean")
        body = f"{kind} sum = {zero};\n{loop}\nout[t * width + d] = {mean};"
    bags = "bags" in form
    cover = hand.cover_plane(("d", "width"), ("t", "tokens"), lambda x, y: body, may_be_exact=False)
    has_table = "table[" in body
    buffers = [hand.reads(id_type, "ids"), *([hand.reads(kind, "table")] * has_table), hand.writes(kind, "out")]
    buffers += [hand.reads(kind, "positions")] * ("positions[" in body) + [hand.reads(scalar, "weights")] * (
        "weights[" in body
    )
    extra = ["rows"] * turned + ["period"] * ("period" in body) + ["bag"] * bags
    head = hand.signature("embed", [*buffers, *hand.counts("tokens", "width", *extra)])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = (plane if cover.dimensions == 2 else line)(wish)
        tokens, width = matrix(draw, wish.data, each * 1.5 + 2, (1, 1024))
        tokens = min(tokens, int(100_000_000 / (each * width)))
        bag = draw.log_integer(1, 64) if bags else 1
        tokens = max(1, min(tokens, 6_000_000 // bag))
        rows = draw.log_integer(1, max(1, min(60_000, int(60_000_000 / (each * width)))))
        scalars = (
            {"tokens": tokens, "width": width} | ({"rows": rows} if turned else {}) | ({"bag": bag} if bags else {})
        )
        period = draw.log_integer(1, max(1, min(512, int(20_000_000 / (each * width)))))
        scalars |= {"period": period} if "period" in body else {}
        lengths = {"ids": tokens * bag, "out": tokens * width} | ({"table": rows * width} if has_table else {})
        lengths |= {"positions": period * width} if "positions[" in body else {}
        lengths |= {"weights": tokens * bag} if "weights[" in body else {}
        options = [Fill("randint", (0, rows)), Fill("skewed", (0, max(2, rows)))]
        options.append(Fill("clustered", (0, max(2, rows), max(1, rows // 100))))
        ids = draw.choose(options) if rows > 1 else Fill("zeros")
        done = cover.done(size, (width, tokens))
        operations = done * (8 + 5 * bag) * max(1, each / 8) + size.items
        return sized(size, operations, lengths, scalars, {"ids": ids})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "embed", launch)


@family("activations", group="normalising")
def activations(draw: Draw) -> Draft:
    """Biases, residuals, gates and dropping fused with an activation, forwards or backwards."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "float4": 2.0, "float2": 0.7, "float8": 0.5}, "type")
    scalar = kind.rstrip("248")
    zero, one, half = literal(scalar, 0), literal(scalar, 1), literal(scalar, 0.5)
    cubic = f"{literal(scalar, 0.797885)} * (v + {literal(scalar, 0.044715)} * v * v * v)"
    ramp = f"clamp(v + {literal(scalar, 3)}, {zero}, {literal(scalar, 6)})"
    activation = {
        "gelu erf": f"{half} * v * ({one} + erf(v * {literal(scalar, 0.707107)}))",
        "gelu tanh": f"{half} * v * ({one} + tanh({cubic}))",
        "silu": f"v / ({one} + exp(-v))",
        "sigmoid": f"{one} / ({one} + exp(-v))",
        "relu": f"fmax(v, ({kind})({literal(scalar, 0)}))",
        "tanh": "tanh(v)",
        "softplus": f"log({one} + exp(v))",
        "hard swish": f"v * {ramp} / {literal(scalar, 6)}",
        "elu": f"fmax(v, ({kind})({literal(scalar, 0)})) + fmin(exp(v) - {one}, ({kind})({literal(scalar, 0)}))",
        "mish": f"v * tanh(log({one} + exp(v)))",
    }
    name = draw.choose(list(activation), "activation")
    bias = draw.choose(("none", "last", "channel"), "bias")
    residual = draw.choose(("none", "before", "after"), "residual")
    gate = draw.chance(0.3, "gate")
    drop = draw.chance(0.25, "drops")
    backward = draw.chance(0.25, "backward")
    helper = draw.chance(0.4, "helper")
    at_bias = {"last": "i % width", "channel": "i / width % channels"}.get(bias, "")
    start = "x[i]" + (f" + bias[{at_bias}]" if at_bias else "") + (" + other[i]" if residual == "before" else "")
    text = f"activate({start})" if helper else activation[name]
    lines = [] if helper else [f"const {kind} v = {start};"]
    lines.append(f"{kind} y = {text};")
    if gate:
        lines.append("y *= gates[i];")
    if backward:
        lines.append(f"y = grad[i] * (y + {half});")
    if drop:
        hashed = (
            "uint seed = (uint)i * 747796405u + 2891336453u;\n"
            "seed = ((seed >> ((seed >> 28) + 4u)) ^ seed) * 277803737u;"
        )
        lines += [
            hashed,
            f"y = ((seed >> 16) & 255u) < {draw.choose((25, 51, 128))}u ? ({kind})({literal(scalar, 0)}) : y;",
        ]
    lines.append("out[i] = y" + (" + other[i];" if residual == "after" else ";"))
    cover = hand.cover("i", "n", lambda _: "\n".join(lines))
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out")] + [hand.reads(kind, "bias")] * bool(at_bias)
    buffers += [hand.reads(kind, "other")] * (residual != "none") + [hand.reads(kind, "gates")] * gate
    buffers += [hand.reads(kind, "grad")] * backward
    extra = {"last": ["width"], "channel": ["width", "channels"]}.get(bias, [])
    head = hand.signature("activate_all", [*buffers, *hand.counts("n", *extra)])
    function = f"static {kind} activate({kind} v)\n{{\nreturn {activation[name]};\n}}\n" if helper else ""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * (2 + (residual != "none") + gate + backward)
        size = line(wish, each)
        (n,) = cover.fit(size, affordable(wish.data, each))
        width = draw.log_integer(1, 8192)
        channels = draw.log_integer(1, 1024)
        scalars = {"n": n} | ({"width": width} if extra else {}) | ({"channels": channels} if len(extra) > 1 else {})
        lengths = {"x": slack(draw, n), "out": n} | ({"bias": width if bias == "last" else channels} if extra else {})
        lengths |= ({"other": n} if residual != "none" else {}) | ({"gates": n} if gate else {})
        lengths |= {"grad": n} if backward else {}
        cost = 4 + 6 * (name != "relu") + 10 * (name in ("mish", "softplus", "gelu tanh")) + 3 * drop + 6 * bool(extra)
        operations = cover.done(size, (n,)) * (cost * bytes_of(kind) / 4 + 4) + size.items
        return sized(size, operations, lengths, scalars, {"x": SPREAD})

    return Draft(lay_out(f"{function}{head}\n{{\n{cover.text}\n}}"), "activate_all", launch)
