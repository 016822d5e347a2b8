"""Launches: one NDRange of one kernel with its arguments, and where they come from."""
