"""Which annotation belongs to which kernel: the next one that starts below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.launch.annotation.found import Annotation, AnnotationProblem
from model.opencl.kernel import Kernel


def annotations_for(annotations: Sequence[Annotation], kernels: Sequence[Kernel]) -> dict[str, tuple[Annotation, ...]]:
    """Return the annotations of each kernel that has any, by its name and in the order of the text."""
    placed: dict[str, tuple[Annotation, ...]] = {}
    for annotation, _, kernel in _placed(annotations, kernels):
        if kernel is not None:
            placed[kernel.name] = (*placed.get(kernel.name, ()), annotation)
    return placed


def placement_problems(annotations: Sequence[Annotation], kernels: Sequence[Kernel]) -> tuple[AnnotationProblem, ...]:
    """Annotations that stand inside a kernel or that no kernel follows, and launch names used twice for one kernel."""
    problems = []
    seen: set[tuple[str, str]] = set()
    for annotation, inside, kernel in _placed(annotations, kernels):
        if inside is not None:
            message = f"an annotation belongs above its kernel; this one stands inside `{inside.name}`"
            problems.append(AnnotationProblem(message, annotation.range))
        elif kernel is None:
            message = "no kernel follows this annotation; it belongs right above the one it speaks of"
            problems.append(AnnotationProblem(message, annotation.range))
        elif annotation.spec.name:
            if (kernel.name, annotation.spec.name) in seen:
                message = f"`{kernel.name}` already has a launch named `{annotation.spec.name}`"
                problems.append(AnnotationProblem(message, annotation.key_range("name")))
            seen.add((kernel.name, annotation.spec.name))
    return tuple(problems)


def _placed(
    annotations: Sequence[Annotation], kernels: Sequence[Kernel]
) -> Iterator[tuple[Annotation, Kernel | None, Kernel | None]]:
    """Each annotation with the kernel it stands inside of, else with the next kernel below, else with neither."""
    ordered = sorted(kernels, key=_start)
    at = 0
    for annotation in annotations:
        here = (annotation.range.start_line, annotation.range.start_byte)
        while at < len(ordered) and _start(ordered[at]) < here:
            at += 1
        before = ordered[at - 1] if at else None
        if before is not None and here < (before.range.end_line, before.range.end_byte):
            yield annotation, before, None
        else:
            yield annotation, None, ordered[at] if at < len(ordered) else None


def _start(kernel: Kernel) -> tuple[int, int]:
    return min(
        (kernel.range.start_line, kernel.range.start_byte),
        (kernel.signature_range.start_line, kernel.signature_range.start_byte),
    )
