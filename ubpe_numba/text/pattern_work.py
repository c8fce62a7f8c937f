"""How much may be spent on a proof about patterns, which are those of anyone's files."""

from __future__ import annotations

__all__ = ["NotUnderstoodError", "Work"]


class NotUnderstoodError(Exception):
    """A pattern that cannot be read here, or that would take too long."""


class Work:
    """What is left to spend, in units of some 0.7 microseconds: a thread looked at, a class asked for a character."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, n: int) -> None:
        """Take so much of it; NotUnderstoodError, and nothing is left, if there is no more."""
        self.left -= n
        if self.left <= 0:
            self.left = 0
            raise NotUnderstoodError
