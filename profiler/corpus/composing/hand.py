"""A programmer who cares for names: how they, qualifiers, literals, macros, loops and lines are written in one kernel.

One of three, see `profiler.corpus.writing.hand`.
"""

from __future__ import annotations

import re

from profiler.corpus.draw import Draw
from profiler.corpus.writing.types import base_type, is_real

SYNONYMS: dict[str, tuple[str, ...]] = {
    "index": ("i", "gid", "idx", "id", "tid", "global_id", "pos", "item", "ix", "k"),
    "count": ("n", "N", "size", "count", "num", "n_elements", "total", "len", "nitems", "numElements"),
    "input": ("in", "src", "x", "a", "input", "data", "A", "values", "d_in", "X"),
    "second input": ("b", "y", "other", "in2", "B", "rhs", "aux", "weights", "src1"),
    "third input": ("c", "w", "in3", "extra", "C", "bias", "mask_in", "src2"),
    "output": ("out", "dst", "result", "output", "res", "d_out", "O", "dest", "ret"),
    "second output": ("out2", "flags", "aux_out", "dst2", "info", "result2"),
    "value": ("v", "val", "t", "value", "cur", "elem", "r", "p"),
    "sum": ("sum", "acc", "s", "total_sum", "accum", "partial"),
    "width": ("width", "w", "nx", "cols", "W", "dim_x"),
    "height": ("height", "h", "ny", "rows", "H", "dim_y"),
    "lane": ("lid", "l", "local_id", "lx", "t", "thread", "lidx"),
    "group": ("g", "gid", "group", "grp", "block", "wg"),
    "scratch": ("tile", "buf", "scratch", "tmp", "cache", "shared", "lds", "block_data"),
    "table": ("table", "lut", "tab", "map", "coeffs", "T"),
    "loop": ("j", "k", "m", "it", "q", "jj", "step_no"),
    "state": ("state", "st", "s", "mode", "cur_state"),
    "iterations": ("iters", "max_iter", "steps", "n_iter", "rounds", "maxit", "repeat"),
}
_RESERVED_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool half uchar
ushort uint ulong size_t event_t length step sign mix dot cross min max clamp select distance normalize fract floor
ceil round sqrt sin cos exp log pow any all shuffle popcount clz rotate hash abs fabs kernel global share first last
col row base at part local constant private pipe complex imaginary vector pixel r total v w c d s t q u m p g h z it
steps used hit found ok code node top acc best which votes level held have word shift byte both rest ones bits rev
offset f op next change misses k2 q2 r2 s2 t2 d2 e2 p2 b2
"""  # the language's, its functions', and those that templates use for their own
RESERVED = frozenset(_RESERVED_WORDS.split())


class Hand:
    """Draws its habits once; keeps which names are taken."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._case = draw.weighted({"snake": 5, "camel": 3, "short": 2})
        self._taken: set[str] = set(RESERVED)
        self._names: dict[str, str] = {}
        bare = draw.chance(0.35)
        self.kernel = "kernel" if bare else "__kernel"
        self.globally = "global" if bare else "__global"
        self.locally = "local" if bare else "__local"
        self.constantly = "constant" if bare else "__constant"
        self.is_restrict = draw.chance(0.3, "restrict")
        self.is_const = draw.chance(0.75)
        self.multiply_add = draw.weighted({"plain": 6, "fma": 2, "mad": 1.5}, "multiply_add")
        self.inline = draw.choose(("inline ", "static inline ", "static ", "", ""))
        self._indent = draw.choose(("    ", "    ", "  ", "\t"))
        self._is_allman = draw.chance(0.25)
        self._increment = draw.choose(("{0}++", "++{0}", "{0} += 1"))
        self._are_literals_macros = draw.chance(0.3)
        self._macros: list[str] = []

    def name(self, role: str) -> str:
        """Return the same for the same role; unlike all others."""
        if role not in self._names:
            options = [n for n in SYNONYMS.get(role, ()) if n not in self._taken]
            self._names[role] = self._take(self._draw.choose(options) if options else self._cased(role))
        return self._names[role]

    def reserve(self, *names: str) -> None:
        """Names that a template uses for its own."""
        self._taken.update(names)

    def fresh(self, role: str) -> str:
        """Another one at each call."""
        options = [n for n in SYNONYMS.get(role, ()) if n not in self._taken]
        return self._take(self._draw.choose(options) if options else self._cased(role))

    def _cased(self, role: str) -> str:
        words = role.split()
        match self._case:
            case "snake":
                return "_".join(words)
            case "camel":
                return words[0] + "".join(w.capitalize() for w in words[1:])
            case _:
                return words[0] if len(words[0]) < 6 or len(words) == 1 else words[0][:4]

    def _take(self, name: str) -> str:
        base, count = name, 0
        while name in self._taken:
            count += 1
            name = f"{base}{count}"
        self._taken.add(name)
        return name

    def kernel_name(self, *words: str) -> str:
        """Of what it does; prefixes and suffixes as people add them."""
        name = "_".join(words)
        if self._case == "camel":
            name = words[0] + "".join(w.capitalize() for w in "_".join(words[1:]).split("_") if w)
        return self._take(self._draw.choose((name, name, f"{name}_kernel", f"k_{name}", f"cl_{name}")))

    def literal(self, value: float, type_: str = "float") -> str:
        """For scalars of OpenCL's types; vectors take a float's literal as well."""
        if not is_real(type_):
            return f"{int(value)}{'u' if base_type(type_) == 'uint' else ''}"
        text = f"{value:.6g}"
        if "e" not in text and "." not in text:
            text += ".0"
        return text if base_type(type_) == "double" else f"{text}f"

    def constant(self, role: str, text: str) -> str:
        """Return a number written out, or a macro for it: the habit is the hand's."""
        if not self._are_literals_macros:
            return text
        name = self._take(re.sub(r"\W", "_", role).upper())
        self._macros.append(f"#define {name} {f'({text})' if text.startswith('-') else text}")
        return name

    def macros(self) -> str:
        return "".join(f"{m}\n" for m in self._macros)

    def add_product(self, a: str, b: str, c: str) -> str:
        """Return `a * b + c` in one of its forms, for reals."""
        if self.multiply_add == "plain":
            return f"{a} * {b} + {c}"
        return f"{self.multiply_add}({a}, {b}, {c})"

    def loop(self, variable: str, first: str, end: str, body: str, type_: str = "int", unroll: int = 0) -> str:
        """From `first` while below `end`."""
        pragma = f"#pragma unroll {unroll if unroll > 1 else ''}\n" if unroll else ""
        step = self._increment.format(variable)
        return f"{pragma}for ({type_} {variable} = {first}; {variable} < {end}; {step}) {{\n{body}\n}}"

    def laid_out(self, source: str) -> str:
        """Indented by its braces."""
        lines: list[str] = []
        depth = 0
        for raw in source.splitlines():
            line = raw.strip()
            if not line:
                if lines and lines[-1] and not lines[-1].endswith("{"):
                    lines.append("")
                continue
            if line.startswith("#"):
                lines.append(line)
                continue
            opened, closed = line.count("{"), line.count("}")
            leading = len(line) - len(line.lstrip("}"))
            here = max(0, depth - leading)
            if self._is_allman and line.endswith(" {") and len(line) > 2 and not line.startswith("}"):
                lines.extend([self._indent * here + line[:-2], self._indent * here + "{"])
            else:
                lines.append(self._indent * here + line)
            depth += opened - closed
        return "\n".join(lines).strip("\n") + "\n"
