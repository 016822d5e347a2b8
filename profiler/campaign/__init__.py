"""A campaign: what there is to learn from one device in some minutes, kept in one folder that can be committed.

`campaign` is the way in. May import the rest of `profiler`, and `model`. Needs pyarrow, as the corpus does.
"""
