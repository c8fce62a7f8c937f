"""The library inside functions that users compile: types of numba, and kernels that take the address of a header."""
