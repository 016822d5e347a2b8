"""Measured launches -> weights of the network, and the baselines that it is held against.

Reads a folder of arrays (`arrays.py`), so that nothing here knows how they were collected. Imports `model` alone.
"""
