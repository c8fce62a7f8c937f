"""Compiled kernels on bare arrays. They never raise and allocate little: the Python floors above validate and allocate."""
