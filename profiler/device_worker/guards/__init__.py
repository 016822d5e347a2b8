"""Proof that a launch stays inside its buffers: guard pages, canaries, other devices, Oclgrind. Begins in `proof`."""
