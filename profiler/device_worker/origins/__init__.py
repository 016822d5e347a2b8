"""The device side of preparing other people's kernels: what builds, and which launches stay inside their buffers."""
