"""Images as where values come from and go to; the coverage has two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from profiler.corpus.composing.chain import Chain
from profiler.corpus.composing.drafting import each

_CHANNELS = "xyzw"


def _source(chain: Chain) -> str:
    """Return a read-only image's name."""
    name = chain.hand.fresh("image")
    word = chain.draw.choose(("read_only", "__read_only"))
    chain.image_parameters.append(f"{word} image2d_t {name}")
    chain.images.append(name)
    return name


def _sampler(chain: Chain, *, is_normalised: bool = False) -> str:
    name = chain.hand.name("normalised sampler" if is_normalised else "sampler")
    coords = "TRUE" if is_normalised else "FALSE"
    edge = "CLK_ADDRESS_CLAMP_TO_EDGE" if is_normalised or chain.draw.chance(0.7) else "CLK_ADDRESS_CLAMP"
    filters = "CLK_FILTER_LINEAR" if is_normalised else "CLK_FILTER_NEAREST"
    text = f"{chain.hand.constantly} sampler_t {name} = CLK_NORMALIZED_COORDS_{coords} | {edge} | {filters};"
    if not any(f"sampler_t {name} " in helper for helper in chain.helpers):
        chain.helper(text)
    return name


def _taken(chain: Chain, texel: str) -> None:
    """All of a texel, some channels, or a sum of them."""
    if chain.type == "float4":
        chain.declare("pixel", texel)
        return
    if chain.type == "float2":
        chain.declare("pixel", f"{texel}.{chain.draw.choose(('xy', 'zw', 'xz'))}")
        return
    kind = chain.draw.choose(("one", "one", "luminance", "some"))
    if kind == "one":
        chain.declare("pixel", f"{texel}.{chain.draw.choose(_CHANNELS)}")
        return
    name = chain.hand.fresh("texel")
    chain.add(f"const float4 {name} = {texel};", repeated=4)
    if kind == "luminance":
        weights = chain.draw.choose(
            ("0.299f, 0.587f, 0.114f, 0.0f", "0.25f, 0.25f, 0.25f, 0.25f", "0.2126f, 0.7152f, 0.0722f, 0.0f")
        )
        chain.declare("grey", f"dot({name}, (float4)({weights}))")
        return
    for channel in chain.draw.sample(_CHANNELS, chain.draw.integer(1, 3)):
        chain.declare("channel", f"{name}.{channel}")


def texel(chain: Chain) -> None:
    image, sampler = _source(chain), _sampler(chain)
    _taken(chain, f"read_imagef({image}, {sampler}, (int2)(col, row))")


def texels_around(chain: Chain) -> None:
    image, sampler = _source(chain), _sampler(chain)
    reach = chain.draw.choose((1, 1, 2, 4))
    offsets = [(x, y) for x in (-reach, 0, reach) for y in (-reach, 0, reach)]
    for x, y in chain.draw.sample(offsets, chain.draw.integer(2, 9)):
        _taken(chain, f"read_imagef({image}, {sampler}, (int2)(col + {x}, row + {y}))".replace("+ -", "- "))


def texel_window(chain: Chain) -> None:
    """Add a square of texels, weighted evenly, by a table or by nearness."""
    image, sampler = _source(chain), _sampler(chain)
    radius = chain.draw.choose((1, 2, 3, 5))
    acc, dx, dy = chain.variable("sum", chain.whole(0)), chain.hand.fresh("dx"), chain.hand.fresh("dy")
    read = f"read_imagef({image}, {sampler}, (int2)(col + {dx}, row + {dy}))"
    part = {"float4": read, "float2": f"{read}.xy"}.get(chain.type, f"{read}.{chain.draw.choose(_CHANNELS)}")
    area = (2 * radius + 1) ** 2
    share = chain.real(float(f"{1 / area:.3g}"))
    deed = chain.draw.choose(
        (
            f"{acc} += {part} * {share};",
            f"{acc} = fmax({acc}, {part});",
            f"{acc} += {part} * {share} * native_exp(-0.1f * ({dx} * {dx} + {dy} * {dy}));",
            f"{acc} = {acc} * {chain.real(0.5)} + {part};",
        )
    )
    inner = f"for (int {dx} = -{radius}; {dx} <= {radius}; {dx}++) {{\n{deed}\n}}"
    chain.add(f"for (int {dy} = -{radius}; {dy} <= {radius}; {dy}++) {{\n{inner}\n}}", repeated=2.0 * area)


def sampled(chain: Chain) -> None:
    """Between texels, at a place that is moved, scaled or turned."""
    image, sampler = _source(chain), _sampler(chain, is_normalised=True)
    w, h = chain.cover.width, chain.cover.height
    place = chain.hand.fresh("place")
    scale = chain.draw.choose(("1.0f", "0.5f", "2.0f", "0.9f"))
    chain.add(f"float2 {place} = (float2)((col + 0.5f) / {w}, (row + 0.5f) / {h}) * {scale};")
    moves = (
        f"{place} += (float2)(0.01f, 0.02f);",
        f"{place} = (float2)({place}.y, {place}.x);",
        f"{place}.x += 0.05f * native_sin(6.0f * {place}.y);",
        (f"{place} = (float2)(0.8f * {place}.x - 0.6f * {place}.y, 0.6f * {place}.x + 0.8f * {place}.y);"),
        f"{place} -= floor({place});",
    )
    for move in chain.draw.sample(moves, chain.draw.integer(0, 2)):
        chain.add(move)
    _taken(chain, f"read_imagef({image}, {sampler}, {place})")


def write_texel(chain: Chain) -> None:
    name = chain.hand.fresh("target")
    word = chain.draw.choose(("write_only", "__write_only"))
    chain.image_parameters.append(f"{word} image2d_t {name}")
    chain.images.append(name)
    value = {
        "float4": chain.value,
        "float2": f"(float4)({chain.value}, 0.0f, 1.0f)",
    }.get(
        chain.type,
        chain.draw.choose((f"(float4)({chain.value})", f"(float4)({chain.value}, {chain.names[0]}, 0.0f, 1.0f)")),
    )
    chain.add(f"write_imagef({name}, (int2)(col, row), {value});", repeated=8)


def store_beside(chain: Chain) -> None:
    """Into a buffer after all."""
    out = chain.buffer("output", chain.type, each, is_written=True)
    chain.add(f"{out}[{chain.cover.index}] = {chain.value};")


IMAGE_LOADS: Mapping[str, Callable[[Chain], None]] = {
    "texel": texel,
    "texels_around": texels_around,
    "texel_window": texel_window,
    "sampled": sampled,
}
IMAGE_SINKS: Mapping[str, Callable[[Chain], None]] = {"write_texel": write_texel, "store_beside": store_beside}
