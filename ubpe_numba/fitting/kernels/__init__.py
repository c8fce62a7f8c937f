"""Compiled kernels of a fit; the layout of its working text is drawn in text_cells.py."""
