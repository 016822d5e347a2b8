"""Reports on a device as picture and text: its roofline, memory bandwidth by footprint, and all figures behind them.

Pure: a `Device` in, markup or text out. Imports `model` and, for drawing, `server.report`.
"""
