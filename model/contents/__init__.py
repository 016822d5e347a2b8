"""What buffers and images hold before a kernel runs: one definition for measuring and for sampled execution.

Needs NumPy, so nothing that the server loads at its start imports it. `buffer.py` is the way in.
"""
