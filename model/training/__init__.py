"""Dataset -> weights, evaluation and baselines. Works on plain arrays: may import `model`, numpy and scikit-learn."""
