"""Whole programs: from a sequence of commands to a timeline of host, queues and devices.

Pure: opens no device and reads no file. May import the rest of `model`.
"""
