"""Arrays are streamed through once: scaled and summed, with state kept in place, in structures."""

from __future__ import annotations

from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression, statements
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.arrays import Array, Elements, Value, line_draft, type_bytes
from profiler.corpus.writing.hand import hand
from profiler.corpus.writing.literals import literal, split_type

SCALARS = {"float": 5.0, "double": 1.5, "int": 2.0, "uint": 1.0, "uchar": 0.7, "short": 0.6, "long": 0.6, "char": 0.4}
VECTORS = {"float4": 2.0, "float2": 1.0, "float8": 0.7, "int4": 1.0, "float16": 0.4, "double2": 0.5, "uchar16": 0.5}


@family("linear_combination", group="streaming")
def linear_combination(draw: Draw) -> Draft:
    """Generate copies, multiples and sums of arrays, out of place or in place.

    Factors are arguments, literals or macros.
    """
    habits = hand(draw)
    type_ = draw.weighted({**SCALARS, **VECTORS}, "type")
    scalar = split_type(type_)[0]
    terms = draw.weighted({1: 3.0, 2: 3.0, 3: 1.5, 4: 1.0, 6: 0.5}, "terms")
    factors, values, before, parts = [], [], "", []
    for k in range(terms):
        kind = draw.weighted({"none": 2.0, "argument": 2.0, "literal": 1.0, "macro": 0.5})
        if kind == "argument":
            is_real = scalar in ("float", "double")
            values.append(Value(f"c{k}", scalar, (lambda d: round(d.real(0.1, 0.9), 3)) if is_real else _small))
            factors.append(f"c{k}")
        elif kind == "literal":
            factors.append(literal(scalar, draw.choose((0.25, 0.5, 0.1)) if scalar in ("float", "double") else 3))
        elif kind == "macro":
            before += f"#define FACTOR{k} {literal(scalar, 0.5 if scalar in ('float', 'double') else 2)}\n"
            factors.append(f"FACTOR{k}")
        else:
            factors.append("")
        parts.append(f"{factors[-1]} * a{k}[i]" if factors[-1] else f"a{k}[i]")
    is_plain = split_type(type_)[1] == 1 and scalar in ("float", "double")
    form = draw.choose(("sum", "accumulated", "nested", "variables"), "form")
    lines = []
    if form == "accumulated":
        lines.append(f"{type_} s = {parts[0]};")
        lines += [f"s {draw.choose(('+=', '-=', '+='))} {p};" for p in parts[1:]]
        total = "s"
    elif form == "nested" and is_plain:
        total = parts[0]
        for k in range(1, terms):
            total = f"{draw.choose(('fma', 'mad'))}({factors[k] or literal(type_, 1)}, a{k}[i], {total})"
    elif form == "variables":
        lines += [f"{draw.choose(('', 'const '))}{type_} v{k} = {p};" for k, p in enumerate(parts)]
        total = " + ".join(f"v{k}" for k in range(terms))
    else:
        total = parts[0] + "".join(f" {draw.choose('+-+')} {p}" for p in parts[1:])
    target = draw.choose(("out", "out", "two", "in_place"), "target")
    arrays = [Array(f"a{k}", type_) for k in range(terms)]
    match target:
        case "in_place":
            is_real = scalar in ("float", "double")
            kept = f"{literal(scalar, 0.5)} * out[i]" if is_real else f"(out[i] >> {literal(type_, 1)})"
            lines.append(f"out[i] = {kept} + {total};")
        case "two":
            lines.append(f"out[i] = {total};\nout2[i] = {draw.choose(('a0[i]', total, f'a{terms - 1}[i] - a0[i]'))};")
            arrays.append(Array("out2", type_, True))
        case _:
            lines.append(f"out[i] = {total};")
    arrays.append(Array("out", type_, True))
    return line_draft(draw, habits, Elements("combine_linear", arrays, "\n".join(lines), values, before=before))


def _small(draw: Draw) -> int:
    return draw.integer(1, 5)


@family("running_streams", group="streaming")
def running_streams(draw: Draw) -> Draft:
    """State that is kept in place between launches: moving averages, extremes, differences."""
    habits = hand(draw)
    type_ = draw.weighted({"float": 4.0, "double": 1.0, "float4": 1.0, "float2": 0.5}, "type")
    scalar = split_type(type_)[0]
    share = literal(scalar, draw.choose((0.5, 0.25, 0.1)))
    vector = type_ != scalar
    updates = {
        "average": f"avg[i] = mix(avg[i], v, {literal(type_, 0.25)});",
        "average_spelled": f"avg[i] += {share} * (v - avg[i]);",
        "extremes": "low[i] = fmin(low[i], v);\nhigh[i] = fmax(high[i], v);",
        "history": "old2[i] = old1[i];\nold1[i] = v;",
        "variance": f"{type_} d = v - avg[i];\navg[i] += {share} * d;\nvar[i] += {share} * (d * d - var[i] + {share});",
        "decay": f"peak[i] = fmax(v, {literal(scalar, 0.9)} * peak[i]);",
        "difference": "out[i] = v - last[i];\nlast[i] = v;",
        "swap": f"{type_} t = last[i];\nlast[i] = v;\nout[i] = t;",
        "filter": f"{type_} y = {share} * v + {share} * last[i];\nlast[i] = y;\nout[i] = {share} * (y + v);",
    }
    chosen = draw.sample(tuple(updates), draw.weighted({1: 3.0, 2: 2.0}, "updates"))
    if {"average", "average_spelled"} <= set(chosen) or ("difference" in chosen and "swap" in chosen):
        chosen = chosen[:1]
    draw.choices["update"] = " ".join(chosen)
    inputs = [f"in{k}" for k in range(draw.integer(1, 3))]
    v = expression(draw, [f"{a}[i]" for a in inputs], type_, draw.integer(0, 3))
    lines = [f"{type_} v = {v};"]
    if draw.chance(0.25, "guarded") and not vector:
        lines.append(f"if (v > {literal(type_, 0.2)}) {{")
    lines += [f"{{\n{updates[c]}\n}}" if len(chosen) > 1 else updates[c] for c in chosen]
    if any(line.startswith("if (v") for line in lines):
        lines.append("}")
    text = "\n".join(lines)
    kept = [n for n in ("avg", "low", "high", "old1", "old2", "var", "peak", "out", "last") if f"{n}[" in text]
    arrays = [*(Array(a, type_) for a in inputs), *(Array(k, type_, True) for k in kept)]
    return line_draft(draw, habits, Elements(f"track_{chosen[0]}", arrays, text))


@family("structure_streams", group="streaming")
def structure_streams(draw: Draw) -> Draft:
    """Arrays of structures: some members read, some written, padded or not; against one array a member."""
    habits = hand(draw)
    base = draw.weighted({"float": 4.0, "double": 1.0, "int": 1.0}, "type")
    members = [f"m{k}" for k in range(draw.choose((2, 3, 4, 5, 6, 8, 11)))]
    wide = f"{base}4" if draw.chance(0.2, "vector_member") else ""
    read = draw.sample(members, draw.integer(1, min(len(members), 4)))
    written = draw.sample(members, draw.integer(1, min(len(members), 3)))
    style = draw.choose(("typedef", "struct"), "spelled")
    pad = f"    {base} unused[{draw.choose((1, 3, 5, 8))}];\n" if draw.chance(0.25, "padded") else ""
    listed = "".join(f"    {base} {m};\n" for m in members) + pad + (f"    {wide} block;\n" if wide else "")
    if style == "typedef":
        before, name = f"typedef struct {{\n{listed}}} item_t;\n", "item_t"
    else:
        before, name = f"struct item {{\n{listed}}};\n", "struct item"
    each = type_bytes(base) * (len(members) + (int(pad.split("[")[1].split("]", maxsplit=1)[0]) if pad else 0))
    if wide:
        alignment = type_bytes(wide)
        each = -(-each // alignment) * alignment + alignment
    target = draw.choose(("in_place", "other", "array", "whole"), "target")
    access = draw.choose(("member", "copy", "pointer"), "access")
    lines = []
    match access:
        case "copy":
            lines.append(f"{name} s = items[i];")
            known = [f"s.{m}" for m in read]
        case "pointer":
            lines.append(f"{habits.space} {name} *s = {draw.choose(('&items[i]', 'items + i'))};")
            known = [f"s->{m}" for m in read]
        case _:
            known = [f"items[i].{m}" for m in read]
    more, temporaries = statements(draw, known, base, draw.integer(0, 2))
    lines += more
    results = [expression(draw, [*temporaries, *known], base, draw.integer(1, 3)) for _ in written]
    arrays = [Array("items", name, True, element_bytes=each)]
    match target:
        case "in_place":
            lines += [f"items[i].{m} = {r};" for m, r in zip(written, results, strict=True)]
        case "other":
            lines += [f"others[i].{m} = {r};" for m, r in zip(written, results, strict=True)]
            arrays.append(Array("others", name, True, element_bytes=each))
        case "array":
            lines += [f"out{k}[i] = {r};" for k, r in enumerate(results)]
            arrays += [Array(f"out{k}", base, True) for k in range(len(results))]
        case _:
            lines.append(f"{name} q = items[i];")
            lines += [f"q.{m} = {r};" for m, r in zip(written, results, strict=True)]
            lines.append("items[i] = q;" if draw.chance(0.5) else "others[i] = q;")
            arrays.append(Array("others", name, True, element_bytes=each))
    text = "\n".join(lines)
    arrays = [a for a in arrays if f"{a.name}" in text]
    return line_draft(draw, habits, Elements("update_items", arrays, text, before=before))
