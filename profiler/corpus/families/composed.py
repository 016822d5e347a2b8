"""Kernels composed at random across patterns, told apart by the structure that dominates them."""

from __future__ import annotations

from profiler.corpus.composing.compose import ALL_TYPES, REAL_TYPES, Profile, compose
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, family

LOADS = {
    "plain": 4.0,
    "pair": 3.0,
    "strided": 1.0,
    "fields": 1.0,
    "planes": 0.7,
    "neighbours": 0.7,
    "narrow": 1.0,
    "from_position": 1.0,
    "looked_up": 0.7,
    "vector_parts": 0.7,
    "broadcast": 0.7,
}
WORK = {
    "formula": 4.0,
    "steps": 2.0,
    "called": 2.0,
    "polynomial": 1.0,
    "special": 1.5,
    "random_draws": 0.7,
    "branch": 1.5,
    "hashed": 0.5,
    "rotation": 0.5,
}
STORES = {
    "store": 5.0,
    "several": 1.0,
    "record": 0.7,
    "vector_store": 0.7,
    "blended": 1.0,
    "conditional": 1.0,
    "narrowed": 0.7,
    "spread_store": 0.4,
}

MAP = Profile(("map",), LOADS, WORK, STORES, most_loads=3, most_stages=5)
ROW_LOOP = Profile(("rows",), LOADS, WORK, STORES, must=("row", "row", "sparse_row"), most_stages=3, repeat_chance=0.0)
LOCAL = Profile(
    ("staged",),
    LOADS,
    {**WORK, "exchange": 3.0, "iterated": 1.0},
    {**STORES, "scanned": 0.7, "reduced": 0.7},
    must=("exchange", "shared_rows"),
    is_group_wise=True,
)
GATHER = Profile(
    ("gather",), {"gathered": 3.0, "chased": 1.0, "looked_up": 1.0}, {**WORK, "sparse_row": 0.5}, STORES, most_loads=3
)
REDUCE = Profile(
    ("reduce",),
    LOADS,
    {**WORK, "window": 0.5, "row": 0.5, "own_count": 0.4},
    {"reduced": 4.0, "scanned": 1.5, "argmax": 1.5},
    is_group_wise=True,
)
DIVERGENT = Profile(
    ("diverge",),
    LOADS,
    {**WORK, "until": 2.0, "own_count": 2.0, "branch": 3.0},
    {**STORES, "conditional": 3.0},
    must=("until", "own_count", "branch"),
    repeat_chance=0.2,
    types={"float": 6.0, "double": 1.0, "int": 1.0, "uint": 1.0},
)
IMAGE = Profile(
    ("image",),
    {"texel": 2.0, "texels_around": 2.0, "texel_window": 2.0, "sampled": 1.5},
    WORK,
    {"write_texel": 3.0, "store_beside": 1.0, "narrowed": 0.4},
    types={"float": 3.0, "float4": 3.0, "float2": 0.5},
    forms=("plane",),
    least_data_per_element=4.0,
    split=0.5,
)
VECTOR = Profile(
    ("wide",),
    LOADS,
    {**WORK, "window": 0.5, "row": 0.7, "iterated": 1.0},
    STORES,
    types={
        "float2": 1.0,
        "float4": 3.0,
        "float8": 1.0,
        "float16": 0.6,
        "double2": 0.6,
        "double4": 0.4,
        "int4": 0.7,
        "uint4": 0.5,
        "uint2": 0.3,
    },
)
WINDOW = Profile(
    ("window",),
    {"plain": 2.0, "pair": 1.0, "neighbours": 3.0, "broadcast": 0.5},
    {**WORK, "window": 1.0},
    STORES,
    must=("window",),
    types=ALL_TYPES,
)
SCATTER = Profile(("scatter",), LOADS, WORK, {"scattered": 2.0, "counted": 3.0, "spread_store": 1.5}, most_loads=2)
ITERATED = Profile(("iterate",), LOADS, {**WORK, "iterated": 1.0}, STORES, must=("iterated",), repeat_chance=0.3)
PRIVATE = Profile(
    ("private",), LOADS, {**WORK, "private_work": 1.0}, STORES, must=("private_work",), repeat_chance=0.25
)
NUMERIC = Profile(
    ("numeric",),
    LOADS,
    {"polynomial": 3.0, "special": 3.0, "rotation": 1.0, "called": 2.0, "random_draws": 1.0, "steps": 1.0},
    STORES,
    types=REAL_TYPES,
    most_stages=6,
    repeat_chance=0.25,
)
WHOLE = Profile(
    ("integer",),
    LOADS,
    {**WORK, "hashed": 2.0, "iterated": 1.0, "private_work": 0.5, "own_count": 0.5},
    {**STORES, "counted": 1.0, "scattered": 0.4},
    types={"int": 2.0, "uint": 2.0, "ulong": 0.7, "long": 0.5, "int2": 0.4, "uint4": 0.4},
)


@family("composed_map", group="composed")
def composed_map(draw: Draw) -> Draft:
    """Generate loads, some arithmetic, a store."""
    return compose(draw, MAP)


@family("composed_row_loop", group="composed")
def composed_row_loop(draw: Draw) -> Draft:
    """Each element walks along a row, dense or sparse."""
    return compose(draw, ROW_LOOP)


@family("composed_local", group="composed")
def composed_local(draw: Draw) -> Draft:
    """Local memory and barriers between the stages."""
    return compose(draw, LOCAL)


@family("composed_gather", group="composed")
def composed_gather(draw: Draw) -> Draft:
    """Return what is loaded depends on what was loaded before."""
    return compose(draw, GATHER)


@family("composed_reduce", group="composed")
def composed_reduce(draw: Draw) -> Draft:
    """Generate a map whose results a group brings together."""
    return compose(draw, REDUCE)


@family("composed_divergent", group="composed")
def composed_divergent(draw: Draw) -> Draft:
    """Work that differs from element to element."""
    return compose(draw, DIVERGENT)


@family("composed_image", group="composed")
def composed_image(draw: Draw) -> Draft:
    """Images read, and written or not."""
    return compose(draw, IMAGE)


@family("composed_vector", group="composed")
def composed_vector(draw: Draw) -> Draft:
    """Vector types throughout."""
    return compose(draw, VECTOR)


@family("composed_window", group="composed")
def composed_window(draw: Draw) -> Draft:
    """Neighbours before and behind."""
    return compose(draw, WINDOW)


@family("composed_scatter", group="composed")
def composed_scatter(draw: Draw) -> Draft:
    """Results go elsewhere: permuted, binned, spread."""
    return compose(draw, SCATTER)


@family("composed_iterated", group="composed")
def composed_iterated(draw: Draw) -> Draft:
    """Generate the same formulas over and over."""
    return compose(draw, ITERATED)


@family("composed_private", group="composed")
def composed_private(draw: Draw) -> Draft:
    """Small arrays of each item's own."""
    return compose(draw, PRIVATE)


@family("composed_numeric", group="composed")
def composed_numeric(draw: Draw) -> Draft:
    """Polynomials and special functions, one after the other."""
    return compose(draw, NUMERIC)


@family("composed_integer", group="composed")
def composed_integer(draw: Draw) -> Draft:
    """Integers, mixed and counted."""
    return compose(draw, WHOLE)
