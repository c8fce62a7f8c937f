"""Compiled kernels of the certificates."""
