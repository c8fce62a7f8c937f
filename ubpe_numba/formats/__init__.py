"""Model files: those of this library, and those of other libraries."""
