"""Text is changed by normalizers and cut into segments, and segments are counted; the kernels that do it."""
