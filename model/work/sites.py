"""Where in the source something happens: a statement or expression, and the calls that lead to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Site:
    """A node of the source, reached through a chain of calls, outermost first.

    Bytes are those of the node in the tree of the function that it stands in (`Function.body`'s tree); so sites are
    only comparable within one reading of one program. `calls` holds, for each call on the way from the kernel, the
    caller's name and the byte at which the call expression starts in the caller's tree.
    """

    calls: tuple[tuple[str, int], ...]
    function: str
    start_byte: int
    end_byte: int
