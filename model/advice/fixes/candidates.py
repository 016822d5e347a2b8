"""All fixes together: what could be done to one launch of one kernel, whether it helps or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from model.advice.fixes.compiler_hints import const_parameters, restrict_parameters, unrolled_loop
from model.advice.fixes.dimensions import swapped_dimensions
from model.advice.fixes.fix import Fix, Setting
from model.advice.fixes.fused_products import fused_products
from model.advice.fixes.group_size import other_group_size, required_group_size
from model.advice.fixes.invariant_loads import repeated_loads
from model.advice.fixes.kernel_source import kernel_source
from model.advice.fixes.local_padding import padded_rows
from model.advice.fixes.local_tiles import tiled_products
from model.advice.fixes.native_functions import native_functions, relaxed_math
from model.advice.fixes.vector_accesses import vector_accesses
from model.advice.fixes.wide_ids import wide_ids
from model.advice.fixes.work_per_item import work_per_item
from model.device import Device
from model.forecast import Forecast
from model.opencl.include_policy import Reach
from model.opencl.program import read_program
from model.placed_annotation import annotations_of

FixRule = Callable[[Setting], Iterator[Fix]]

FIX_RULES: tuple[FixRule, ...] = (
    swapped_dimensions,
    repeated_loads,
    native_functions,
    fused_products,
    relaxed_math,
    restrict_parameters,
    const_parameters,
    unrolled_loop,
    wide_ids,
    padded_rows,
    tiled_products,
    vector_accesses,
    work_per_item,
    other_group_size,
    required_group_size,
)


def fix_candidates(
    text: str, forecast: Forecast, device: Device, path: Path | None = None, reach: Reach | None = None
) -> tuple[Fix, ...]:
    """Return the fixes that the kernel's text and launch allow, in the order of the rules; none for what is embedded.

    Takes some milliseconds: the text is read under the launch's build options.
    """
    launch, prediction = forecast.launch, forecast.prediction
    if launch is None or prediction is None or forecast.home is not None:
        return ()
    program = read_program(text, path, launch.options, reach=reach)
    kernel = next((each for each in program.kernels if each.range == forecast.kernel.range), None)
    source = kernel_source(program, kernel) if kernel is not None else None
    if source is None:
        return ()
    placed = annotations_of(program).of_kernel.get(source.kernel.name, ())
    own = tuple(each.annotation for each in placed)
    where = forecast.spec.range if forecast.spec is not None else None
    annotation = next((each for each in own if each.range == where), None)
    setting = Setting(source, launch, prediction, device, annotation, own)
    return tuple(fix for rule in FIX_RULES for fix in rule(setting))
