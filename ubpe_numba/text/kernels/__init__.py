"""Compiled kernels that split UTF-8 by the published patterns and count segments."""
