"""What a campaign measures: the kernels of a folder, and a spread over the families of the corpus' generator."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import profiler.corpus.families  # noqa: F401  registers them
from model.device import Device
from model.engine import Engine
from model.errors import KernelcastError
from model.forecast import Forecast
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.program import read_program
from profiler.changed_inputs import changed_inputs
from profiler.corpus.dataset.arrow import read_table
from profiler.corpus.dataset.columns import LAUNCHES, DatasetError
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import GENERATOR, CorpusKernel, CorpusLaunch, Vary
from profiler.measurement import MeasureRequest

OWN, CORPUS = "own", "corpus"  # the parts of a campaign; the former is also the origin of its kernels
LAUNCHES_EACH = 2  # of a corpus' kernel: another pattern tells more than a third size of the same one
MOST_SEEDS = 1000
_CORPUS_DATA = Path(__file__).parent.parent / "corpus" / "data"
Words = Mapping[tuple[str, str], str]


def part_of(kernel: CorpusKernel) -> str:
    return CORPUS if kernel.origin == GENERATOR else OWN


def own_kernels(folder: Path, device: Device) -> tuple[list[CorpusKernel], list[str]]:
    """Return every kernel in `folder` with its launches, and a sentence for each that cannot be measured."""
    engine = Engine()
    found: dict[str, CorpusKernel] = {}
    lost: list[str] = []
    for file in sorted(folder.glob("*.cl")):
        text = file.read_text("utf-8", "replace")
        forecast = engine.forecast(text, file.absolute(), device)
        lost += [f"{file.name}: {each.message}" for each in (*forecast.problems, *forecast.annotation_problems)]
        for each in forecast.forecasts:
            try:
                kernel = _own_kernel(file, text, each, device)
            except KernelcastError as error:
                lost.append(f"{file.name}, {each.kernel.name}: {error.message}")
                continue
            if kernel is not None:
                before = found.get(kernel.id)
                launches = before.launches if before is not None else ()
                found[kernel.id] = replace(kernel, launches=(*launches, *kernel.launches))
    return list(found.values()), lost


def _own_kernel(file: Path, text: str, forecast: Forecast, device: Device) -> CorpusKernel | None:
    """Return the kernel with the forecast's launch alone; None where the forecast is a problem, which has been told."""
    launch, kernel, path = forecast.launch, forecast.kernel, file.absolute()
    if launch is None:
        return None
    program = read_program(text, path, launch.options)
    request = MeasureRequest(text, str(path), kernel, launch, device.id)
    return CorpusKernel(
        id=identity(normalised_tokens(program, kernel.name), [*launch.options.flags]),
        origin=OWN,
        family=file.stem,
        group=OWN,
        reference=f"{file.name} {kernel.name}",
        name=kernel.name,
        source=text,
        options=launch.options,
        path=str(path),
        launches=(CorpusLaunch(launch, Vary.FRESH),),
        in_place=tuple(sorted(changed_inputs(request))),
    )


def corpus_spread(known: Collection[str]) -> Iterator[CorpusKernel]:
    """Generate kernels without those that `known` refers to: one of each family in turn, then the next of each.

    Families come in the order of a hash of their names, so that any prefix is balanced and the same on every machine.
    """
    words = shown_before()
    names = sorted(FAMILIES, key=lambda name: zlib.crc32(name.encode()))
    for seed in range(MOST_SEEDS):
        for name in names:
            if f"{name}/{seed}" not in known:
                yield _shortened(corpus_kernel(FAMILIES[name], seed), words)


def _shortened(kernel: CorpusKernel, words: Words) -> CorpusKernel:
    launches = kernel.launches[:LAUNCHES_EACH]
    return replace(
        kernel,
        launches=tuple(replace(each, checked=words.get((kernel.id, each.launch.key), "")) for each in launches),
    )


def shown_before() -> Words:
    """Return how launches were shown to stay inside their buffers, by kernel and launch, as the shipped corpus has it.

    What was shown on a CPU need not be shown again: the proofs of a few hundred launches take minutes, in which a
    lent GPU would wait. Empty where Kernelcast is installed without the corpus.
    """
    try:
        table = read_table(_CORPUS_DATA, LAUNCHES).select(["kernel_id", "key", "checked"])
    except DatasetError:
        return {}
    names = (table[name].to_pylist() for name in table.column_names)
    return {(kernel, key): word for kernel, key, word in zip(*names, strict=True) if word}
