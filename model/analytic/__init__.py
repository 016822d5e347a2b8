"""The analytical model: what a launch takes at least, resource by resource, from its counts and a device's rates.

`launch_times.py` is the way in, `bounds.py` what no prediction may be below. May import `model.work`, `model.opencl`
and the device's description; loads no NumPy.
"""
