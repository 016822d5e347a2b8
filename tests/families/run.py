"""Build and run kernels of the generator's families between guard pages, and look at what they leave behind.

`make test-generator ARGS="--seeds 20 --device intel spmv_csr"`. Exit status 1 if any kernel fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console

from model.opencl.program import read_program
from profiler.corpus.family import FAMILIES
from profiler.corpus.generate import corpus_kernel
from profiler.corpus.kernel import CorpusKernel
from profiler.measure import measure_all
from profiler.measurement import MeasureError, Measurement, MeasureRequest

BUDGET_S, REPEATS = 0.05, 3  # figures do not matter here


def main() -> int:
    options = _options()
    console = Console(soft_wrap=True, highlight=False)
    is_good = True
    for name in options.families or sorted(FAMILIES):
        made = {k.id: k for k in (corpus_kernel(FAMILIES[name], seed) for seed in range(options.seeds))}
        failures = list(failed(list(made.values()), options.device, options.launches))
        console.print(f"{name}: {options.seeds} seeds, {len(made)} distinct kernels, {len(failures)} failures")
        for line in failures:
            console.print(f"    {line}", markup=False)
        is_good = is_good and not failures
    return 0 if is_good else 1


def failed(kernels: Sequence[CorpusKernel], device_id: str, launches: int) -> Iterator[str]:
    """A sentence for each launch of `kernels` that does not run inside its buffers."""
    asked = list(_requests(kernels, device_id, launches))
    for (kernel, request), outcome in zip(asked, measure_all([request for _, request in asked]), strict=True):
        what = f"{kernel.reference} {request.launch.describe()} {dict(request.launch.scalars)}"
        match outcome:
            case MeasureError():
                yield f"{what}: {outcome.code}: {outcome.message}"
            case Measurement(checked="") if kernel.launches[0].launch.buffers:
                yield f"{what}: nothing showed that it stays inside its buffers"


def _requests(
    kernels: Sequence[CorpusKernel], device_id: str, launches: int
) -> Iterator[tuple[CorpusKernel, MeasureRequest]]:
    for kernel in kernels:
        read = read_program(kernel.source, options=kernel.options).kernel(kernel.name)
        for each in kernel.launches[:launches]:
            yield kernel, MeasureRequest(kernel.source, None, read, each.launch, device_id, BUDGET_S, REPEATS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help="all of them unless named")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--launches", type=int, default=1, help="of each kernel")
    parser.add_argument("--device", default="pocl")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
