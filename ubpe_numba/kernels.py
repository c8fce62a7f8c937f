"""Inside functions that numba compiles: `Tokenizer.kernels` and `Ragged` as arguments.

Numba knows both after either is passed to a compiled function. `register` makes them known earlier, for
functions with explicit signatures, and for functions that make a `Ragged` without taking one.
"""

from ubpe_numba.inside import header
from ubpe_numba.inside.header import Kernels

__all__ = ["NO_MEMORY", "NO_ROOM", "Kernels", "register"]

#: Result where memory for scratch cannot be had.
NO_MEMORY: int = header.NO_MEMORY
#: Result if the output is too short for all ids or symbols.
NO_ROOM: int = header.NO_ROOM


def register() -> None:
    """Make `Ragged` and `Kernels` known to numba.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import njit
    >>> from ubpe_numba import Ragged
    >>> from ubpe_numba.kernels import register
    >>> register()
    >>> @njit
    ... def pairs(values):
    ...     return Ragged(values, np.arange(0, values.size + 1, 2))
    >>> pairs(np.array([1, 2, 3, 4], np.int32)).to_lists()
    [[1, 2], [3, 4]]
    """
    from ubpe_numba.inside import native  # noqa: F401  (which registers them)
