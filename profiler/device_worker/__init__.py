"""What runs inside the device process. Only modules in here import pyopencl and numpy; nothing else imports them.

It begins in `main`; its jobs are `probing`, `measuring`, `compiling` and `calibrating`.
"""
