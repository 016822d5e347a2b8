"""What accesses touch: strides, sets of bytes, footprints, transactions of warps.

May import `expressions`, `regions` and `walk`.
"""
