"""Where values go: stored in one way or another, scattered, counted, reduced or scanned in the group."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from model.launch.launch import Fill
from profiler.corpus.composing.chain import FENCE, Chain
from profiler.corpus.composing.drafting import Sizes, each, just
from profiler.corpus.expressions import condition

Sink = Callable[[Chain], None]


def _inside(chain: Chain, statement: str) -> str:
    if chain.cover.form in {"padded", "tiles"}:
        return f"if ({chain.cover.index} < {chain.cover.count}) {statement}"
    return statement


def store(chain: Chain) -> None:
    out = chain.buffer("output", chain.type, each, is_written=True)
    chain.add(_inside(chain, f"{out}[{chain.cover.index}] = {chain.value};"))


def several(chain: Chain) -> None:
    """Intermediate results are kept as well."""
    kept = chain.draw.sample(sorted(set(chain.names)), chain.draw.integer(2, 3))
    for name in kept:
        out = chain.buffer("output", chain.type, each, is_written=True)
        chain.add(_inside(chain, f"{out}[{chain.cover.index}] = {name};"))


def record(chain: Chain) -> None:
    """Side by side in one array."""
    kept = chain.draw.sample(sorted(set(chain.names)), chain.draw.integer(2, 4))
    size = len(kept)
    out = chain.buffer("output", chain.type, lambda s: s.bound * size, is_written=True)
    lines = "\n".join(f"{out}[{chain.cover.index} * {size} + {k}] = {name};" for k, name in enumerate(kept))
    chain.add(_inside(chain, f"{{\n{lines}\n}}") if chain.cover.form in {"padded", "tiles"} else lines)


def vector_store(chain: Chain) -> None:
    if not chain.is_scalar:
        store(chain)
        return
    width = chain.draw.choose((2, 4))
    parts = [chain.draw.choose(chain.names) for _ in range(width)]
    made = f"({chain.type}{width})({', '.join(parts)})"
    if chain.draw.chance(0.5):
        out = chain.buffer("output", f"{chain.type}{width}", each, is_written=True)
        chain.add(_inside(chain, f"{out}[{chain.cover.index}] = {made};"))
        return
    out = chain.buffer("output", chain.type, lambda s: s.bound * width, is_written=True)
    chain.add(_inside(chain, f"vstore{width}({made}, {chain.cover.index}, {out});"))


def blended(chain: Chain) -> None:
    """Mixed with what is there."""
    out = chain.buffer("output", chain.type, each, is_written=True)
    i = chain.cover.index
    share = chain.draw.choose((0.5, 0.75, 0.25))
    if chain.is_real:
        rest = f"{out}[{i}] * {chain.real(share)} + {chain.value} * {chain.real(1 - share)}"
        chain.add(_inside(chain, f"{out}[{i}] = {rest};"))
    else:
        chain.add(_inside(chain, f"{out}[{i}] {chain.draw.choose(('^=', '+=', '|='))} {chain.value};"))


def conditional(chain: Chain) -> None:
    """Only where a condition holds."""
    if not chain.is_scalar:
        store(chain)
        return
    out = chain.buffer("output", chain.type, each, is_written=True)
    test = condition(chain.draw, chain.recent(), chain.type)
    text = f"if ({test}) {out}[{chain.cover.index}] = {chain.value};"
    if chain.draw.chance(0.4):
        text += f"\nelse {out}[{chain.cover.index}] = {chain.whole(0)};"
    chain.add(_inside(chain, f"{{\n{text}\n}}") if chain.cover.form in {"padded", "tiles"} else text)


def scattered(chain: Chain) -> None:
    """To the places that a permutation gives, each written once."""
    where = chain.buffer("positions", "int", each, Fill("perm"))
    out = chain.buffer("output", chain.type, each, is_written=True)
    chain.add(_inside(chain, f"{out}[{where}[{chain.cover.index}]] = {chain.value};"))


def spread_store(chain: Chain) -> None:
    """Every so many elements, or transposed in two dimensions."""
    i = chain.cover.index
    if chain.cover.form == "plane":
        out = chain.buffer("output", chain.type, each, is_written=True)
        chain.add(f"{out}[col * {chain.cover.height} + row] = {chain.value};")
        return
    stride = chain.draw.choose((2, 3, 4, 8, 16))
    out = chain.buffer("output", chain.type, lambda s: s.bound * stride, is_written=True)
    chain.add(_inside(chain, f"{out}[{i} * {stride}] = {chain.value};"))


def narrowed(chain: Chain) -> None:
    """As small integers or flags."""
    if not chain.is_scalar:
        store(chain)
        return
    kind = chain.draw.choose(("uchar", "short", "int", "flag"))
    scaled = f"{chain.value} * {chain.real(31)}" if chain.is_real else chain.value
    text = f"convert_{kind}_sat({scaled})" if kind != "flag" else condition(chain.draw, chain.recent(), chain.type)
    out = chain.buffer("output", "uchar" if kind == "flag" else kind, each, is_written=True)
    chain.add(_inside(chain, f"{out}[{chain.cover.index}] = {text};"))


def counted(chain: Chain) -> None:
    """Atomically in bins, or as a running extreme."""
    if not chain.is_scalar:
        store(chain)
        return
    bins = chain.draw.choose((1, 16, 256, 4096, 65536))
    key = f"(int)(fabs({chain.value}) * {chain.real(bins / 4)})" if chain.is_real else f"(int){chain.value}"
    out = chain.buffer("bins", draw_type(chain), just(bins), Fill("zeros"), is_written=True)
    at = f"{out} + ({key} & {bins - 1})" if bins > 1 else out
    call = chain.draw.choose(
        (
            f"atomic_inc({at});",
            f"atomic_add({at}, 1);",
            f"atomic_max({at}, {key} & 1023);",
            f"atomic_add({at}, {key} & 7);",
        )
    )
    guard = f"if ({condition(chain.draw, chain.recent(), chain.type)}) " if chain.draw.chance(0.3) else ""
    inside = _inside(chain, f"{{\n{guard}{call}\n}}")
    chain.add(inside if inside.startswith("if") else f"{guard}{call}", repeated=4)


def draw_type(chain: Chain) -> str:
    return chain.draw.choose(("int", "uint"))


def reduced(chain: Chain) -> None:
    """To one value a group: a tree, strides up or down, or the first item alone."""
    if not chain.is_group_wise or not chain.has_room(chain.type):
        store(chain)
        return
    lane, size, tile = chain.lane(), chain.local_size(), chain.local_array("scratch", chain.type)
    s, j = chain.hand.fresh("s"), chain.hand.fresh("loop")
    a, b = f"{tile}[{lane}]", f"{tile}[{lane} + {s}]"
    join = chain.draw.choose(("sum", "sum", "max", "min"), "reduction")
    both = f"{a} + {b}" if join == "sum" else f"{join}({a}, {b})"
    value = chain.value
    if chain.cover.form in {"padded", "tiles"}:
        value = f"({chain.cover.index} < {chain.cover.count}) ? {chain.value} : {chain.whole(0)}"
    chain.add(f"{a} = {value};\n{FENCE}")
    down = f"for (int {s} = {size} / 2; {s} > 0; {s} >>= 1) {{\nif ({lane} < {s}) {a} = {both};\n{FENCE}\n}}"
    up = f"for (int {s} = 1; {s} < {size}; {s} *= 2) {{\nif (({lane} & (2 * {s} - 1)) == 0) {a} = {both};\n{FENCE}\n}}"
    alone = both.replace(a, f"{tile}[0]").replace(b, f"{tile}[{j}]")
    one = f"if ({lane} == 0) {{\nfor (int {j} = 1; {j} < {size}; {j}++) {tile}[0] = {alone};\n}}"
    chain.add(chain.draw.choose((down, down, up, one)), repeated=10)
    out = chain.buffer("group results", chain.type, _groups, is_written=True)
    factor = f" * {chain.real(0.0078125)}" if chain.is_real and join == "sum" else ""
    chain.add(f"if ({lane} == 0) {out}[{_group(chain)}] = {tile}[0]{factor};")
    if chain.cover.form == "tiles":
        chain.lines.append(FENCE)


def _groups(sizes: Sizes) -> int:
    return sizes.extent.groups + sizes.bound


def _group(chain: Chain) -> str:
    return f"base / {chain.local_size()}" if chain.cover.form == "tiles" else "get_group_id(0)"


def scanned(chain: Chain) -> None:
    """Store running sums or maxima within the group."""
    if not chain.is_group_wise or not chain.has_room(chain.type, 1):
        store(chain)
        return
    lane, size, tile = chain.lane(), chain.local_size(), chain.local_array("scratch", chain.type)
    s, t = chain.hand.fresh("s"), chain.hand.fresh("t")
    zero = chain.whole(0)
    join = chain.draw.choose(("sum", "max"), "scan")
    both = f"{tile}[{lane}] + {t}" if join == "sum" else f"max({tile}[{lane}], {t})"
    chain.add(f"{tile}[{lane}] = {chain.value};\n{FENCE}")
    loop = (
        f"for (int {s} = 1; {s} < {size}; {s} <<= 1) {{\n"
        f"const {chain.type} {t} = ({lane} >= {s}) ? {tile}[{lane} - {s}] : "
        f"{zero if join == 'sum' else f'{tile}[{lane}]'};\n{FENCE}\n{tile}[{lane}] = {both};\n{FENCE}\n}}"
    )
    chain.add(loop, repeated=20)
    out = chain.buffer("output", chain.type, each, is_written=True)
    shift = chain.draw.choose(
        (f"{tile}[{lane}]", f"({lane} > 0 ? {tile}[{lane} - 1] : {zero})", f"{tile}[{lane}] - {chain.value}")
    )
    chain.add(_inside(chain, f"{out}[{chain.cover.index}] = {shift};"))
    if chain.cover.form == "tiles":
        chain.lines.append(FENCE)


def argmax(chain: Chain) -> None:
    """Store the largest value of the group and which work-item had it."""
    if not chain.is_group_wise or not chain.is_scalar or not chain.has_room(chain.type, 2):
        store(chain)
        return
    lane, size = chain.lane(), chain.local_size()
    tile, who = chain.local_array("scratch", chain.type), chain.local_array("holder", "int")
    s = chain.hand.fresh("s")
    sign = chain.draw.choose((">", "<"))
    take = (
        f"if ({lane} < {s} && {tile}[{lane} + {s}] {sign} {tile}[{lane}]) {{\n"
        f"{tile}[{lane}] = {tile}[{lane} + {s}];\n{who}[{lane}] = {who}[{lane} + {s}];\n}}"
    )
    chain.add(f"{tile}[{lane}] = {chain.value};\n{who}[{lane}] = (int){chain.cover.index};\n{FENCE}")
    chain.add(f"for (int {s} = {size} >> 1; {s} > 0; {s} >>= 1) {{\n{take}\n{FENCE}\n}}", repeated=12)
    out, where = (
        chain.buffer("best value", chain.type, _groups, is_written=True),
        chain.buffer("best index", "int", _groups, is_written=True),
    )
    chain.add(f"if ({lane} == 0) {{\n{out}[{_group(chain)}] = {tile}[0];\n{where}[{_group(chain)}] = {who}[0];\n}}")
    if chain.cover.form == "tiles":
        chain.lines.append(FENCE)


SINKS: Mapping[str, Sink] = {
    "store": store,
    "several": several,
    "record": record,
    "vector_store": vector_store,
    "blended": blended,
    "conditional": conditional,
    "scattered": scattered,
    "spread_store": spread_store,
    "narrowed": narrowed,
    "counted": counted,
    "reduced": reduced,
    "scanned": scanned,
    "argmax": argmax,
}
