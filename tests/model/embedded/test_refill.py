"""What a recorded run filled into a program takes the place of what was assumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.embedded.find import find_programs
from model.embedded.languages import Language
from model.embedded.program import EmbeddedProgram
from model.embedded.refill import refilled
from model.safe_read import read_plain
from server.analysis import parts
from server.analysis.parts import Parts
from tests.recordings import recorded

HOST = '''
def build(kind, scale):
    return """
__kernel void grow(__global %(kind)s *a)
{
    %(kind)s before = a[get_global_id(0)];
    a[get_global_id(0)] = before * %(scale)s;
}
""" % {"kind": kind, "scale": scale}
'''


def program(host: str = HOST) -> EmbeddedProgram:
    (found,) = find_programs(host, Language.PYTHON)
    return found


def run_with(kind: str, scale: str) -> str:
    """What the host builds."""
    text = HOST[HOST.index('"""') + 3 : HOST.rindex('"""')]
    return text % {"kind": kind, "scale": scale}


def test_a_recorded_run_tells_what_was_filled_in() -> None:
    found = refilled(program(), ["__kernel void other() {}", run_with("double", "3.5 + x")])
    assert found.text == run_with("double", "3.5 + x")
    assert [(each.name, each.stand_in, each.is_recorded) for each in found.filled] == [
        ("%(kind)s", "double", True), ("%(kind)s", "double", True), ("%(scale)s", "3.5 + x", True),
    ]  # fmt: skip


def test_positions_stay_those_of_the_host() -> None:
    found = refilled(program(), [run_with("unsigned long", "7")])
    for word in ("grow", "before", "get_global_id"):
        offset = found.text.index(word)
        assert HOST[found.host_start(offset) :].startswith(word)
    assert HOST[found.host_start(found.text.index("unsigned")) :].startswith("%(kind)s")


def test_another_program_changes_nothing() -> None:
    changed = run_with("float", "2").replace("before *", "before +")
    mixed = run_with("float", "2").replace("float before", "double before")  # one name has one text
    assert refilled(program(), [changed, mixed, ""]) == program()


def test_a_program_without_fields_is_left_alone() -> None:
    plain = program('S = """\n__kernel void f(__global int *a) { a[0] = 1; }\n"""\n')
    assert refilled(plain, ["__kernel void f(__global int *a) { a[0] = 2; }"]) is plain


words = st.text(st.sampled_from("abxyz019+*. _"), max_size=12)


@given(st.lists(words, min_size=1, max_size=4))
def test_whatever_was_filled_in_reads_back(values: list[str]) -> None:
    fields = "".join(f"    a[{n}] = {{v{n}}};\\n" for n in range(len(values)))
    host = f'T = "__kernel void f(__global float *a) {{{{\\n{fields}}}}}\\n".format({len(values)})\n'
    found = program(host)
    text = found.text
    for field, value in reversed(list(zip(found.filled, values, strict=True))):
        text = text[: field.offset] + value + text[field.offset + len(field.stand_in) :]
    assert found.text == found.exact_text, "this host's literal has line ends of its own"
    exact = refilled(found, [text])
    assert [each.stand_in for each in exact.filled] == values


def test_line_ends_of_the_host_alone_are_no_part_of_what_was_recorded() -> None:
    host = 'T = ("__kernel void f(__global int *a) {"\n  "a[0] = %(x)s;"\n  "a[1] = %(y)s;"\n  "}") % {}\n'
    found = program(host)
    assert found.text.count("\n") == 3
    exact = refilled(found, ["__kernel void f(__global int *a) {a[0] = 12;a[1] = b;}"])
    assert exact.text == "__kernel void f(__global int *a) {\na[0] = 12;\na[1] = b;\n}"


def test_a_document_is_read_as_it_was_recorded(tmp_path: Path) -> None:
    source = tmp_path / "program.cl"
    source.write_text(run_with("int", "3"))
    launch = recorded("grow", 1024, source=str(source))
    path = tmp_path / "app.py"
    (assumed,) = Parts().of("app", path, HOST)
    (known,) = Parts().of("app", path, HOST, recorded=lambda names: dict.fromkeys(names, (launch,)))
    assert "before * 16" in assumed.text
    assert known.text == run_with("int", "3")


def test_a_recorded_text_that_cannot_be_read_is_tried_again_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "program.cl"
    looks: list[Path] = []

    def read(path: Path, most_bytes: int) -> bytes:
        looks.append(path)
        return read_plain(path, most_bytes)

    monkeypatch.setattr(parts, "read_plain", read)
    now_s = 0.0
    known = Parts(lambda: now_s)

    def text() -> str:
        launch = recorded("grow", 1024, source=str(source))
        (found,) = known.of("app", tmp_path / "app.py", HOST, recorded=lambda names: dict.fromkeys(names, (launch,)))
        return found.text

    for _ in range(3):  # keystrokes
        assert "before * 16" in text()
    assert looks == [source]
    source.write_text(run_with("int", "3"))
    now_s = 3600.0
    assert text() == run_with("int", "3")
