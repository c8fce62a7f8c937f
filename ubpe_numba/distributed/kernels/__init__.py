"""Kernels of fits on many machines."""
