"""Robot actions as tokens; needs the extra `actions` (scipy)."""

from ubpe_numba.integrations.actions import ActionTokenizer

__all__ = ["ActionTokenizer"]
