"""Whether there is a terminal to write to: standard error may be closed, missing, or an object of the user's."""

from __future__ import annotations

import sys


def is_terminal() -> bool:
    """Whether standard error is a terminal; not where it cannot say so, as in a process without one.

    >>> import io
    >>> from contextlib import redirect_stderr
    >>> with redirect_stderr(io.StringIO()):
    ...     is_terminal()
    False
    """
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError, OSError):  # it is None, or has no such method; it is closed
        return False
