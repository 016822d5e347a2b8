"""OpenCL C source text -> programs, kernels, parameters and types."""
