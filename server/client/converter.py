"""lsprotocol's converter, stricter where what it lets through would break what takes it for what it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from pygls.protocol import default_converter

if TYPE_CHECKING:
    from cattrs import Converter

# The very types that lsprotocol registers: ids and progress tokens, which are looked up and so must be hashable.
_INT_OR_TEXT = Union[int, str]  # noqa: UP007
_MAYBE = Union[int, str, None]  # noqa: UP007


def strict_converter() -> Converter:
    converter: Converter = default_converter()  # type: ignore[no-untyped-call]  # pygls has no types here
    converter.register_structure_hook(_INT_OR_TEXT, lambda value, _: _int_or_text(value))
    converter.register_structure_hook(_MAYBE, lambda value, _: None if value is None else _int_or_text(value))
    return converter


def _int_or_text(value: object) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("neither an integer nor a text")
    return value
