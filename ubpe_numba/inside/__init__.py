"""The library inside functions that users compile: types of numba."""
