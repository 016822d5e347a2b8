"""The predictor process: the learned model runs in it, and `answers` is what the server knows of it.

The server itself loads no weights. `child` is the process's own end and imports `model`, `process` holds its pipes.
"""
