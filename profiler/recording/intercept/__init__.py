"""Logs of Intel's OpenCL Intercept Layer, read as if the program had been recorded.

They are text. Calls, sizes, small values and times are in them; sources lie beside, if they were dumped.
"""
