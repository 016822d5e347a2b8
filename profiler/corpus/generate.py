"""The generator: from the name of a family and a seed to one kernel with its launches, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import profiler.corpus.families  # noqa: F401  registers them
from model.launch.launch import Launch
from model.opencl.kernel import Kernel, ParameterKind
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.options import BuildOptions
from model.opencl.program import read_program
from model.opencl.types import PointerType
from profiler.corpus.draw import Draw
from profiler.corpus.family import FAMILIES, PROGRAM, Draft, Family, Scale, Sized, Wish
from profiler.corpus.kernel import GENERATOR, SEED, CorpusKernel, CorpusLaunch, Vary
from profiler.corpus.logarithm import log2

LAUNCHES = 4
MOST_ITEMS, MOST_DATA = 1 << 24, 1 << 25
_RARE_LOCAL_SIZES: dict[int | None, float] = {1: 0.4, 4: 0.4, 8: 0.6, 16: 1.0, 100: 0.3, 512: 0.7, 1024: 0.5}
LOCAL_SIZES = {None: 4.0, 32: 1.5, 64: 2.5, 128: 2.0, 256: 2.5, **_RARE_LOCAL_SIZES}
_TRIES = 40
_NEAR = 1.0  # a factor of two to the operations wanted
_BARREN = 40  # seeds in a row that gave nothing new, after which a family is exhausted


class BadDraft(AssertionError):
    """A family broke its promise; the message says which."""


def kernels(names: Sequence[str] = (), seeds: range = range(1 << 30), processes: int = 1) -> Iterator[CorpusKernel]:
    """Distinct kernels of all families (or of `names`) in turn, without end as long as any family has new ones.

    The same ones in the same order, whatever the number of `processes` that share the work.
    """
    known: set[str] = set()
    barren = dict.fromkeys(names or sorted(FAMILIES), 0)
    with _mapping(processes) as each:
        for seed in seeds:
            if not barren:
                return
            for made in each(_made, [(name, seed) for name in barren]):
                if made.id not in known:
                    known.add(made.id)
                    barren[made.family] = 0
                    yield made
                    continue
                barren[made.family] += 1
                if barren[made.family] == _BARREN:
                    del barren[made.family]


@contextmanager
def _mapping(processes: int) -> Iterator[Callable[..., Iterable[CorpusKernel]]]:
    if processes == 1:
        yield map
        return
    # Forked processes could hold locks of threads that they do not have.
    with get_context("spawn").Pool(processes) as pool:
        yield partial(pool.imap, chunksize=4)


def _made(wanted: tuple[str, int]) -> CorpusKernel:
    name, seed = wanted
    return corpus_kernel(FAMILIES[name], seed)


def corpus_kernel(family: Family, seed: int) -> CorpusKernel:
    """Return the kernel of this seed, whether another seed gave the same one or not. Raises BadDraft."""
    draw = Draw(SEED, family.name, seed)
    writing = draw.child("source")
    draft = family.write(writing)
    options = _build_options(draft.options)
    program = read_program(draft.source, options=options)
    kernel = program.by_name.get(draft.kernel)
    if kernel is None:
        raise BadDraft(f"{family.name} {seed}: its source must hold the kernel `{draft.kernel}`")
    flags = [*options.flags]
    return CorpusKernel(
        id=identity(normalised_tokens(program, draft.kernel), flags),
        origin=GENERATOR,
        family=family.name,
        group=family.group,
        reference=f"{family.name}/{seed}",
        name=draft.kernel,
        source=draft.source,
        options=options,
        launches=_launches(draft, kernel, options, family.scale, draw),
        in_place=draft.in_place,
        choices=tuple(writing.choices.items()),
    )


def _build_options(arguments: Sequence[str]) -> BuildOptions:
    defines = [tuple(a[2:].partition("=")[::2]) for a in arguments if a.startswith("-D")]
    return BuildOptions(
        defines=tuple((name, value or "1") for name, value in defines),
        flags=tuple(a for a in arguments if not a.startswith("-D")),
    )


def _launches(
    draft: Draft, kernel: Kernel, options: BuildOptions, scale: Scale, draw: Draw
) -> tuple[CorpusLaunch, ...]:
    """Return the first launch, then others that differ from it in one thing; the kernel decides their order.

    What programs launch differs in everything: their sizes follow from each other.
    """
    search = _Search(draft, kernel, options, scale)
    first, wish = search.find(draw.child("first"), Vary.FIRST, None)
    found = [first]
    if scale is PROGRAM:
        others = [search.find(draw.child(f"fresh {number}"), Vary.FRESH, wish)[0] for number in range(1, LAUNCHES)]
        return tuple({each.launch.key: each for each in (first, *others)}.values())
    later = draw.child("order").shuffled([Vary.DATA, Vary.GLOBAL])
    for vary in (*later, draw.child("last").choose([Vary.LOCAL, Vary.FRESH])):
        made, _ = search.find(draw.child(vary.value), vary, wish)
        if vary is not Vary.FRESH and not _differs_only(made.launch, first.launch, vary):
            made = replace(made, vary=Vary.FRESH)
        if all(made.launch.key != other.launch.key for other in found):
            found.append(made)
    return tuple(found)


def _differs_only(launch: Launch, first: Launch, vary: Vary) -> bool:
    """Return whether the sizes that are to stay have stayed."""
    if vary is Vary.GLOBAL:
        return launch.global_size != first.global_size
    if vary is Vary.LOCAL:
        return launch.global_size == first.global_size and launch.local_size != first.local_size
    return launch.global_size == first.global_size and launch.local_size == first.local_size


class _Search:
    """For launches of one kernel that do about as much work as wanted."""

    def __init__(self, draft: Draft, kernel: Kernel, options: BuildOptions, scale: Scale) -> None:
        self._draft, self._kernel, self._options, self._scale = draft, kernel, options, scale
        self._element_bytes = {
            p.name: p.type.pointee.size_bytes or 1
            for p in kernel.parameters
            if p.kind is ParameterKind.BUFFER and isinstance(p.type, PointerType)
        }

    def find(self, draw: Draw, vary: Vary, base: tuple[Wish, str] | None) -> tuple[CorpusLaunch, tuple[Wish, str]]:
        """Return the launch that comes nearest to a number of operations drawn evenly in the logarithm."""
        wanted = log2(draw.log_real(self._scale.fewest_operations, self._scale.most_operations))
        best: tuple[float, Sized, tuple[Wish, str]] | None = None
        for number in range(_TRIES):
            wish = _wish(draw.child(number), vary, base[0] if base else None)
            # What is left open is drawn as for the first launch, so that only one thing differs.
            extras = base[1] if base and vary is not Vary.FRESH else f"{draw.child(number).integer(0, 1 << 30)}"
            sized = self._draft.launch(Draw(SEED, "extras", extras), wish)
            self._check(sized.launch)
            if self._bytes(sized.launch) > self._scale.most_bytes:
                continue
            distance = abs(log2(max(1.0, sized.operations)) - wanted)
            if best is None or distance < best[0]:
                best = distance, sized, (wish, extras)
            if distance < _NEAR:
                break
        if best is None:
            raise BadDraft(
                f"`{self._draft.kernel}`: no launch with buffers of at most {self._scale.most_bytes} bytes in all"
            )
        _, sized, (wish, extras) = best
        launch = replace(sized.launch, options=self._options)
        return CorpusLaunch(launch, vary, wish.data), (wish, extras)

    def _bytes(self, launch: Launch) -> int:
        buffers = sum(self._element_bytes.get(name, 1) * length for name, length in launch.buffers)
        return buffers + sum(16 * max(1, w) * max(1, h) * max(1, d) for _, (w, h, d) in launch.images)

    def _check(self, launch: Launch) -> None:
        name = self._draft.kernel
        if launch.local_size is not None and (
            len(launch.local_size) != len(launch.global_size)
            or any(whole % part for whole, part in zip(launch.global_size, launch.local_size, strict=True))
        ):
            raise BadDraft(f"`{name}`: local size {launch.local_size} does not divide {launch.global_size}")
        if missing := self._element_bytes.keys() - dict(launch.buffers).keys():
            raise BadDraft(f"`{name}`: no length for {', '.join(sorted(missing))}")


def _wish(draw: Draw, vary: Vary, base: Wish | None) -> Wish:
    items = draw.log_integer(1, MOST_ITEMS)
    data = draw.log_integer(1, MOST_DATA)
    local = draw.weighted(LOCAL_SIZES)
    if base is None or vary in (Vary.FIRST, Vary.FRESH):
        return Wish(items, data, local)
    return Wish(
        items if vary is Vary.GLOBAL else base.items,
        data if vary is Vary.DATA else base.data,
        local if vary is Vary.LOCAL else base.local,
    )
