"""Launches of real programs: recorded while they run, kept by project, and given to predictions.

`hook` and `layer` run inside the program and write logs, `reader` reads these, `interpret` names what they say,
`recordings` keeps it. May import `model` and `profiler.store`.
"""

from profiler.recording.recordings import recorded_launches

__all__ = ["recorded_launches"]
