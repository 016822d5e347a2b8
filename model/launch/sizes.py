"""Lists of sizes as people write them: `1024`, `1024,1024`, `(N, ceil_div(M, 16)*16)`."""

from __future__ import annotations

from model.launch.expression import MAX_LENGTH, Expression, ExpressionError, parse_expression

_MOST_CHARACTERS = 4 * MAX_LENGTH  # three of the longest, with what stands between them


def parse_sizes(text: str, *, offset: int = 0) -> tuple[Expression, ...]:
    """Read one expression, or several between commas, with or without parentheses around them.

    `text` stands at character `offset` of a larger text. Raises `ExpressionError`.
    """
    stripped = text.strip()
    start = offset + len(text) - len(text.lstrip())
    if len(stripped) > _MOST_CHARACTERS:
        raise ExpressionError(f"longer than {_MOST_CHARACTERS} characters", start, start + len(stripped))
    if _is_wrapped(stripped, start):
        stripped, start = stripped[1:-1], start + 1
        if not stripped.strip():
            raise ExpressionError("no sizes between the parentheses", start - 1, start + len(stripped) + 1)
        if stripped.rstrip().endswith(","):  # (16,) as in Python
            stripped = stripped.rstrip()[:-1]
    sizes, at = [], start
    for part in _split(stripped):
        sizes.append(parse_expression(part, offset=at))
        at += len(part) + 1
    return tuple(sizes)


def _is_wrapped(text: str, start: int) -> bool:
    """Return whether one pair of parentheses holds the whole text."""
    open_at: list[int] = []
    wrapped = text.startswith("(")
    for i, character in enumerate(text):
        if character == "(":
            open_at.append(i)
        elif character == ")" and open_at:
            open_at.pop()
            if not open_at and i < len(text) - 1:
                wrapped = False
    if open_at:
        raise ExpressionError("this `(` is never closed", start + open_at[0], start + open_at[0] + 1)
    return wrapped


def _split(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
