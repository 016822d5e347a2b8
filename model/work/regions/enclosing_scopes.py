"""What stands around each access, branch, loop and barrier, and which unknown values are uniform in a warp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from model.work.expressions.symbolic import GLOBAL_ID, LOCAL_ID, Atom, Expression
from model.work.regions.region import Access, Block, Branch, Loop


@dataclass(frozen=True, slots=True)
class Setting:
    """Loops and conditions around something, outermost first; a condition holds as its second part says."""

    loops: tuple[Loop, ...] = ()
    conditions: tuple[tuple[Expression, bool, int], ...] = ()  # condition, whether it holds, its line

    def in_loop(self, loop: Loop) -> Setting:
        return Setting((*self.loops, loop), self.conditions)

    def where(self, branch: Branch, holds: bool) -> Setting:
        return Setting(self.loops, (*self.conditions, (branch.condition, holds, branch.line)))


@dataclass(frozen=True, slots=True)
class Settings:
    """By identity of access, branch and loop; barriers as (line, setting, block)."""

    accesses: dict[int, Setting]
    branches: tuple[tuple[Branch, Setting, Block], ...]
    loops: tuple[tuple[Loop, Setting, Block], ...]
    barriers: tuple[tuple[int, Setting, Block], ...]


def settings_of(root: Block) -> Settings:
    accesses: dict[int, Setting] = {}
    branches: list[tuple[Branch, Setting, Block]] = []
    loops: list[tuple[Loop, Setting, Block]] = []
    barriers: list[tuple[int, Setting, Block]] = []
    for block, setting in _blocks(root, Setting()):
        accesses.update((id(a), setting) for a in block.accesses)
        barriers.extend((line, setting, block) for line in block.barriers)
        for inner in block.inner:
            if isinstance(inner, Loop):
                loops.append((inner, setting, block))
            else:
                branches.append((inner, setting, block))
    return Settings(accesses, tuple(branches), tuple(loops), tuple(barriers))


def _blocks(block: Block, setting: Setting) -> Iterator[tuple[Block, Setting]]:
    yield block, setting
    for inner in block.inner:
        if isinstance(inner, Loop):
            yield from _blocks(inner.body, setting.in_loop(inner))
        else:
            yield from _blocks(inner.then, setting.where(inner, holds=True))
            yield from _blocks(inner.otherwise, setting.where(inner, holds=False))


def accesses_in(block: Block) -> Iterator[Access]:
    """Yield every load and store inside, loops and branches included."""
    for inner, _ in _blocks(block, Setting()):
        yield from inner.accesses


CARRIED = "changes from iteration to iteration"
LANES = frozenset({*GLOBAL_ID, *LOCAL_ID})
Rests = Mapping[Atom, tuple[Expression, ...]]


def uniform_atoms(accesses: Iterable[Access], rests: Rests) -> frozenset[Atom]:
    """Of the unknown values that decide where `accesses` go, those that rest on no lane's own values."""
    offsets = [access.offset for access in accesses if access.offset is not None]
    unknown = {leaf for offset in offsets for leaf in offset.leaves if leaf.kind == "unknown"}
    known: dict[Atom, bool] = {}
    return frozenset(atom for atom in unknown if _is_uniform(atom, rests, known))


def _is_carried(atom: Atom, rests: Rests) -> bool:
    """Return whether it is what the iteration before left.

    What a loop leaves at its end depends on who left it when.
    """
    return atom in rests and CARRIED in atom.arguments


def _is_uniform(atom: Atom, rests: Rests, known: dict[Atom, bool]) -> bool:
    """Values of one loop rest on each other: as long as nothing else speaks against it, they are uniform."""
    seen: set[Atom] = set()
    stack = [atom]
    while stack:
        at = stack.pop()
        if at in seen or known.get(at):
            continue
        seen.add(at)
        if at in LANES or at.kind == "load" or (at.kind == "unknown" and not _is_carried(at, rests)):
            return False
        for expression in (*at.operands, *rests.get(at, ())):
            stack.extend(expression.leaves)
    known.update(dict.fromkeys(seen, True))
    return True
