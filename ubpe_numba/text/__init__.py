"""Text is cut into segments, and segments are counted."""
