"""Tiny kernels: little or nothing to do, so that what a launch itself costs is most of their time."""

from __future__ import annotations

from model.launch.launch import Fill
from profiler.corpus.composing.coverage import draw_coverage
from profiler.corpus.composing.drafting import Buffer, Parts, Scalar, drafted, each, flat, just
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.mixing import mixture
from profiler.corpus.draw import Draw
from profiler.corpus.expressions import expression
from profiler.corpus.family import Draft, family
from profiler.corpus.writing.types import is_real

TYPES = (
    "float",
    "int",
    "uint",
    "double",
    "uchar",
    "float4",
    "float2",
    "short",
    "long",
    "ulong",
    "int4",
    "char",
    "uint4",
)


@family("fill_value", group="tiny")
def fill_value(draw: Draw) -> Draft:
    """All elements get one value: a literal, an argument, or something of their position."""
    hand = Hand(draw)
    type_ = draw.choose(TYPES, "type")
    cover = draw_coverage(draw, hand)
    out, i = hand.name("output"), cover.index
    scalars = []
    base = type_.rstrip("0123456789")
    kind = draw.choose(("literal", "argument", "position", "first_differs", "parity"), "what")
    value = hand.literal(draw.choose((0, 1, 2, 7)), type_)
    if kind in {"argument", "first_differs"}:
        value = hand.name("fill value")
        scalars = [Scalar(value, base, lambda d: d.integer(1, 9))]
    zero = hand.literal(0, type_)
    what = {
        "literal": f"({type_})({value})",
        "argument": draw.choose((value, f"({type_})({value})")) if base == type_ else f"({type_})({value})",
        "position": f"({type_})({base})({i})" if base != "char" else f"({type_})({i} & 63)",
        "first_differs": f"{i} == 0 ? ({type_})({value}) : ({type_})({zero})",
        "parity": f"({i} & {draw.choose((1, 3, 7, 15))}) ? ({type_})({value}) : ({type_})({zero})",
    }[kind]
    body = f"{out}[{i}] = {what};" if draw.chance(0.75) else f"*({out} + {i}) = {what};"
    if draw.chance(0.2):
        body = f"{type_} {hand.name('value')} = {what};\n{out}[{i}] = {hand.name('value')};"
    buffers = [Buffer(out, type_, each, is_written=True)]
    if draw.chance(0.25, "two_outputs"):
        other = hand.name("second output")
        buffers.append(Buffer(other, draw.choose(("int", "uchar", type_)), each, is_written=True))
        body += f"\n{other}[{i}] = {draw.choose((0, 1))};"
    title = (draw.choose(("fill", "set", "memset", "init", "clear")), draw.choose((base, "buffer", "array", "all")))
    return drafted(draw, hand, Parts(title, cover, [*buffers, *scalars], body, flat(2)))


@family("one_item_update", group="tiny")
def one_item_update(draw: Draw) -> Draft:
    """One work-item of the launch copies, advances or sums a few values; the others find nothing to do."""
    hand = Hand(draw)
    type_ = draw.choose(("int", "uint", "float", "double", "long", "ulong"), "type")
    x, out, n = hand.name("input"), hand.name("output"), draw.choose((1, 2, 3, 4, 8, 16), "values")
    cover = draw_coverage(draw, hand, forms=("exact",))
    which = draw.choose(("get_global_id(0) == 0", "get_global_id(0) == get_global_size(0) - 1", "!get_global_id(0)"))
    j = hand.name("loop")
    step = hand.name("amount")
    acc = hand.name("sum")
    one = hand.literal(1, type_)
    sums = hand.loop(j, "0", str(n), f"{acc} += {x}[{j}];") if n > 1 else f"{acc} += {x}[0];"
    advance = hand.literal(0.5, type_) if is_real(type_) else None
    kept = f"{out}[0] * {advance} + {x}[0]" if advance else f"({out}[0] + {x}[0]) & 1023"
    deeds = {
        "copy": "\n".join(f"{out}[{k}] = {x}[{k}];" for k in range(n)),
        "loop_copy": hand.loop(j, "0", str(n), f"{out}[{j}] = {x}[{j}];"),
        "advance": f"{out}[0] = {kept};",
        "sum": f"{type_} {acc} = 0;\n{sums}\n{out}[0] = {acc};",
        "scale": "\n".join(f"{out}[{k}] = {x}[{k}] * {step};" for k in range(n)),
        "swap": f"{type_} {acc} = {x}[0];\n{out}[0] = {x}[{n - 1}];\n{out}[{n - 1}] = {acc};",
        "largest": f"{type_} {acc} = {x}[0];\n"
        + hand.loop(j, "1", str(n), f"if ({x}[{j}] > {acc}) {acc} = {x}[{j}];")
        + f"\n{out}[0] = {acc};",
        "expression": f"{type_} {acc} = {x}[0];\n{out}[0] = {expression(draw, [acc], type_, 3)};",
        "state": f"{out}[0] = {x}[0] + {one};\n{out}[{n}] = {x}[{n - 1}] > {one} ? {one} : {hand.literal(0, type_)};",
        "reset": "\n".join(f"{out}[{k}] = {hand.literal(k % 2, type_)};" for k in range(n)),
    }
    kind = draw.choose(tuple(deeds), "what")
    guard = draw.choose(("if", "return", "none"), "guard")
    body = deeds[kind]
    if guard == "if":
        body = f"if ({which}) {{\n{body}\n}}"
    elif guard == "return":
        body = f"if (!({which})) return;\n{body}"
    parameters: list[Buffer | Scalar] = [Buffer(x, type_, just(n)), Buffer(out, type_, just(n + 1), is_written=True)]
    if kind == "scale":
        parameters.append(Scalar(step, type_, lambda d: d.integer(1, 3)))
    if draw.chance(0.4, "unused_length"):
        parameters.append(Scalar(hand.name("count"), "int", lambda d: d.log_integer(1, 1 << 20)))
    return drafted(draw, hand, Parts((kind, "one"), cover, parameters, body, flat(1), is_framed=False))


@family("counter_increment", group="tiny")
def counter_increment(draw: Draw) -> Draft:
    """Every work-item, or every one of some kind, counts itself in one or in a few counters."""
    hand = Hand(draw)
    cover = draw_coverage(draw, hand)
    counter, x, i = hand.name("counter"), hand.name("input"), cover.index
    type_ = draw.choose(("int", "uint"), "type")
    shifts = {"one": 0, "few": draw.choose((2, 3, 4)), "many": draw.choose((6, 8, 10))}
    spread = draw.choose(tuple(shifts), "counters")
    slots = 1 << shifts[spread]
    where = f"{counter} + ({i} & {slots - 1})" if slots > 1 else counter
    word = draw.choose(
        ("atomic_inc", "atomic_add", "atomic_or", "atomic_max", "atomic_xchg", "atomic_dec", "atomic_min")
    )
    call = f"{word}({where})" if word in {"atomic_inc", "atomic_dec"} else f"{word}({where}, {draw.choose((1, 2, 3))})"
    when = draw.choose(("always", "some_items", "by_value", "first_of_group"), "when")
    tests = {
        "some_items": f"({i} & {draw.choose((1, 3, 15, 63, 255))}) == 0",
        "by_value": f"{x}[{i}] {draw.choose(('>', '<', '=='))} {draw.choose((2, 5, 8, 14))}",
        "first_of_group": "get_local_id(0) == 0",
    }
    body = f"{call};" if when == "always" else f"if ({tests[when]}) {draw.choose((f'{call};', f'{{ {call}; }}'))}"
    parameters = [Buffer(counter, f"volatile {type_}" if draw.chance(0.4) else type_, just(slots), is_written=True)]
    if when == "by_value":
        parameters.append(Buffer(x, draw.choose(("int", "uint", "short", "uchar")), each))
    if draw.chance(0.3, "keeps_ticket"):
        out = hand.name("output")
        body = body.replace(f"{call};", f"{out}[{i}] = {call};")
        parameters.append(Buffer(out, type_, each, is_written=True))
    parameters[0] = Buffer(counter, parameters[0].type.split()[-1], just(slots), Fill("zeros"), is_written=True)
    return drafted(draw, hand, Parts(("count", draw.choose(("items", "up", "hits"))), cover, parameters, body, flat(8)))


@family("few_items", group="tiny")
def few_items(draw: Draw) -> Draft:
    """Generate a handful of elements, whatever the launch: small vectors, coefficients, a configuration."""
    hand = Hand(draw)
    type_ = draw.choose(("float", "double", "int", "float4"), "type")
    count = draw.choose((2, 3, 4, 5, 8, 9, 12, 16, 24, 32, 64), "elements")
    cover = draw_coverage(draw, hand, forms=("exact", "grouped"))
    x, y, out, i = hand.name("input"), hand.name("second input"), hand.name("output"), cover.index
    macro = hand.constant("elements", str(count))
    a, b = f"{x}[{i}]", f"{y}[{i}]"
    names = [hand.name("first term"), hand.name("second term")]
    formula = mixture(draw, hand, names, type_, draw.integer(1, 4))
    inner = f"{type_} {names[0]} = {a}, {names[1]} = {b};\n{out}[{i}] = {formula};"
    guard = draw.choose(("if", "return"))
    body = f"if ({i} < {macro}) {{\n{inner}\n}}" if guard == "if" else f"if ({i} >= {macro}) return;\n{inner}"
    buffers = [
        Buffer(x, type_, just(count)),
        Buffer(y, type_, just(count)),
        Buffer(out, type_, just(count), None, True),
    ]
    return drafted(
        draw, hand, Parts(("update", draw.choose(("small", "coeffs", "config"))), cover, buffers, body, flat(1))
    )
