"""Warnings that point to the line of the user, however many calls of this package are in between."""

from __future__ import annotations

import sys
import warnings

#: Whose lines are not the user's: ours, and those of pipelines and searches that call a fit.
_PASSED = (__name__.partition(".")[0], "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the call of the user, that came from outside of this package and of scikit-learn.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("nothing is left")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('UserWarning', 'nothing is left')
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
