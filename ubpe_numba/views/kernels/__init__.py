"""Compiled kernels of the comparison."""
