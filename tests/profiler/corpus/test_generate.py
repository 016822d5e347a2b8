"""What the generator promises of its kernels, whoever runs it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from model.launch.fill import FILL_WORDS
from model.launch.launch import Launch
from model.opencl.normalise import identity, normalised_tokens
from model.opencl.program import read_program
from profiler.arguments import plan_arguments
from profiler.corpus import generate
from profiler.corpus.draw import Draw
from profiler.corpus.family import FAMILIES, Draft, Family, Sized, Wish
from profiler.corpus.generate import BadDraft, corpus_kernel, kernels
from profiler.corpus.kernel import CorpusKernel, Vary

ROOT = Path(generate.__file__).parents[2]
TELL = """
import hashlib, json, sys
from itertools import islice
from profiler.corpus.generate import kernels
made = islice(kernels(), int(sys.argv[1]))
json.dump(
    [[k.id, hashlib.sha256(k.source.encode()).hexdigest(), [l.launch.key for l in k.launches]] for k in made],
    sys.stdout,
)
"""


@cache
def one_of_each() -> tuple[CorpusKernel, ...]:
    return tuple(corpus_kernel(FAMILIES[name], 0) for name in sorted(FAMILIES))


def test_there_are_families_of_every_kind_that_a_programmer_would_name() -> None:
    assert len(FAMILIES) >= 80
    assert len({family.group for family in FAMILIES.values()}) >= 15


def test_the_same_seeds_give_the_same_bytes_in_another_process() -> None:
    """Whatever order that one's sets have, and wherever it runs."""
    here = [
        [k.id, hashlib.sha256(k.source.encode()).hexdigest(), [one.launch.key for one in k.launches]]
        for k in islice(kernels(), 40)
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": str(ROOT), "LC_ALL": "C"}
    there = subprocess.run(
        [sys.executable, "-c", TELL, "40"], env=environment, capture_output=True, check=True, text=True
    )
    assert json.loads(there.stdout) == here


def test_every_kernel_is_read_with_all_that_a_launch_needs() -> None:
    for made in one_of_each():
        kernel = read_program(made.source, options=made.options).kernel(made.name)
        for each in made.launches:
            plan_arguments(kernel, each.launch, made.source)  # raises where anything is missing


def test_contents_are_said_in_words_that_users_can_write() -> None:
    for made in one_of_each():
        for each in made.launches:
            for _, fill in each.launch.fills:
                assert fill.kind in FILL_WORDS, made.reference


def test_no_two_kernels_are_the_same_but_for_names_and_layout() -> None:
    made = list(islice(kernels(), 120))
    assert len({kernel.id for kernel in made}) == 120


def test_sizes_do_not_follow_from_each_other() -> None:
    """Many kernels meet several data sizes at one global size, and several global sizes at one data size."""
    other_data = other_global = 0
    for made in one_of_each():
        sizes = defaultdict(set)
        for each in made.launches:
            sizes[each.launch.global_size].add((each.launch.scalars, each.launch.buffers))
        kinds = Counter(each.vary for each in made.launches)
        other_data += kinds[Vary.DATA] > 0 and max(map(len, sizes.values())) > 1
        other_global += kinds[Vary.GLOBAL] > 0
    assert other_data > 0.4 * len(FAMILIES)
    assert other_global > 0.4 * len(FAMILIES)


def _family(source: str, launch: Launch) -> Family:
    def write(_draw: Draw) -> Draft:
        return Draft(source, "f", lambda _draw, _wish: Sized(launch, 1e4))

    return Family("mine", "mine", write)


def test_a_draft_whose_groups_do_not_fit_is_refused() -> None:
    family = _family("kernel void f(global int* a) { a[0] = 1; }", Launch((100,), (64,), buffers=(("a", 1),)))
    with pytest.raises(BadDraft, match="does not divide"):
        corpus_kernel(family, 0)


def test_a_draft_that_forgets_a_buffer_is_refused() -> None:
    family = _family("kernel void f(global int* a) { a[0] = 1; }", Launch((64,), (64,)))
    with pytest.raises(BadDraft, match="no length for a"):
        corpus_kernel(family, 0)


def test_what_a_wish_leaves_open_stays_the_same_when_one_size_varies() -> None:
    def launch(draw: Draw, wish: Wish) -> Sized:
        made = Launch((wish.items,), scalars=(("n", wish.data), ("r", draw.integer(1, 1 << 20))), buffers=(("a", 1),))
        return Sized(made, 1e4)

    source = "kernel void f(global int* a, int n, int r) { a[0] = n + r; }"
    made = corpus_kernel(Family("mine", "mine", lambda _draw: Draft(source, "f", launch)), 3)
    first, *others = made.launches
    for other in others:
        if other.vary in (Vary.DATA, Vary.GLOBAL):
            assert dict(other.launch.scalars)["r"] == dict(first.launch.scalars)["r"]


PLAIN = """
__kernel void add(__global const float* a, __global float* b, int n) {
    int i = get_global_id(0); if (i < n) b[i] = 2.5f * a[i];
}
"""
OTHER_NAMES = """
#define FACTOR 2.4f
// the same
kernel void scale(global const float *in, global float *out, int count)
{
    int index = get_global_id(0);
    if (index < count)
        out[index] = FACTOR * in[index];
}
"""
OTHER_CODE = PLAIN.replace("2.5f * a[i]", "2.5f + a[i]")


def _identity(source: str, name: str) -> str:
    return identity(normalised_tokens(read_program(source), name))


def test_names_layout_macros_and_digits_do_not_make_another_kernel() -> None:
    assert _identity(PLAIN, "add") == _identity(OTHER_NAMES, "scale")
    assert _identity(PLAIN, "add") != _identity(OTHER_CODE, "add")


def test_build_options_that_change_the_code_make_another_kernel() -> None:
    tokens = normalised_tokens(read_program(PLAIN), "add")
    assert identity(tokens) != identity(tokens, ("-cl-fast-relaxed-math",))


@pytest.mark.parametrize(
    ("number", "rounded"),
    [
        ("1.5e-3f", "f-9e"),
        (".5f", "f-1e"),
        ("3.f", "f2e"),
        ("1e5f", "f17e"),
        ("0x1e", "i5e"),
        ("0", "i0"),
        ("7u", "i3e"),
    ],
)
def test_numbers_are_known_by_their_magnitude(number: str, rounded: str) -> None:
    source = f"kernel void f(global float* a) {{ a[0] = x + {number} - y; }}"
    assert rounded in normalised_tokens(read_program(source), "f")


def test_what_picks_components_of_a_vector_is_no_name() -> None:
    tokens = normalised_tokens(read_program("kernel void f(global float4* a) { a[0].xy = a[1].s01; }"), "f")
    assert "xy" in tokens
    assert "s01" in tokens
