"""Everything that touches a device: discovery, arguments, measuring, calibration, the store.

May import `model`, never `server`. PyOpenCL is loaded in device processes only (see `process`).
"""
