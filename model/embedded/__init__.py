"""OpenCL C in string literals of host files: found, decoded, and its places mapped to the host's. Knows no editor."""
