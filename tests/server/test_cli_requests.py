"""Requests are checked before anything is read; what the flags and a batch say comes to the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.cli.requests import BadRequestError, Request, read_line, read_request


def request(**content: Any) -> Request:
    return read_request({"file": "k.cl", **content}, 7, "pocl")


def test_a_request_says_all_that_a_launch_needs() -> None:
    found = request(
        id="a",
        kernel="mm",
        defines={"TILE": "16", "WIDE": None, "FAST": True},
        options="-cl-fast-relaxed-math -DREAL=float",
        include=["/inc"],
        **{"global": [1024, "N"], "local": [16, 16]},
        args={"N": 1024, "p": {"x": 0.5}},
        buffers={"A": "N*N"},
        images={"img": [64, 32]},
        local_bytes={"tmp": 1024},
        fill={"A": "randint:0:N"},
        device="intel-cpu",
    )
    assert found.file == Path("k.cl")
    assert (found.id, found.kernel, found.device) == ("a", "mm", "intel-cpu")
    assert dict(found.options.defines) == {"REAL": "float", "TILE": "16", "WIDE": "1", "FAST": "1"}
    assert found.options.include_dirs == ("/inc",)
    assert found.options.flags == ("-cl-fast-relaxed-math",)
    assert found.spec is not None
    assert [e.text for e in found.spec.global_size or ()] == ["1024", "N"]
    assert [e.text for e in found.spec.local_size or ()] == ["16", "16"]
    assert {name: [e.text for e in sizes] for name, sizes in found.spec.values} == {
        "N": ["1024"],
        "p.x": ["0.5"],
        "A": ["N*N"],
        "img": ["64", "32"],
        "tmp": ["1024"],
    }
    assert str(dict(found.spec.fills)["A"]) == "randint:0:N"


def test_a_local_size_of_null_leaves_the_choice_to_the_driver() -> None:
    spec = request(**{"global": 64, "local": None}).spec
    assert spec is not None
    assert spec.driver_chooses_local
    assert spec.local_size is None


def test_a_request_that_says_nothing_of_the_launch_leaves_it_to_the_file() -> None:
    assert request(kernel="mm").spec is None
    assert request().device == "pocl"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"file": 3}, "`file` must be text, not 3"),
        ({"file": ""}, "`file` is missing"),
        ({"file": "a\0b"}, "zero byte"),
        ({"kernel": ["a"]}, "`kernel` must be text"),
        ({"gobal": [1]}, "did you mean `global`?"),
        ({"fills": {}}, "did you mean `fill`?"),
        ({"global": "9**"}, "`global`: the expression stops short"),
        ({"global": []}, "one to 3 sizes"),
        ({"global": [1, 2, 3, 4]}, "one to 3 sizes"),
        ({"global": {"x": 1}}, "must be a number"),
        ({"local": [[1]]}, "must be a number"),
        ({"args": [1]}, "`args` must be an object"),
        ({"args": {"n": None}}, "`args.n` must be a number"),
        ({"args": {"n": 10**30}}, "more than 64 bits"),
        ({"args": {"n": float("inf")}}, "not a finite number"),
        ({"buffers": {"A": "a b"}}, "`buffers.A`"),
        ({"fill": {"A": "lots"}}, "allowed are random"),
        ({"fill": {"A": 1}}, "must be text such as"),
        ({"fill": {"A[0]": True}}, "must be text such as"),
        ({"fill": {"A[n]": 1}}, "where INDEX is a whole number"),
        ({"defines": {"A": []}}, "`defines.A` must be text or a number"),
        ({"options": 1}, "`options` must be text"),
        ({"options": '-DX="'}, "no closing quotation"),
        ({"options": "-D"}, "must be followed by NAME"),
        ({"include": [1]}, "`include` must be a list"),
        ({"device": 1}, "`device` must be text"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_allowed(content: dict[str, Any], says: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        request(**content)
    assert says in refused.value.message
    assert refused.value.line == 7


def test_keys_of_the_askers_own_are_left_alone() -> None:
    assert request(measured_us=3.0, suite="mine", comment="x").file == Path("k.cl")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"{", "line 7 of the batch is not JSON"),
        (b"[1, 2]", "must be an object, not [1, 2]"),
        (b'"\xff\xfe"', "is not UTF-8"),
        (b"[" * 100_000, "cannot be read"),
        (b'{"a": ' + b"9" * 5000 + b"}", "cannot be read"),
    ],
)
def test_a_line_that_is_no_request_is_told_apart(line: bytes, says: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        read_line(line, 7)
    assert says in refused.value.message


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_keys = st.sampled_from(["id", "file", "kernel", "global", "local", "args", "buffers", "fill", "defines", "options"])


@given(st.dictionaries(_keys, _json))
def test_no_request_at_all_brings_more_than_a_named_error(content: dict[str, Any]) -> None:
    try:
        read_request(read_line(json.dumps(content).encode(), 1), 1, None)
    except BadRequestError as error:
        assert error.message  # noqa: PT017


def test_parts_of_buffers_have_fills_of_their_own() -> None:
    said = {"rows": {"start": "csr_rows:9"}, "rows.len": "csr_lengths:9"} | {
        "state[0]": 1000, "p[0].most": "n*2", "x": "choice:1@2,3"
    }  # fmt: skip
    spec = request(fill=said).spec
    assert spec is not None
    assert {name: str(fill) for name, fill in spec.fills} == {
        "rows.start": "csr_rows:9", "rows.len": "csr_lengths:9", "state[0]": "const:1000", "p[0].most": "const:n*2",
        "x": "choice:1@2,3",
    }  # fmt: skip
