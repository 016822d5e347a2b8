"""From a fault's address to the user's words, whatever the address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.opencl.types import ScalarKind, ScalarType, StructType, Type, VectorType
from profiler.bounds import MAX_BYTES, Cause, Overrun, Room, overrun_at, whereabouts
from profiler.inferred_args import Guess

FLOAT = ScalarType("float", ScalarKind.FLOAT, 4)
FLOAT3 = VectorType(FLOAT, 3)
PARTICLE = StructType("Particle", (("mass", FLOAT), ("place", FLOAT3)))
GUARD = 1 << 30

elements = st.sampled_from([ScalarType("uchar", ScalarKind.UNSIGNED, 1), FLOAT, FLOAT3, PARTICLE])


def room(name: str = "x", element: Type = FLOAT, length: int = 1000, start: int = 1 << 40) -> Room:
    return Room(name, element, length, start, start - GUARD, start + length * element.size_bytes + GUARD)


@st.composite
def neighbours(draw: st.DrawFn) -> list[Room]:
    """Buffers of all kinds, each between guards of its own."""
    kinds = draw(st.lists(st.tuples(elements, st.integers(0, 5000)), min_size=1, max_size=4))
    return [room(f"b{at}", element, length, (1 << 40) + at * 4 * GUARD) for at, (element, length) in enumerate(kinds)]


@given(neighbours(), st.data())
def test_an_address_in_a_guard_is_the_element_that_was_accessed(rooms: list[Room], data: st.DataObject) -> None:
    left = data.draw(st.sampled_from(rooms))
    most = GUARD // left.element.size_bytes - 1
    index = data.draw(st.integers(-most, -1) | st.integers(left.length, left.length + most))
    byte = data.draw(st.integers(0, left.element.size_bytes - 1))
    found = overrun_at(left.start + index * left.element.size_bytes + byte, rooms)
    assert found is not None
    assert (found.room.name, found.index) == (left.name, index)
    assert f"`{left.name}[{index}]" in found.sentence((index, index))
    assert ("past its end" if index >= 0 else "in front of its beginning") in found.sentence((index, index))


@given(neighbours(), st.data())
def test_an_address_inside_a_buffer_is_no_overrun(rooms: list[Room], data: st.DataObject) -> None:
    held = [r for r in rooms if r.length]
    if held:
        one = data.draw(st.sampled_from(held))
        assert overrun_at(data.draw(st.integers(one.start, one.end - 1)), rooms) is None


@given(neighbours(), st.integers(0, (1 << 64) - 1))
def test_every_address_can_be_spoken_of(rooms: list[Room], address: int) -> None:
    found = overrun_at(address, rooms)
    assert found is None or found.sentence((found.index, found.index))
    assert isinstance(whereabouts(address, rooms), str)


@pytest.mark.parametrize(("byte", "member"), [(0, "mass"), (3, "mass"), (16, "place"), (31, "place")])
def test_the_member_of_a_struct_is_named(byte: int, member: str) -> None:
    found = overrun_at(room(element=PARTICLE).end + byte, [room(element=PARTICLE)], is_store=True)
    assert found is not None
    assert found.sentence((found.index, found.index)).startswith(f"`x[1000].{member}` is written past its end: ")


def test_padding_of_a_struct_is_no_member() -> None:
    found = overrun_at(room(element=PARTICLE).end + 5, [room(element=PARTICLE)])
    assert found is not None
    assert "`x[1000]` is accessed" in found.sentence((found.index, found.index))


def test_the_length_to_write_covers_the_highest_index_that_was_seen() -> None:
    assert "// kernelcast: x=1234, or guard the index" in Overrun(room(), 4 * 1000).sentence((1000, 1233))


@pytest.mark.parametrize("reached", [(-1, -1), (1 << 31, 1 << 31), (1000, MAX_BYTES // 4), (-8, 1003)])
def test_no_length_is_advised_where_none_would_do(reached: tuple[int, int]) -> None:
    assert Overrun(room(), 4 * max(reached)).sentence(reached).endswith("; guard the index")


def test_a_length_of_the_buffers_own_order_is_advised_however_large() -> None:
    length = MAX_BYTES // 2
    assert f"x={length + 1}," in Overrun(room(length=length), 4 * length).sentence((length, length))


def test_what_an_index_buffer_should_hold_is_said() -> None:
    fills = tuple(Guess(f"fill.{name}", "const:1003", "randint:0:1000") for name in ("column", "row"))
    sentence = Overrun(room(), 4 * 1000).sentence((1000, 1000), Cause(7, fills, (Guess("n", "64"),)))
    assert "on line 7" in sentence
    assert sentence.endswith(
        "; its index comes from `column` and `row`: say what they hold: "
        "// kernelcast: fill.column=randint:0:1000 fill.row=randint:0:1000, or guard the index"
    )


def test_guessed_scalars_share_the_blame_with_contents_that_only_the_user_knows() -> None:
    cause = Cause(index_fills=(Guess("fill.row", "random"),), guessed=(Guess("border", "0"),))
    assert (
        Overrun(room(), 4 * 1000)
        .sentence((1000, 1000), cause)
        .endswith(
            "; its index comes from `row`, and `border` was guessed as 0: say what they hold: "
            "// kernelcast: fill.row=... border=..., or guard the index"
        )
    )


def test_scalars_that_were_guessed_are_named_where_no_length_would_do() -> None:
    guessed = Cause(guessed=(Guess("border", "0"), Guess("p.width", "7")))
    for reached in ((-1, -1), (1000, MAX_BYTES)):
        assert (
            Overrun(room(), 4 * max(reached))
            .sentence(reached, guessed)
            .endswith(
                "; `border` (0) and `p.width` (7) were guessed: say what they are: "
                "// kernelcast: border=... p.width=..., or guard the index"
            )
        )
    assert "guessed" not in Overrun(room(), 4000).sentence((1000, 1000), guessed)


def test_an_image_is_spoken_of_in_texels() -> None:
    image = Room("photo", VectorType(FLOAT, 4), 30 * 17, 1 << 40, 0, 1 << 41, (30, 17))
    sentence = Overrun(image, 16 * 30 * 17, is_store=True).sentence((510, 510), Cause(2))
    assert sentence.startswith("image `photo` is written outside of its 30x17 texels on line 2; ")
    assert "// kernelcast: photo=(60, 34)" in sentence


def test_a_null_pointer_is_called_one() -> None:
    assert "null pointer" in whereabouts(8, [room()])
