"""What runs inside a recorded Python program, whose interpreter may be another one than ours.

It has the standard library alone, in the syntax of Python 3.8. `site` is put first on PYTHONPATH and holds nothing but
`sitecustomize`, which loads the modules here by their paths: no name of the program's is taken.
"""
