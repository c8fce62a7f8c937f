"""Displays, a file each: `from_...` computes and plots, `plot` plots again.

The arrays stay as attributes.
"""
