"""Stand-ins for names that only the host defines: types, functions and sizes, guessed from how they are named and used.

Host programs give them as `-D` options, or join texts that define them. A kernel that is read without them has buffers
of unknown elements, and cannot be built.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import astuple, dataclass

from model.opencl.builtin_types import builtin_type

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
NUMBERS = (16, 4, 1)  # for a constant without a definition: one for each attempt


@dataclass(frozen=True, slots=True)
class Lacking:
    """Names that nothing declares, by what they stand for; `given` are others to which a launch gives a value."""

    types: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Return all but those that are given."""
        return tuple(dict.fromkeys((*self.types, *self.names, *self.functions)))

    def with_given(self, names: Collection[str]) -> Lacking:
        """Return what is lacking where launches give these names a value."""
        types, others, functions = (
            tuple(n for n in of if n not in names) for of in (self.types, self.names, self.functions)
        )
        return Lacking(types, others, functions, tuple(n for n in self.all if n in names))

    def joined(self, other: Lacking) -> Lacking:
        """Return what either lacks."""
        mine, its = (astuple(each) for each in (self, other))
        return Lacking(*(tuple(dict.fromkeys((*one, *two))) for one, two in zip(mine, its, strict=True)))


_NOT_A_NUMBER = re.compile(r"IMAGE|SAMPLER|QUEUE|EVENT|PIPE|STRUCT", re.IGNORECASE)
_OF_DRIVERS = re.compile(r"__|(?:intel|amd|arm|qcom|nv|cl|sub_group|work_group|async|atom|printf|get)[_a-z]*_?")
# What programs choose for a kernel, not for its data; so are the lengths of its own arrays.
_CHOSEN = re.compile(r"STRIDE|PAD|DILAT|RADIUS|UNROLL|SIMD|VEC|TILE|BLOCK|GROUP|_WG|WG_|LOCAL|THREADS")
_NUMBERS = re.compile(
    r"real|float|double|half|int|char|type|scalar|value|data|elem|num|acc|idx|index|byte|word", re.IGNORECASE
)
_MOST = 60  # names of each kind that are looked for in the text
_USUAL_GROUP = "64"
_DEMANDED = re.compile(r"#[ \t]*if(?:ndef[ \t]+|[ \t]+![ \t]*defined[ \t]*\(?[ \t]*)(\w+)[^\n]*\n\s*#[ \t]*error\b")
_PARAMETER = re.compile(r"_?[A-Z0-9_]+$|T[a-z]?\d*$")  # how macros and parameters of templates are written
# What begins a parameter: before it stands a macro that holds other parameters.
_QUALIFIER = re.compile(r"_*(?:read_only|write_only|read_write|global|constant|void|image\dd\w*)$")
_BETWEEN = r"(?:__)?(?:restrict|const|private|volatile)"  # a type and what is declared
_LANES = re.compile(r"(?:[xyzw]{1,4}|s[0-9a-fA-F]+|lo|hi|even|odd)$")


def stand_ins(asked: Lacking, text: str, known: Collection[str] = ()) -> dict[str, str]:
    """Return a define for each name of a program that is a number, a type of numbers, or a macro that its name tells.

    Types come alone, as what other names stand for may follow from them; `known` have a define already. Structs, images
    and all of which the use is not plain are left out: better to count them for little than to read another kernel.
    """
    types = dict.fromkeys(_without_pasted_width(name, text) for name in asked.types[:_MOST])
    defines = {name: kind for name in types if (kind := _number_type(name, text)) is not None}
    functions = asked.functions[:_MOST]
    literal = [name for name in functions if re.search(rf"\b{name}\b", text)]
    for name in functions:
        pasted = _pasted(name, text, 0) if name not in literal else None
        if pasted is not None and pasted[0] not in known:
            defines[pasted[0]] = pasted[1]
    if defines:
        return defines
    for name in literal:
        if not _OF_DRIVERS.match(name) and (function := _known_function(name, text)) is not None:
            defines[function[0]] = function[1]
    demanded = [name for name in _DEMANDED.findall(text) if name not in known]
    for name in (*filter(str.isupper, asked.names[:_MOST]), *demanded[:_MOST]):
        if re.search(rf"^[ \t]*(?:const[ \t]+)?{name}[ \t]+\w+[ \t]*[=;\[]", text, re.MULTILINE):
            if (kind := _number_type(name, text)) is not None:
                defines[name] = kind
        elif re.search(rf"work_group_size[ \t]*\([ \t]*{name}[ \t]*,[ \t]*1[ \t]*,[ \t]*1[ \t]*\)", text):
            defines[name] = _USUAL_GROUP
        elif name in demanded or _CHOSEN.search(name) or _is_length(name, text):
            defines[name] = _value(name, text, 0)
    return defines


def _is_length(name: str, text: str) -> bool:
    """Return whether arrays are as long as it says, or work-groups as large."""
    declared = r"(?:^|[;{}])[ \t]*(?:\w+[ \t]+){0,4}(?!return\b|else\b)\w+[ \t]+\w+[ \t]*(?:\[[^\]\n]*\])*"
    return (
        re.search(rf"{declared}\[[^\]\n]*\b{name}\b|work_group_size[ \t]*\([^)]*\b{name}\b", text, re.MULTILINE)
        is not None
    )


def _without_pasted_width(name: str, text: str) -> str:
    """Return `REAL` for `REAL4` where the program defines the latter itself, by what the host calls `REAL`."""
    width = _WIDTH.search(name)
    if width is None or not re.search(rf"#[ \t]*define[ \t]+{name}\b", text):
        return name
    return name[: width.start()]


def _number_type(name: str, text: str) -> str | None:
    """Return the type that a name stands for; None where that is no number or vector, or cannot be told."""
    kind = _type(name, text, 0)
    if kind.startswith("__"):
        return kind
    uses = re.findall(rf"\b{name}\b[\s*]*(?:\b{_BETWEEN}\b[\s*]*)*([A-Za-z_]\w*)?", text)
    if builtin_type(name) is not None or not (_PARAMETER.match(name) or _NUMBERS.search(name)):
        return None
    if not uses or _NOT_A_NUMBER.search(name) or any(_QUALIFIER.match(word) for word in uses if word):
        return None
    variables = {word for word in uses if word and not word.isupper()}
    if not variables:
        return kind
    members = re.findall(
        rf"\b(?:{'|'.join(sorted(variables))})\b[ \t]*(?:\[[^\]\n]*\][ \t]*)*(->|\.)[ \t]*([A-Za-z_]\w*)", text
    )
    if any(sign == "->" or not _LANES.match(lane) for sign, lane in members):
        return None
    is_vector = members and kind.isalpha() and not name.startswith("T") and not re.search(rf"\b{name}\d", text)
    return f"{kind}4" if is_vector else kind


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
    """Return the define of `KIND` for `read_imageKIND`: the host's macro, pasted to a built-in function's name."""
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
    if _NOTHING.search(bare) and re.search(rf"\b{name}\s+(?:\w+\s+){{1,8}}\w+\s*\(", text):
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
    return str(NUMBERS[attempt % len(NUMBERS)])


def _known_function(name: str, text: str) -> tuple[str, str] | None:
    """Return the define of a macro that its name tells, if it takes as many arguments."""
    if not (name.isupper() or "convert" in name.lower()):
        return None
    for pattern, head, body in _FUNCTIONS:
        if re.search(pattern, name, re.IGNORECASE):
            takes = head.count(",") + 1
            return (head.format(name=name), body) if _argument_count(name, text) == takes or "..." in head else None
    is_conversion = "convert" in name.lower() or re.match(r"(?:to|as|cast)_", name.lower()) is not None
    return _function(name, text) if is_conversion and _argument_count(name, text) == 1 else None


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
