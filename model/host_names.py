"""Names that kernels use and that only their host declares: which these are, and what is assumed of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from model.assumptions import notes_on
from model.errors import KernelcastError
from model.launch.launch import Assumption
from model.launch.together import Complete
from model.launch.vectors import with_components
from model.launch_specs import NOTHING, Written, given_names
from model.opencl.kernel import Kernel
from model.opencl.stand_ins import Lacking
from model.placed_annotation import PlacedAnnotation, annotations_of
from model.readings import FileState, Size
from model.work.execution.unknowns import undeclared_names
from model.work.work import Work

Given = Callable[[Kernel, Sequence[PlacedAnnotation]], Sequence[Written]]
WorkOf = Callable[[FileState, Kernel], Work | None]
_WORD = re.compile(r"[A-Za-z_]\w*")


def undeclared_by(state: FileState, kernels: Sequence[Kernel], given: Given, work_of: WorkOf) -> Lacking:
    """Return the names in these kernels that neither the text nor anything that is said of a launch declares."""
    found = Lacking()
    for kernel in kernels:
        work = work_of(state, kernel)
        names = undeclared_names(work.unknowns) if work is not None and work.unknowns else Lacking()
        if kernel.attributes.undeclared:
            names = names.joined(Lacking(names=kernel.attributes.undeclared))
        if names.all:
            found = found.joined(names.with_given(given_names(_given(state, kernel, given))))
    return found


def sizes_for(
    state: FileState, kernels: Sequence[Kernel], given: Given, work_of: WorkOf, complete: Complete
) -> dict[str, Size]:
    """Return the value of each number that nothing declares in the first launch of one of these kernels.

    Macros alone, which are in capitals: what else has no declaration may follow from what could not be read.
    """
    found: dict[str, Size] = {}
    for kernel in kernels:
        work = work_of(state, kernel)
        free = {name for name, _ in work.free_names} - found.keys() if work is not None else set()
        if work is None or not free:
            continue
        written = (_given(state, kernel, given) or (NOTHING,))[0].spec
        spec = replace(with_components(kernel, written), options=state.program.options)
        try:
            launch = complete(kernel, work, spec)
        except KernelcastError:  # which is told where the kernel is predicted
            continue
        notes = {note.subject: note for note in launch.assumptions}
        found |= {
            name: (str(value), notes.get(name)) for name, value in launch.scalars if name in free and name.isupper()
        }
    return found


def _given(state: FileState, kernel: Kernel, given: Given) -> Sequence[Written]:
    annotations = state.annotations = annotations_of(state.program, state.annotations)
    return given(kernel, annotations.of_kernel.get(kernel.name, ()))


def notes_of(state: FileState, kernel: Kernel) -> tuple[Assumption, ...]:
    """Return what is assumed of names that the file does not declare, but for those of other kernels."""
    if not (state.stand_ins or state.sizes):
        return notes_on(state.found, ())
    lines = state.program.text.splitlines()
    own, *others = (
        set(_WORD.findall("\n".join(lines[each.range.start_line : each.range.end_line + 1])))
        for each in (kernel, *state.program.kernels)
    )
    elsewhere = own.union(*others) - own  # a name that no kernel has is one of their helpers'
    defines = [each for each in state.stand_ins if each[0].partition("(")[0] not in elsewhere]
    sizes = (note for name, (_, note) in state.sizes.items() if note is not None and name not in elsewhere)
    return (*notes_on(state.found, defines), *sizes)
