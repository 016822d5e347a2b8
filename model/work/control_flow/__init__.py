"""Statements of the source under symbolic execution: declarations, branches, switches and loops.

May import `model.work.execution` and what lies beside this folder.
"""
