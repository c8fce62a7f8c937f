"""Text is cut into segments by a pattern, and segments are counted; the kernels that do it."""
