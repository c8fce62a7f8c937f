"""Functions of kernels that numba does not have: loads from addresses, prefetch, atomic operations, bytes as words."""
