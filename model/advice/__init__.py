"""Performance advice: one file per rule, each a pure function from a launch and its prediction to what would help.

A rule says nothing unless it is sure: a reason and a figure, or silence. May import the rest of `model`; knows no
editor.
"""
