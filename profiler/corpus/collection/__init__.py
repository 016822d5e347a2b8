"""The collection's own side: what is due, in which order, on which device; and the store that loses nothing.

`collect` is the way in; `store` holds what came of it. May import `profiler.corpus`, the rest of `profiler` and
`model`. Devices are opened by `profiler.device_worker.corpus` alone.
"""
