"""The launches given for a file's kernels: by requests, annotations, a configuration or a recording, if at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model.launch.annotation import Annotation
from model.launch.config import Config
from model.launch.launch import Origin
from model.launch.recorded import RecordedUse
from model.launch.spec import LaunchSpec
from model.opencl.kernel import Kernel
from model.opencl.options import BuildOptions
from model.placed_annotation import PlacedAnnotation


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What was said of one launch: by an annotation, or else in `spec` alone, which has no range then."""

    spec: LaunchSpec
    annotation: Annotation | None = None
    recorded: RecordedUse | None = None  # what a real program did with it


_NO_OPTIONS = BuildOptions()
NOTHING = Written(LaunchSpec(origin=Origin.INFERRED))


def written_for(
    kernel: Kernel,
    annotations: Sequence[PlacedAnnotation],
    config: Config | None,
    path: Path | None,
    requests: Sequence[LaunchSpec],
    recorded: Callable[[], Sequence[Written]] = tuple,
) -> list[Written]:
    """Return what was said of this kernel's launches, by precedence; at least one, perhaps empty.

    `recorded` is asked only where nothing is written. Requests that give sizes of their own do without it.
    """
    written = [Written(a.spec, a.annotation) for a in annotations]
    if not written and config is not None:
        written = [Written(spec) for spec in config.specs_for(kernel.name, path)]
    if not written and all(request.global_size is None for request in requests):
        written = list(recorded())
    if requests:
        base = written[0] if written else NOTHING
        return [Written(_asked(base.spec, request), base.annotation) for request in requests]
    return written or [NOTHING]


def with_options(written: list[Written], options: BuildOptions) -> list[Written]:
    """Return the launches with a request's build options, which beat those that are written for a launch."""
    if options == _NO_OPTIONS or all(each.spec.options == _NO_OPTIONS for each in written):
        return written  # the whole file is read with them
    return [replace(each, spec=replace(each.spec, options=each.spec.options.merged(options))) for each in written]


def given_names(written: Sequence[Written]) -> set[str]:
    """Return the names that launches give a value, as arguments, as free names or by `-D`."""
    specs = [each.spec for each in written]
    return {name for spec in specs for name, _ in (*spec.values, *spec.options.defines)}


def _asked(base: LaunchSpec, request: LaunchSpec) -> LaunchSpec:
    """`request` over what is written; a global size of its own is one that lengths may have to follow."""
    merged = base.merged(request)
    if request.global_size is None or base.is_silent:
        return merged
    return replace(merged, over=(base, request))


def limit_launches(written: dict[str, list[Written]], most: int | None) -> tuple[dict[str, list[Written]], str]:
    """Split `most` launches among the kernels, at least one each; and return the note to show, "" if all fit."""
    count = sum(map(len, written.values()))
    if most is None or count <= most:
        return written, ""
    share = max(1, most // len(written))
    shared = {name: each[:share] for name, each in written.items()}
    if shared == written:  # there are more kernels than that, each with one launch
        return written, ""
    return shared, (
        f"{count} launches are written for the kernels of this file, which is more than the {most} that are predicted "
        f"while you type: of each kernel these are the first {share}"
    )


def silent_kernels(
    kernels: Sequence[Kernel],
    said: Mapping[str, Sequence[Written]],
    written: Callable[[Kernel], Sequence[Written]],
) -> dict[str, tuple[Kernel, LaunchSpec]]:
    """Return the kernels for which nothing is said of sizes and arguments; none where none of them is in `said`.

    Kernels beyond `said`, which are not asked about, count too: an answer must not depend on what else is asked.
    """
    if not any(written.spec.is_silent for each in said.values() for written in each):
        return {}
    silent: dict[str, tuple[Kernel, LaunchSpec]] = {}
    for kernel in kernels:
        own = said.get(kernel.name) or written(kernel)
        spec = own[0].spec
        if len(own) == 1 and spec.is_silent and spec.options == _NO_OPTIONS:
            silent[kernel.name] = kernel, spec
    return silent
