"""From tables of facts and measured times to the weights that ship, and to the figures that say what they are worth.

Needs the extra `train`; nothing here is imported to predict.
"""
