"""Many phases with little between their barriers: doubling, ping-pong in local memory, tournaments, sweeps."""

from __future__ import annotations

from profiler.corpus.composing.coverage import GROUPWISE, Coverage, draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parameter, Parts, Scalar, Sizes, drafted, each, flat
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.families.local_memory import declare_tile, draw_groups, load_or_zero, store_inside
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real

TYPES = ("float", "float", "int", "uint", "float2", "float4", "double")


class _Board:
    """A group's kernel with one value of each item in local memory: what all families here begin and end with."""

    def __init__(self, draw: Draw, types: tuple[str, ...] = TYPES, halves: int = 1) -> None:
        self.draw, self.hand = draw, Hand(draw)
        self.type = draw.choose(types, "type")
        self.groups = draw_groups(draw, most=512 if self.type in {"float4", "double"} else 1024)
        self.cover: Coverage = draw_coverage(draw, self.hand, forms=GROUPWISE, groups=self.groups)
        name = self.hand.name
        self.x, self.out = name("input"), name("output")
        self.lane, self.size, self.tile = name("lane"), name("local size"), name("scratch")
        self.declared, self.local = declare_tile(self.hand, self.groups, self.tile, self.type, halves)
        # Global data is not touched between the phases; a wider fence is what many write all the same.
        flags = draw.weighted({"CLK_LOCAL_MEM_FENCE": 6.0, "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE": 1.0})
        self.fence = f"barrier({flags});"

    @property
    def mine(self) -> str:
        return f"{self.tile}[{self.lane}]"

    @property
    def load(self) -> str:
        return load_or_zero(self.draw, self.cover, self.x, self.type)

    def real(self, value: float) -> str:
        return self.hand.literal(value, self.type)

    def finished(
        self, body: str, title: str, phases: float, result: str = "", extra: list[Parameter] | None = None
    ) -> Draft:
        """With the store; `phases` is how many there are about, a barrier included each of some twenty operations."""
        end = store_inside(self.cover, f"{self.out}[{self.cover.index}] = {result or self.mine};")
        after = f"\n{self.fence}" if self.cover.form == "tiles" else ""
        heads = f"{self.declared}\nconst int {self.lane} = get_local_id(0);\nconst int {self.size} = get_local_size(0);"
        first = Buffer(self.x, self.type, each)
        parameters = [first, Buffer(self.out, self.type, each, None, True), *self.local, *(extra or [])]
        counts = [p.name for p in (extra or []) if isinstance(p, Scalar)]

        def work(sizes: Sizes) -> float:
            return 20.0 * phases * (sizes.of(counts[0]) if counts else 1)

        text = f"{body}\n{end}{after}"
        parts = Parts(
            (title, "phases"), self.cover, parameters, text, work if counts else flat(20 * phases), before=heads
        )
        return drafted(self.draw, self.hand, parts)


@family("phase_chain", group="barriers")
def phase_chain(draw: Draw) -> Draft:
    """Generate a fixed number of phases, each with a formula of its own over the values of two or three items."""
    board = _Board(draw)
    tile, lane, size = board.tile, board.lane, board.size
    phases = draw.choose((2, 3, 4, 6, 8, 12), "phases")
    lines = [f"{board.mine} = {board.load};", board.fence]
    for number in range(phases):
        partner = draw.choose(
            (
                f"({lane} + {draw.choose((1, 2, 4, 8))}) & ({size} - 1)",
                f"{lane} ^ ({draw.choose((1, 2, 4))} & ({size} - 1))",
                f"{size} - 1 - {lane}",
                f"({lane} * 3) & ({size} - 1)",
                f"max({lane} - {draw.choose((1, 2))}, 0)",
            )
        )
        mine, other = f"m{number}", f"o{number}"
        formula = mixture(draw, board.hand, [other], board.type, draw.choose((1, 2, 3)), [mine])
        lines += [
            f"const {board.type} {mine} = {board.mine}, {other} = {tile}[{partner}];",
            board.fence,
            f"{board.mine} = {formula};",
            board.fence,
        ]
    return board.finished("\n".join(lines), "chain", phases * 2)


@family("local_ping_pong", group="barriers")
def local_ping_pong(draw: Draw) -> Draft:
    """Relaxation in local memory from one half to the other and back, for a number of steps."""
    board = _Board(draw, halves=2)
    tile, lane, size, type_ = board.tile, board.lane, board.size, board.type
    steps = board.hand.name("iterations")
    reach = draw.choose((1, 1, 2, 4), "reach")
    swap = draw.choose(("parity", "parity", "pairs"), "halves")
    edge = draw.choose(("wrap", "clamp"), "edge")

    def near(offset: int) -> str:
        if edge == "wrap":
            return f"(({lane} + {size} + {offset}) & ({size} - 1))".replace("+ -", "- ")
        return f"clamp({lane} + {offset}, 0, {size} - 1)".replace("+ -", "- ")

    middle, left, right = f"{tile}[from + {lane}]", f"{tile}[from + {near(-reach)}]", f"{tile}[from + {near(reach)}]"
    third = board.real(0.25)
    formulas = {
        "average": f"({left} + {right}) * {board.real(0.5)}" if is_real(type_) else f"({left} + {right}) >> 1",
        "weighted": f"{left} * {third} + {middle} * {board.real(0.5)} + {right} * {third}"
        if is_real(type_)
        else f"{left} ^ {middle} ^ {right}",
        "expression": mixture(draw, board.hand, ["left2", "right2"], type_, draw.choose((2, 3)), ["mid2"]),
        "extreme": f"max({left}, max({middle}, {right}))",
    }
    kind = draw.choose(tuple(formulas), "formula")
    before = f"const {type_} left2 = {left}, mid2 = {middle}, right2 = {right};\n" if kind == "expression" else ""
    move = f"{before}{tile}[to + {lane}] = {formulas[kind]};\n{board.fence}"
    start = f"{board.mine} = {board.load};\n{board.fence}"
    if swap == "parity":
        loop = (
            f"for (int s2 = 0; s2 < {steps}; s2++) {{\n"
            f"const int from = (s2 & 1) * {size}, to = {size} - from;\n{move}\n}}"
        )
        result = f"{tile}[({steps} & 1) * {size} + {lane}]"
    else:
        back = move.replace("[from +", "[SWAP +").replace("[to +", "[from +").replace("[SWAP +", "[to +")
        loop = (
            f"const int from = 0, to = {size};\nfor (int s2 = 0; s2 < {steps}; s2++) {{\n{{\n{move}\n"
            f"}}\n{{\n{back}\n}}\n}}"
        )
        result = board.mine
    extra: list[Parameter] = [Scalar(steps, "int", lambda d: d.log_integer(1, 200))]
    return board.finished(f"{start}\n{loop}", "relax", 1.5, result, extra)


@family("log_doubling", group="barriers")
def log_doubling(draw: Draw) -> Draft:
    """Distances that double or halve from phase to phase, with any associative operation, once or again and again."""
    board = _Board(draw)
    tile, lane, size, type_ = board.tile, board.lane, board.size, board.type
    joins = {
        "max": "max({a}, {b})",
        "min": "min({a}, {b})",
        "average": "({a} + {b}) * 0.5f" if is_real(type_) else "({a} + {b}) >> 1",
        "sum": "{a} * 0.5f + {b} * 0.5f" if is_real(type_) else "{a} + {b}",
        "xor": "fmax({a}, {b}) - fmin({a}, {b})" if is_real(type_) else "{a} ^ {b}",
    }
    join = draw.choose(tuple(joins), "operation")
    way = draw.choose(("behind", "ahead", "butterfly", "tree_up_down"), "way")
    growing = draw.chance(0.6, "growing")
    span = f"int d2 = 1; d2 < {size}; d2 <<= 1" if growing else f"int d2 = {size} >> 1; d2 > 0; d2 >>= 1"
    partner = {
        "behind": f"({lane} >= d2 ? {lane} - d2 : {lane})",
        "ahead": f"min({lane} + d2, {size} - 1)",
        "butterfly": f"({lane} ^ d2)",
        "tree_up_down": f"(({lane} + d2) & ({size} - 1))",
    }[way]
    both = joins[join].format(a=board.mine, b="t2").replace("0.5f", board.real(0.5) if is_real(type_) else "1")
    step = f"const {type_} t2 = {tile}[{partner}];\n{board.fence}\n{board.mine} = {both};\n{board.fence}"
    loop = f"for ({span}) {{\n{step}\n}}"
    extra: list[Parameter] = []
    if draw.chance(0.35, "again"):
        rounds = board.hand.name("iterations")
        extra.append(Scalar(rounds, "int", lambda d: d.log_integer(1, 30)))
        loop = f"for (int r2 = 0; r2 < {rounds}; r2++) {{\n{loop}\n}}"
    start = f"{board.mine} = {board.load};\n{board.fence}"
    result = draw.choose((board.mine, board.mine, f"{tile}[{size} - 1]", f"{tile}[0]"))
    if draw.chance(0.3):
        loop += f"\nconst {type_} e2 = {tile}[{size} - 1 - {lane}];"
        result = mixture(draw, board.hand, ["e2"], type_, 2)
    return board.finished(f"{start}\n{loop}", way, 8, result, extra)


@family("odd_even_phases", group="barriers")
def odd_even_phases(draw: Draw) -> Draft:
    """Neighbouring pairs, now the odd ones, now the even ones: exchanged, averaged, compared."""
    board = _Board(draw, ("float", "float", "int", "uint", "double"))
    tile, lane, size, type_ = board.tile, board.lane, board.size, board.type
    a, b = f"{tile}[{lane}]", f"{tile}[{lane} + 1]"
    half = board.real(0.5) if is_real(type_) else "1"
    mean = f"(p2 + q2) * {half}" if is_real(type_) else "(p2 + q2) >> 1"
    deeds = {
        "sort": f"if (p2 > q2) {{ {a} = q2; {b} = p2; }}",
        "branchless": f"{a} = min(p2, q2);\n{b} = max(p2, q2);",
        "average": f"{a} = {mean};\n{b} = {mean};",
        "formula": f"{a} = {mixture(draw, board.hand, ['p2', 'q2'], type_, 2)};\n{b} = p2;",
        "one_side": f"{a} = {mixture(draw, board.hand, ['p2', 'q2'], type_, draw.choose((2, 3)))};",
        "descending": f"if (p2 < q2) {{ {a} = q2; {b} = p2; }}",
    }
    deed = draw.choose(tuple(deeds), "deed")
    test = draw.choose(
        (f"(({lane} ^ s2) & 1) == 0 && {lane} + 1 < {size}", f"({lane} & 1) == (s2 & 1) && {lane} < {size} - 1")
    )
    steps = draw.choose(("argument", "local_size", "literal"), "phases")
    extra: list[Parameter] = []
    end, amount = {"local_size": (size, 64), "literal": ("16", 16)}.get(steps, ("", 1))
    if not end:
        end = board.hand.name("iterations")
        extra.append(Scalar(end, "int", lambda d: d.log_integer(1, 300)))
    inner = f"if ({test}) {{\nconst {type_} p2 = {a}, q2 = {b};\n{deeds[deed]}\n}}\n{board.fence}"
    start = f"{board.mine} = {board.load};\n{board.fence}"
    return board.finished(f"{start}\nfor (int s2 = 0; s2 < {end}; s2++) {{\n{inner}\n}}", deed, amount, "", extra)


@family("leader_phases", group="barriers")
def leader_phases(draw: Draw) -> Draft:
    """In each phase one item, or a few, work for all the others, who wait and then go on with the outcome."""
    board = _Board(draw)
    tile, lane, size, type_ = board.tile, board.lane, board.size, board.type
    steps = board.hand.name("iterations")
    leader = draw.choose(
        (f"{lane} == 0", f"{lane} == (s2 & ({size} - 1))", f"{lane} < 4", f"({lane} & 15) == 0"), "leader"
    )
    half = board.real(0.5) if is_real(type_) else ""
    shared = draw.choose(("0", f"s2 & ({size} - 1)"), "slot")
    work = {
        "scale": f"{tile}[{shared}] = {tile}[{shared}] * {half};" if half else f"{tile}[{shared}] ^= s2;",
        "formula": f"const {type_} f2 = {tile}[{shared}];\n{tile}[{shared}] = {expression(draw, ['f2'], type_, 3)};",
        "sum_few": f"{type_} f2 = {tile}[{shared}];\nfor (int q2 = 0; q2 < min(8, {size}); q2++) f2 = "
        + (f"f2 * {half} + {tile}[q2] * {half};" if half else f"f2 ^ {tile}[q2];")
        + f"\n{tile}[{shared}] = f2;",
        "largest": f"for (int q2 = 1; q2 < {size}; q2 += 4) {tile}[0] = max({tile}[0], {tile}[q2]);",
    }
    deed = draw.choose(tuple(work), "deed")
    if leader.startswith((f"{lane} < 4", f"({lane} & 15)")):
        text = f"const {type_} f2 = {board.mine};\n{board.mine} = {expression(draw, ['f2'], type_, 2)};"
    else:
        text = work[deed]
    v = board.hand.name("value")
    follow = f"{v} = {mixture(draw, board.hand, [v, 'lead2'], type_, draw.choose((1, 2)))};"
    loop = (
        f"for (int s2 = 0; s2 < {steps}; s2++) {{\nif ({leader}) {{\n{text}\n}}\n{board.fence}\n"
        f"const {type_} lead2 = {tile}[{shared}];\n{follow}\n{board.fence}\n}}"
    )
    start = f"{type_} {v} = {board.load};\n{board.mine} = {v};\n{board.fence}"
    extra: list[Parameter] = [Scalar(steps, "int", lambda d: d.log_integer(1, 100))]
    return board.finished(f"{start}\n{loop}", "leader", 6, v, extra)
