"""What a calibration runs on the device: kernels of our own, probe by probe, timed in rounds.

Only the device process imports it.
"""
