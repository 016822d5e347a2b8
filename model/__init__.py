"""Source text + launch + device -> predicted runtime.

Knows no editor and opens no device. Imports nothing from `server` or `profiler`.
"""
