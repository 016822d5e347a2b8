"""What editors and terminals talk to: the pygls server and the command line. Thin.

May import `profiler` and `model`. Importing it loads neither torch, transformers, pyopencl nor numpy.
"""
