"""Launches that others measured on GPUs, and kernels of our own that do the same work: one module per kernel.

May import `profiler.corpus` and `model`; pyarrow in the modules that read and write Parquet.
"""
