"""The stage that works on a small private array."""

from __future__ import annotations

from profiler.corpus.composing.chain import Chain


def private_work(chain: Chain) -> None:
    """Add work on a small private array: filled, sorted, looked into, shifted."""
    draw, hand = chain.draw, chain.hand
    size = draw.choose((4, 5, 8, 9, 16, 24))
    source = chain.value
    a, j, key = hand.fresh("own"), hand.fresh("loop"), hand.fresh("k")
    step = (
        f"{source} * {chain.real(0.25)} + {chain.whole(0.125)} * ({chain.base})({j} & 7)"
        if chain.is_real
        else f"{source} + ({chain.base})({j} * {draw.choose((3, 7, 11))})"
    )
    chain.add(f"{chain.type} {a}[{size}];\n" + hand.loop(j, "0", str(size), f"{a}[{j}] = {step};"), repeated=size)
    kind = draw.choose(("sort", "shift", "dynamic", "recurrence", "reverse_sum", "largest"), "private")
    t = hand.fresh("t")
    if kind in {"sort", "largest"} and not chain.is_scalar:
        kind = "recurrence"
    if kind == "sort":
        order = f"while ({key} > 0 && {a}[{key} - 1] > {t}) {{\n{a}[{key}] = {a}[{key} - 1];\n{key}--;\n}}"
        twist = f"({j} * 5) % {size}"
        chain.lines.append(
            hand.loop(
                j,
                "1",
                str(size),
                (
                    f"const {chain.type} {t} = {a}[{j}] + {a}[{twist}] * "
                    f"{chain.real(0.5) if chain.is_real else 3};\nint {key} = {j};\n{order}\n{a}[{key}] = {t};"
                ),
            )
        )
        chain.spend(lambda _: size * size)
        chain.declare("median", chain.bounded(f"{a}[{size // 2}]", 16.0))
    elif kind == "dynamic":
        index = (
            f"(int)({source} * {chain.real(8)}) & 0x7fff"
            if chain.is_real and chain.is_scalar
            else f"(int){chain.at} & 0x7fff"
        )
        chain.add(f"int {key} = ({index}) % {size};\n{a}[{key}] = {chain.whole(1)};")
        chain.declare("chosen", f"{a}[({key} + {draw.integer(1, 3)}) % {size}]")
    elif kind == "shift":
        rounds = draw.choose((2, 4, 8))
        inner = (
            f"const {chain.type} {t} = {a}[0];\n"
            f"for (int {j} = 0; {j} < {size - 1}; {j}++) {a}[{j}] = {a}[{j} + 1];\n"
            f"{a}[{size - 1}] = {t};"
        )
        chain.add(f"for (int {key} = 0; {key} < {rounds}; {key}++) {{\n{inner}\n}}", repeated=rounds * size)
        chain.declare("front", f"{a}[{draw.integer(0, size - 1)}]")
    elif kind == "largest":
        v = chain.variable("top2", f"{a}[0]")
        chain.add(hand.loop(j, "1", str(size), f"{v} = max({v}, {a}[{j}]);"), repeated=size)
    else:
        v = chain.variable("total2", chain.whole(0))
        walk = hand.loop(
            j,
            "0",
            str(size),
            f"{v} = {v} * {chain.real(0.5)} + {a}[{size - 1} - {j}];"
            if chain.is_real
            else f"{v} += {a}[{j}] ^ {a}[{size - 1} - {j}];",
        )
        chain.add(walk, repeated=size)
