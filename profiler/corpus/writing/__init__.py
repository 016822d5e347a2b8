"""Pieces that families write their kernels of: one person's habits, how work-items share elements, launches.

May import `model` and `profiler.corpus.{draw,family}`; families import it.
"""
