"""Kernels of the formats: which pair makes each token."""
