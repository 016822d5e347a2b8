"""The learned part of a prediction: what a launch takes beyond its analytical time. Loaded when first asked.

`question.py` says what it is asked, `learned.py` answers. Imports `model` alone.
"""
