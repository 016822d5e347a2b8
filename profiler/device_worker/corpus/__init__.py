"""The corpus' jobs inside device processes: building many kernels, and timing many launches quickly."""
