"""Composition: how work-items cover elements, values that pass through stages, and where the results go.

Families put kernels together from these parts; nothing in here registers a family. May import `profiler.corpus`'s
contract (`draw`, `family`) and `model`.
"""
