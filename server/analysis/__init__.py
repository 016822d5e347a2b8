"""The background thread: a document, and what was measured of its kernels, become its analysis."""
