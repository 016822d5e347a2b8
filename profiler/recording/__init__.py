"""Record the launches of real programs, keep them by project, and give them to predictions.

`layer` and `hook` run inside the program and write logs, `reader` reads these, `interpret` names the launches in them,
and `recordings` keeps them. May import `model` and `profiler.store`.
"""

from profiler.recording.recordings import recorded_launches

__all__ = ["recorded_launches"]
