"""From the dataset to the learned model's inputs: sources read again, launches counted and priced. Imports `model`.

What is kept are numbers; of other people's text nothing is left in them.
"""
