"""Compiled kernels of a fit; the layout of its working text is shown in text_cells.py."""
