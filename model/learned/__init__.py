"""The learned part of a prediction: what a launch takes beyond what the laws say. Loaded when first asked, not before.

`question.py` says what it is asked, `learned.py` answers. Imports `model` alone.
"""
