"""Everything that touches a device: discovery, arguments, measuring, calibration, the store.

Others call `devices`, `measure`, `compiling`, `calibrate` and `store`. May import `model`, never `server`. PyOpenCL is
loaded in device processes only: `process` starts and hears them, `child` is what they run.
"""
