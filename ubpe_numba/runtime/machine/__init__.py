"""What numba does not say by itself: loads from addresses, prefetch, atomic operations, bytes as words."""
