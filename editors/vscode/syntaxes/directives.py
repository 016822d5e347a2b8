"""Preprocessor directives as rules of the grammar. Each ends with the last of its lines."""

from __future__ import annotations

from rules import LINE_END, NAME, Rule, include, match, region

_PUNCTUATION = "punctuation.definition.directive"
_CONTINUED = match(r"\\\n", "constant.character.escape.line-continuation")


def _start(keywords: str) -> str:
    """From the line's start; the first two captures are the whole directive and its `#`."""
    return rf"^\s*((#)\s*(?:{keywords})\b)"


def _directive(keywords: str, what: str, inside: list[Rule]) -> Rule:
    return region(
        _start(keywords),
        LINE_END,
        f"meta.preprocessor.{what}",
        begins={1: f"keyword.control.directive.{what}", 2: _PUNCTUATION},
        inside=[_CONTINUED, *include("comment"), *inside],
    )


def directive_rules() -> dict[str, list[Rule]]:
    return {
        "directive": [
            *include("inactive"),
            _directive("include", "include", [
                match(r"<[^>\n]*>?", "string.quoted.other.lt-gt.include"), *include("literal"),
            ]),
            region(
                rf"{_start('define')}\s+({NAME})(?:(\()([^()]*)(\)))?",
                LINE_END,
                "meta.macro",  # not `meta.preprocessor`: popular themes paint all of that in one colour
                begins={
                    1: "keyword.control.directive.define",
                    2: _PUNCTUATION,
                    3: "entity.name.function.preprocessor",
                    4: "punctuation.definition.parameters.begin",
                    5: "variable.parameter.preprocessor",
                    6: "punctuation.definition.parameters.end",
                },
                inside=[_CONTINUED, *include("macro-body")],
            ),
            _directive("if|ifdef|ifndef|elif|elifdef|elifndef|else|endif", "conditional", [
                match(r"\bdefined\b", "keyword.operator.defined"),
                *include("literal", "constant"),
                match(rf"\b{NAME}\b", "entity.name.function.preprocessor"),
                *include("operator"),
            ]),
            _directive("undef", "undef", [match(rf"\b{NAME}\b", "entity.name.function.preprocessor")]),
            region(
                _start("pragma"),
                LINE_END,
                "meta.preprocessor.pragma",
                begins={1: "keyword.control.directive.pragma", 2: _PUNCTUATION},
                inside=[_CONTINUED, *include("comment", "pragma")],
            ),
            region(
                _start("error|warning"),
                LINE_END,
                "meta.preprocessor.diagnostic",
                content="string.unquoted.message",
                begins={1: "keyword.control.directive.diagnostic", 2: _PUNCTUATION},
                inside=[_CONTINUED],
            ),
            _directive("line", "line", include("literal")),
            _directive(r"\w+", "unknown", include("literal", "call")),
        ],
        # Whatever a macro stands for, it is not parsed as braces and parentheses: they need not balance.
        "macro-body": [
            match(
                rf"\b((?:__)?kernel)\s+(void)\s+({NAME}(?:\s*##\s*{NAME})*)",
                captures={1: "storage.modifier.kernel", 2: "storage.type.built-in", 3: "entity.name.function.kernel"},
            ),
            *include("comment", "attribute-in-macro", "control", "expression"),
        ],
        "attribute-in-macro": [
            match(
                rf"\b(__attribute(?:__)?)\s*\(\(\s*({NAME})",
                captures={1: "storage.modifier.attribute", 2: "support.function.attribute"},
            )
        ],
        "pragma": [
            match(
                rf"\b(OPENCL)\s+(EXTENSION)\s+({NAME})\s*(?:(:)\s*(?:(enable|disable|require|warn)\b)?)?",
                captures={
                    1: "keyword.other.pragma",
                    2: "keyword.other.pragma",
                    3: "constant.language.extension",
                    4: "punctuation.separator.pragma",
                    5: "keyword.other.behaviour",
                },
            ),
            match(
                r"\b(OPENCL|STDC)\s+(\w+)(?:\s+(ON|OFF|DEFAULT)\b)?",
                captures={1: "keyword.other.pragma", 2: "keyword.other.pragma", 3: "keyword.other.behaviour"},
            ),
            match(r"\b(region|endregion)\b(.*)", captures={1: "keyword.other.region", 2: "entity.name.section"}),
            match(r"\b(?:unroll|nounroll|once|ivdep|clang|GCC)\b", "keyword.other.pragma"),
            *include("expression"),
        ],
        # What `#if 0` leaves out may be anything, so only further conditions are looked for in it.
        "inactive": [
            region(
                rf"{_start('if')}\s+(0)\s*(?=$|/[/*])",
                r"^(?=\s*#\s*(?:else|elif|endif)\b)",
                content="comment.block.preprocessor.inactive",
                begins={
                    1: "keyword.control.directive.conditional",
                    2: _PUNCTUATION,
                    3: "constant.numeric.integer",
                },
                inside=include("inactive-inner"),
            )
        ],
        "inactive-inner": [
            region(r"^\s*#\s*if(?:n?def)?\b", r"^\s*#\s*endif\b", inside=include("inactive-inner")),
        ],
    }  # fmt: skip
