"""How often each block runs under one launch, and which bytes each access reaches.

May import `expressions` and `regions`.
"""
