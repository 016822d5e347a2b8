"""What a program lacks to be built, read from its compiler's messages, and guesses of what its host would define."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNKNOWN_TYPE = re.compile(r"unknown type name '(\w+)'")
_UNKNOWN_NAME = re.compile(r"use of undeclared identifier '(\w+)'")
_UNKNOWN_FUNCTION = re.compile(r"(?:implicit declaration of|call to undeclared|use of undeclared) function '(\w+)'")
_UNKNOWN_MACRO = re.compile(r"function-like macro '(\w+)' is not defined|invalid token.*?'(\w+)'")
_ASKED_FOR = re.compile(
    r"error: \"?[^\"\n]*?\b([A-Z][A-Z0-9_]{2,})\b[^\"\n]*\b(?:defined|undefined|not set|specified)\b"
)
_WIDTH = re.compile(r"(?:_?X?)(16|8|4|3|2)$")
_BASES = (
    (r"u(?:nsigned)?_?char|uint8|uchar", "uchar"),
    (r"u(?:nsigned)?_?short|uint16|ushort", "ushort"),
    (r"u(?:nsigned)?_?long|uint64|ulong", "ulong"),
    (r"u(?:nsigned)?_?int|uint32|uint|u32|word", "uint"),
    (r"double|fp64|real64", "double"),
    (r"char|int8|byte", "char"),
    (r"short|int16", "short"),
    (r"long|int64", "long"),
    (r"int(?:32)?|idx|index|size|offset|count|bool", "int"),
)
_INTEGER_WORDS = re.compile(r"int|idx|index|size|offset|count|bool|label|mask", re.IGNORECASE)
_NOTHING = re.compile(
    r"inline|static|restrict|attr|aligned|unroll|noinline|device_func|func$|function$|export|^in$|^out$|const$|extern",
    re.IGNORECASE,
)
_KEYWORD_MACROS = {
    "kernel": "__kernel", "global": "__global", "local": "__local", "constant": "__constant", "private": "__private",
}  # fmt: skip
_FUNCTIONS = (
    (
        r"^(?:RI(?:_\w+)?|READ_?(?:IMAGE|IMG|IMAGET|IMG_TYPE).*)(?:_?[FT])?$",
        "{name}(image,sampler,at)",
        "read_imagef(image,sampler,at)",
    ),
    (
        r"^(?:WI(?:_\w+)?|WRITE_?(?:IMAGE|IMG|IMAGET|IMG_TYPE).*)(?:_?[FT])?$",
        "{name}(image,at,value)",
        "write_imagef(image,at,value)",
    ),
    (r"^(?:DIV_?UP|CEIL_?DIV|UP_?DIV)", "{name}(x,y)", "(((x)+(y)-1)/(y))"),
    (r"^(?:ROUND_?UP)", "{name}(x,y)", "((((x)+(y)-1)/(y))*(y))"),
    (r"max$|maximum$", "{name}(x,y)", "((x)>(y)?(x):(y))"),
    (r"min$|minimum$", "{name}(x,y)", "((x)<(y)?(x):(y))"),
    (r"add$|sum$|plus$", "{name}(x,y)", "((x)+(y))"),
    (r"mul$|mult$|times$", "{name}(x,y)", "((x)*(y))"),
    (r"mad$|fma$", "{name}(x,y,z)", "((x)*(y)+(z))"),
    (r"^(?:barrier|sync).*|.*(?:_barrier|_sync|syncthreads)$", "{name}(...)", "barrier(CLK_LOCAL_MEM_FENCE)"),
)
NUMBERS = (16, 4, 1)  # tried in turn for a constant that nobody defines


@dataclass(frozen=True, slots=True)
class Lacking:
    """Names that a compiler asked for."""

    types: tuple[str, ...]
    names: tuple[str, ...]
    functions: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.types, *self.names, *self.functions)))


def lacking(log: str) -> Lacking:
    """Return what the messages of clang's front end, in any driver, say is missing."""
    return Lacking(
        tuple(dict.fromkeys(_UNKNOWN_TYPE.findall(log))),
        tuple(dict.fromkeys([*_UNKNOWN_NAME.findall(log), *_ASKED_FOR.findall(log)])),
        tuple(dict.fromkeys([*_UNKNOWN_FUNCTION.findall(log), *(a or b for a, b in _UNKNOWN_MACRO.findall(log))])),
    )


def without_consequences(asked: Lacking, text: str) -> Lacking:
    """Without variables that are only unknown because their types are: a define of that name would break them."""
    names = tuple(n for n in asked.names if n.isupper() or not (asked.types or _is_declared(n, text)))
    return Lacking(asked.types, names, asked.functions)


def _is_declared(name: str, text: str) -> bool:
    return bool(re.search(rf"\b(?!return\b|else\b)\w+[\s*]+{name}\s*(?:[=;,)\[]|$)", text, re.MULTILINE))


def guessed_defines(asked: Lacking, text: str, attempt: int) -> dict[str, str]:
    """Return a define for each name; another one at another attempt."""
    found: dict[str, str] = {}
    for name in asked.types:
        found[name] = _type(name, text, attempt)
    for name in (*asked.names, *asked.functions):
        if (of_macro := _pasted(name, text, attempt)) is not None:
            found.update([of_macro])
        elif name in asked.functions or _is_called(name, text):
            found.update([_function(name, text)])
        elif name.endswith("_t") or _stands_as_type(name, text):
            found[name] = _type(name, text, attempt)
        else:
            found[name] = _value(name, text, attempt)
    return found


_FIXED = re.compile(r"(u?)int(8|16|32|64)_t\Z")
_PASTED = re.compile(
    r"^(?P<builtin>read_image|write_image|convert_|as_|vload|vstore)(?P<macro>[A-Z][A-Z_]*[A-Z])(?P<width>\d*)"
)


def _pasted(name: str, text: str, attempt: int) -> tuple[str, str] | None:
    """`read_imageKIND`: a built-in function's name with a macro at its end that nobody defines."""
    found = _PASTED.match(name)
    if found is None:
        return None
    if found["builtin"].endswith("image"):
        return found["macro"], "f"
    return found["macro"], "4" if found["builtin"][0] == "v" else _type(found["macro"], text, attempt)


def _type(name: str, text: str, attempt: int) -> str:
    if fixed := _FIXED.match(name):
        return ("u" if fixed[1] else "") + {"8": "char", "16": "short", "32": "int", "64": "long"}[fixed[2]]
    bare = name.lower().strip("_")
    for word, keyword in _KEYWORD_MACROS.items():
        if bare in (
            word,
            f"{word}_mem",
            f"{word}mem",
            f"cl_{word}",
            f"{word}_arg",
            f"ocl_{word}",
            f"{word}_kernel",
            f"{word}_ptr",
        ):
            return keyword
    if re.search(rf"\b{name}\s+(?:void|static|inline)\b", text) and "kernel" in bare:
        return "__kernel"
    if _NOTHING.search(bare) and re.search(rf"\b{name}\s+(?:\w+\s+)+\w+\s*\(", text):
        return ""
    width = _WIDTH.search(bare)
    stem = bare[: width.start()] if width else bare
    for pattern, base in _BASES:
        if re.search(rf"(?:^|_){pattern}(?:_t)?(?:$|_)", stem):
            return base + (width[1] if width else "")
    return ("float", "int", "float")[attempt % 3] + (width[1] if width else "")


def _stands_as_type(name: str, text: str) -> bool:
    return bool(
        re.search(
            rf"\(\s*{name}\s*\**\s*\)\s*[\w(\-]|\b{name}\s*\*\s*\w+\s*[,)=;]|\b{name}\s+\w+\s*[=;,)\[]|sizeof\(\s*{name}\s*\)",
            text,
        )
    )


def _is_called(name: str, text: str) -> bool:
    return bool(re.search(rf"\b{name}\s*\(", text))


def _value(name: str, text: str, attempt: int) -> str:
    bare = name.lower()
    if re.search(rf"^[ \t]*#[ \t]*(?:el)?if\b[^\n]*\b{name}\b", text, re.MULTILINE):
        return ("1", "0", "4")[attempt % 3]
    if re.search(r"eps|alpha|beta|scale|factor|slope|gamma|sigma|thresh|coef|weight|ratio|min_?val|max_?val", bare):
        return "0.5f"
    if re.search(r"inf(?:inity)?$|flt_max", bare):
        return "1e30f"
    if re.search(r"^(?:has|use|is|enable|with|do|no)_", bare):
        return "1"
    if re.search(r"offset|pad|start|first|begin", bare):
        return "0"
    if re.search(r"radius|channel|dims|ndim|stride|unroll|depth|order", bare):
        return str((4, 2, 1)[attempt % 3])
    return str(NUMBERS[attempt % len(NUMBERS)])


def _function(name: str, text: str) -> tuple[str, str]:
    for pattern, head, body in _FUNCTIONS:
        if re.search(pattern, name, re.IGNORECASE):
            return head.format(name=name), body
    if "convert" in name.lower() or re.match(r"(?:to|as|cast)_", name.lower()):
        kind = re.sub(r"^.*?(?:convert|to|as|cast)_?", "", name.lower())
        wanted = _type(kind, text, 0) if kind else ""
        if not kind or "convert" not in name.lower():
            return f"{name}(x)", "(x)"
        return f"{name}(x)", f"convert_{wanted}(x)" if _WIDTH.search(kind) else f"(({wanted})(x))"
    arguments = _argument_count(name, text)
    letters = [f"a{number}" for number in range(arguments)]
    return f"{name}({','.join(letters)})", f"({'+'.join(f'({a})' for a in letters)})" if letters else "1"


def _argument_count(name: str, text: str) -> int:
    start = re.search(rf"\b{name}\s*\(", text)
    if start is None:
        return 1
    depth, count = 1, 0
    for at in range(start.end(), min(len(text), start.end() + 2000)):
        char = text[at]
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            inside = text[start.end() : at].strip()
            return count + 1 if inside else 0
        count += char == "," and depth == 1
    return 1
