"""What a device can do, as a picture and as text: its roofline, its memory by footprint, and every figure behind them.

Pure: a `Device` in, markup or text out. Imports `model` and, for drawing, `server.report`.
"""
