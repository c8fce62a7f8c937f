"""Model files: our own, and those of other libraries."""
