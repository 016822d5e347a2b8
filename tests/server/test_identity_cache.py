"""What is remembered by identity: while somebody asks for it, and not much longer."""

from __future__ import annotations

import gc
import weakref

from server.analysis.identity_cache import IdentityCache


class Thing:
    """Something that a weak reference can watch."""


def test_what_is_asked_for_in_every_round_stays() -> None:
    kept: IdentityCache[str] = IdentityCache(2)
    thing, other = Thing(), Thing()
    kept.put("what it says", thing, other)
    for _ in range(5):
        kept.begin_round()
        assert kept.get(thing, other) == "what it says"
    assert kept.get(thing) is None
    assert kept.get(other, thing) is None


def test_what_nobody_asks_for_is_let_go_with_all_that_it_was_made_of() -> None:
    kept: IdentityCache[str] = IdentityCache(3)
    thing = Thing()
    alive = weakref.ref(thing)
    kept.put("what it says", thing)
    del thing
    kept.begin_round()
    kept.begin_round()
    gc.collect()
    assert alive() is not None
    kept.begin_round()
    gc.collect()
    assert alive() is None
