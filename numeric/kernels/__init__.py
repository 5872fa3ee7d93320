"""Emitted kernels, one module a subject. Nothing here is written by hand but this sentence."""
