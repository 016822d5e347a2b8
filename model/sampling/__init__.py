"""Sampled execution: a bounded interpreter that runs a kernel's own tree for some of its work-items, with NumPy.

May import `model.opencl`, `model.launch`, `model.contents` and the sites of `model.work`. Loads NumPy: nothing that the
server imports at start may import it.
"""
