"""Whole kernels drawn from a profile: how elements are covered, what is loaded, done and stored, each with weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod

from profiler.corpus.composing.chain import Chain
from profiler.corpus.composing.coverage import FLAT, GROUPWISE, Coverage, Groups, draw_coverage
from profiler.corpus.composing.drafting import Parts, Sizes, drafted
from profiler.corpus.composing.hand import Hand
from profiler.corpus.composing.images import IMAGE_LOADS, IMAGE_SINKS
from profiler.corpus.composing.loads import LOADS
from profiler.corpus.composing.loops import LOOPS
from profiler.corpus.composing.sinks import SINKS
from profiler.corpus.composing.stages import STAGES
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft

_LOADS = {**LOADS, **IMAGE_LOADS}
_STAGES = {**STAGES, **LOOPS}
_SINKS = {**SINKS, **IMAGE_SINKS}
REAL_TYPES = {"float": 6.0, "double": 1.0}
ALL_TYPES = {"float": 6.0, "double": 1.0, "int": 1.5, "uint": 1.0, "float2": 0.7, "float4": 1.0}


@dataclass(frozen=True, slots=True)
class Profile:
    """`must` names stages or sinks of which one is always there: what the family is named for."""

    title: tuple[str, ...]
    loads: Mapping[str, float]
    stages: Mapping[str, float]
    sinks: Mapping[str, float]
    must: tuple[str, ...] = ()
    types: Mapping[str, float] = field(default_factory=lambda: ALL_TYPES)
    forms: tuple[str, ...] = (*FLAT, "plane")
    most_loads: int = 2
    most_stages: int = 4
    is_group_wise: bool = False
    repeat_chance: float = 0.1
    least_data_per_element: float = 1.0
    split: float | None = None  # see `Coverage`


def compose(draw: Draw, profile: Profile) -> Draft:
    """Return one kernel of this profile."""
    hand = Hand(draw)
    type_ = draw.weighted(profile.types, "type")
    cover = _coverage(draw, hand, profile)
    chain = Chain(draw, hand, cover, type_)
    loads = [draw.weighted(profile.loads) for _ in range(draw.integer(1, profile.most_loads))]
    stages = [draw.weighted(profile.stages) for _ in range(draw.integer(0 if profile.must else 1, profile.most_stages))]
    if profile.must:
        stages.insert(draw.integer(0, len(stages)), draw.choose(profile.must))
    sink = draw.weighted(profile.sinks)
    draw.choices.update(loads="+".join(loads), stages="+".join(stages), sink=sink)
    for name in loads:
        _LOADS[name](chain)
    for name in stages:
        if draw.chance(profile.repeat_chance) and name not in _WITH_BARRIERS:
            _repeated(chain, name)
        else:
            _STAGES[name](chain)
        if draw.chance(0.12):
            chain.lines.append("")
    _unite(chain)
    _SINKS[sink](chain)
    return drafted(draw, hand, _parts(chain, profile))


_PURPOSES = (
    "values",
    "field",
    "update",
    "signal",
    "cells",
    "particles",
    "weights",
    "samples",
    "forces",
    "rates",
    "prices",
    "pixels",
    "scores",
    "density",
    "energy",
    "features",
    "potential",
    "current",
    "response",
    "levels",
    "items",
    "pass",
    "stage",
    "blend",
    "apply",
    "advance",
    "colors",
    "normals",
    "flux",
    "mass",
    "heat",
    "pressure",
    "velocity",
    "errors",
    "residuals",
    "gradient",
)
_WITH_BARRIERS = frozenset({"exchange", "shared_rows"})


def _coverage(draw: Draw, hand: Hand, profile: Profile) -> Coverage:
    if not profile.is_group_wise:
        cover = draw_coverage(draw, hand, forms=profile.forms)
        return cover if profile.split is None else replace(cover, split=profile.split)
    fixed = draw.choose((16, 32, 64, 64, 128, 256)) if draw.chance(0.45) else 0
    groups = Groups(fixed=fixed, is_power=not fixed, most=256 if draw.chance(0.5) else 512)
    return draw_coverage(draw, hand, forms=GROUPWISE, groups=groups)


def _repeated(chain: Chain, name: str) -> None:
    """Add a stage in a block of its own, run a few times over."""
    count = chain.draw.choose((2, 3, 4, 8, 16))
    source = chain.value
    result, j = chain.variable("state", source), chain.hand.fresh("loop")
    start, known = len(chain.lines), list(chain.names)
    outer = chain.repeats
    chain.repeats = lambda sizes: outer(sizes) * count
    _STAGES[name](chain)
    chain.repeats = outer
    inner = "\n".join(chain.lines[start:])
    share = chain.real(0.5)
    update = (
        f"{result} = {result} * {share} + {chain.value} * {share};" if chain.is_real else f"{result} ^= {chain.value};"
    )
    del chain.lines[start:]
    chain.lines.append(chain.hand.loop(j, "0", str(count), f"{inner}\n{update}"))
    chain.names = known


def _unite(chain: Chain) -> None:
    """Mostly the result is made of all values that nothing else was made of, so that none was computed for nothing."""
    last = chain.value
    others = [name for name in chain.unused() if name != last]
    if not others or chain.draw.chance(0.1):
        return
    if chain.is_real and len(others) == 1 and chain.draw.chance(0.5):
        (other,) = others
        words = (f"fmax({last}, {other})", f"fmin({last}, {other})", f"mix({last}, {other}, {chain.whole(0.25)})")
        chain.declare("final", chain.draw.choose(words))
        return
    sign = " + " if chain.is_real else chain.draw.choose((" ^ ", " + ", " | "))
    text = sign.join([last, *others])
    chain.declare("final", f"({text}) * {chain.real(float(f'{1 / (1 + len(others)):.2g}'))}" if chain.is_real else text)


def _parts(chain: Chain, profile: Profile) -> Parts:
    work, scalars = list(chain.work), list(chain.data_scalars)

    def operations(sizes: Sizes) -> float:
        return sum(amount(sizes) for amount in work)

    cover, images = chain.cover, list(chain.images)
    return Parts(
        title=(*profile.title, chain.draw.choose(_PURPOSES)),
        coverage=cover,
        parameters=chain.parameters,
        body="\n".join(chain.lines),
        operations=operations,
        helpers="\n\n".join(chain.helpers),
        before="\n".join(chain.before),
        data_per_element=lambda known: max(profile.least_data_per_element, float(prod(known[s] for s in scalars))),
        images=lambda s: tuple((name, (s.of(cover.width), s.of(cover.height), 1)) for name in images),
        image_parameters=tuple(chain.image_parameters),
    )
