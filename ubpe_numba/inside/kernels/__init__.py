"""Kernels that compiled functions of users call by address."""
