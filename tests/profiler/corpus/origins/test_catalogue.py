"""The catalogue may be read while it grows, and loses nothing but the line that was being written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from model.launch.launch import Launch
from profiler.corpus.kernel import CorpusKernel, CorpusLaunch
from profiler.corpus.origins.catalogue import append, files_of, kernel_line, real_kernels
from profiler.corpus.origins.origin import Origin, OriginKind

FIRST = Origin("a/first", OriginKind.REPOSITORY, "https://example.org/a", "0" * 40, "MIT", "images", most_kernels=2)
SECOND = replace(FIRST, name="b/second")


def kernel(key: str, origin: Origin) -> CorpusKernel:
    launch = CorpusLaunch(Launch((64,), (16,), scalars=(("n", 3), ("a", 0.5)), buffers=(("x", 64),)))
    return CorpusKernel(key, origin.name, origin.name, origin.field, f"k.cl:{key}", "k", "source", launches=(launch,))


def ids(folder: Path) -> list[tuple[str, str]]:
    return [(one.origin, one.id) for one in real_kernels(folder, (FIRST, SECOND))]


def test_alike_kernels_count_for_the_first_origin_and_none_has_more_than_its_share(tmp_path: Path) -> None:
    append(files_of(FIRST, tmp_path).kernels, [kernel_line(kernel(key, FIRST)) for key in ("1", "2", "3")])
    append(files_of(SECOND, tmp_path).kernels, [kernel_line(kernel(key, SECOND)) for key in ("2", "4")])
    assert ids(tmp_path) == [("a/first", "1"), ("a/first", "2"), ("b/second", "4")]


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    append(files_of(FIRST, tmp_path).kernels, [kernel_line(kernel("1", FIRST))])
    assert list(real_kernels(tmp_path, (FIRST,))) == [kernel("1", FIRST)]


def test_a_torn_line_costs_itself_alone(tmp_path: Path) -> None:
    path = files_of(FIRST, tmp_path).kernels
    append(path, [kernel_line(kernel("1", FIRST))])
    with path.open("a") as file:
        file.write(kernel_line(kernel("2", FIRST))[:50])
    assert ids(tmp_path) == [("a/first", "1")]
    append(path, [kernel_line(kernel("3", FIRST))])
    assert ids(tmp_path) == [("a/first", "1"), ("a/first", "3")]
