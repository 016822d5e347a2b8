"""What stands around each access, branch, loop and barrier of a kernel: the loops and conditions it is in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model.work.region import Access, Block, Branch, Loop
from model.work.symbolic import Expression


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
