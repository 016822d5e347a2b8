"""Where values come from: each function declares one or more values of the chain's type."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model.launch.launch import Fill
from profiler.corpus.composing.chain import Chain
from profiler.corpus.composing.drafting import each, just, times
from profiler.corpus.writing.types import lanes

Load = Callable[[Chain], None]


def plain(chain: Chain) -> None:
    x = chain.buffer("input", chain.type, each)
    chain.declare("value", chain.draw.choose((f"{x}[{chain.at}]", f"{x}[{chain.at}]", f"*({x} + {chain.at})")))


def pair(chain: Chain) -> None:
    plain(chain)
    y = chain.buffer("second input", chain.type, each)
    chain.declare("value", f"{y}[{chain.at}]")


def strided(chain: Chain) -> None:
    """Every so many elements: a stride written out, or one among the arguments."""
    if chain.draw.chance(0.6):
        stride = chain.draw.choose((2, 3, 4, 5, 8, 16, 32))
        x = chain.buffer("input", chain.type, times(stride))
        offset = chain.draw.integer(0, stride - 1)
        chain.declare("value", f"{x}[{chain.at} * {stride}{f' + {offset}' if offset else ''}]")
        return
    name = chain.scalar("pitch", "int", lambda d: d.log_integer(1, 64))
    x = chain.buffer("input", chain.type, lambda s: s.bound * s.of(name))
    chain.data_scalars.append(name)
    chain.declare("value", f"{x}[{chain.at} * {name}]")


def fields(chain: Chain) -> None:
    """Several of a record's members, which lie side by side."""
    size = chain.draw.choose((2, 3, 4, 5, 6, 8, 12))
    x = chain.buffer("records", chain.type, times(size))
    base = chain.hand.fresh("rec")
    is_pointer = chain.draw.chance(0.4)
    if is_pointer:
        chain.lines.append(f"{chain.hand.globally} const {chain.type} *{base} = {x} + {chain.at} * {size};")
    for k in chain.draw.sample(range(size), chain.draw.integer(1, min(4, size))):
        chain.declare("member", f"{base}[{k}]" if is_pointer else f"{x}[{chain.at} * {size} + {k}]")


def planes_of(chain: Chain) -> None:
    """Load a record's members from consecutive parts of one array."""
    size = chain.draw.integer(2, 4)
    x = chain.buffer("soa", chain.type, times(size))
    for k in range(size):
        chain.declare("member", f"{x}[{k} * ({chain.total}) + {chain.at}]" if k else f"{x}[{chain.at}]")


def gathered(chain: Chain) -> None:
    """Through an index buffer: permuted, random, clustered, skewed; of a table larger or smaller than the launch."""
    draw = chain.draw
    kind = draw.choose(("perm", "randint", "clustered", "skewed", "sorted"), "indices")
    index = draw.choose(("indices", "map", "links", "neighbour"))
    if kind == "perm":
        x = chain.buffer("input", chain.type, each)
        idx = chain.buffer(index, "int", each, Fill("perm"))
    else:
        size = draw.choose((1 << 8, 1 << 12, 1 << 16, 1 << 20))
        reach = (0, size, draw.choose((16, 256))) if kind == "clustered" else (0, size)
        x = chain.buffer("input", chain.type, just(size))
        idx = chain.buffer(index, draw.choose(("int", "uint")), each, Fill(kind, reach))
    if draw.chance(0.3):
        other = chain.buffer("input", chain.type, each)
        chain.declare("value", f"{other}[{chain.at}]")
    if draw.chance(0.5):
        at = chain.hand.fresh("from")
        chain.add(f"const int {at} = {idx}[{chain.at}];")
        chain.declare("value", f"{x}[{at}]")
    else:
        chain.declare("value", f"{x}[{idx}[{chain.at}]]")


def chased(chain: Chain) -> None:
    """Links followed a few times."""
    size = chain.draw.choose((1 << 10, 1 << 14, 1 << 18))
    steps = chain.draw.choose((2, 3, 4, 8, 16))
    x = chain.buffer("input", chain.type, just(size))
    link = chain.buffer("links", "int", just(size), Fill("randint", (0, size)))
    at, j = chain.hand.fresh("node"), chain.hand.fresh("loop")
    chain.lines.append(f"int {at} = (int)({chain.at}) & {size - 1};")
    chain.add(f"for (int {j} = 0; {j} < {steps}; {j}++) {at} = {link}[{at}];", repeated=steps * 3)
    chain.declare("value", f"{x}[{at}]")


def neighbours(chain: Chain) -> None:
    """Before and behind, or the four around in two dimensions, with the edges clamped, wrapped or left out."""
    draw = chain.draw
    x = chain.buffer("input", chain.type, each)
    if chain.cover.form == "plane":
        w, h = chain.cover.width, chain.cover.height
        around = {
            "left": f"row * {w} + max(col - 1, 0)",
            "right": f"row * {w} + min(col + 1, {w} - 1)",
            "up": f"max(row - 1, 0) * {w} + col",
            "down": f"min(row + 1, {h} - 1) * {w} + col",
            "corner": f"max(row - 1, 0) * {w} + max(col - 1, 0)",
        }
        chain.declare("centre", f"{x}[{chain.at}]")
        for name in draw.sample(tuple(around), draw.integer(2, 5)):
            chain.declare(name, f"{x}[{around[name]}]")
        return
    reach = draw.choose((1, 1, 2, 4))
    edge = draw.choose(("clamp", "wrap", "ternary"))
    chain.declare("centre", f"{x}[{chain.at}]")
    for offset in range(1, reach + 1):
        below, above = f"(int){chain.at} - {offset}", f"(int){chain.at} + {offset}"
        if edge == "clamp":
            chain.declare("before", f"{x}[max({below}, 0)]")
            chain.declare("behind", f"{x}[min({above}, {chain.total} - 1)]")
        elif edge == "wrap":
            chain.declare("before", f"{x}[({below} + {offset} * ({chain.total})) % ({chain.total})]")
            chain.declare("behind", f"{x}[({above}) % ({chain.total})]")
        else:
            chain.declare("before", f"{below} >= 0 ? {x}[{below}] : {chain.whole(1)}")
            chain.declare("behind", f"{above} < {chain.total} ? {x}[{above}] : {chain.whole(1)}")


def narrow(chain: Chain) -> None:
    """Small integers, converted and scaled."""
    kind = chain.draw.choose(("uchar", "short", "ushort", "char", "int"))
    width = lanes(chain.type)
    x = chain.buffer("input", kind if width == 1 else f"{kind}{width}", each)
    raw = f"{x}[{chain.at}]"
    text = chain.draw.choose(
        (f"convert_{chain.type}({raw})", f"({chain.type}){raw}" if width == 1 else f"convert_{chain.type}({raw})")
    )
    scale = chain.draw.choose((0.125, 0.25, 0.0625))
    chain.declare("value", f"{text} * {chain.real(scale)}" if chain.is_real else text)


def from_position(chain: Chain) -> None:
    """Nothing is loaded: the value comes of where the element lies."""
    mask = chain.draw.choose((15, 63, 255, 1023))
    position = f"({chain.base})({chain.at} & {mask})"
    if chain.cover.form == "plane":
        position = f"({chain.base})({chain.draw.choose(('col', 'row', '(col ^ row)'))} & {mask})"
    text = f"{position} * {chain.real(float(f'{3.5 / mask:.2g}'))}" if chain.is_real else position
    chain.declare("value", text if chain.is_scalar else f"({chain.type})({text})")


def looked_up(chain: Chain) -> None:
    """Load from a small table, at a position that depends on a value or on the element."""
    plain(chain)
    size = chain.draw.choose((16, 64, 256, 1024))
    table = chain.buffer("table", chain.type, just(size), is_constant=chain.draw.chance(0.5))
    key = chain.value if chain.is_scalar else f"{chain.value}.s0"
    where = f"(int)({key} * {chain.real(size / 2)})" if chain.is_real else f"(int){key}"
    if chain.draw.chance(0.3):
        where = f"(int)({chain.at} >> {chain.draw.integer(0, 5)})"
    chain.declare("entry", f"{table}[{where} & {size - 1}]")


def vector_parts(chain: Chain) -> None:
    """Load a vector for each element; its parts are the values, or a sum of them."""
    if not chain.is_scalar:
        plain(chain)
        return
    width = chain.draw.choose((2, 4, 4, 8))
    v = chain.hand.fresh("quad")
    if chain.draw.chance(0.5):
        x = chain.buffer("input", f"{chain.type}{width}", each)
        chain.add(f"const {chain.type}{width} {v} = {x}[{chain.at}];")
    else:
        x = chain.buffer("input", chain.type, times(width))
        chain.add(f"const {chain.type}{width} {v} = vload{width}({chain.at}, {x});")
    parts = [f"{v}.s{k}" for k in range(width)]
    if chain.draw.chance(0.5):
        total = " + ".join(parts)
        chain.declare("value", chain.bounded(total, 4.0 * width) if chain.is_real else total)
        return
    for part in chain.draw.sample(parts, chain.draw.integer(1, min(4, width))):
        chain.declare("part2", part)


def broadcast(chain: Chain) -> None:
    """Of a row, a column or a period, shared by many elements."""
    period = chain.draw.choose((8, 32, 256, 1000, 4096))
    x = chain.buffer("input", chain.type, lambda s: max(period, s.bound // period + 1))
    way = chain.draw.choose((f"{chain.at} % {period}", f"{chain.at} / {period}"))
    plain(chain)
    chain.declare("shared2", f"{x}[{way}]")


LOADS: Mapping[str, Load] = {
    "plain": plain,
    "pair": pair,
    "strided": strided,
    "fields": fields,
    "planes": planes_of,
    "gathered": gathered,
    "chased": chased,
    "neighbours": neighbours,
    "narrow": narrow,
    "from_position": from_position,
    "looked_up": looked_up,
    "vector_parts": vector_parts,
    "broadcast": broadcast,
}
