"""The annotations of a program, found segment by segment: an edit repeats the search in its own segment only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from model.errors import KernelcastError, LaunchError
from model.launch.annotation import (
    Annotation,
    AnnotationProblem,
    annotations_for,
    check_names,
    find_annotations,
    placement_problems,
)
from model.launch.expression import ExpressionError
from model.launch.spec import LaunchSpec
from model.opencl.kernel import SourceRange
from model.opencl.program import Program
from model.opencl.segments import Segment

_MARK = "kernelcast"


@dataclass(frozen=True, slots=True, eq=False)
class PlacedAnnotation:
    """An annotation where it stands; `spec` is what it says, the same object wherever that is, without a range."""

    annotation: Annotation
    spec: LaunchSpec


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """The annotations of one segment, by lines of its own, and where they stood last."""

    annotations: tuple[Annotation, ...]
    specs: tuple[LaunchSpec, ...]
    place: tuple[int, int]
    standing: tuple[PlacedAnnotation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Annotations:
    """By kernel name, in the order they stand in; and what is wrong with any of them."""

    of_kernel: dict[str, tuple[PlacedAnnotation, ...]]
    problems: tuple[AnnotationProblem, ...]
    found: dict[Segment, _Found]
    sound: frozenset[tuple[int, str]]  # specs by identity, and fingerprints of the kernels whose names they use well


def annotations_of(program: Program, before: Annotations | None = None) -> Annotations:
    """Return the annotations of `program`; `before`, of an earlier state of it, makes that fast."""
    found: dict[Segment, _Found] = {}
    standing: list[PlacedAnnotation] = []
    for segment, line, byte in program.places():
        if _MARK not in segment.raw:
            continue
        known = before.found.get(segment) if before else None
        if known is None:
            known = _find(segment)
        if known.place != (line, byte):
            known = replace(known, place=(line, byte), standing=tuple(_stand(known, line, byte)))
        found[segment] = known
        standing += known.standing
    specs = {id(s.annotation): s.spec for s in standing}
    every = [s.annotation for s in standing]
    placed = annotations_for(every, program.kernels)
    problems = [p for a in every for p in a.problems]
    problems += placement_problems(every, program.kernels)
    sound = set()
    undeclared = [name for name, _ in program.options.stand_ins]
    for kernel in program.kernels:
        for annotation in placed.get(kernel.name, ()):
            use = (id(specs[id(annotation)]), kernel.fingerprint)
            wrong = () if before and use in before.sound else check_names(annotation, kernel, undeclared)
            problems += wrong
            if not wrong:
                sound.add(use)
    of_kernel = {name: tuple(PlacedAnnotation(a, specs[id(a)]) for a in own) for name, own in placed.items()}
    return Annotations(of_kernel, tuple(problems), found, frozenset(sound))


def _find(segment: Segment) -> _Found:
    text = segment.raw.encode("latin-1").decode("utf-8", "surrogatepass")
    annotations = find_annotations(text)
    return _Found(annotations, tuple(replace(a.spec, range=None) for a in annotations), (-1, -1), ())


def _stand(found: _Found, line: int, byte: int) -> Iterator[PlacedAnnotation]:
    for annotation, spec in zip(found.annotations, found.specs, strict=True):
        yield PlacedAnnotation(_moved(annotation, line, byte), spec)


def _moved(annotation: Annotation, line: int, byte: int) -> Annotation:
    def at(where: SourceRange) -> SourceRange:
        start = where.start_byte + (byte if where.start_line == 0 else 0)
        end = where.end_byte + (byte if where.end_line == 0 else 0)
        return SourceRange(where.start_line + line, start, where.end_line + line, end)

    return Annotation(
        annotation.line + line,
        replace(annotation.spec, range=at(annotation.range)),
        tuple(AnnotationProblem(p.message, at(p.range)) for p in annotation.problems),
        annotation.body,
        annotation.body_line + line,
        annotation.body_byte + (byte if annotation.body_line == 0 else 0),
        annotation.keys,
    )


def place_of(error: KernelcastError, annotation: Annotation | None) -> SourceRange | None:
    """Return the range of the annotation that caused an error."""
    if annotation is None:
        return None
    if isinstance(error, ExpressionError):
        return annotation.range_of(error.start, error.end)
    return annotation.range if isinstance(error, LaunchError) else None
