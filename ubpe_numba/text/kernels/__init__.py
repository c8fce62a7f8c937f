"""Compiled kernels that cut UTF-8 by the published patterns and count segments."""
