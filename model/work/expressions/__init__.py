"""Expressions over a launch: their algebra, their values under a launch, and their intervals.

Imports nothing else of `model.work`.
"""
