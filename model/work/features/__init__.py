"""What a count tells models and advice beside its totals: of accesses, branches, loops, barriers, surroundings.

May import `expressions`, `regions`, `walk` and `memory`.
"""
