"""The language server and the command line. Thin.

May import `profiler` and `model`. Importing it loads neither torch, transformers, pyopencl nor numpy.
"""
