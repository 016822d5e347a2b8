"""Atoms are one object each: two threads that name the same thing at once must mean the same."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from model.work.expressions.symbolic import Atom


@pytest.fixture
def _eager_switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_eager_switching")
def test_threads_that_make_the_same_atom_get_the_same_one() -> None:
    names = [f"arg.shared_{n}" for n in range(300)]
    found: list[list[Atom]] = [[] for _ in range(4)]
    start = threading.Barrier(len(found))

    def make(mine: list[Atom]) -> None:
        start.wait()
        mine.extend(Atom.of("symbol", name) for name in names)

    threads = [threading.Thread(target=make, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(len(set(map(id, same))) == 1 for same in zip(*found, strict=True))
    assert len({atom.serial for atom in found[0]}) == len(names)
