"""The editor at the other end: what it can do, its settings, and what it is told beside its answers."""
