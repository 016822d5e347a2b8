"""Softmax over rows and columns by items and groups, in one, two or three passes, and cross-entropy."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish, family
from profiler.corpus.writing.habits import Hand, lay_out, literal
from profiler.corpus.writing.ndrange import affordable, line, matrix, sized, slack
from profiler.corpus.writing.trees import FENCE, scratch, tree
from profiler.corpus.writing.types import bytes_of

SPREAD = Fill("uniform", (-3.0, 3.0))  # whose exponentials are neither huge nor denormal


def exponential(hand: Hand, kind: str) -> str:
    """Generate the name of the function."""
    names = {"exp": 4.0, "native_exp": 1.0 if kind == "float" else 0, "exp2": 0.6}
    return hand.draw.weighted(names, "exponential")


@family("softmax_rows", group="softmax")
def softmax_rows(draw: Draw) -> Draft:
    """Generate a row or column by one item; with temperature, mask or logarithm."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1}, "type")
    passes = draw.choose(("three", "two, stored", "running", "no maximum"), "passes")
    along = draw.choose(("row", "column", "middle"), "along")
    is_log = draw.chance(0.25, "logarithm")
    extra = draw.weighted({"none": 3, "temperature": 1, "mask": 1, "causal": 0.7}, "fused")
    exp = exponential(hand, kind)
    at = {"row": "i * length + {k}", "column": "({k}) * rows + i"}.get(
        along, "(i / inner * length + {k}) * inner + i % inner"
    )
    zero, low = literal(kind, 0), literal(kind, -1e30)

    def value(k: str) -> str:
        x = f"x[{at.format(k=k)}]"
        if extra == "temperature":
            return f"{x} * scale"
        if extra == "mask":
            return f"(mask[{k}] != 0 ? {x} : {literal(kind, -50)})"
        return x

    stop = f"min(({hand.index})length, ({hand.index})(i % length + 1))" if extra == "causal" else "length"

    def over(body: str) -> str:
        return hand.loop(
            "k", "0", stop, lambda k: body.replace("VALUE", value(k)).replace("OUT", f"out[{at.format(k=k)}]")
        )

    largest = draw.choose(("top = fmax(top, VALUE);", f"const {kind} v = VALUE;\nif (v > top) {{\ntop = v;\n}}"))
    find = f"{kind} top = {low};\n{over(largest)}\n"
    shrink = "sum"
    if passes == "running":
        step = f"const {kind} v = VALUE;\nconst {kind} next = fmax(top, v);\n"
        step += f"sum = sum * {exp}(top - next) + {exp}(v - next);\ntop = next;"
        first = f"{kind} top = {value('0')};\n{kind} sum = {zero};\n{over(step)}\n"
        shrink = "VALUE - top"
    elif passes == "no maximum":
        first = f"{kind} sum = {zero};\n{over(f'sum += {exp}(VALUE);')}\n"
        shrink = "VALUE"
    elif passes == "three":
        first = f"{find}{kind} sum = {zero};\n{over(f'sum += {exp}(VALUE - top);')}\n"
        shrink = "VALUE - top"
    else:
        step = f"const {kind} e = {exp}(VALUE - top);\nOUT = e;\nsum += e;"
        first, shrink = f"{find}{kind} sum = {zero};\n{over(step)}\n", ""
    inverse = draw.chance(0.6, "inverse")
    divide = "* inverse" if inverse else "/ sum"
    before = f"const {kind} inverse = {literal(kind, 1)} / sum;\n" if inverse else ""
    if is_log:
        before = f"const {kind} shift = log(sum);\n"
        last = f"OUT = {shrink} - shift;" if shrink else "OUT = log(OUT) - shift;"
    else:
        last = f"OUT = {exp}({shrink}) {divide};" if shrink else f"OUT = OUT {divide};"
    cover = hand.cover("i", "rows", lambda _: f"{first}{before}{over(last)}")
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.reads("uchar", "mask")] * (extra == "mask"))]
    counts = hand.counts("rows", "length", *(["inner"] if along == "middle" else []))
    head = hand.signature("softmax", [*buffers, *counts, *([f"{kind} scale"] * (extra == "temperature"))])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 3 * each)
        rows, length = matrix(draw, wish.data, 2 * each, (1, 16384))
        (rows,) = cover.fit(size, rows)
        length = max(1, min(length, affordable(1 << 25, 2 * each * rows, 140_000_000)))
        inner = draw.log_integer(1, rows)
        cells = (-(-rows // inner) * inner if along == "middle" else rows) * length
        scalars: dict[str, int | float] = {"rows": rows, "length": length}
        scalars |= ({"inner": inner} if along == "middle" else {}) | ({"scale": 0.7} if extra == "temperature" else {})
        lengths = {"x": slack(draw, cells), "out": cells} | ({"mask": length} if extra == "mask" else {})
        cost = {"running": 40, "two, stored": 24, "no maximum": 30}.get(passes, 34)
        fills = {"x": SPREAD} | ({"mask": Fill("randint", (0, 3))} if extra == "mask" else {})
        work = length * (0.5 if extra == "causal" else 1)
        return sized(size, cover.done(size, (rows,)) * (work * cost + 20) + size.items, lengths, scalars, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "softmax", launch)


@family("softmax_groups", group="softmax")
def softmax_groups(draw: Draw) -> Draft:
    """Generate a row by a group: a tree for the largest, another for the sum.

    Rows kept in local memory now and then.
    """
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1}, "type")
    exp = exponential(hand, kind)
    local = scratch(hand, {"part": kind})
    form = draw.choose(("two trees", "both at once", "no maximum"), "form")
    is_log, walks = draw.chance(0.25, "logarithm"), draw.chance(0.4, "many rows")
    stores = draw.chance(0.4, "stores exponentials") and form == "two trees" and not is_log
    bias = draw.chance(0.25, "bias")
    zero, low = literal(kind, 0), literal(kind, -1e30)
    value = "x[row * length + k]" + (" + bias[k]" if bias else "")
    out = "out[row * length + k]"

    def over(body: str) -> str:
        return hand.loop("k", "l", "length", lambda _: body, "size", "for")

    def combine(name: str, step: str) -> str:
        """All items end up with the group's own."""
        reduce = tree(hand, lambda a, b: step.format(a=f"part[{a}]", b=f"part[{b}]"), size="size", fixed=local.fixed)
        return f"part[l] = {name};\n{reduce}\n{name} = part[0];\n{FENCE}"

    sums, tops = "{a} += {b};", "{a} = fmax({a}, {b});"
    if form == "both at once":
        step = f"const {kind} v = {value};\nconst {kind} next = fmax(top, v);\n"
        step += f"sum = sum * {exp}(top - next) + {exp}(v - next);\ntop = next;"
        text = (
            f"{kind} top = {literal(kind, -50)}, sum = {zero};\n{over(step)}\nconst {kind} mine = top;\n"
            f"{combine('top', tops)}\n"
        )
        text += f"sum *= {exp}(mine - top);\n{combine('sum', sums)}\n"
        shift = " - top"
    elif form == "no maximum":
        text = f"{kind} sum = {zero};\n{over(f'sum += {exp}({value});')}\n{combine('sum', sums)}\n"
        shift = ""
    else:
        keep = f"const {kind} e = {exp}({value} - top);\n{out} = e;\nsum += e;"
        second = keep if stores else f"sum += {exp}({value} - top);"
        text = f"{kind} top = {low};\n{over(f'top = fmax(top, {value});')}\n{combine('top', tops)}\n"
        text += f"{kind} sum = {zero};\n{over(second)}\n{combine('sum', sums)}\n"
        shift = " - top"
    last = f"{out} = {exp}({value}{shift}) / sum;"
    last = f"{out} /= sum;" if stores else last
    last = f"{out} = {value}{shift} - log(sum);" if is_log else last
    text += over(last)
    row = f"const {hand.index} row = get_group_id(0);\n{text}"
    if walks:
        row = f"for ({hand.index} row = get_group_id(0); row < rows; row += get_num_groups(0)) {{\n{text}\n{FENCE}\n}}"
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.reads(kind, "bias")] * bias), *local.parameters]
    head = hand.signature("softmax", [*buffers, *hand.counts("rows", "length")], local.required)
    source = f"""{head}
{{
    {local.declarations}
    const {hand.index} l = get_local_id(0);
    const {hand.index} size = get_local_size(0);
    {row}
}}"""

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = local.range(wish)
        rows, length = matrix(draw, wish.data, 2 * each, (1, 32768))
        if not walks:
            rows = size.groups
            length = max(1, min(wish.data // rows, int(150_000_000 / (2 * each * rows))))
        lengths = {"x": rows * length, "out": rows * length} | ({"bias": length} if bias else {})
        operations = rows * (length * 34 + size.group * 24) + size.items * 8
        return sized(size, operations, lengths, {"rows": rows, "length": length}, {"x": SPREAD}, local.bytes(size))

    return Draft(lay_out(source), "softmax", launch)


@family("cross_entropy", group="softmax")
def cross_entropy(draw: Draw) -> Draft:
    """Generate the loss of each row and its gradient, from a label or a distribution; smoothed or weighted by class."""
    hand = Hand(draw)
    kind = draw.weighted({"float": 5, "double": 1}, "type")
    target = draw.choose(("label", "distribution", "smoothed", "binary"), "target")
    gradient, weighted = draw.chance(0.5, "gradient"), draw.chance(0.3, "class weights") and target == "label"
    exp = exponential(hand, kind).replace("exp2", "exp")
    class_major = draw.chance(0.3, "class major")
    at = "c * rows + i" if class_major else "i * classes + c"
    own = at.replace("c * rows", "own * rows").replace("+ c", "+ own")
    ignores = draw.chance(0.25, "ignores") and target == "label"
    one, zero, soft = literal(kind, 1), literal(kind, 0), literal(kind, 0.1)

    def over(body: str) -> str:
        return hand.loop("c", "0", "classes", lambda _: body, form="for")

    if target == "binary":
        p = f"{one} / ({one} + {exp}(-x[{at}]))"
        stable = f"fmax(x[{at}], {zero}) - x[{at}] * y[{at}] + log({one} + {exp}(-fabs(x[{at}])))"
        body = f"loss += {stable};" + f"\ngrad[{at}] = {p} - y[{at}];" * gradient
        text = f"{kind} loss = {zero};\n{over(body)}\nout[i] = loss / ({kind})classes;"
    else:
        text = f"{kind} top = {literal(kind, -100)};\n{over(f'top = fmax(top, x[{at}]);')}\n"
        text += f"{kind} sum = {zero};\n{over(f'sum += {exp}(x[{at}] - top);')}\nconst {kind} whole = top + log(sum);\n"
        if target == "distribution":
            text += f"{kind} loss = {zero};\n{over(f'loss += y[{at}] * (whole - x[{at}]);')}\nout[i] = loss;\n"
            wanted = f"y[{at}]"
        else:
            text += "const int own = label[i];\n"
            loss = f"whole - x[{own}]"
            if target == "smoothed":
                text += f"{kind} all = {zero};\n{over(f'all += whole - x[{at}];')}\n"
                loss = f"({one} - {soft}) * ({loss}) + {soft} * all / ({kind})classes"
            loss = f"({loss}) * weight[own]" if weighted else loss
            text += f"out[i] = {'own == 0 ? ' + zero + ' : ' if ignores else ''}{loss};\n"
            wanted = f"(c == own ? {one} : {zero})"
        if gradient:
            text += over(f"grad[{at}] = {exp}(x[{at}] - whole) - {wanted};")
    cover = hand.cover("i", "rows", lambda _: text)
    buffers = [hand.reads(kind, "x"), hand.writes(kind, "out"), *([hand.writes(kind, "grad")] * gradient)]
    labelled = target in ("label", "smoothed")
    buffers += [hand.reads("int", "label")] if labelled else [hand.reads(kind, "y")]
    buffers += [hand.reads(kind, "weight")] * weighted
    head = hand.signature("cross_entropy", [*buffers, *hand.counts("rows", "classes")])

    def launch(draw: Draw, wish: Wish) -> Sized:
        each = bytes_of(kind)
        size = line(wish, 5 * each)
        rows, classes = matrix(draw, wish.data, 3 * each + 4, (2, 4096))
        (rows,) = cover.fit(size, rows)
        classes = max(2, min(classes, affordable(1 << 25, 3 * each * rows, 140_000_000)))
        cells = rows * classes
        lengths = (
            {"x": cells, "out": rows}
            | ({"grad": cells} if gradient else {})
            | ({"weight": classes} if weighted else {})
        )
        lengths |= {"label": slack(draw, rows)} if labelled else {"y": cells}
        fills = {"x": SPREAD} | (
            {"label": Fill("randint", (0, classes))} if labelled else {"y": Fill("uniform", (0.01, 1.0))}
        )
        cost = 22 + 14 * gradient + 14 * (target == "binary")
        operations = cover.done(size, (rows,)) * (classes * cost + 30) + size.items
        return sized(size, operations, lengths, {"rows": rows, "classes": classes}, fills)

    return Draft(lay_out(f"{head}\n{{\n{cover.text}\n}}"), "cross_entropy", launch)
