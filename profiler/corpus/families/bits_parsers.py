"""Bytes parsed: numbers in text, state machines."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.blocks import Block
from profiler.corpus.composing.drafting import Buffer, just
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family


@family("number_texts", group="bits")
def number_texts(draw: Draw) -> Draft:
    """Numbers parsed from text and numbers written as digits, in bases 2 to 36."""
    b = Block(draw, ("uchar", "char", "uchar"), 512)
    size, j, i, out = b.length, b.j, b.i, b.out
    base = draw.choose((2, 8, 10, 10, 10, 16, 36), "base")
    digit = {
        10: "c2 >= '0' && c2 <= '9'",
        2: "c2 == '0' || c2 == '1'",
        8: "c2 >= '0' && c2 < '8'",
    }.get(base, "(c2 >= '0' && c2 <= '9') || (c2 >= 'a' && c2 <= 'f')")
    value = "c2 - '0'" if base <= 10 else "(c2 <= '9' ? c2 - '0' : c2 - 'a' + 10)"
    grow = (
        draw.choose((f"n2 = n2 * {base}u + (uint)({value});", f"n2 = (n2 << 3) + (n2 << 1) + (uint)({value});"))
        if base == 10
        else f"n2 = n2 * {base}u + (uint)({value});"
    )
    scalar = "uint n2 = 0, sum2 = 0;\nint seen2 = 0;"
    kinds = {
        "sum": (
            scalar,
            (
                f"const int c2 = {b.at(j)};\nif ({digit}) {{\n{grow}\nseen2 = 1;\n}} else if (seen2) {{\n"
                "sum2 += n2;\nn2 = 0;\nseen2 = 0;\n}"
            ),
            f"{out}[{i}] = (int)(sum2 + n2);",
        ),
        "first": (
            scalar,
            f"const int c2 = {b.at(j)};\nif (!({digit})) {{\nif (seen2) break;\ncontinue;\n}}\n{grow}\nseen2 = 1;",
            f"{out}[{i}] = (int)(n2 + sum2);",
        ),
        "largest": (
            scalar,
            (
                f"const int c2 = {b.at(j)};\nif ({digit}) {{\n{grow}\nn2 &= 0xffffff;\n}} else {{\n"
                "sum2 = max(sum2, n2);\nn2 = 0;\n}\nseen2 = c2;"
            ),
            f"{out}[{i}] = (int)sum2 + seen2;",
        ),
        "signed": (
            "int n2 = 0, sum2 = 0, sign2 = 1;",
            (
                f"const int c2 = {b.at(j)};\nif (c2 == '-') sign2 = -1;\n"
                f"else if ({digit}) n2 = (n2 * {base} + {value}) & 0xfffff;\n"
                f"else {{ sum2 += sign2 * n2; n2 = 0; sign2 = 1; }}"
            ),
            f"{out}[{i}] = sum2 + n2;",
        ),
        "fraction": (
            "float n2 = 0.0f, sum2 = 0.0f, part2 = 1.0f;\nint dot2 = 0;",
            (
                f"const int c2 = {b.at(j)};\nif (c2 == '.') dot2 = 1;\nelse if ({digit}) {{\n"
                f"if (dot2) {{ part2 = fmax(part2 * 0.1f, 0.001f); n2 += part2 * (float)({value}); }}\n"
                f"else n2 = fmin(n2 * 10.0f + (float)({value}), 1e6f);\n"
                f"}} else {{ sum2 = fmax(sum2, n2); n2 = 0.0f; part2 = 1.0f; dot2 = 0; }}"
            ),
            f"{out}[{i}] = (int)(sum2 + n2);",
        ),
        "count": (
            "int words2 = 0, in2 = 0;",
            f"const int c2 = {b.at(j)};\nconst int is2 = {digit};\nwords2 += is2 && !in2;\nin2 = is2;",
            f"{out}[{i}] = words2;",
        ),
        "digits": (
            "int sum2 = 0;",
            (
                f"uint n2 = (uint){b.at(j)} * 9973u + (uint){i};\nwhile (n2 != 0) {{\n"
                f"sum2 += n2 % {base}u;\nn2 /= {base}u;\n}}"
            ),
            f"{out}[{i}] = sum2;",
        ),
        "hex": (
            "int sum2 = 0;",
            (
                f"const int c2 = {b.at(j)};\nint h2 = c2 & 15, g2 = (c2 >> 4) & 15;\n"
                "h2 += h2 < 10 ? '0' : 'a' - 10;\ng2 += g2 < 10 ? '0' : 'a' - 10;\n"
                "sum2 ^= (g2 << 8) | h2;"
            ),
            f"{out}[{i}] = sum2;",
        ),
    }
    kind = draw.choose(tuple(kinds), "what")
    start, step, end = kinds[kind]
    fill = draw.choose((Fill("randint", (44, 58)), Fill("randint", (32, 103)), Fill("randint", (48, 58))))
    body = f"{start}\n{b.hand.loop(j, '0', size, step)}\n{end}"
    return b.finished(
        ("parse", kind), body, fill, [Buffer(out, "int", lambda s: s.bound, None, True)], 12 if kind != "digits" else 40
    )


@family("byte_state_machine", group="divergence")
def byte_state_machine(draw: Draw) -> Draft:
    """Generate a state that every byte of a block moves on: by a table, by a switch, by nested ifs."""
    b = Block(draw, ("uchar", "uchar", "char", "int"), 1024)
    size, j, i, out, table = b.length, b.j, b.i, b.out, b.hand.name("table")
    states = draw.choose((2, 3, 4, 6, 8, 16, 32), "states")
    classes = draw.choose((2, 4, 8, 16, 256), "classes")
    form = draw.choose(("table", "table", "switch", "ifs"), "form")
    start = "int s2 = 0, hits2 = 0;"
    read = f"const int c2 = {b.at(j)}{draw.choose(('', f' & {classes - 1}'))} & {classes - 1};"
    if form == "table":
        layout = draw.choose((f"s2 * {classes} + c2", f"c2 * {states} + s2"))
        step = f"s2 = {table}[{layout}];"
        b.parameters.append(
            Buffer(
                table,
                draw.choose(("uchar", "int", "ushort")),
                just(states * classes),
                Fill("randint", (0, states)),
                is_constant=draw.chance(0.4),
            )
        )
    else:
        few = min(states, 8)
        arms = []
        for state in range(few):
            a, c = draw.integer(0, few - 1), draw.integer(0, few - 1)
            edge = draw.integer(0, min(classes, 16) - 1)
            act = draw.choose(
                (
                    f"s2 = c2 == {edge} ? {a} : {c};",
                    f"if (c2 > {edge}) s2 = {a};\nelse {{ s2 = {c}; hits2 += {state}; }}",
                    f"s2 = (c2 & 1) ? {a} : {c};",
                    f"if (c2 == {edge}) {{ s2 = {a}; }}",
                )
            )
            arms.append(act)
        if form == "switch":
            cases = "\n".join(f"case {state}: {act}\nbreak;" for state, act in enumerate(arms))
            step = f"switch (s2) {{\n{cases}\ndefault: s2 = 0;\n}}"
        else:
            step = " else ".join(f"if (s2 == {state}) {{\n{act}\n}}" for state, act in enumerate(arms))
    sink = draw.choose(("hits", "final", "positions", "stop"), "result")
    accept = draw.integer(1, states - 1)
    after = {
        "hits": f"hits2 += s2 == {accept};",
        "final": "",
        "positions": f"if (s2 == {accept}) hits2 = {j};",
        "stop": f"if (s2 == {accept}) {{ hits2 = {j}; break; }}",
    }[sink]
    loop = b.hand.loop(j, "0", size, f"{read}\n{step}\n{after}")
    if draw.chance(0.3):
        loop = f"int {j} = 0;\nwhile ({j} < {size}) {{\n{read}\n{step}\n{after}\n{j}++;\n}}"
    body = f"{start}\n{loop}\n{out}[{i}] = {'s2 + hits2' if sink == 'final' else 'hits2 * 64 + s2'};"
    fill = draw.choose((Fill("randint", (0, 120)), Fill("skewed", (0, 120)), Fill("clustered", (0, 120, 3))))
    return b.finished(("machine", form), body, fill, [Buffer(out, "int", lambda s: s.bound, None, True)], 8)
