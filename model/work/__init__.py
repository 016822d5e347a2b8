"""Symbolic work: what a kernel executes and touches, as a function of its launch."""
