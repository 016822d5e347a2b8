"""The words, operators and literals of OpenCL C, which may stand anywhere in code, as rules of the grammar."""

from __future__ import annotations

import words
from rules import LINE_END, NAME, Rule, include, match, one_of, region

KERNEL = r"\b(?:__)?kernel\b"
CALL = r"(?=\s*\()"
# No parenthesis reaches over these: one that seems to was never closed.
UNCLOSED = rf"(?=[{{}};])|^(?=\s*{KERNEL})"

_WIDTH = "|".join(words.WIDTHS)
_ELEMENT = "|".join(words.VECTOR_ELEMENTS)
_COMPONENT = r"(?:[xyzw]{1,4}|[rgba]{1,4}|[sS][0-9A-Fa-f]{1,16}|hi|lo|even|odd)"
_PLACEHOLDER = r"%%|%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:v(?:2|3|4|8|16))?(?:hh|hl|h|ll|l|L)?[diouxXfFeEgGaAcsp]"


def expression_rules() -> dict[str, list[Rule]]:
    return {**_declaring(), **_expressions(), **_literals()}


def _declaring() -> dict[str, list[Rule]]:
    """Words that say what a name is: qualifiers, types, attributes."""
    argument = region(r"\(", rf"\)|{UNCLOSED}", inside=[*include("attribute-argument")])
    return {
        "word": [
            match(rf"\b(?:__)?(?:{'|'.join(words.ADDRESS_SPACES)})\b", "storage.modifier.address-space"),
            match(rf"\b(?:__)?(?:{'|'.join(words.ACCESS)})\b", "storage.modifier.access"),
            match(KERNEL, "storage.modifier.kernel"),
            match(one_of(words.MODIFIERS), "storage.modifier"),
            match(r"\btypedef\b", "keyword.other.typedef"),
            match(r"\b(?:sizeof|typeof|__typeof__|_Alignof|__alignof__)\b", "keyword.operator.sizeof"),
            match(r"\b(?:asm|__asm|__asm__)\b", "keyword.other.asm"),
            match(
                rf"\b(struct|union|enum)\b(?:\s+(?!__attribute)({NAME}))?",
                captures={1: "storage.type.aggregate", 2: "entity.name.type"},
            ),
            *include("type"),
        ],
        "type": [
            match(rf"\b(?:{_ELEMENT})(?:{_WIDTH})\b", "storage.type.built-in.vector"),
            match(one_of([*words.SCALAR_NAMES, "unsigned", "signed"]), "storage.type.built-in.primitive"),
            match(one_of(words.TYPES), "storage.type.built-in"),
            match(r"\b(?!(?:as|convert)_)[A-Za-z]\w*_t\b(?!\s*\()", "entity.name.type"),
        ],
        "attribute": [
            region(
                r"\b(__attribute(?:__)?)\s*(\()",
                rf"(\))|{UNCLOSED}",
                "meta.attribute",
                begins={1: "storage.modifier.attribute", 2: "punctuation.section.attribute.begin"},
                ends={1: "punctuation.section.attribute.end"},
                inside=[
                    *include("comment"),
                    region(
                        r"\(",
                        rf"\)|{UNCLOSED}",
                        inside=[
                            *include("comment"),
                            match(rf"\b{NAME}\b", "support.function.attribute"),
                            argument,
                        ],
                    ),
                ],
            ),
            match(r"\b__attribute(?:__)?\b", "storage.modifier.attribute"),
        ],
        "attribute-argument": [argument, *include("comment", "type", "expression")],
    }


def _expressions() -> dict[str, list[Rule]]:
    families = {
        family: pattern.format(width=_WIDTH, element=_ELEMENT) for family, pattern in words.FUNCTION_FAMILIES.items()
    }
    return {
        "expression": include("comment", "literal", "member", "word", "builtin", "constant", "call", "operator"),
        "control": [
            match(one_of(words.CONTROL), "keyword.control"),
            match(rf"^\s*({NAME})\s*(:)\s*$", captures={1: "entity.name.label", 2: "punctuation.separator.label"}),
        ],
        "builtin": [
            *(
                match(one_of(names) + CALL, f"support.function.builtin.{family}")
                for family, names in words.FUNCTIONS.items()
            ),
            *(match(rf"\b(?:{p})\b{CALL}", f"support.function.builtin.{family}") for family, p in families.items()),
        ],
        "constant": [
            match(r"\b(?:true|false)\b", "constant.language.boolean"),
            match(r"\bNULL\b", "constant.language.null"),
            match(one_of(words.CONSTANTS), "constant.language.builtin"),
            match(rf"\b(?:{'|'.join(words.CONSTANT_FAMILIES)})\b", "constant.language.builtin"),
            match(rf"\b(?:{'|'.join(words.PREDEFINED)})\b", "constant.language.predefined"),
            match(rf"\b{words.EXTENSION}\b", "constant.language.extension"),
        ],
        "typedef-name": [match(rf"(?<=\}})\s*({NAME})(?=\s*;)", captures={1: "entity.name.type"})],
        "call": [
            # Two names in a row declare the second, and the first is a type; so does `*` that leans on a name.
            match(rf"\b{NAME}\b(?=\s+{NAME}\s*[=;,\[]|\s*\*+\s*(?:const|restrict)\b)", "entity.name.type"),
            match(rf"(?:^|(?<=[;{{]))\s*({NAME})(?=\s+\*+{NAME}\s*[=;])", captures={1: "entity.name.type"}),
            match(rf"\b{NAME}\b{CALL}", "entity.name.function.call"),
            # By OpenCL's habit as by C's, what is written in capitals comes from a macro or a build option.
            match(r"\b[A-Z][A-Z0-9_]*[A-Z][A-Z0-9_]*\b", "variable.other.constant"),
            match(rf"\b{NAME}\b"),
        ],
        "member": [
            match(
                rf"(\.)\s*({_COMPONENT})\b(?!\s*\()",
                captures={1: "punctuation.accessor", 2: "variable.other.property.component"},
            ),
            match(
                rf"(->|\.)\s*({NAME})",
                captures={1: "punctuation.accessor", 2: "variable.other.property"},
            ),
        ],
        "operator": [
            match(r"(?:<<|>>|[-+*/%&|^])=|(?<![=!<>])=(?!=)", "keyword.operator.assignment"),
            match(r"\+\+|--", "keyword.operator.increment"),
            match(r"<<|>>", "keyword.operator.bitwise.shift"),
            match(r"==|!=|<=|>=|[<>]", "keyword.operator.comparison"),
            match(r"&&|\|\||!", "keyword.operator.logical"),
            match(r"[&|^~]", "keyword.operator.bitwise"),
            match(r"[-+*/%]", "keyword.operator.arithmetic"),
            match(r"\?|:", "keyword.operator.ternary"),
            match(r"##?", "keyword.operator.preprocessor"),
            match(r";", "punctuation.terminator.statement"),
            match(r",", "punctuation.separator"),
        ],
    }


def _literals() -> dict[str, list[Rule]]:
    exponent, suffix = r"[eE][-+]?\d+", r"([fFhHlL])?"
    escape = match(r"\\(?:[0-7]{1,3}|x[0-9A-Fa-f]+|u[0-9A-Fa-f]{4}|.)", "constant.character.escape")
    unit = {1: "keyword.other.unit.suffix"}
    return {
        "literal": [
            match(
                rf"(?<![\w.])0[xX](?:[0-9A-Fa-f]+\.?[0-9A-Fa-f]*|\.[0-9A-Fa-f]+)[pP][-+]?\d+{suffix}\b",
                "constant.numeric.float.hexadecimal", unit,
            ),
            match(
                rf"(?<![\w.])(?:\d+\.\d*|\.\d+)(?:{exponent})?{suffix}(?!\w)"
                rf"|(?<![\w.])\d+(?:{exponent}([fFhHlL])?|([fFhH]))(?!\w)",
                "constant.numeric.float", {**unit, 2: unit[1], 3: unit[1]},
            ),
            match(r"(?<![\w.])0[xX][0-9A-Fa-f]+([uUlL]*)\b", "constant.numeric.integer.hexadecimal", unit),
            match(r"(?<![\w.])0[bB][01]+([uUlL]*)\b", "constant.numeric.integer.binary", unit),
            match(r"(?<![\w.])0[0-7]+([uUlL]*)\b", "constant.numeric.integer.octal", unit),
            match(r"(?<![\w.])\d+([uUlL]*)\b", "constant.numeric.integer", unit),
            region(
                r'"', rf'"|{LINE_END}', "string.quoted.double",
                begins={0: "punctuation.definition.string.begin"}, ends={0: "punctuation.definition.string.end"},
                inside=[
                    escape,
                    match(r"\\\n", "constant.character.escape.line-continuation"),
                    match(_PLACEHOLDER, "constant.other.placeholder"),
                ],
            ),
            region(
                r"'", rf"'|{LINE_END}", "string.quoted.single",
                begins={0: "punctuation.definition.string.begin"}, ends={0: "punctuation.definition.string.end"},
                inside=[escape],
            ),
        ]
    }  # fmt: skip
