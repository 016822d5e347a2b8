"""Documents in which no kernel can stand cost nothing; none in which one stands is taken for such a document."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device import Device
from model.device_catalog import find_builtin
from model.engine import Engine
from model.opencl.include_policy import Reach
from model.opencl.options import BuildOptions
from server.documents import Document
from server.positions import IndexedText
from server.prefilter import may_contain_kernel

HELPER = "// Helpers of kernels.\ninline float twice(float a) { return 2.0f * a; } /* for each kernel */\n"
PARTS = (
    "__kernel void a(__global float *x) { x[0] = 1; }\n", "kernel", "void b(__global int *y) { y[0] = 2; }\n", "ker",
    "nel ", "\\\n", "??/\n", "#define K __ker", "#define J(a, b) a##b\n", "J(__ker, nel) ", "/*", "*/", "//", '"', "'",
    "\n", "#include", "%:define A(a, b) a%:%:b\n", "??=define K __kernel\n", "K ", "#if 0\n", "#endif\n", "don't",
    'char *s = "/*";\n', HELPER,
)  # fmt: skip


def document(text: str, path: Path | None = None) -> Document:
    return Document(path.as_uri() if path else "untitled:a", 1, IndexedText.of(text))


@pytest.fixture(scope="module")
def generic() -> Device:
    found = find_builtin("generic-cpu")
    assert found is not None
    return found


@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_a_file_with_a_kernel_is_never_passed_over(generic: Device, text: str) -> None:
    if not may_contain_kernel(document(text), BuildOptions()):
        assert Engine().forecast(text, None, generic).kernels == ()


def test_helpers_hold_no_kernel_whatever_their_comments_say(tmp_path: Path) -> None:
    assert not may_contain_kernel(
        document(HELPER, tmp_path / "helpers.cl"), BuildOptions((("N", "16"),), ("kernels/include",))
    )


@pytest.mark.parametrize("text", ["/* never closed\n__kernel void a() {}", "// kernelcast: global = 4\n"])
def test_what_is_to_be_told_of_a_file_without_kernels_is_told(text: str) -> None:
    assert may_contain_kernel(document(text), BuildOptions())


@pytest.mark.parametrize(
    "options",
    [
        BuildOptions((("K", "__kernel"),)),
        BuildOptions(flags=("-include", "all.h")),
        BuildOptions(flags=("-DK=kernel",)),
    ],
)
def test_what_a_build_may_define_counts(options: BuildOptions) -> None:
    assert may_contain_kernel(document("K void a(int n) {}\n"), options)


@pytest.mark.parametrize(
    ("toml", "may_contain"),
    [("[hints]\nenabled = true\n", False), ('defines = { K = "__kernel" }\n', True), (b"\xff", True)],
)
def test_what_a_configuration_may_define_counts(tmp_path: Path, toml: str | bytes, may_contain: bool) -> None:
    (tmp_path / "kernelcast.toml").write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    written = document("K void a(int n) {}\n", tmp_path / "deep" / "a.cl")
    assert may_contain_kernel(written, BuildOptions()) is may_contain


def test_nothing_beyond_what_may_be_read_is_read(tmp_path: Path) -> None:
    (tmp_path / "kernelcast.toml").write_text("[hints]\nenabled = true\n")
    helpers = document(HELPER, tmp_path / "deep" / "helpers.cl")
    assert not may_contain_kernel(helpers, BuildOptions(), Reach.of([tmp_path]))
    assert may_contain_kernel(helpers, BuildOptions(), Reach.of([tmp_path / "deep"]))
