"""Python's literals: decoded as Python does it, and each character where the file has it."""

from __future__ import annotations

import ast
import re

from hypothesis import given
from hypothesis import strategies as st

from model.embedded.find import ProgramFinder, find_programs
from model.embedded.languages import Language
from model.embedded.program import EmbeddedProgram

KERNEL = " __kernel void f(int a);"
PLAIN = st.text(st.sampled_from("ab;* /#\té😀\u2028"), max_size=6)
ESCAPES = st.sampled_from(
    ["\\n", "\\t", "\\\\", "\\'", '\\"', "\\a", "\\x41", "\\101", "\\0", "\\u00e9", "\\ud83d", "\\U0001f600",
     "\\N{BULLET}", "\\q", "\\\n", "\\\r\n"]
)  # fmt: skip
BREAKS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def literals(draw: st.DrawFn) -> str:
    """One literal as it stands in a file, and with a kernel's words in it now and then."""
    quote = draw(st.sampled_from(['"', "'", '"""', "'''"]))
    prefix = draw(st.sampled_from(["", "r", "R", "u", "f", "fr"]))
    is_raw = "r" in prefix.lower()
    parts = [PLAIN, st.just(KERNEL)]
    if not is_raw:
        parts.append(ESCAPES)
    if len(quote) == 3:
        parts.append(BREAKS)
    body = "".join(draw(st.lists(st.one_of(parts), max_size=8)))
    if "\\N" in body and "f" in prefix:
        body = body.replace("\\N{BULLET}", "")
    return f"{prefix}{quote}{body}{quote}"


@st.composite
def expressions(draw: st.DrawFn) -> str:
    """Literals next to each other, in parentheses, one of which has a kernel."""
    found = [*draw(st.lists(literals(), max_size=3)), f'"{KERNEL}"', *draw(st.lists(literals(), max_size=2))]
    between = draw(st.sampled_from([" ", "\n    ", "  # é a comment\n", "\r\n\t"]))
    return f"({between.join(found)})"


def host_of(expression: str, before: str) -> str:
    return f"# {before} 😀\nimport os\nSOURCE = {expression}\nprint(SOURCE)\n"


def meant_by(expression: str) -> str:
    """What Python makes of it; half a character cannot be given to a compiler."""
    tree = ast.parse(f"x = {expression}")
    value = tree.body[0].value  # type: ignore[attr-defined]
    if isinstance(value, ast.JoinedStr):
        return "".join(part.value for part in value.values)  # type: ignore[attr-defined]
    assert isinstance(value, ast.Constant)
    return str(value.value)


def whole(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


@given(expressions(), PLAIN)
def test_the_text_is_what_python_makes_of_it(expression: str, before: str) -> None:
    (program,) = find_programs(host_of(expression, before.replace("\u2028", "")), Language.PYTHON)
    assert program.exact_text == whole(meant_by(expression))


@given(expressions(), PLAIN)
def test_each_character_is_where_the_file_writes_it(expression: str, before: str) -> None:
    host = host_of(expression, before.replace("\u2028", ""))
    (program,) = find_programs(host, Language.PYTHON)
    check_places(program, host)
    for offset, character in enumerate(program.text):
        written = host[program.host_start(offset) : program.host_end(offset + 1)]
        if not written:
            continue  # a line end that only makes lines
        if written != character and written not in ("\r\n", "\r"):
            assert whole(ast.literal_eval(f'"""{written}"""')) == character


def check_places(program: EmbeddedProgram, host: str) -> None:
    """Both ways agree, ranges are never turned round, and nothing is written twice."""
    end = 0
    for offset in range(len(program.text)):
        start = program.host_start(offset)
        if start == program.host_end(offset + 1):
            assert program.text[offset] == "\n"  # it only makes lines
            continue
        assert start >= end
        assert program.offset_of(start) == offset
        end = program.host_end(offset + 1)
        assert start < end <= len(host)


@given(expressions(), st.data())
def test_what_is_typed_in_a_literal_comes_in_at_its_place(expression: str, data: st.DataObject) -> None:
    host = host_of(expression, "")
    finder = ProgramFinder(Language.PYTHON)
    (program,) = finder.programs(host)
    offset = data.draw(st.integers(0, len(program.text) - 1))
    at = program.host_start(offset)
    if host[at] != program.text[offset] or host[at - 1] == "\\" or at == program.host_end(offset + 1):
        return  # an escape: what is typed before it stands behind a backslash now and then
    edited = f"{host[:at]}xé{host[at:]}"
    found = finder.programs(edited)  # after an edit, as an editor has it
    assert found == find_programs(edited, Language.PYTHON)
    before = sum(program.host_end(o + 1) > program.host_start(o) for o in range(offset))
    exact = program.exact_text
    if len(found) == 1 and "kernel" in exact[: max(0, before - 8)]:
        assert found[0].exact_text == f"{exact[:before]}xé{exact[before:]}"


def test_bytes_are_read_as_latin_1() -> None:
    host = "SOURCE = b\"__kernel void f(); \\xe9\\n\" b'//\\''\n"
    (program,) = find_programs(host, Language.PYTHON)
    assert program.text == "__kernel void f(); é\n//'"


def test_names_bring_their_text_along() -> None:
    host = 'HELP = "int twice(int a);\\n"\n\ndef build(ctx):\n    return make(ctx, HELP + """__kernel void f();""")\n'
    (program,) = find_programs(host, Language.PYTHON)
    assert program.text == "int twice(int a);\n__kernel void f();"
    assert host[program.host_start(0) :].startswith("int twice")


def test_a_docstring_is_no_program() -> None:
    host = 'def f():\n    """A `__kernel void f()` is built here."""\n\nclass A:\n    "__kernel void g();"\n'
    assert find_programs(host, Language.PYTHON) == ()


def test_a_literal_that_another_program_holds_is_none_of_its_own() -> None:
    host = 'A = "__kernel void a();"\nB = A + "__kernel void b();"\n'
    (program,) = find_programs(host, Language.PYTHON)
    assert program.exact_text == "__kernel void a();__kernel void b();"
