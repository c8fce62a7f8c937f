"""The command line `ubpe-numba`, its demo and the data that ship with it."""
