"""Launches written in comments, `// kernelcast: global=(N, N) N=1024 -DTILE=16 name=large`, as rules of the grammar.

They stand where `model.launch.annotation` finds them: right after a comment starts, or at the start of a line in one.
"""

from __future__ import annotations

import words
from rules import LINE_END, NAME, Rule, include, match, one_of, region

_MARK = r"(kernelcast)[ \t]*(:)"
_OF_MARK = {1: "keyword.other.annotation", 2: "punctuation.separator.annotation"}
_WORD = r"""(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\*]|\*(?!/))+"""
_NUMBER = r"(?<![\w.])(?:0[xX][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?!\w)"


def annotation_rules() -> dict[str, list[Rule]]:
    return {
        "annotation-line": [
            region(
                rf"(//[/*!<]*)[ \t]*(?:{_MARK})",
                LINE_END,
                "comment.line.double-slash",
                content="meta.annotation",
                begins={1: "punctuation.definition.comment", 2: _OF_MARK[1], 3: _OF_MARK[2]},
                inside=include("annotation"),
            )
        ],
        "annotation-in-block": [
            region(
                rf"(?:\G[/*!<]*|^[ \t]*\**)[ \t]*{_MARK}",
                rf"(?=\*/)|{LINE_END}",
                content="meta.annotation",
                begins=_OF_MARK,
                inside=include("annotation"),
            )
        ],
        "annotation": [
            match(r"\\\n", "constant.character.escape.line-continuation"),
            match(
                r"""\b(name)\s*(=)(?!=)\s*("[^"]*"|'[^']*'|[^\s"'=*]+)""",
                captures={1: "keyword.other.launch", 2: "keyword.operator.assignment", 3: "string.unquoted.label"},
            ),
            match(rf"({one_of(words.ANNOTATION_KEYS)})\s*(=)(?!=)",
                  captures={1: "keyword.other.launch", 2: "keyword.operator.assignment"}),
            match(
                rf"\b(fill)(\.)({NAME}(?:\[\d+\])?(?:\.{NAME})*)\s*(=)(?!=)\s*(?:({one_of(words.ANNOTATION_FILLS)})|{NAME})?",
                captures={
                    1: "support.function.fill",
                    2: "punctuation.accessor",
                    3: "variable.parameter",
                    4: "keyword.operator.assignment",
                    5: "constant.language.fill",
                },
            ),
            match(r"\bauto\b", "constant.language.auto"),
            match(
                rf"(?<=[\s:])(-D)\s*({NAME})(?:(=)({_WORD})?)?",
                captures={
                    1: "keyword.other.build-option",
                    2: "entity.name.function.preprocessor",
                    3: "keyword.operator.assignment",
                    4: "string.unquoted.build-option",
                },
            ),
            match(rf"(?<=[\s:])(-I)\s*({_WORD})",
                  captures={1: "keyword.other.build-option", 2: "string.unquoted.build-option"}),
            match(rf"(?<=[\s:])-[A-Za-z](?:{_WORD})?", "keyword.other.build-option"),
            match(one_of(words.ANNOTATION_FUNCTIONS) + r"(?=\s*\()", "support.function.builtin.expression"),
            match(rf"\b({NAME}(?:\.\w+)*)\s*(=)(?!=)",
                  captures={1: "variable.parameter", 2: "keyword.operator.assignment"}),
            match(_NUMBER, "constant.numeric"),
            match(rf"\b{NAME}(?:\.\w+)*\b", "variable.other"),
            match(r"\*\*|//|[-+%/:]|\*(?!/)", "keyword.operator.arithmetic"),
        ],
    }  # fmt: skip
