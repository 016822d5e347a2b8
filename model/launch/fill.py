"""What a buffer holds, in words: `random`, `zeros`, `iota`, `const:V`, `randint:LO:HI`, ...; see `Fill` for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.launch.expression import Expression, ExpressionError, constant, parse_expression, suggestion
from model.launch.fill_target import parse_target
from model.launch.launch import Fill, Number, fill_text

# The words and the names of their arguments; those in brackets may be left away.
FILL_WORDS: dict[str, tuple[str, ...]] = {
    "random": (),
    "zeros": (),
    "iota": (),
    "perm": (),
    "const": ("V",),
    "uniform": ("LO", "HI"),
    "randint": ("LO", "HI"),
    "csr_rows": ("NNZ", "[SKEW]"),
    "csr_lengths": ("NNZ", "[SKEW]"),
    "sorted": ("LO", "HI"),
    "clustered": ("LO", "HI", "RUN"),
    "skewed": ("LO", "HI"),
    "mask": ("SHARE",),
    "choice": ("V@W,...",),
}
_EXCLUDES_HIGH = frozenset({"randint", "sorted", "clustered", "skewed"})
_AT_LEAST_ZERO = frozenset({"SKEW", "RUN"})
MAX_CHOICES = 64
MAX_SKEW = 16.0  # beyond, one row holds everything anyway
# What stands in a buffer of which nobody said what it holds: see `model.contents`.
DEFAULT_FLOATS = (0.5, 1.5)
DEFAULT_INTEGER_LIMIT = 16  # or the launch's shortest buffer, if that is shorter
# Of `skewed` floats: how much denser they lie at LO than at HI. Of integers it is how many there are.
SKEWED_FLOATS_BASE = 1024.0


def _form(word: str) -> str:
    """As it is written: `csr_rows:NNZ[:SKEW]`."""
    return word + "".join(f"[:{name[1:]}" if name.startswith("[") else f":{name}" for name in FILL_WORDS[word])


ALLOWED_FILLS = ", ".join(map(_form, FILL_WORDS))


@dataclass(frozen=True, slots=True)
class FillSpec:
    """A fill whose arguments may still be expressions, as in `randint:0:n`."""

    kind: str
    arguments: tuple[Expression, ...] = ()
    start: int = field(default=0, compare=False)  # where it stands in the text it was parsed from
    end: int = field(default=0, compare=False)

    @property
    def names(self) -> frozenset[str]:
        return frozenset().union(*(a.names for a in self.arguments))

    def evaluate(self, names: Mapping[str, Number]) -> Fill:
        """In plain numbers; raises `ExpressionError` for unknown names and for empty ranges."""
        if self.kind == "choice":
            return Fill(self.kind, self._chosen(names))
        called = [name.strip("[]") for name in FILL_WORDS[self.kind]]
        named = list(zip(called, self.arguments, strict=False))
        numbers = [self._number(name, argument, names) for name, argument in named]
        if called[:2] == ["LO", "HI"]:
            low, high = numbers[:2]
            if low > high or (low == high and self.kind in _EXCLUDES_HIGH):
                excluded = " (HI is excluded)" if self.kind in _EXCLUDES_HIGH else ""
                raise ExpressionError(f"`{self}` holds no value: {low} to {high}{excluded}", self.start, self.end)
        return Fill(self.kind, tuple(numbers))

    def _chosen(self, names: Mapping[str, Number]) -> tuple[Number, ...]:
        numbers = tuple(argument.evaluate(names) for argument in self.arguments)
        for weight, argument in zip(numbers[1::2], self.arguments[1::2], strict=True):
            if weight < 0:
                message = f"a weight of `{self}` is {weight:g}, which is below 0"
                raise ExpressionError(message, argument.start, argument.end)
        if not sum(numbers[1::2]):
            raise ExpressionError(f"`{self}` chooses nothing: all weights are 0", self.start, self.end)
        return numbers

    def _number(self, name: str, argument: Expression, names: Mapping[str, Number]) -> Number:
        if name == "NNZ":
            return argument.evaluate_size(names, least=0)
        if self.kind == "randint":
            return argument.evaluate_size(names, least=-(2**63))
        number = argument.evaluate(names)
        if name == "SHARE" and not 0 <= number <= 1:
            message = f"SHARE of `{self}` is {number:g}; allowed are 0 to 1, as in mask:0.08 for 8 % of non-zero values"
            raise ExpressionError(message, argument.start, argument.end)
        if name in _AT_LEAST_ZERO and number < 0:
            raise ExpressionError(f"{name} of `{self}` is {number:g}, which is below 0", argument.start, argument.end)
        if name == "SKEW" and number > MAX_SKEW:
            what = f"{name} of `{self}` is {number:g}; 2 is very skewed, and more than {MAX_SKEW:g} is not possible"
            raise ExpressionError(what, argument.start, argument.end)
        return number

    def __str__(self) -> str:
        return fill_text(self.kind, [argument.text for argument in self.arguments])


def parse_fill(text: str, *, offset: int = 0) -> FillSpec:
    """Read `randint:0:n`, which stands at character `offset` of a larger text; raises `ExpressionError`."""
    word, *values = text.split(":")
    start, end = offset, offset + max(1, len(text.rstrip()))
    if word.strip() not in FILL_WORDS:
        close = suggestion(word.strip(), FILL_WORDS)
        message = f"`{word.strip()}` does not describe a buffer's contents; allowed are {ALLOWED_FILLS}.{close}"
        raise ExpressionError(message, start, offset + max(1, len(word)))
    if word.strip() == "choice":
        return _parse_choice(text, offset)
    wanted = FILL_WORDS[word.strip()]
    least = sum(not name.startswith("[") for name in wanted)
    if not least <= len(values) <= len(wanted):
        form, count = _form(word.strip()), str(least) if least == len(wanted) else f"{least} or {len(wanted)}"
        raise ExpressionError(f"`{word.strip()}` is written `{form}`, with {count} value(s) after it", start, end)
    arguments, at = [], offset + len(word) + 1
    for value in values:
        arguments.append(parse_expression(value, offset=at))
        at += len(value) + 1
    return FillSpec(word.strip(), tuple(arguments), start, end)


def parse_named_fill(key: str, text: str, *, key_offset: int = 0, offset: int = 0) -> tuple[str, FillSpec]:
    """Read `state[0]` and `1000`: what a fill is about, and what is there; raises `ExpressionError`.

    A single element may be given its value without a word.
    """
    target = parse_target(key, offset=key_offset)
    if target.index is not None and text.split(":", maxsplit=1)[0].strip() not in FILL_WORDS:
        value = parse_expression(text, offset=offset)
        return str(target), FillSpec("const", (value,), offset, offset + max(1, len(text.rstrip())))
    return str(target), parse_fill(text, offset=offset)


def written_fill(key: str, fill: Fill) -> str:
    """Return what reads back as `fill` of `key`: of a single element its value."""
    if fill.kind == "const" and parse_target(key).index is not None:
        return repr(fill.arguments[0])
    return fill.written


def _parse_choice(text: str, offset: int) -> FillSpec:
    """Read `choice:0@9,255,max(a, b)@2`: values with their weights, 1 where none is given."""
    start, end = offset, offset + max(1, len(text.rstrip()))
    _, _, rest = text.partition(":")
    if not rest.strip():
        message = "`choice` is written `choice:V@W,V@W`: values, each with its weight, as in choice:0@9,1"
        raise ExpressionError(message, start, end)
    arguments: list[Expression] = []
    at = offset + len(text) - len(rest)
    for part in _between_commas(rest):
        value, sign, weight = part.partition("@")
        arguments.append(parse_expression(value, offset=at))
        arguments.append(parse_expression(weight, offset=at + len(value) + 1) if sign else constant(1))
        at += len(part) + 1
    if len(arguments) > 2 * MAX_CHOICES:
        raise ExpressionError(f"{len(arguments) // 2} values to choose from; at most {MAX_CHOICES}", start, end)
    return FillSpec("choice", tuple(arguments), start, end)


def _between_commas(text: str) -> list[str]:
    """Return the parts of a list; commas in parentheses are those of functions."""
    parts, depth, begin = list[str](), 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]
