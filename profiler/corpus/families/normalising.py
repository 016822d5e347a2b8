"""Normalisation: of rows by items or groups, of channels, and of single rows to a length, a range or a deviation."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, sized, slack
from profiler.corpus.writing.trees import FENCE, scratch, tree
from profiler.corpus.writing.types import bytes_of

KINDS = {"float": 5.0, "double": 1.0}


@family("layer_norm", group="normalising")
def layer_norm(draw: Draw) -> Draft:
    """Generate a row that is centred and scaled, or scaled by its root mean square, by an item or by a group."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    by_group = draw.chance(0.5, "group")
    rms = draw.chance(0.4, "root mean square")
    passes = draw.choose(("two", "one"), "passes") if not rms else "one"
    affine, residual = draw.choose(("none", "scale", "scale and shift"), "affine"), draw.chance(0.35, "residual")
    keeps = draw.chance(0.3, "keeps statistics")
    column = draw.chance(0.25, "columns") and not by_group
    end = draw.choose(("plain", "plain", "relu", "silu"), "activation")
    zero, one, small = literal(kind, 0), literal(kind, 1), literal(kind, draw.choose((1e-5, 1e-3)))
    at = "k * rows + row" if column else "row * length + k"
    value = f"x[{at}] + other[{at}]" if residual else f"x[{at}]"
    local = scratch(hand, {"part": kind, "part2": kind})
    count = f"({kind})length"

    def over(body: str) -> str:
        start, step = ("l", "size") if by_group else ("0", "1")
        return hand.loop("k", start, "length", lambda _: body, step, "for")

    def together(*names: str) -> str:
        if not by_group:
            return ""
        arrays = ("part", "part2")[: len(names)]
        put = "\n".join(f"{array}[l] = {name};" for array, name in zip(arrays, names, strict=True))
        got = "\n".join(f"{name} = {array}[0];" for array, name in zip(arrays, names, strict=True))

        def join(a: str, b: str) -> str:
            return "\n".join(f"{array}[{a}] += {array}[{b}];" for array in arrays)

        return f"{put}\n{tree(hand, join, size='size', fixed=local.fixed)}\n{got}\n{FENCE}\n"

    root = draw.choose(("rsqrt({v})", "{o} / sqrt({v})")).format(v="VARIANCE", o=one)
    if rms:
        add = f"const {kind} v = {value};\n{hand.add_product('squares', 'v', 'v', kind)}"
        text = f"{kind} squares = {zero};\n{over(add)}\n{together('squares')}"
        text += f"const {kind} inverse = {root.replace('VARIANCE', f'squares / {count} + {small}')};\n"
        centred = f"({value})"
    elif passes == "one":
        add = f"const {kind} v = {value};\nmean += v;\n{hand.add_product('squares', 'v', 'v', kind)}"
        text = f"{kind} mean = {zero}, squares = {zero};\n{over(add)}\n{together('mean', 'squares')}mean /= {count};\n"
        spread = f"fmax(squares / {count} - mean * mean, {zero}) + {small}"
        text += f"const {kind} inverse = {root.replace('VARIANCE', spread)};\n"
        centred = f"({value} - mean)"
    else:
        text = f"{kind} mean = {zero};\n{over(f'mean += {value};')}\n{together('mean')}mean /= {count};\n"
        add = f"const {kind} d = {value} - mean;\n{hand.add_product('squares', 'd', 'd', kind)}"
        text += f"{kind} squares = {zero};\n{over(add)}\n{together('squares')}"
        text += f"const {kind} inverse = {root.replace('VARIANCE', f'squares / {count} + {small}')};\n"
        centred = f"({value} - mean)"
    result = f"{centred} * inverse" + {"none": "", "scale": " * gamma[k]"}.get(affine, " * gamma[k] + beta[k]")
    store = {
        "plain": f"out[{at}] = {result};",
        "relu": f"out[{at}] = fmax({result}, {zero});",
        "silu": f"const {kind} y = {result};\nout[{at}] = y / ({one} + exp(-y));",
    }[end]
    text += over(store)
    keep = "inverses[row] = inverse;"
    if keeps:
        text += f"\nif (l == 0) {{\n{keep}\n}}" if by_group else f"\n{keep}"
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.reads(kind, "other")] * residual)]
    buffers += [hand.reads(kind, "gamma")] * (affine != "none") + [hand.reads(kind, "beta")] * ("shift" in affine)
    buffers += [hand.writes(kind, "inverses")] * keeps
    cover = None
    if by_group:
        text = f"""{local.declarations}
        const {hand.index} row = get_group_id(0);
        const {hand.index} l = get_local_id(0);
        const {hand.index} size = get_local_size(0);
        {text}"""
    else:
        cover = hand.cover("row", "rows", lambda _: text)
        text = cover.text
    parameters = [*buffers, *(local.parameters if by_group else []), *hand.counts("rows", "length")]
    head = hand.signature("layer_norm", parameters, local.required if by_group else None)

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * (3 if residual else 2)
        size = local.range(wish) if by_group else line(wish, 2 * each)
        rows, length = matrix(draw, wish.data, each, (1, 16384))
        if cover:
            (rows,) = cover.fit(size, rows)
            length = max(1, min(length, int(150_000_000 / (each * rows))))
        else:
            rows = size.groups
            length = max(1, min(wish.data // rows, int(150_000_000 / (each * rows))))
        cells = rows * length
        lengths = {"x": slack(draw, cells), "out": cells} | ({"other": cells} if residual else {})
        lengths |= ({"gamma": length} if affine != "none" else {}) | ({"beta": length} if "shift" in affine else {})
        lengths |= {"inverses": rows} if keeps else {}
        done = cover.done(size, (rows,)) if cover else rows
        cost = 14 + 4 * (passes == "two") + 12 * (end == "silu")
        operations = done * (length * cost + 20 + (size.group * 30 if by_group else 0)) + size.items
        extra = local.bytes(size) if by_group else {}
        return sized(size, operations, lengths, {"rows": rows, "length": length}, None, extra)

    return Draft(lay_out(f"{head}\n{{\n{text}\n}}"), "layer_norm", launch)


@family("batch_norm", group="normalising")
def batch_norm(draw: Draw) -> Draft:
    """Each channel by statistics that are given, or that an item gathers over all images first; in either layout."""
    hand = Hand(draw)
    kind = draw.weighted(KINDS, "type")
    form = draw.choose(("given", "given", "folded", "gather", "gather and apply"), "form")
    channels_last = draw.chance(0.4, "channels last")
    activation = draw.choose(("none", "relu", "leaky", "clip"), "activation")
    in_place = draw.chance(0.25, "in place") and form in ("given",)
    zero, one, small = literal(kind, 0), literal(kind, 1), literal(kind, 1e-3)
    act = {
        "none": "{v}",
        "relu": f"fmax({{v}}, {zero})",
        "leaky": f"({{v}} > {zero} ? {{v}} : {{v}} * {literal(kind, 0.1)})",
        "clip": f"clamp({{v}}, {zero}, {literal(kind, 6)})",
    }[activation]
    to = "x" if in_place else "out"
    inner = "(({0}) * channels + c) * pixels + {1}" if not channels_last else "(({0}) * pixels + {1}) * channels + c"
    if form in ("given", "folded"):
        channel = "i % channels" if channels_last else "i / pixels % channels"
        scale = f"gamma[c] * rsqrt(variance[c] + {small})" if form == "given" else "gamma[c]"
        normal = f"(x[i] - mean[c]) * {scale} + beta[c]" if form == "given" else "x[i] * gamma[c] + beta[c]"
        body = f"const {hand.index} c = {channel};\nconst {kind} v = {normal};\n{to}[i] = {act.format(v='v')};"
        cover = hand.cover("i", "(images * channels * pixels)", lambda _: body, may_be_exact=False)
    else:
        at = inner.format("m", "p")

        def over(text: str) -> str:
            pixels = hand.loop("p", "0", "pixels", lambda _: text, form="for")
            return f"for ({hand.index} m = 0; m < images; ++m) {{\n{pixels}\n}}"

        add = f"const {kind} v = x[{at}];\nsum += v;\n{hand.add_product('squares', 'v', 'v', kind)}"
        count = f"({kind})(images * pixels)"
        body = f"{kind} sum = {zero}, squares = {zero};\n{over(add)}\nconst {kind} average = sum / {count};\n"
        body += f"const {kind} spread = fmax(squares / {count} - average * average, {zero});\n"
        if form == "gather":
            body += "mean[c] = average;\nvariance[c] = spread;"
        else:
            body += f"const {kind} factor = gamma[c] * {one} / sqrt(spread + {small});\n"
            body += over(f"const {kind} v = (x[{at}] - average) * factor + beta[c];\nout[{at}] = {act.format(v='v')};")
        cover = hand.cover("c", "channels", lambda _: body, may_be_exact=False)
    buffers = [hand.writes(kind, "x") if in_place else hand.reads(kind, "x")]
    names = {"given": ["mean", "variance", "gamma", "beta"], "folded": ["gamma", "beta"]}
    names |= {"gather and apply": ["gamma", "beta"]}
    per_channel = names.get(form, [])
    buffers += [hand.reads(kind, name) for name in per_channel]
    if form == "gather":
        buffers += [hand.writes(kind, "mean"), hand.writes(kind, "variance")]
        per_channel = ["mean", "variance"]
    elif not in_place:
        buffers.append(hand.writes(kind, "out"))
    head = hand.signature("batch_norm", [*buffers, *hand.counts("images", "channels", "pixels")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = 2 * bytes_of(kind)
        size = line(wish)
        whole = affordable(wish.data, each)
        channels = draw.log_integer(1, min(whole, 2048))
        pixels = draw.log_integer(1, max(1, whole // channels))
        images = max(1, whole // (channels * pixels))
        cells = channels * pixels * images
        units = cells if form in ("given", "folded") else channels
        done = cover.done(size, (units,)) / units * cells
        lengths = {"x": cells} | dict.fromkeys(per_channel, channels)
        lengths |= {"out": cells} if form != "gather" and not in_place else {}
        scalars = {"images": images, "channels": channels, "pixels": pixels}
        cost = {"given": 22, "folded": 10, "gather": 6}.get(form, 14)
        return sized(size, done * cost + size.items, lengths, scalars)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "batch_norm", launch, in_place=("x",) if in_place else ())


@family("scale_rows", group="normalising")
def scale_rows(draw: Draw) -> Draft:
    """Rows or columns to length one, to a range from 0 to 1, to the largest, the sum, or the deviation one."""
    hand = Hand(draw)
    kind = draw.weighted({**KINDS, "float4": 1.2}, "type")
    scalar = kind.rstrip("4")
    vector = scalar != kind
    forms = (
        ("length", "largest", "sum", "sum of magnitudes")
        if vector
        else ("length", "range", "largest", "sum", "deviation")
    )
    form = draw.choose(forms, "to")
    columns, in_place = draw.chance(0.35, "columns"), draw.chance(0.25, "in place")
    factor_only = draw.chance(0.2, "factor only")
    guarded = draw.choose(("add", "max", "test"), "zero guard")
    at = "k * rows + i" if columns else "i * length + k"
    to = "x" if in_place else "out"
    zero, one, small = literal(scalar, 0), literal(scalar, 1), literal(scalar, 1e-3)
    v = f"x[{at}]"
    size_of = {True: "fabs({v}.x) + fabs({v}.y) + fabs({v}.z) + fabs({v}.w)", False: "fabs({v})"}[vector].format(v=v)
    one_of = f"dot({v}, (float4)({one}))" if vector else v

    def over(body: str, start: str = "0") -> str:
        return hand.loop("k", start, "length", lambda _: body)

    def safe(text: str) -> str:
        return {
            "add": f"{one} / ({text} + {small})",
            "max": f"{one} / fmax({text}, {small})",
            "test": f"{text} > {small} ? {one} / ({text}) : {one}",
        }[guarded]

    squares = f"dot({v}, {v})" if vector else f"{v} * {v}"
    shift = ""
    if form == "length":
        start = f"{scalar} total = {zero};\n{over(f'total += {squares};')}\n{scalar} factor = {safe('sqrt(total)')};\n"
    elif form == "range":
        find = f"low = fmin(low, {v});\nhigh = fmax(high, {v});"
        start = (
            f"{kind} low = x[{at.replace('k', '0')}], high = low;\n{over(find, '1')}\nconst {kind} wide = high - low;\n"
        )
        start += f"{kind} factor = {safe('wide')};\n"
        shift = " - low"
    elif form == "deviation":
        start = f"{kind} mean = {zero}, total = {zero};\n{over(f'mean += {v};')}\nmean /= ({kind})length;\n"
        start += over(f"total += ({v} - mean) * ({v} - mean);")
        start += f"\ntotal = sqrt(total / ({kind})length);\n{kind} factor = {safe('total')};\n"
        shift = " - mean"
    else:
        step = {"largest": f"total = fmax(total, {size_of});", "sum": f"total += {one_of};"}.get(
            form, f"total += {size_of};"
        )
        start = f"{scalar} total = {zero};\n{over(step)}\n{scalar} factor = {safe('total')};\n"
    last = "factors[i] = factor;" if factor_only else over(f"{to}[{at}] = ({v}{shift}) * factor;")
    cover = hand.cover("i", "rows", lambda _: f"{start}{last}")
    buffers = [hand.writes(kind, "x") if in_place and not factor_only else hand.reads(kind, "x")]
    if factor_only:
        buffers.append(hand.writes(scalar, "factors"))
    elif not in_place:
        buffers.append(hand.writes(kind, "out"))
    head = hand.signature("scale_rows", [*buffers, *hand.counts("rows", "length")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind) * 2
        size = line(wish, 2 * each)
        rows, length = matrix(draw, wish.data, each, (1, 16384))
        (rows,) = cover.fit(size, rows)
        length = max(1, min(length, int(150_000_000 / (each * rows))))
        cells = rows * length
        lengths = {"x": cells} | ({"factors": rows} if factor_only else {} if in_place else {"out": slack(draw, cells)})
        cost = 9 * bytes_of(kind) / 4
        operations = cover.done(size, (rows,)) * (length * cost + 24) + size.items
        return sized(size, operations, lengths, {"rows": rows, "length": length})

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "scale_rows", launch)
