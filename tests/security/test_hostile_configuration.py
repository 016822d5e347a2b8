"""A `kernelcast.toml` of somebody else's: read or refused by name, in little time and memory, whatever it holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.device_catalog import find_builtin
from model.engine import Engine
from model.errors import ConfigError
from model.launch.config import MAX_KEY_PARTS, Config, parse_config
from model.launch.config_file import too_long_key
from model.opencl.include_policy import Reach

PLACE = Path("/somewhere/kernelcast.toml")
KERNEL = "__kernel void k(__global int *a, int n) { a[get_global_id(0)] = n; }\n"
LAUNCH = "[[launch]]\nkernel = 'k'\n"
DIGITS, HEX_DIGITS = "9" * 5000, "0x" + "f" * 90_000
A_LOT = 3000  # enough to be noticed, too little to harm anybody where it is not

BOMBS = [
    (".".join("a" * A_LOT) + " = 1", "a key has more than"),
    (f"[{'.'.join('a' * A_LOT)}]", "a key has more than"),
    (f"{LAUNCH}args = {{ {' . '.join('a' * A_LOT)} = 1 }}", "a key has more than"),
    (".".join(['"="'] * A_LOT) + " = 1", "a key has more than"),
    (".".join(["'#'"] * A_LOT) + " = 1", "a key has more than"),
    (f'x = """{chr(92)}""""\n{".".join("a" * A_LOT)} = 1', "a key has more than"),
    ("x = " + "[" * 100_000, "nested too deeply"),
    ("x = " + "{a=" * 20_000, "nested too deeply"),
    (LAUNCH * A_LOT, "at most 1000 are read"),
    (f"{LAUNCH}global = {DIGITS}", "digits"),
    (f"{LAUNCH}global = {DIGITS[:4000]}", "64 bits"),
    (f"{LAUNCH}global = {HEX_DIGITS}", "64 bits"),
    (f"{LAUNCH}global = '{'1+' * 400_000}1'", "longer than"),
    (f"{LAUNCH}args = {{ n = {HEX_DIGITS} }}", "64 bits"),
    (f"{LAUNCH}args = {{ n = inf }}", "not a finite number"),
    (f"[[launch]]\nkernel = {HEX_DIGITS}", "must be text"),
    (f"[[launch]]\nkernel = [[{HEX_DIGITS}]]", "must be text"),
    (f"defines = {{ N = {HEX_DIGITS} }}", "too many digits"),
    (f"hints.enabled = [{HEX_DIGITS}]", "must be true or false"),
    (f"options = '{'a' * 900_000}'", "at most 65536 are read"),
    (f"{'a' * 900_000} = 1", "is not known in the top level"),
]


@pytest.mark.parametrize(("text", "said"), BOMBS, ids=[f"{text[:24]!r} {said}" for text, said in BOMBS])
def test_what_is_too_much_is_refused_in_few_words(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        parse_config(text, PLACE)
    assert len(refused.value.message) < 1200


WORDS = (
    "launch", "kernel", "files", "global", "args", "defines", "options", "include", "device", "id", "hints", "enabled",
    "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", " ", '"', "'", '"""', "'''", "\\", "#", "1", "-1", "1e400",
    "0x" + "f" * 40, "9" * 30, "inf", "nan", "true", "1979-05-27", "\\u0000", "'k'", '"*"', "'n*n'", "../..",
)  # fmt: skip
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=40).map("".join)
tables = st.sampled_from(["", LAUNCH, "[build]\n", "[device]\n", "[advice]\n", "[hints]\n", "[defines]\n"])
keys = st.sampled_from(
    ["kernel", "files", "name", "global", "local", "args", "buffers", "images", "local_bytes", "fill", "defines",
     "include", "options", "id", "enabled", "ignore", "args.p.q", "fill.a"]
)  # fmt: skip
values = st.recursive(
    st.sampled_from(
        ["1", "-1", "1e308", "nan", HEX_DIGITS, "true", "'n'", "''", "'('", "'-D'", '"\\u0000"', "1979-05-27"]
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda each: f"[{','.join(each)}]")
    | st.lists(inner, max_size=3).map(lambda each: f"{{{','.join(f'k{i}={v}' for i, v in enumerate(each))}}}"),
    max_leaves=5,
)  # fmt: skip


def _read_or_refused(text: str) -> None:
    said = ""
    try:
        assert isinstance(parse_config(text, PLACE), Config)
    except ConfigError as refused:
        said = refused.message
    assert len(said) < 1200


@given(texts)
def test_any_text_is_read_or_refused(text: str) -> None:
    _read_or_refused(text)


@given(tables, st.lists(st.tuples(keys, values), max_size=4, unique_by=lambda each: each[0]))
def test_any_value_of_any_key_is_read_or_refused(table: str, entries: list[tuple[str, str]]) -> None:
    _read_or_refused(table + "".join(f"{key} = {value}\n" for key, value in entries))


@pytest.mark.parametrize(
    "text",
    ["args.p.q.r = 1", "include = ['../a.b/c.d.e']", f"options = '{'-DA=1.0 ' * 99}'", f"files = '{'a.' * 99}cl'",
     f"# {'a.' * 99}",
     f'name = """\n{"a." * 99}"""', f"name = '''{'a.' * 99}'''",
     '"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r" = 1'],
)  # fmt: skip
def test_dots_elsewhere_make_no_long_key(text: str) -> None:
    assert too_long_key(text, MAX_KEY_PARTS) is None


def test_the_line_of_a_long_key_is_told() -> None:
    assert too_long_key("a = 1\n\n" + ".".join("abcdefgh"), 7) == 3


@pytest.mark.parametrize(
    "text",
    [
        f'#include "a\0b.h"\n{KERNEL}',
        f'#include "{"a/" * 100_000}b.h"\n{KERNEL}',
        f'#include "\ud800.h"\n{KERNEL}',
        f'// kernelcast: global=64 -I {"a/" * 3000}\n#include "a.h"\n{KERNEL}',
    ],
    ids=["with a zero", "very long", "no Unicode", "a very long folder"],
)
@pytest.mark.parametrize("reach", [None, Reach.of([Path("/somewhere")])], ids=["trusted", "not trusted"])
def test_a_header_that_no_system_can_open_is_one_that_is_not_found(text: str, reach: Reach | None) -> None:
    device = find_builtin("generic-cpu")
    assert device is not None
    found = Engine().forecast(text, Path("/somewhere/k.cl"), device, reach=reach)
    assert any("was not found" in problem.message for problem in found.problems)
    assert [each.kernel.name for each in found.forecasts] == ["k"]


@pytest.mark.parametrize("folder", ["a\\u0000b", "a/" * 100_000], ids=["with a zero", "very long"])
def test_an_include_folder_that_no_system_can_open_is_one_without_headers(folder: str) -> None:
    device = find_builtin("generic-cpu")
    assert device is not None
    config = parse_config(f'include = "{folder}"', PLACE)
    for reach in (None, Reach.of([PLACE.parent])):
        found = Engine().forecast(
            f'#include "a.h"\n{KERNEL}', PLACE.with_name("k.cl"), device, config=config, reach=reach
        )
        assert any("`a.h`" in problem.message for problem in found.problems)
