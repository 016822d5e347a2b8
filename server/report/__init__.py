"""The performance report: one self-contained page about a kernel, or about all kernels of a file.

`gathering` puts the facts together, `page` turns them into markup; `charts` draws. Nothing here knows an editor. May
import the model, the profiler's store and `server.text`; loaded at the first report, never at start-up.
"""
