"""The items of one annotation, `global=(N, N) N=1024 -DTILE=16 fill.col=randint:0:n`, each with its own problems."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from model.launch.build_options import ELSEWHERE, is_harmless
from model.launch.conditions import parse_condition
from model.launch.expression import ExpressionError
from model.launch.fill import parse_named_fill
from model.launch.launch import Origin
from model.launch.sizes import parse_sizes
from model.launch.spec import LaunchSpec
from model.launch.tuning import Tuning, parse_range
from model.launch.vectors import MOST_COMPONENTS
from model.opencl.options import BuildOptions

MAX_DIMENSIONS = 3
EXAMPLE = "for example: kernelcast: global=(1024, 1024) local=(16, 16) n=1024"

_NOT_SPACE = re.compile(r"\S")
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w.]*(?:\[[^\s\[\]=]*\][\w.]*)*)\s*=(?!=)\s*", re.ASCII)
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\]|["'\\])+""", re.DOTALL)
_DEFINE = re.compile(r"-D\s*(?P<name>[A-Za-z_]\w*(?:\([^()\s]*\))?)", re.ASCII)
_INCLUDE = re.compile(r"-I\s*(?=\S)")
_FLAG = re.compile(r"-[A-Za-z]\S*")
# What compilers of OpenCL C know; anything else after a space and a `-` is more likely a subtraction.
_KNOWN_FLAG = re.compile(r"-(cl-|create-library|enable-link|w$|W|g|O|f|s$|x|U|nv-|qcom|m|std=)")
_CL_FLAG = re.compile(r"-(?:cl|nv)-")
_WHERE = re.compile(r"where\b(?!\s*=[^=])\s*", re.ASCII)
_LAUNCH_NAME = re.compile(r"""(?P<quote>["'])(?P<quoted>.*?)(?P=quote)|(?P<plain>[^\s"'=]+)""")


@dataclass(frozen=True, slots=True)
class ItemProblem:
    """`start` and `end` are characters of the annotation's body."""

    message: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Items:
    """What could be read, where each key stands (characters of the body), and what could not."""

    spec: LaunchSpec
    keys: tuple[tuple[str, int, int], ...]
    problems: tuple[ItemProblem, ...]
    ends: tuple[tuple[str, int], ...] = ()  # where each key's value ends

    def item_span(self, key: str) -> tuple[int, int] | None:
        """Return the range of `key` with its value; None if it is not given."""
        end = dict(self.ends).get(key)
        return None if end is None else (self.key_span(key)[0], end)

    def key_span(self, key: str) -> tuple[int, int]:
        """Where `key` stands; the whole body if it does not."""
        return next(((start, end) for name, start, end in self.keys if name == key), (0, 0))


@lru_cache(maxsize=1024)
def read_items(body: str) -> Items:
    """Read everything after `kernelcast:`. Never raises; positions count in characters of `body`."""
    return _Reader(body).items()


@dataclass
class _Reader:
    """Goes through the body once, from item to item."""

    body: str
    at: int = 0
    spec: LaunchSpec = field(default_factory=lambda: LaunchSpec(origin=Origin.ANNOTATION))
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: list[ItemProblem] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)

    def items(self) -> Items:
        while (at := self._skip_space()) < len(self.body):
            key = _KEY.match(self.body, at)
            if where := _WHERE.match(self.body, at):
                self._condition(where)
            elif key:
                self._assignment(key)
            elif self.body[at] == "-" and _FLAG.match(self.body, at):
                self._option(at)
            else:
                self._junk(at)
            self.ends |= dict.fromkeys(self.keys.keys() - self.ends.keys(), self.at)
        if not self.keys and not self.problems:
            self._problem(f"this does not describe a launch; {EXAMPLE}", 0, len(self.body))
        keys = tuple((key, start, end) for key, (start, end) in self.keys.items())
        return Items(self.spec, keys, tuple(self.problems), tuple(self.ends.items()))

    def _assignment(self, key: re.Match[str]) -> None:
        name, start, end = key["key"], key.start("key"), key.end("key")
        self.at = key.end()
        if name == "name":
            self._launch_name(start, end)
            return
        value_at = self.at
        value = "" if _KEY.match(self.body, self.at) else self._value()
        if not value:
            self._problem(f"`{name}=` lacks its value", start, start + len(key[0].rstrip()))
        elif self._is_new(name, start, end):
            try:
                self._assign(name, value, value_at)
            except ExpressionError as error:
                self._problem(error.message, error.start, error.end)

    def _assign(self, name: str, value: str, at: int) -> None:
        if name.startswith("fill."):
            start = self.keys[name][0] + len("fill.")
            fill = parse_named_fill(name.removeprefix("fill."), value, key_offset=start, offset=at)
            self.spec = replace(self.spec, fills=(*self.spec.fills, fill))
            return
        if name.startswith("tune."):
            start = self.keys[name][0] + len("tune.")
            found = parse_range(name.removeprefix("tune."), value, name_offset=start, offset=at)
            self.spec = replace(self.spec, tuning=self.spec.tuning.merged(Tuning((found,))))
            return
        if "[" in name:
            message = f"`{name}`: only what a buffer holds has places, as in fill.{name}=0"
            raise ExpressionError(message, *self.keys[name])
        if name == "local" and value == "auto":
            self.spec = replace(self.spec, driver_chooses_local=True)
            return
        sizes = parse_sizes(value, offset=at)
        is_size = name in ("global", "local")
        if len(sizes) > (MAX_DIMENSIONS if is_size else MOST_COMPONENTS):
            message = f"{len(sizes)} sizes, but OpenCL knows one to {MAX_DIMENSIONS} dimensions"
            if not is_size:
                message = f"{len(sizes)} values, but vectors have {MOST_COMPONENTS} components at most"
            raise ExpressionError(message, at, at + len(value))
        match name:
            case "global":
                self.spec = replace(self.spec, global_size=sizes)
            case "local":
                self.spec = replace(self.spec, local_size=sizes)
            case _:
                self.spec = replace(self.spec, values=(*self.spec.values, (name, sizes)))

    def _condition(self, where: re.Match[str]) -> None:
        """Read up to the next key, build option or condition."""
        start = at = where.end()
        while at < len(self.body) and not self._begins_item(start, at):
            at += 1
        self.at = at
        try:
            found = parse_condition(self.body[start:at], offset=start)
            self.spec = replace(self.spec, tuning=self.spec.tuning.merged(Tuning((), (found,))))
            self.keys.setdefault("where", (where.start(), where.start() + len("where")))
        except ExpressionError as error:
            self._problem(error.message, error.start, error.end)

    def _begins_item(self, start: int, at: int) -> bool:
        if at > start and not self.body[at - 1].isspace():
            return False
        return any(found.match(self.body, at) for found in (_KEY, _WHERE, _DEFINE, _INCLUDE, _CL_FLAG))

    def _value(self) -> str:
        """Return an expression, a list or a fill: up to the next space that no operator reaches across."""
        start = at = self.at
        depth = 0
        while at < len(self.body):
            character = self.body[at]
            if character.isspace():
                after = self._next_word(at)
                if (
                    after == len(self.body)
                    or _WHERE.match(self.body, after)
                    or _KEY.match(self.body, after)
                    or (not depth and not self._reaches_across(start, at, after))
                ):
                    break
                at = after
                continue
            depth += (character == "(") - (character == ")")
            at += 1
        self.at = at
        return self.body[start:at]

    def _reaches_across(self, start: int, before: int, after: int) -> bool:
        if before > start and self.body[before - 1] in "+-*/%,(:":
            return True
        follower = self.body[after : after + 2]
        # ` - 1` and ` -1` subtract, ` -D` is a build option.
        return follower[0] in "+*/%,):" or (follower[0] == "-" and not follower[1:].isalpha())

    def _launch_name(self, start: int, end: int) -> None:
        word = _LAUNCH_NAME.match(self.body, self.at)
        if word is None or _KEY.match(self.body, self.at):
            self._problem("`name=` lacks its value: a word, or text in quotes", start, end + 1)
            return
        self.at = word.end()
        if self._is_new("name", start, end):
            self.spec = replace(self.spec, name=word["plain"] or word["quoted"] or None)

    def _option(self, at: int) -> None:
        if define := _DEFINE.match(self.body, at):
            self.at = define.end()
            value = "1"  # as every C compiler takes a bare -DNAME
            if self.body[self.at : self.at + 1] == "=":
                self.at += 1
                value = self._word()
            if self._is_new(f"-D{define['name']}", at, define.end()):
                self._add_options(BuildOptions(defines=((define["name"], value),)))
            return
        if include := _INCLUDE.match(self.body, at):
            self.at = include.end()
            self._add_options(BuildOptions(include_dirs=(*self.spec.options.include_dirs, self._word())))
            self.keys.setdefault("-I", (at, at + 2))
            return
        self.at = at
        flag = self._word()
        if flag in {"-D", "-I"} or flag.startswith("-D"):
            wants = "a folder" if flag == "-I" else "NAME or NAME=VALUE"
            self._problem(f"`{flag[:2]}` must be followed by {wants}", at, self.at)
        elif not _KNOWN_FLAG.match(flag):
            self._problem(f"`{flag}` is not a build option; to subtract, leave out the space before `-`", at, self.at)
        elif not is_harmless(flag):
            self._problem(f"`{_shortened(flag)}` {ELSEWHERE}", at, self.at)
        else:
            self._add_options(BuildOptions(flags=(flag,)))
            self.keys.setdefault(flag, (at, self.at))

    def _junk(self, at: int) -> None:
        self.at = at
        word = self._word()
        self._problem(f"`{_shortened(word)}` was not understood; {EXAMPLE}", at, self.at)

    def _word(self) -> str:
        """To the next space outside quotes, without those quotes; nothing where a space follows at once."""
        word = _WORD.match(self.body, self.at)
        if word is None:
            return ""
        self.at = word.end()
        return re.sub(
            r"""\\(.)|"([^"]*)"|'([^']*)'""",
            lambda m: m[1] if m[1] is not None else m[2] if m[2] is not None else m[3],
            word[0],
        )

    def _is_new(self, key: str, start: int, end: int) -> bool:
        if key in self.keys:
            self._problem(f"`{key}` is given twice; the first one counts", start, end)
            return False
        self.keys[key] = (start, end)
        return True

    def _add_options(self, options: BuildOptions) -> None:
        self.spec = replace(self.spec, options=self.spec.options.merged(options))

    def _problem(self, message: str, start: int, end: int) -> None:
        self.problems.append(ItemProblem(message, start, max(end, start)))

    def _skip_space(self) -> int:
        self.at = self._next_word(self.at)
        return self.at

    def _next_word(self, at: int) -> int:
        word = _NOT_SPACE.search(self.body, at)
        return word.start() if word else len(self.body)


def _shortened(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:37]}..."
