"""Writes opencl.tmLanguage.json, the TextMate grammar of OpenCL C, beside this file.

    python editors/vscode/syntaxes/generate.py           writes it
    python editors/vscode/syntaxes/generate.py --check   says whether it is what would be written

A grammar of its own rather than an injection into C's: qualifiers, vector types and kernels' names are then coloured
wherever they stand, and editors without a C grammar of the same make can use it as it is.

Every region ends at the latest where no region of its kind can go on (a directive at its line's end, a header at `{`,
a block before a kernel in the first column), so that half-typed code and `#ifdef`s that split a brace spoil little.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from annotations import annotation_rules
from directives import directive_rules
from expressions import CALL, KERNEL, UNCLOSED, expression_rules
from rules import LANGUAGE, LINE_END, NAME, Rule, include, match, region

FILE = Path(__file__).with_name("opencl.tmLanguage.json")

# Between functions, a declaration in the first column starts something new, whatever was left open above it.
_NEW_START = rf"^(?=(?:__)?kernel\b|[A-Za-z_]\w*\s+{NAME}\s*[(;=])"


def grammar() -> dict[str, object]:
    """The whole grammar, as it is written to the file."""
    return {
        "comment": "Written by generate.py from the tables of words that the analysis uses; change those, not this.",
        "name": "OpenCL C",
        "scopeName": f"source.{LANGUAGE}",
        "fileTypes": ["cl", "clh", "opencl"],
        "patterns": include("outside"),
        "repository": {
            name: {"patterns": rules}
            for name, rules in {
                **_places(),
                **_comments(),
                **annotation_rules(),
                **directive_rules(),
                **expression_rules(),
            }.items()
        },
    }


def _places() -> dict[str, list[Rule]]:
    """What may stand outside of functions, in a kernel's head, between a function's parentheses, and in braces."""
    return {
        "outside": include(
            "comment",
            "directive",
            "kernel",
            "block",
            "initialiser",
            "attribute",
            "control",
            "word",
            "typedef-name",
            "function",
            "expression",
        ),
        "kernel": [
            region(
                rf"({KERNEL})",
                r"(?=[({};=])",
                "meta.function.definition.kernel",
                begins={1: "storage.modifier.kernel"},
                inside=[
                    *include("comment", "directive", "attribute"),
                    region(
                        r"\b(void)\b",
                        r"(?=[({};=])",
                        begins={1: "storage.type.built-in"},
                        inside=[*include("comment", "directive", "attribute", "word", "kernel-name")],
                    ),
                    *include("word"),
                    # A macro with arguments before the `void`, say one that makes attributes.
                    match(
                        rf"({NAME})\s*(\([^()]*\))(?=\s*(?:void\b|__attribute|$))",
                        captures={1: "entity.name.function.call"},
                    ),
                    *include("kernel-name"),
                ],
            ),
        ],
        "kernel-name": [match(rf"\b{NAME}(?=\s*(?:\(|$|//|/\*))", "entity.name.function.kernel")],
        "function": [
            region(
                rf"\b({NAME})\s*(\()",
                rf"(\))|{UNCLOSED}",
                "meta.function",
                begins={1: "entity.name.function", 2: "punctuation.section.parameters.begin"},
                ends={1: "punctuation.section.parameters.end"},
                inside=include("parameter"),
            ),
            # The parameters after a kernel's name, and after a name that stands on a line of its own.
            region(
                r"\(",
                rf"(\))|{UNCLOSED}",
                "meta.function.parameters",
                begins={0: "punctuation.section.parameters.begin"},
                ends={1: "punctuation.section.parameters.end"},
                inside=include("parameter"),
            ),
        ],
        "parameter": [
            *include("comment", "directive", "attribute", "word", "builtin"),
            match(rf"\b{NAME}\b{CALL}", "entity.name.function.call"),
            region(r"\[", rf"\]|{UNCLOSED}", inside=include("expression")),
            region(r"\(", rf"\)|{UNCLOSED}", inside=include("parameter")),
            match(rf"\b{NAME}\b(?=\s*(?:[*]|{NAME}))", "entity.name.type"),
            match(rf"\b{NAME}\b", "variable.parameter"),
            *include("expression"),
        ],
        "block": [
            region(
                r"\{",
                rf"\}}|^(?={KERNEL})",
                "meta.block",
                begins={0: "punctuation.section.block.begin"},
                ends={0: "punctuation.section.block.end"},
                inside=include("comment", "directive", "block", "attribute", "control", "expression"),
            )
        ],
        "initialiser": [
            region(
                r"(?<![=!<>])=(?!=)",
                rf"(?=;)|{_NEW_START}",
                begins={0: "keyword.operator.assignment"},
                inside=include("comment", "directive", "block", "expression"),
            )
        ],
    }


def _comments() -> dict[str, list[Rule]]:
    return {
        "comment": [
            *include("annotation-line"),
            region(
                r"/\*",
                r"\*/",
                "comment.block",
                begins={0: "punctuation.definition.comment.begin"},
                ends={0: "punctuation.definition.comment.end"},
                inside=include("annotation-in-block"),
            ),
            region(
                r"//", LINE_END, "comment.line.double-slash", begins={0: "punctuation.definition.comment"},
                inside=[match(r"\\\n", "constant.character.escape.line-continuation")],
            ),
        ]
    }  # fmt: skip


def text() -> str:
    """The grammar as the file holds it."""
    return json.dumps(grammar(), indent=2, ensure_ascii=True) + "\n"


def main() -> None:
    if "--check" in sys.argv:
        if FILE.read_text(encoding="utf-8") != text():
            sys.exit(f"{FILE.name} is not what {Path(__file__).name} writes: run it and commit what it wrote")
        return
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
