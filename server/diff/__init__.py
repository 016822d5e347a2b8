"""`kernelcast diff`: kernels that two versions of a source tree have in common, predicted as pairs.

May import everything below `server` but the language server's features; `server.cli.diff` is its only user.
"""
