"""Device processes: how a job is started in one, heard, limited and ended.

`worker` is the way in; the child's end is `profiler.device_worker.main`.
"""
