"""`#pragma unroll` before innermost loops: fewer branches, and more loads and sums under way at a time."""

from __future__ import annotations

from collections.abc import Iterator

from model.advice.advice import AdviceCode
from model.advice.fixes.fix import Fix, TextEdit
from model.advice.fixes.kernel_source import BARRIERS
from model.advice.fixes.setting import Setting

_FACTORS = (4, 8)


def unrolled_loop(setting: Setting) -> Iterator[Fix]:
    """Ask for each innermost loop to be unrolled; of loops with a hint, or with barriers inside, nothing is said."""
    source = setting.source
    for loop in source.nodes("for_statement"):
        body = loop.child_by_field_name("body")
        if body is None or source.masked.unroll_hint(loop.start_byte) is not None:
            continue
        if next(source.nodes("for_statement", "while_statement", "do_statement", "goto_statement", inside=body), None):
            continue
        if BARRIERS.search(source.text(loop)) or not source.is_first_on_line(loop.start_byte):
            continue
        at = source.raw.rfind("\n", 0, loop.start_byte) + 1
        line = source.raw.count("\n", 0, at) + 1
        for factor in _FACTORS:
            text = f"{source.line_indentation(loop.start_byte)}#pragma unroll {factor}{source.line_end}"
            title = f"Unroll the loop of line {line} by {factor}"
            yield Fix(AdviceCode.ROLLED_LOOP, title, (TextEdit(at, at, text),))
