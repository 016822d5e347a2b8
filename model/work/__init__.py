"""Symbolic work: what a kernel executes and touches, as a function of its launch.

`analyse` executes a kernel's source symbolically (`execution`, `control_flow`) and gives a `Work`: blocks, loops and
branches (`regions`) over integer `expressions`. `Work.count` walks them under a launch (`walk`), looks at what accesses
touch (`memory`) and gives `WorkCounts` with `features` for models.
"""
