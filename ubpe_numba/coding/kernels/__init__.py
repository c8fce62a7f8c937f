"""Compiled kernels of encoding and decoding."""
