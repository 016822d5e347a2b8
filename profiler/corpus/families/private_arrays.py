"""Arrays of each work-item's own: sorted, or indexed by data as tables of counts."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import Coverage, draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat, times
from profiler.corpus.composing.hand import Hand
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real


def row_element(draw: Draw, cover: Coverage, x: str, size: int | str, j: str) -> str:
    """Generate an element of a row, or of a window around the element."""
    where = draw.choose(("row", "row", "column"), "rows")
    if where == "row" or not cover.count:
        return f"{x}[{cover.index} * {size} + {j}]"
    return f"{x}[{j} * (int){cover.count} + {cover.index}]"


@family("private_sort", group="private_arrays")
def private_sort(draw: Draw) -> Draft:
    """5 to 32 values of each item sorted, for a median, a trimmed mean, the middle or all of them."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "float", "int", "uchar", "uint"), "type")
    cover = draw_coverage(draw, hand)
    n = draw.choose((5, 7, 8, 9, 11, 16, 25, 32), "values")
    x, out, a, j, i = hand.name("input"), hand.name("output"), hand.name("own values"), hand.name("loop"), cover.index
    window = draw.chance(0.35, "window")
    source = row_element(draw, cover, x, n, j)
    if window:
        total = f"(int){cover.count}" if cover.count else "(int)get_global_size(0)"
        total = f"{cover.width} * {cover.height}" if cover.form == "plane" else total
        source = f"{x}[clamp((int){i} + {j} - {n // 2}, 0, {total} - 1)]"
    size = hand.constant("window", str(n))
    t = "t2"
    swap = f"{type_} {t} = {a}[k2];\n{a}[k2] = {a}[k2 + 1];\n{a}[k2 + 1] = {t};"
    pairs = []
    for p in range(n // 2, 0, -1) if n <= 11 else ():
        pairs += [
            f"if ({a}[{q}] > {a}[{q + p}]) {{ {t} = {a}[{q}]; {a}[{q}] = {a}[{q + p}]; {a}[{q + p}] = {t}; }}"
            for q in range(n - p)
        ]
    shell = f"while (k2 >= gap && {a}[k2 - gap] > {t}) {{\n{a}[k2] = {a}[k2 - gap];\nk2 -= gap;\n}}"
    sorts = {
        "insertion": (
            f"for (int q2 = 1; q2 < {size}; q2++) {{\n{type_} {t} = {a}[q2];\nint k2 = q2 - 1;\n"
            f"while (k2 >= 0 && {a}[k2] > {t}) {{\n{a}[k2 + 1] = {a}[k2];\nk2--;\n}}\n"
            f"{a}[k2 + 1] = {t};\n}}"
        ),
        "bubble": (
            f"for (int q2 = 0; q2 < {size} - 1; q2++)\nfor (int k2 = 0; k2 < {size} - 1 - q2; k2++)\n"
            f"if ({a}[k2] > {a}[k2 + 1]) {{\n{swap}\n}}"
        ),
        "selection": (
            f"for (int q2 = 0; q2 < {size} - 1; q2++) {{\nint least = q2;\n"
            f"for (int k2 = q2 + 1; k2 < {size}; k2++) if ({a}[k2] < {a}[least]) least = k2;\n"
            f"{type_} {t} = {a}[q2];\n{a}[q2] = {a}[least];\n{a}[least] = {t};\n}}"
        ),
        "half": (
            f"for (int q2 = 0; q2 <= {size} / 2; q2++)\nfor (int k2 = q2 + 1; k2 < {size}; k2++)\n"
            f"if ({a}[k2] < {a}[q2]) {{\n{type_} {t} = {a}[k2];\n{a}[k2] = {a}[q2];\n{a}[q2] = {t};\n"
            "}"
        ),
        "shell": (
            f"for (int gap = {n // 2}; gap > 0; gap /= 2)\nfor (int q2 = gap; q2 < {size}; q2++) {{\n"
            f"{type_} {t} = {a}[q2];\nint k2 = q2;\n{shell}\n{a}[k2] = {t};\n}}"
        ),
        "early_bubble": (
            f"int is_sorted = 0;\nfor (int q2 = 0; q2 < {size} && !is_sorted; q2++) {{\n"
            f"is_sorted = 1;\nfor (int k2 = 0; k2 < {size} - 1; k2++)\nif ({a}[k2] > {a}[k2 + 1]) {{\n"
            f"{swap}\nis_sorted = 0;\n}}\n}}"
        ),
        "odd_even": (
            f"for (int q2 = 0; q2 < {size}; q2++)\nfor (int k2 = q2 & 1; k2 + 1 < {size}; k2 += 2)\n"
            f"if ({a}[k2] > {a}[k2 + 1]) {{\n{swap}\n}}"
        ),
        "min_max": (
            f"for (int q2 = 0; q2 < {size} - 1; q2++)\nfor (int k2 = 0; k2 < {size} - 1; k2++) {{\n"
            f"const {type_} lo = min({a}[k2], {a}[k2 + 1]);\n"
            f"{a}[k2 + 1] = max({a}[k2], {a}[k2 + 1]);\n{a}[k2] = lo;\n}}"
        ),
    }
    if pairs:
        sorts["written_out"] = f"{type_} {t};\n" + "\n".join(pairs)
    form = draw.choose(tuple(sorts), "sort")
    results = {
        "median": f"{out}[{i}] = {a}[{size} / 2];",
        "smallest": f"{out}[{i}] = {a}[0];",
        "range": f"{out}[{i}] = {a}[{size} - 1] - {a}[0];",
    }
    per = 1
    results["quartiles"] = f"{out}[{i}] = ({a}[{n // 4}] + {a}[{3 * n // 4}]) / 2;"
    trim = hand.loop(j, "1", f"{size} - 1", f"acc += {a}[{j}];")
    results["trimmed"] = f"float acc = 0;\n{trim}\n{out}[{i}] = acc / ({size} - 2);"
    results["all"] = hand.loop(j, "0", size, f"{out}[{i} * {size} + {j}] = {a}[{j}];")
    kind = draw.choose(tuple(results), "result")
    per = n if kind == "all" else 1
    fill = hand.loop(j, "0", size, f"{a}[{j}] = {source};", unroll=draw.choose((0, 0, n)))
    body = f"{type_} {a}[{size}];\n{fill}\n{sorts[form]}\n{results[kind]}"
    parameters: list[Parameter] = [
        Buffer(x, type_, each if window else times(n)),
        Buffer(out, type_, times(per), None, True),
    ]
    if not is_real(type_):
        parameters[0] = Buffer(x, type_, each if window else times(n), Fill("randint", (0, 250)))
    work = flat(n * n * (1.0 if "insertion" in form else 2.0))
    parts = Parts(("sort", form), cover, parameters, body, work, data_per_element=lambda _: 1.0 if window else float(n))
    return drafted(draw, hand, parts)


@family("private_counts", group="private_arrays")
def private_counts(draw: Draw) -> Draft:
    """Generate a table of counts or sums of each item's own, indexed by its data: mode, entropy, histogram."""
    hand = Hand(draw)
    cover = draw_coverage(draw, hand)
    bins = draw.choose((4, 8, 10, 16, 32, 64, 128), "bins")
    type_ = draw.choose(("int", "uint", "ushort", "uchar", "float"), "counter")
    in_type = draw.choose(("uchar", "int", "uint", "float"), "type")
    x, out, width, a, j, i = (hand.name(n) for n in ("input", "output", "row length", "own bins", "loop", "index"))
    source = row_element(draw, cover, x, width, j)
    key = f"(int)({source} * {bins / 2}f)" if in_type == "float" else f"(int){source}"
    key = f"{key} & {bins - 1}" if bins & (bins - 1) == 0 else f"({key} & 0xff) % {bins}"
    limit = 200 if type_ == "uchar" else 2000
    update = draw.choose((f"{a}[{key}]++;", f"{a}[{key}] += 1;", f"const int k2 = {key};\n{a}[k2] = {a}[k2] + 1;"))
    if type_ == "float":
        update = f"{a}[{key}] += 0.5f;"
    ends = {
        "mode": (
            f"int which = 0;\nfor (int k2 = 1; k2 < {bins}; k2++) if ({a}[k2] > {a}[which]) which = "
            f"k2;\n{out}[{i}] = which;"
        ),
        "used": f"int which = 0;\nfor (int k2 = 0; k2 < {bins}; k2++) which += {a}[k2] != 0;\n{out}[{i}] = which;",
        "all": f"for (int k2 = 0; k2 < {bins}; k2++) {out}[{i} * {bins} + k2] = {a}[k2];",
        "median": (
            "int seen = 0, which = 0;\n"
            f"while (which < {bins} - 1 && seen + {a}[which] < {width} / 2) {{ seen += {a}[which]; "
            f"which++; }}\n{out}[{i}] = which;"
        ),
        "squares": (
            f"int which = 0;\nfor (int k2 = 0; k2 < {bins}; k2++) which += {a}[k2] * {a}[k2];\n{out}[{i}] = which;"
        ),
        "one": f"{out}[{i}] = {a}[{draw.integer(0, bins - 1)}];",
        "cumulative": f"for (int k2 = 1; k2 < {bins}; k2++) {a}[k2] += {a}[k2 - 1];\n{out}[{i}] = {a}[{bins // 2}];",
        "entropy": (
            f"float e2 = 0.0f;\nfor (int k2 = 0; k2 < {bins}; k2++) {{\n"
            f"const float f2 = (float){a}[k2] / {width};\nif ({a}[k2] > 0) e2 -= f2 * log2(f2);\n}}\n"
            f"{out}[{i}] = (int)(e2 * 100.0f);"
        ),
    }
    kind = draw.choose(tuple(ends), "result")
    clear = draw.choose(
        (
            f"for (int k2 = 0; k2 < {bins}; k2++) {a}[k2] = 0;",
            f"for (int k2 = 0; k2 < {bins}; ++k2) {{\n{a}[k2] = 0;\n}}",
        )
    )
    declare = f"{type_} {a}[{bins}];\n{clear}"
    if draw.chance(0.4):
        declare = f"{type_} {a}[{bins}] = {{0}};"
    body = f"{declare}\n{hand.loop(j, '0', width, update, unroll=draw.choose((0, 0, 4)))}\n{ends[kind]}"
    contents = draw.choose((Fill("randint", (0, 250)), Fill("skewed", (0, 250)), Fill("clustered", (0, 250, 4))))
    parameters: list[Parameter] = [
        Buffer(x, in_type, lambda s: (s.bound + 1) * s.of(width), None if in_type == "float" else contents),
        Buffer(out, "int", times(bins if kind == "all" else 1), None, True),
        Scalar(width, "int", lambda d: d.log_integer(4, limit)),
    ]
    parts = Parts(
        ("bins", kind),
        cover,
        parameters,
        body,
        lambda s: 5.0 * s.of(width) + 3 * bins,
        data_per_element=lambda scalars: float(scalars[width]),
    )
    return drafted(draw, hand, parts)
