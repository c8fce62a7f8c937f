"""Functions for kernels that numba lacks.

These are loads from addresses, prefetch, atomic operations, and bytes as words.
"""
