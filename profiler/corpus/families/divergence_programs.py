"""Loops that end when they may: interpreters of small programs, number theory, iterations to a tolerance."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, drafted, each, flat, just
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import cost, expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real


@family("small_interpreter", group="divergence")
def small_interpreter(draw: Draw) -> Draft:
    """Generate a program of a few codes run by every work-item, on registers or on a stack."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("float", "int", "uint"), "type")
    cover = draw_coverage(draw, hand)
    program, size, x, out, i = (hand.name(n) for n in ("program", "program size", "input", "output", "index"))
    machine = draw.choose(("accumulator", "stack", "registers"), "machine")
    own = draw.choose(("shared", "own_start"), "program")
    half = hand.literal(0.5, type_) if is_real(type_) else "2"
    kinds = ["+", "-", "*"] if not is_real(type_) else ["+", "-"]
    begin = f"int at2 = {i} & 7;" if own == "own_start" else "int at2 = 0;"
    fetch = f"const int code = {program}[at2 % {size}];"
    lift = f"{half} * " if is_real(type_) else ""
    if machine == "accumulator":
        cases = [
            f"acc = {mixture(draw, hand, ['acc'], type_, draw.integer(1, 2), ['v'])};"
            for _ in range(draw.integer(3, 10))
        ]
        state, result = f"{type_} v = {x}[{i}], acc = v;", "acc"
    elif machine == "stack":
        most = draw.choose((4, 8, 16))
        cases = [f"if (top < {most - 1}) stack[top++] = v;"]
        cases += [f"if (top > 1) {{ top--; stack[top - 1] = {lift}(stack[top - 1] {op} stack[top]); }}" for op in kinds]
        cases += [
            f"if (top > 0) stack[top - 1] = {expression(draw, ['stack[top - 1]', 'v'], type_, 2)};"
            for _ in range(draw.integer(1, 4))
        ]
        cases += ["if (top > 0) stack[0] = stack[top - 1];", "if (top > 1) { v = stack[top - 1]; top--; }"]
        state, result = f"{type_} v = {x}[{i}];\n{type_} stack[{most}];\nint top = 1;\nstack[0] = v;", "stack[0]"
    else:
        most = draw.choose((4, 8))
        state = f"{type_} r[{most}];\nfor (int k2 = 0; k2 < {most}; k2++) r[k2] = {x}[{i}];"
        fetch += f"\nconst int a = (code >> 2) & {most - 1}, b = (code + at2) & {most - 1};"
        cases = [
            f"r[a] = {expression(draw, ['r[a]', 'r[b]'], type_, draw.integer(1, 2))};"
            for _ in range(draw.integer(3, 9))
        ]
        result = "r[0]"
    cases = draw.shuffled(cases)
    if draw.chance(0.7, "switch"):
        arms = "\n".join(f"case {k}: {case} break;" for k, case in enumerate(cases))
        act = f"switch (code % {len(cases)}) {{\n{arms}\n}}"
    else:
        act = f"const int op = code % {len(cases)};\n" + "\nelse ".join(
            f"if (op == {k}) {{ {c} }}" for k, c in enumerate(cases)
        )
    run = draw.choose((f"for (int pc = 0; pc < {size}; pc++) {{\n{fetch}\n{act}\nat2++;\n}}",
                       f"int pc = 0;\nwhile (pc < {size}) {{\n{fetch}\n{act}\nat2++;\npc++;\n}}"))  # fmt: skip
    body = f"{state}\n{begin}\n{run}\n{out}[{i}] = {result};"
    parameters: list[Parameter] = [
        Buffer(program, draw.choose(("int", "uchar")), lambda s: s.of(size), Fill("randint", (0, 64))),
        Buffer(x, type_, each),
        Buffer(out, type_, each, None, True),
        Scalar(size, "int", lambda d: d.log_integer(2, 500)),
    ]
    parts = Parts(("run", machine), cover, parameters, body, lambda s: 12.0 * s.of(size))
    return drafted(draw, hand, parts)


@family("euclid_like", group="divergence")
def euclid_like(draw: Draw) -> Draft:
    """Generate number theory with loops that data end: divisors, primes, powers, roots, digits."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    type_ = draw.choose(("uint", "ulong", "int", "ushort"), "type")
    cover = draw_coverage(draw, hand)
    x, y, out, i = (hand.name(n) for n in ("input", "second input", "output", "index"))
    top = draw.choose((100, 1000, 30000), "largest")
    a, b = draw.choose((("a", "b"), ("u", "w"), ("m", "d")))
    kinds = {
        "gcd": f"while ({b} != 0) {{\n{type_} rest = {a} % {b};\n{a} = {b};\n{b} = rest;\n}}",
        "gcd_subtract": (
            f"int tries = 0;\nwhile ({a} != {b} && tries < 200) {{\nif ({a} > {b}) {a} -= {b};\n"
            f"else {b} -= {a};\ntries++;\n}}"
        ),
        "gcd_binary": (
            f"int tries = 0;\nwhile ({a} != {b} && tries++ < 64) {{\nif (({a} & 1) == 0) {a} >>= 1;\n"
            f"else if (({b} & 1) == 0) {b} >>= 1;\n"
            f"else if ({a} > {b}) {a} = ({a} - {b}) >> 1;\nelse {b} = ({b} - {a}) >> 1;\n"
            f"if ({a} == 0 || {b} == 0) break;\n}}"
        ),
        "prime": (
            f"{type_} d2 = 2;\nint is_prime = 1;\nwhile (d2 * d2 <= {a}) {{\n"
            f"if ({a} % d2 == 0) {{ is_prime = 0; break; }}\nd2++;\n}}\n{a} = is_prime;"
        ),
        "prime_odd": (
            f"int is_prime = ({a} & 1) || {a} == 2;\n"
            f"for ({type_} d2 = 3; is_prime && d2 * d2 <= {a}; d2 += 2)\n"
            f"if ({a} % d2 == 0) is_prime = 0;\n{a} = is_prime;"
        ),
        "factors": (
            f"int factors = 0;\nfor ({type_} d2 = 2; d2 * d2 <= {a}; d2++)\n"
            f"while ({a} % d2 == 0) {{ {a} /= d2; factors++; }}\n{a} = factors;"
        ),
        "divisors": (
            f"int hits = 0;\nfor ({type_} d2 = 1; d2 * d2 <= {a}; d2++) if ({a} % d2 == 0) hits += 2;\n{a} = hits;"
        ),
        "power_mod": (
            f"{type_} r2 = 1;\n{type_} e2 = {b};\n{a} %= 251;\nwhile (e2 > 0) {{\n"
            f"if (e2 & 1) r2 = (r2 * {a}) % 251;\n{a} = ({a} * {a}) % 251;\ne2 >>= 1;\n}}\n{a} = r2;"
        ),
        "root": (
            f"{type_} r2 = {a};\n{type_} q2 = (r2 + 1) / 2;\nwhile (q2 < r2) {{\nr2 = q2;\n"
            f"q2 = (r2 + {a} / r2) / 2;\n}}\n{a} = r2;"
        ),
        "digits": f"int s2 = 0;\nwhile ({a} > 0) {{ s2 += {a} % 10; {a} /= 10; }}\n{a} = s2;",
        "digital_root": (
            f"while ({a} > 9) {{\n{type_} s2 = 0;\nwhile ({a} > 0) {{ s2 += {a} % 10; {a} /= 10; }}\n{a} = s2;\n}}"
        ),
        "palindrome": (
            f"{type_} back = 0, left2 = {a};\n"
            f"while (left2 != 0) {{ back = back * 10 + left2 % 10; left2 /= 10; }}\n{a} = {a} == back;"
        ),
        "totient": f"{type_} phi = {a};\nfor ({type_} d2 = 2; d2 * d2 <= {a}; ++d2) {{\n"
        f"if ({a} % d2) continue;\nwhile ({a} % d2 == 0) {a} /= d2;\nphi -= phi / d2;\n}}\n"
        f"if ({a} > 1) phi -= phi / {a};\n{a} = phi;",
        "perfect": (
            f"{type_} s2 = 1;\nfor ({type_} d2 = 2; d2 * d2 < {a}; d2++) if ({a} % d2 == 0) s2 += d2 "
            f"+ {a} / d2;\n{a} = (s2 == {a});"
        ),
        "log": f"int k2 = 0;\nwhile ({a} >= {b} && k2 < 32) {{ {a} /= ({b} + 1); k2++; }}\n{a} = k2;",
    }
    kind = draw.choose(tuple(kinds), "what")
    dear = kind in {"prime", "prime_odd", "factors", "divisors", "totient", "perfect"}
    second = draw.choose(("buffer", "index", "scalar"), "second")
    top = min(top, 1000) if type_ == "ushort" else top
    parameters: list[Parameter] = [Buffer(x, type_, each, Fill("randint", (1, top + 1)))]
    if second == "buffer":
        parameters.append(Buffer(y, type_, each, Fill("randint", (1, top + 1))))
        other = f"{y}[{i}]"
    elif second == "index":
        other = f"(({type_}){i} & {draw.choose((63, 255, 1023))}) + 1"
    else:
        other = hand.name("divisor")
        parameters.append(Scalar(other, type_, lambda d: d.integer(2, 999)))
    helper = ""
    if draw.chance(0.5, "helper"):
        helper = f"{hand.inline}{type_} {kind}_of({type_} {a}, {type_} {b})\n{{\n{kinds[kind]}\nreturn {a};\n}}"
        body = f"{out}[{i}] = {kind}_of({x}[{i}], {other});"
    else:
        body = f"{type_} {a} = {x}[{i}];\n{type_} {b} = {other};\n{kinds[kind]}\n{out}[{i}] = {a};"
    parameters.append(Buffer(out, draw.choose((type_, "uint")), each, None, True))
    work = flat((top**0.5 if dear else 12) * 8)
    return drafted(draw, hand, Parts((kind,), cover, parameters, body, work, helpers=helper))


@family("data_dependent_stop", group="divergence")
def data_dependent_stop(draw: Draw) -> Draft:
    """Generate bounded iterations to a tolerance: fixed points, relaxation of one cell, averages of two kinds."""
    hand = Hand(draw)
    hand.reserve("a", "b", "x", "y")
    real = draw.weighted({"float": 3.0, "double": 1.0}, "type")
    f = "f" if real == "float" else ""
    cover = draw_coverage(draw, hand)
    x, out, i = hand.name("input"), hand.name("output"), cover.index
    maps = {
        "cosine": "cos(t)",
        "average": f"0.5{f} * (t + p / (t + 0.1{f}))",
        "root": f"sqrt(t * p + 0.25{f})",
        "exponential": "exp(-t * p)",
        "logistic": f"3.2{f} * t * (1.0{f} - t) * 0.9{f}",
        "tanh": f"tanh(p * t) * 1.5{f}",
        "thirds": f"(2.0{f} * t + p / (t * t + 0.1{f})) / 3.0{f}",
        "mix": f"mix(t, p, 0.3{f})",
        "tree": f"clamp({mixture(draw, hand, ['t'], real, 3, ['p'])}, 0.0{f}, 4.0{f})",
        "decay": f"t * 0.8{f} + p * 0.15{f}",
    }
    sort = draw.choose(tuple(maps), "map")
    tolerance = f"{draw.choose(('1e-2', '1e-3', '1e-4', '1e-5'))}{f}"
    limit = hand.constant("max steps", str(draw.choose((20, 50, 100, 200, 500))))
    step = f"const {real} next = {maps[sort]};\nconst {real} change = fabs(next - t);\nt = next;"
    loops = {
        "break": f"int used = 0;\nfor (; used < {limit}; used++) {{\n{step}\nif (change < {tolerance}) break;\n}}",
        "while": (
            f"int used = 0;\n{real} last2 = t + 1.0{f};\n"
            f"while (fabs(t - last2) > {tolerance} && used < {limit}) {{\nlast2 = t;\n"
            f"t = {maps[sort]};\nused++;\n}}"
        ),
        "do": (
            f"int used = 0;\n{real} d2;\ndo {{\n{step}\nd2 = change;\nused++;\n"
            f"}} while (d2 > {tolerance} && used < {limit});"
        ),
    }
    helper = ""
    loop = loops[draw.choose(tuple(loops), "loop")]
    parameters: list[Parameter] = [Buffer(x, real, each), Buffer(out, real, each, None, True)]
    body = f"{real} t = {x}[{i}];\nconst {real} p = t * 0.5{f} + 0.5{f};\n{loop}\n{out}[{i}] = t;"
    if draw.chance(0.4, "keeps_count"):
        used = hand.name("second output")
        parameters.append(Buffer(used, draw.choose(("int", "uchar", "float")), each, None, True))
        body += f"\n{used}[{i}] = used;"
    if draw.chance(0.2, "global_flag"):
        flag = hand.name("all done")
        parameters.append(Buffer(flag, "int", just(1), Fill("zeros"), True))
        body += f"\nif (used >= {limit}) {flag}[0] = 1;"
    return drafted(
        draw,
        hand,
        Parts(("converge", sort), cover, parameters, body, flat(25 * (3 + cost(maps[sort]))), helpers=helper),
    )
