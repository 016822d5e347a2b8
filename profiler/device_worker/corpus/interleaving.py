"""In which order launches that are timed together take turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def turns(batches: Sequence[int]) -> Iterator[int]:
    """Places in `batches`, each as often as its number says and spread evenly over the whole."""
    due = sorted(((2 * turn + 1) / (2 * count), place) for place, count in enumerate(batches) for turn in range(count))
    return (place for _, place in due)
