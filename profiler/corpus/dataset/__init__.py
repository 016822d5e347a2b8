"""The dataset of measured kernels as files: exported from a collection, read, checked, drawn and split.

May import `profiler.corpus`, `profiler.store` and `model`, numpy and, in the modules that say so, pyarrow.
"""
