"""Displays, a file each: `from_...` computes and draws, the arrays stay as attributes, and `plot` draws them again."""
