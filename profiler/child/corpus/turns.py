"""In which order launches that are timed together take turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def turns(batches: Sequence[int]) -> Iterator[int]:
    """Places in `batches`, each as often as its number says, spread evenly over as many rounds as the most need."""
    rounds = max(batches, default=0)
    for number in range(rounds):
        for place, count in enumerate(batches):
            if (number + 1) * count // rounds > number * count // rounds:
                yield place
