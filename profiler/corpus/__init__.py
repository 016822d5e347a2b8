"""The corpus: kernels of our own generator and of other people's packages, and their collection on devices.

May import `model` and the rest of `profiler`; nothing outside `server` imports it.
"""
