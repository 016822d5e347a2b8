"""From what a launch should be like to a `Sized` one, and from a kernel's parts to its draft."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from textwrap import dedent, indent

from model.launch.launch import Fill, Launch, Number
from profiler.corpus.draw import Draw
from profiler.corpus.family import Draft, Sized, Wish
from profiler.corpus.writing.hand import Hand

MOST_BYTES = 160 << 20  # of all buffers of a launch
Words = tuple[str | Number, ...]  # of a fill
Fills = dict[str, Words]


def within_memory(count: int, bytes_each: float) -> int:
    """As many elements as fit when each takes so many bytes over all buffers."""
    return max(1, min(count, int(MOST_BYTES / bytes_each)))


def line(wish: Wish, most_items: int = 1 << 24, most_local: int = 1024) -> tuple[int, int | None]:
    """Global and local size in one dimension; follow from `items` and `local` alone."""
    items = max(1, min(wish.items, most_items))
    if wish.local is None:
        return items, None
    local = max(1, min(wish.local, most_local))
    return max(1, round(items / local)) * local, local


def groups(wish: Wish, local: int, most_groups: int = 1 << 24) -> int:
    """Return how many groups of a local size that the kernel wants."""
    return max(1, min(most_groups, round(wish.items / local)))


def power_below(number: int, least: int = 1) -> int:
    """Return the largest power of two that is no larger."""
    return max(least, 1 << (max(1, number).bit_length() - 1))


def fitting_local(wish: Wish, least: int = 8, most: int = 256) -> int:
    """Return a power of two for kernels that need one and take any."""
    return max(least, min(most, power_below(wish.local or most)))


def rows_for(draw: Draw, wish: Wish, entries: int) -> int:
    """Rows that share so many entries: of any average length, now and then as many rows as work-items."""
    rows = wish.items if draw.chance(0.3) else int(entries / draw.log_real(0.5, 300))
    return max(1, min(rows, 1 << 21))


def about(draw: Draw, count: int, factor: float = 8.0) -> int:
    """As many as that, or more, or fewer."""
    return min(1 << 21, count if draw.chance(0.5) else max(1, int(count * draw.log_real(1 / factor, factor))))


def sized(
    global_size: int | Sequence[int],
    local_size: int | Sequence[int] | None,
    operations: float,
    buffers: Mapping[str, int],
    scalars: Mapping[str, Number] | None = None,
    fills: Mapping[str, Words] | None = None,
    local_bytes: Mapping[str, int] | None = None,
    images: Mapping[str, tuple[int, int, int]] | None = None,
) -> Sized:
    """Return a launch in plain dictionaries; what the kernel does not take is left out by `draft`."""
    launch = Launch(
        global_size=(global_size,) if isinstance(global_size, int) else tuple(global_size),
        local_size=(local_size,) if isinstance(local_size, int) else None if local_size is None else tuple(local_size),
        scalars=tuple((scalars or {}).items()),
        buffers=tuple(buffers.items()),
        images=tuple((images or {}).items()),
        local_bytes=tuple((local_bytes or {}).items()),
        fills=tuple((name, _fill(words)) for name, words in (fills or {}).items()),
    )
    return Sized(launch, max(1.0, operations))


def _fill(words: Words) -> Fill:
    return Fill(str(words[0]), tuple(number for number in words[1:] if not isinstance(number, str)))


def draft(
    hand: Hand,
    name: str,
    parameters: Sequence[str],
    body: str,
    launch: Callable[[Draw, Wish], Sized],
    *,
    before: str = "",
    attribute: str = "",
    options: tuple[str, ...] = (),
    in_place: tuple[str, ...] = (),
) -> Draft:
    """Return a kernel with those of the `parameters` that its body uses.

    Its launches leave out the others' arguments.
    """
    body = indent(dedent(body).strip("\n"), "    ")
    body = "\n".join(text for text in body.split("\n") if text.strip())
    names = {parameter: re.findall(r"\w+", parameter)[-1] for parameter in parameters}
    taken = [parameter for parameter in parameters if re.search(rf"\b{names[parameter]}\b", body)]
    used = {names[parameter] for parameter in taken}
    head = f"{hand.kernel} {attribute + ' ' if attribute else ''}void {name}("
    joined = ", ".join(taken)
    signature = head + (joined if len(joined) < 80 else "\n    " + ",\n    ".join(taken)) + ")"
    before = dedent(before).strip("\n")
    source = (f"{before}\n\n" if before else "") + f"{signature}\n{{\n{body}\n}}\n"

    def launch_with_arguments_taken(draw: Draw, wish: Wish) -> Sized:
        whole = launch(draw, wish)
        kept = whole.launch
        kept = replace(
            kept,
            scalars=tuple(pair for pair in kept.scalars if pair[0].split(".")[0] in used),
            buffers=tuple(pair for pair in kept.buffers if pair[0] in used),
            images=tuple(pair for pair in kept.images if pair[0] in used),
            local_bytes=tuple(pair for pair in kept.local_bytes if pair[0] in used),
            fills=tuple(pair for pair in kept.fills if pair[0] in used),
        )
        return Sized(kept, whole.operations)

    return Draft(source, name, launch_with_arguments_taken, options, tuple(name for name in in_place if name in used))
