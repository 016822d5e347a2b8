"""Names that kernels use and that only their host declares: which these are, and what is assumed of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from model.assumptions import notes_on
from model.errors import KernelcastError
from model.launch.launch import Assumption
from model.launch.together import Complete
from model.launch.vectors import with_components
from model.launch_specs import NOTHING, Written, given_names
from model.opencl.kernel import Kernel
from model.opencl.stand_ins import Lacking
from model.placed_annotation import Annotations, PlacedAnnotation, annotations_of
from model.readings import FileState, Size
from model.work.execution.unknowns import undeclared_names
from model.work.work import Work

Given = Callable[[Kernel, Sequence[PlacedAnnotation]], Sequence[Written]]
WorkOf = Callable[[FileState, Kernel], Work | None]
_WORD = re.compile(r"[A-Za-z_]\w*")


def undeclared_by(state: FileState, kernels: Sequence[Kernel], given: Given, work_of: WorkOf) -> Lacking:
    """Return the names in these kernels that neither the text nor anything that is said of a launch declares."""
    found, said = Lacking(), _saying(state, given)
    for kernel in kernels:
        work = work_of(state, kernel)
        names = undeclared_names(work.unknowns) if work is not None and work.unknowns else Lacking()
        if kernel.attributes.undeclared:
            names = names.joined(Lacking(names=kernel.attributes.undeclared))
        if names.all:
            found = found.joined(names.with_given(given_names(said(kernel))))
    return found


def sizes_for(
    state: FileState, kernels: Sequence[Kernel], given: Given, work_of: WorkOf, complete: Complete
) -> dict[str, Size]:
    """Return the value of each number that nothing declares in the first launch of one of these kernels.

    Macros alone, which are in capitals: what else has no declaration may follow from what could not be read.
    """
    found: dict[str, Size] = {}
    said = _saying(state, given)
    for kernel in kernels:
        work = work_of(state, kernel)
        free = {name for name, _ in work.free_names} - found.keys() if work is not None else set()
        if work is None or not free:
            continue
        written = (said(kernel) or (NOTHING,))[0].spec
        spec = replace(with_components(kernel, written), options=state.program.options)
        try:
            launch = complete(kernel, work, spec)
        except KernelcastError:  # reported when the kernel is predicted
            continue
        notes = {note.subject: note for note in launch.assumptions}
        found |= {
            name: (str(value), notes.get(name)) for name, value in launch.scalars if name in free and name.isupper()
        }
    return found


def _saying(state: FileState, given: Given) -> Callable[[Kernel], Sequence[Written]]:
    """Return what is said of the launches of a kernel; annotations are read once, and only if a kernel asks."""

    @cache
    def annotations() -> Annotations:
        state.annotations = annotations_of(state.program, state.annotations)
        return state.annotations

    return lambda kernel: given(kernel, annotations().of_kernel.get(kernel.name, ()))


def _words(lines: Sequence[str], kernel: Kernel) -> set[str]:
    return set(_WORD.findall("\n".join(lines[kernel.range.start_line : kernel.range.end_line + 1])))


def notes_of(state: FileState, kernel: Kernel) -> tuple[Assumption, ...]:
    """Return what is assumed of names that the file does not declare, but for those of other kernels."""
    if not (state.stand_ins or state.sizes):
        return notes_on(state.found, ())
    if state.words is None or state.words[0] is not state.program:
        lines = state.program.text.splitlines()
        state.words = (state.program, {each.name: _words(lines, each) for each in state.program.kernels})
    words, own = state.words[1], state.words[1].get(kernel.name)
    # Names that no kernel has are their helpers'; a kernel of an included file may use any.
    elsewhere = set[str]().union(*words.values()) - own if own is not None else set[str]()
    defines = [each for each in state.stand_ins if each[0].partition("(")[0] not in elsewhere]
    sizes = (note for name, (_, note) in state.sizes.items() if note is not None and name not in elsewhere)
    return (*notes_on(state.found, defines), *sizes)
