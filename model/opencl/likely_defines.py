"""What a name that only the host defines is likely to stand for, by how it is written and used."""

from __future__ import annotations

import re

WIDTH = re.compile(r"(?:_?X?)(16|8|4|3|2)$")
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
_NOTHING = re.compile(
    r"inline|static|restrict|attr|aligned|unroll|noinline|device_func|func$|function$|export|^in$|^out$|const$|extern",
    re.IGNORECASE,
)
_KEYWORD_MACROS = {
    "kernel": "__kernel", "global": "__global", "local": "__local", "constant": "__constant", "private": "__private",
}  # fmt: skip
FUNCTIONS = (
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
_NUMBERS = (16, 4, 1)  # for a constant without a definition: one for each attempt


_FIXED = re.compile(r"(u?)int(8|16|32|64)_t\Z")
_PASTED = re.compile(
    r"^(?P<builtin>read_image|write_image|convert_|as_|vload|vstore)(?P<macro>[A-Z][A-Z_]*[A-Z])(?P<width>\d*)"
)


def pasted_macro(name: str, text: str, attempt: int) -> tuple[str, str] | None:
    """Return the define of `KIND` for `read_imageKIND`: the host's macro, pasted to a built-in function's name."""
    found = _PASTED.match(name)
    if found is None:
        return None
    if found["builtin"].endswith("image"):
        return found["macro"], "f"
    return found["macro"], "4" if found["builtin"][0] == "v" else likely_type(found["macro"], text, attempt)


def likely_type(name: str, text: str, attempt: int) -> str:
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
    if _NOTHING.search(bare) and re.search(rf"\b{name}\s+(?:\w+\s+){{1,8}}\w+\s*\(", text):
        return ""
    width = WIDTH.search(bare)
    stem = bare[: width.start()] if width else bare
    for pattern, base in _BASES:
        if re.search(rf"(?:^|_){pattern}(?:_t)?(?:$|_)", stem):
            return base + (width[1] if width else "")
    return ("float", "int", "float")[attempt % 3] + (width[1] if width else "")


def stands_as_type(name: str, text: str) -> bool:
    return bool(
        re.search(
            rf"\(\s*{name}\s*\**\s*\)\s*[\w(\-]|\b{name}\s*\*\s*\w+\s*[,)=;]|\b{name}\s+\w+\s*[=;,)\[]|sizeof\(\s*{name}\s*\)",
            text,
        )
    )


def is_called(name: str, text: str) -> bool:
    return bool(re.search(rf"\b{name}\s*\(", text))


def likely_value(name: str, text: str, attempt: int) -> str:
    bare = name.lower()
    if re.search(rf"^[ \t]*#[ \t]*(?:el)?if\b[^\n]*\b{name}\b", text, re.MULTILINE):
        return ("1", "0", "4")[attempt % 3]
    if re.search(
        r"(?:^|_)eps(?:$|_|ilon)|alpha|beta|scale|factor|slope|gamma|sigma|thresh|coef|weight|ratio|min_?val|max_?val",
        bare,
    ):
        return "0.5f"
    if re.search(r"inf(?:inity)?$|flt_max", bare):
        return "1e30f"
    if re.search(r"^(?:has|use|is|enable|with|do|no)_", bare):
        return "1"
    if re.search(r"offset|pad|start|first|begin", bare):
        return "0"
    if re.search(r"radius|channel|dims|ndim|stride|unroll|depth|order", bare):
        return str((4, 2, 1)[attempt % 3])
    return str(_NUMBERS[attempt % len(_NUMBERS)])


def likely_function(name: str, text: str) -> tuple[str, str]:
    for pattern, head, body in FUNCTIONS:
        if re.search(pattern, name, re.IGNORECASE):
            return head.format(name=name), body
    if "convert" in name.lower() or re.match(r"(?:to|as|cast)_", name.lower()):
        kind = re.sub(r"^.*?(?:convert|to|as|cast)_?", "", name.lower())
        wanted = likely_type(kind, text, 0) if kind else ""
        if not kind or "convert" not in name.lower():
            return f"{name}(x)", "(x)"
        return f"{name}(x)", f"convert_{wanted}(x)" if WIDTH.search(kind) else f"(({wanted})(x))"
    arguments = argument_count(name, text)
    letters = [f"a{number}" for number in range(arguments)]
    return f"{name}({','.join(letters)})", f"({'+'.join(f'({a})' for a in letters)})" if letters else "1"


def argument_count(name: str, text: str) -> int:
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
