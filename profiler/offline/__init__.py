"""Compilers for GPUs that are not in this machine.

These are clang for NVIDIA's and AMD's targets with NVIDIA's assembler, Intel's `ocloc` and Arm's `malioc`. Every tool
is a process of its own with a time limit; nothing that they make is ever run. `opencl/` holds the types and functions
that programs expect of clang. May import `profiler` and `model`; knows no editor and no command line.
"""
