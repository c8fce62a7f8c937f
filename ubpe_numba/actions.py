"""Robot actions as tokens; needs the extra `actions` (scipy)."""
