"""What a buffer holds, in words: `random`, `zeros`, `iota`, `perm`, `const:V`, `uniform:LO:HI`, `randint:LO:HI`, ..."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.launch.expression import Expression, ExpressionError, parse_expression, suggestion
from model.launch.launch import Fill, Number

# The words and the names of their arguments; `randint` excludes HI, `csr_rows` ends at NNZ.
FILL_WORDS: dict[str, tuple[str, ...]] = {
    "random": (),
    "zeros": (),
    "iota": (),
    "perm": (),
    "const": ("V",),
    "uniform": ("LO", "HI"),
    "randint": ("LO", "HI"),
    "csr_rows": ("NNZ",),
}
# What stands in a buffer of which nobody said what it holds: see `profiler.child.memory.contents`.
DEFAULT_FLOATS = (0.5, 1.5)
DEFAULT_INTEGER_LIMIT = 16  # or the launch's shortest buffer, if that is shorter
ALLOWED_FILLS = ", ".join(":".join([word, *arguments]) for word, arguments in FILL_WORDS.items())


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
        numbers: list[Number] = []
        for argument in self.arguments:
            match self.kind:
                case "randint":
                    numbers.append(argument.evaluate_size(names, least=-(2**63)))
                case "csr_rows":
                    numbers.append(argument.evaluate_size(names, least=0))
                case _:
                    numbers.append(argument.evaluate(names))
        if len(numbers) == 2 and (numbers[0] > numbers[1] or (self.kind == "randint" and numbers[0] == numbers[1])):
            excluded = " (HI is excluded)" if self.kind == "randint" else ""
            what = f"`{self}` holds no value: {numbers[0]} to {numbers[1]}{excluded}"
            raise ExpressionError(what, self.start, self.end)
        return Fill(self.kind, tuple(numbers))

    def __str__(self) -> str:
        return ":".join([self.kind, *(a.text for a in self.arguments)])


def parse_fill(text: str, *, offset: int = 0) -> FillSpec:
    """Read `randint:0:n`, which stands at character `offset` of a larger text; raises `ExpressionError`."""
    word, *values = text.split(":")
    start, end = offset, offset + max(1, len(text.rstrip()))
    if word.strip() not in FILL_WORDS:
        close = suggestion(word.strip(), FILL_WORDS)
        message = f"`{word.strip()}` says nothing of a buffer's contents; allowed are {ALLOWED_FILLS}.{close}"
        raise ExpressionError(message, start, offset + max(1, len(word)))
    wanted = FILL_WORDS[word.strip()]
    if len(values) != len(wanted):
        form = ":".join([word.strip(), *wanted])
        raise ExpressionError(f"`{word.strip()}` is written `{form}`, with {len(wanted)} value(s) after it", start, end)
    arguments, at = [], offset + len(word) + 1
    for value in values:
        arguments.append(parse_expression(value, offset=at))
        at += len(value) + 1
    return FillSpec(word.strip(), tuple(arguments), start, end)
