"""Code that runs inside a recorded Python program, whose interpreter may differ from ours.

It uses only the standard library and the syntax of Python 3.8. `site` is put first on PYTHONPATH and holds only
`sitecustomize`, which loads the modules here by their paths, so they shadow no module of the program.
"""
