"""Import logs of Intel's OpenCL Intercept Layer as if the program had been recorded.

The logs are text: calls, sizes, small values and times. Sources are files beside the log, if they were dumped.
"""
