"""What is done to values between load and store: each function makes a new current value of earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profiler.corpus.composing.chain import FENCE, Chain
from profiler.corpus.composing.drafting import just
from profiler.corpus.expressions import condition, cost, expression, statements

Stage = Callable[[Chain], None]


def formula(chain: Chain) -> None:
    text = expression(chain.draw, chain.recent(4), chain.type, chain.draw.choose((1, 2, 2, 3, 4)))
    chain.declare("result", text)


def steps(chain: Chain) -> None:
    """Several named intermediate results."""
    prefix = chain.hand.fresh("t")
    lines, declared = statements(chain.draw, chain.recent(4), chain.type, chain.draw.integer(2, 6), 2, f"{prefix}_")
    chain.add("\n".join(lines))
    chain.names.extend(declared)


def called(chain: Chain) -> None:
    """Call a helper function of one to three values."""
    inputs = list(dict.fromkeys(chain.recent(3)))
    letters = ["p", "q", "r"][: len(inputs)]
    name = chain.hand.fresh(
        chain.draw.choose(("blend", "response", "update", "energy", "shade", "kernel_fn", "transfer"))
    )
    text = expression(chain.draw, letters, chain.type, chain.draw.choose((2, 3, 4)))
    declared = ", ".join(f"{'const ' if chain.hand.is_const else ''}{chain.type} {x}" for x in letters)
    if chain.draw.chance(0.25):
        chain.helper(f"#define {name.upper()}({', '.join(letters)}) ({text})")
        name = name.upper()
    elif chain.draw.chance(0.4):
        lines, last = statements(chain.draw, letters, chain.type, chain.draw.integer(1, 3), 2, "h")
        inner = expression(chain.draw, [*letters, *last], chain.type, 2)
        chain.helper(
            f"{chain.hand.inline}{chain.type} {name}({declared}) {{\n" + "\n".join(lines) + f"\nreturn {inner};\n}}"
        )
        text = "\n".join(lines) + inner
    else:
        chain.helper(f"{chain.hand.inline}{chain.type} {name}({declared}) {{\nreturn {text};\n}}")
    amount = cost(text)
    chain.spend(lambda _: amount)
    chain.declare("result", f"{name}({', '.join(inputs)})")


def polynomial(chain: Chain) -> None:
    """By Horner's rule, its coefficients written out, in an argument or in a private array."""
    if not chain.is_real:
        formula(chain)
        return
    draw, degree = chain.draw, chain.draw.integer(3, 12)
    v = chain.declare(
        "u",
        chain.draw.choose(
            (f"{chain.value} * {chain.real(0.25)}", f"clamp({chain.value}, {chain.whole(-1)}, {chain.whole(1)})")
        ),
    )
    where = draw.choose(("literals", "buffer", "private", "nested"), "coefficients")
    numbers = [chain.real(round(draw.real(-1, 1), 2) / (1 + 0.3 * k)) for k in range(degree + 1)]
    if where == "nested":
        text = numbers[0]
        for number in numbers[1:6]:
            text = chain.hand.add_product(f"({text})" if chain.hand.multiply_add == "plain" else text, v, number)
        if not chain.is_scalar and chain.hand.multiply_add != "plain":
            text = numbers[0]
            for number in numbers[1:6]:
                text = f"({text}) * {v} + {number}"
        chain.declare("poly", chain.bounded(text, 6.0))
        return
    p = chain.variable("poly", chain.whole(0.5))
    j = chain.hand.fresh("loop")
    if where == "literals":
        chain.add("\n".join(f"{p} = {p} * {v} + {number};" for number in numbers))
    elif where == "buffer":
        table = chain.buffer("coeffs", chain.base, just(degree + 1), is_constant=draw.chance(0.5))
        chain.add(
            chain.hand.loop(j, "0", str(degree + 1), f"{p} = {p} * {v} * {chain.real(0.5)} + {table}[{j}];"),
            repeated=degree,
        )
    else:
        table = chain.hand.fresh("coeffs")
        chain.add(f"const {chain.base} {table}[{degree + 1}] = {{{', '.join(numbers)}}};")
        chain.add(chain.hand.loop(j, "0", str(degree + 1), f"{p} = {p} * {v} + {table}[{j}];"), repeated=degree)
    chain.settle(p, 1000.0)


def special(chain: Chain) -> None:
    """One or two special functions of the value."""
    if not chain.is_real:
        formula(chain)
        return
    v = chain.value
    native = "native_" if chain.base == "float" and chain.draw.chance(0.25) else ""
    forms = (
        f"{native}sin({v})",
        f"{native}cos({v}) * {native}exp({v} * {chain.real(0.25)})",
        f"{native}exp(-{v} * {v})",
        f"{native}log({chain.whole(1)} + {v} * {v})",
        f"{native}sqrt({v} * {v} + {chain.real(1)})",
        f"tanh({v})",
        f"{chain.real(1)} / ({chain.real(1)} + {native}exp(-{v}))",
        f"atan({v})",
        f"erf({v})",
        f"cbrt({v})",
        f"pow(fabs({v}) + {chain.real(0.5)}, {chain.whole(chain.draw.choose((0.5, 0.75, 1.5, 0.45)))})",
        f"hypot({v}, {chain.whole(0.5)})",
        f"{native}rsqrt({v} * {v} + {chain.real(0.5)})",
        f"fmod({v}, {chain.whole(1.5)})",
        f"atan2({v}, {chain.whole(0.75)})",
        f"exp2({v} * {chain.real(0.5)})",
        f"log2(fabs({v}) + {chain.real(0.125)})",
    )
    chain.declare("f", chain.draw.choose(forms))


def random_draws(chain: Chain) -> None:
    """Pseudo-random numbers seeded by the element, one or a few, mixed into the value."""
    draw, hand = chain.draw, chain.hand
    s, j = hand.fresh("seed"), hand.fresh("loop")
    steps_ = {
        "lcg": f"{s} = {s} * 1664525u + 1013904223u;",
        "xorshift": f"{s} ^= {s} << 13;\n{s} ^= {s} >> 17;\n{s} ^= {s} << 5;",
        "wang": (
            f"{s} = ({s} ^ 61u) ^ ({s} >> 16);\n{s} *= 9u;\n{s} ^= {s} >> 4;\n{s} *= 0x27d4eb2du;\n{s} ^= {s} >> 15;"
        ),
        "weyl": f"{s} += 0x9e3779b9u;\n{s} ^= {s} >> 15;\n{s} *= 0x85ebca6bu;",
    }
    advance = steps_[draw.choose(tuple(steps_), "generator")]
    chain.lines.append(
        f"uint {s} = (uint){chain.at} * {draw.choose((747796405, 2654435761, 9781))}u + {draw.choose((1, 12345, 77))}u;"
    )
    count = draw.choose((1, 1, 2, 4, 8, 16))
    number = f"({chain.base})({s} >> 8) * {chain.real(5.96046e-08)}" if chain.is_real else f"({chain.base})({s} & 255)"
    number = number if chain.is_scalar else f"({chain.type})({number})"
    v = chain.variable("noise", chain.value)
    half, mix = chain.real(0.5), chain.draw.choose(("average", "add"))
    take = f"{v} = {v} * {half} + {number};" if chain.is_real else f"{v} = {v} {'^' if mix == 'add' else '+'} {number};"
    inner = f"{advance}\n{take}"
    chain.add(inner if count == 1 else hand.loop(j, "0", str(count), inner), repeated=count)


def branch(chain: Chain) -> None:
    """Different formulas on either side of a comparison."""
    if not chain.is_scalar:
        low, high = (expression(chain.draw, chain.recent(), chain.type, 2) for _ in range(2))
        test = f"{chain.value} > {chain.whole(1)}"
        chain.declare("picked", f"select({low}, {high}, {test})")
        return
    draw = chain.draw
    sources = list(chain.recent())
    v = chain.variable("picked", draw.choose((chain.value, chain.whole(1))))

    def side() -> str:
        return f"{v} = {expression(draw, sources, chain.type, draw.choose((1, 2, 3)))};"

    test = condition(draw, sources, chain.type)
    form = draw.choose(("if", "if_else", "nested", "chain", "ternary"), "branch")
    if form == "if":
        chain.add(f"if ({test}) {{\n{side()}\n}}")
    elif form == "if_else":
        chain.add(f"if ({test}) {{\n{side()}\n}} else {{\n{side()}\n}}")
    elif form == "nested":
        chain.add(
            f"if ({test}) {{\nif ({condition(draw, sources, chain.type)}) {side()}\nelse {side()}\n"
            f"}} else {{\n{side()}\n}}"
        )
    elif form == "chain":
        tests = [f"if ({condition(draw, sources, chain.type)}) {side()}" for _ in range(draw.integer(2, 4))]
        chain.add("\nelse ".join(tests) + f"\nelse {side()}")
    else:
        a, b = (expression(draw, sources, chain.type, 2) for _ in range(2))
        chain.add(f"{v} = ({test}) ? {a} : {b};")


def hashed(chain: Chain) -> None:
    """Mix the value's bits; floating-point values become a number in [0, 1)."""
    if not chain.is_scalar or chain.base not in {"float", "int", "uint"}:
        formula(chain)
        return
    h = chain.hand.fresh("h")
    chain.add(f"uint {h} = {f'as_uint({chain.value})' if chain.is_real else f'(uint){chain.value}'};")
    rounds = [
        chain.draw.choose(
            (
                f"{h} ^= {h} >> {{}};",
                f"{h} *= 0x45d9f3bu + {{}}u;",
                f"{h} += {h} << {{}};",
                f"{h} = rotate({h}, {{}}u);",
            )
        )
        for _ in range(chain.draw.integer(2, 8))
    ]
    chain.add("\n".join(text.format(chain.draw.integer(3, 17)) for text in rounds))
    chain.declare(
        "mixed", f"(float)({h} & 0xffffu) * {chain.real(1.52588e-05)}" if chain.is_real else f"({chain.type}){h}"
    )


def rotation(chain: Chain) -> None:
    """Multiply a small matrix with a small vector, a few times."""
    if not chain.is_real:
        formula(chain)
        return
    a, b = chain.recent(2)[0], chain.value
    angle = chain.draw.choose(((0.8, 0.6), (0.6, 0.8), (0.96, 0.28)))
    c, s = (chain.real(x) for x in angle)
    u, v = chain.variable("u", a), chain.variable("w", b)
    t, j = chain.hand.fresh("t"), chain.hand.fresh("loop")
    count = chain.draw.choose((1, 2, 4, 8))
    inner = f"const {chain.type} {t} = {u} * {c} - {v} * {s};\n{v} = {u} * {s} + {v} * {c};\n{u} = {t};"
    chain.add(f"{{\n{inner}\n}}" if count == 1 else chain.hand.loop(j, "0", str(count), inner), repeated=count)
    chain.settle(v, 8.0)
    chain.settle(u, 8.0)


def exchange(chain: Chain) -> None:
    """Take a value of another work-item of the group, through local memory."""
    if not chain.is_group_wise or not chain.has_room(chain.type):
        formula(chain)
        return
    lane, size, tile = chain.lane(), chain.local_size(), chain.local_array("scratch", chain.type)
    partner = chain.draw.choose(
        (
            f"{size} - 1 - {lane}",
            f"({lane} + 1) & ({size} - 1)",
            f"max({lane} - 1, 0)",
            f"({lane} ^ 1) & ({size} - 1)",
            "0",
            f"({lane} * 5) & ({size} - 1)",
            f"{lane} & ~3",
            f"min({lane} + {chain.draw.choose((2, 4, 16))}, {size} - 1)",
        )
    )
    chain.add(f"{tile}[{lane}] = {chain.value};\n{FENCE}", repeated=8)
    chain.declare("other", f"{tile}[{partner}]")
    if chain.draw.chance(0.4):
        chain.declare("third", f"{tile}[({lane} + {size} / 2) & ({size} - 1)]")
    chain.lines.append(FENCE)
    formula(chain)


STAGES: Mapping[str, Stage] = {
    "formula": formula,
    "steps": steps,
    "called": called,
    "polynomial": polynomial,
    "special": special,
    "random_draws": random_draws,
    "branch": branch,
    "hashed": hashed,
    "rotation": rotation,
    "exchange": exchange,
}
