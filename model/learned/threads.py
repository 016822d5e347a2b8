"""How many threads libraries of linear algebra may take for the learned model."""

from __future__ import annotations

import os

# One. Products of this size take a millisecond on one thread; on several, each waits for the slowest, which on a busy
# machine took a hundred times as long. It also leaves the machine to whoever types or measures.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def use_one_thread() -> None:
    """Set it for this process; to be called before numpy is imported, which looks once. What the user set stays."""
    for name, threads in ONE_THREAD.items():
        os.environ.setdefault(name, threads)
