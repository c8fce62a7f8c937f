"""Arguments of every module: arrays in one memory layout, offsets, and checks that name the fault.

Two parts, in this order:

- any value: `describe` names it in messages, `told` adds hints about unknown arguments. `positive` checks an
  integer from a user, `resolve_threads` determines the number of threads, `Parameters` are those of a
  constructor;
- arrays: `plain` and `writable` give them the form for kernels. `frozen` copies arrays that others may change,
  `freeze` protects arrays that others see. `offsets_of` and `check_offsets` make and check offsets,
  `distinct` joins positions, `places_of` lists the indices of ranges.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import quoted, shortened
from ubpe_numba.runtime.counterparts import ARGUMENTS, hint

F = TypeVar("F", bound=Callable[..., Any])
#: No machine has more processors: Linux is built for at most 8,192. More threads are a mistake, and each
#: costs a stack.
MOST_THREADS = 8192
#: Variables of the environment that request a number of threads, in order of precedence.
THREAD_VARIABLES = ("UBPE_NUM_THREADS", "NUMBA_NUM_THREADS")


def describe(value: object) -> str:
    """Describe a value in the message of an error.

    >>> describe(np.zeros(2)), describe([1]), describe(2.5)
    ('an array of float64, shape (2,)', 'list', '2.5 (float)')
    """
    if isinstance(value, np.ndarray):
        return f"an array of {shortened(value.dtype)}, shape {value.shape}"
    if isinstance(value, (int, float, complex, np.generic)):
        shown = quoted(value) if type(value) is int else shortened(value)
        return f"{shown} ({type(value).__name__})"
    return "None" if value is None else type(value).__name__


def positive(value: Any, name: str, expected: str = "an int") -> int:
    """`value` as an int of at least 1.

    Otherwise raises ValueError, or TypeError with the `expected` value.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected {expected}, got {quoted(value)}")
    if value < 1:
        raise ValueError(f"{name}: expected at least 1, got {quoted(int(value))}")
    return int(value)


def resolve_threads(n_threads: int | None, of_fit: bool = False) -> int:
    """The number of threads: the argument, or UBPE_NUM_THREADS, or NUMBA_NUM_THREADS, or all CPUs.

    CPUs are those that this process may use. Threads of a fit wait for each other: there is one per core if
    none are requested, and never more than CPUs. TypeError or ValueError, with the argument or variable, if
    its value is not an integer in 1..MOST_THREADS.
    """
    requested = requested_threads(n_threads)
    if requested and not of_fit:
        return requested
    n_cpus, n_cores = processors(
        frozenset(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0))
    )
    return min(requested or n_cores, n_cpus) if of_fit else n_cpus


@functools.lru_cache(1)
def processors(usable: frozenset[int]) -> tuple[int, int]:
    """How many CPUs of its affinity, and how many cores, a process may use.

    Both respect the quota of its container.

    Linux has files on its control groups, of version 1 or 2, and its cores. Elsewhere quotas are unknown, and
    a core is a CPU.
    """

    def read(path: str) -> str:
        with suppress(OSError):
            return Path("/", path).read_text()
        return ""

    quota = len(usable)
    for line in read("proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)  # no controllers: version 2
        group = Path(path[1:])  # in a container that does not see its own name there is the root alone
        for folder in (group, *group.parents) if {"", "cpu"}.intersection(controllers.split(",")) else ():
            file = f"sys/fs/cgroup/{'cpu' if controllers else ''}/{folder}/cpu."
            both = read(file + "max") or read(file + "cfs_quota_us") + read(file + "cfs_period_us")
            if limit := re.fullmatch(r"(\d+)\s(\d+)\s*", both):  # neither "max" nor -1
                quota = min(quota, -(-int(limit[1]) // int(limit[2])))
    return quota, min(
        quota,
        len({read(f"sys/devices/system/cpu/cpu{i}/topology/thread_siblings_list") or i for i in usable}),
    )


def check_threads(n_threads: int, name: str) -> int:
    """A number of threads that the user gave by an argument of this `name`; raises as `resolve_threads`.

    >>> check_threads(10**6, "--threads")
    Traceback (most recent call last):
    ValueError: --threads: expected at most 8192, got 1000000
    """
    n = positive(n_threads, name, "an int or None")
    if n > MOST_THREADS:
        raise ValueError(f"{name}: expected at most {MOST_THREADS}, got {quoted(n)}")
    return n


def requested_threads(n_threads: int | None) -> int | None:
    """The number of threads requested by the argument or the environment, or None.

    Raises as `resolve_threads`.
    """
    if n_threads is not None:
        return check_threads(n_threads, "n_threads")
    for name in THREAD_VARIABLES:
        if text := os.environ.get(name):
            # Python makes no int of thousands of digits
            n = int(text[:99]) if text.isascii() and text.isdigit() else 0
            if not 1 <= n <= MOST_THREADS:
                raise ValueError(
                    f"environment variable {name}: expected an integer in 1..{MOST_THREADS}, got "
                    f"{quoted(text)}"
                )
            return n
    return None


def told(function: F) -> F:
    """A function, or a class with its class methods, with hints in errors for unknown arguments.

    A hint gives the name here, or a near one.

    >>> @told
    ... def fit(n_tokens): ...
    >>> fit(vocab_size=3)
    Traceback (most recent call last):
    TypeError: fit() got an unexpected keyword argument 'vocab_size'; here: n_tokens
    """
    if isinstance(function, type):
        for name, value in list(vars(function).items()):
            if isinstance(value, classmethod) and name[0] != "_":
                setattr(function, name, type(value)(told(value.__func__)))
        function.__init__ = told(function.__init__)  # type: ignore[misc]
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            owner, mark, rest = str(error).partition(
                f"{function.__name__}() got an unexpected keyword argument '"
            )
            if (
                not mark
                and " positional argument" in str(error)
                and f"{function.__name__}() takes" in str(error)
            ):
                named = [
                    p.name
                    for p in inspect.signature(function).parameters.values()
                    if p.kind is p.KEYWORD_ONLY
                ]
                raise TypeError(f"{error}; by name: {', '.join(named)}" if named else str(error)) from None
            if not mark:
                raise
            known = inspect.signature(function).parameters.keys() - {"self"}
            argument = rest.partition("'")[0]  # from Python 3.13 on one that is near follows
            text = f"{owner}{mark}{argument}'".replace(".__init__()", "()").replace(
                "Encoding.__call__()", "tok()"
            )
            raise TypeError(text + hint(ARGUMENTS, argument, known)) from None

    return cast(F, call)


def store(made: object, given: dict[str, Any]) -> None:
    """Set the arguments of a constructor, which are its `locals()`, as attributes."""
    vars(made).update({name: value for name, value in given.items() if name not in ("self", "__class__")})


class Parameters:
    """Constructor arguments that are attributes, as scikit-learn reads and changes them."""

    @classmethod
    def _param_names(cls) -> list[str]:
        """The names of the constructor's arguments, in their order."""
        return list(inspect.signature(cls.__init__).parameters)[1:]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments, as a dict; `deep` is as for `clone` of scikit-learn, and ignored.

        Examples
        --------
        >>> BPE(512).get_params()["n_tokens"]
        512
        """
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params: Any) -> Self:
        """Set arguments, as for `get_params`: all, or none with a ValueError. Those of a fit act at the next.

        Examples
        --------
        >>> BPE(512).set_params(n_tokens=1024, n_threads=2)
        BPE(n_tokens=1024, n_threads=2)
        """
        known = self._param_names()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"{name}: not a parameter of {type(self).__name__}; there are {', '.join(known)}"
                    f"{hint(ARGUMENTS, name, known)}"
                )
        self._set(params)
        return self

    def _set(self, params: dict[str, Any]) -> None:
        vars(self).update(params)


def integer(value: Any, name: str) -> int:
    """`value` as an int. Otherwise raises TypeError, also for booleans."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {describe(value)}") from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected an integer, got {quoted(value)}")
    return number


def checked_token(token: Any, size: int) -> int:
    """An id of a vocabulary of `size` tokens.

    TypeError if it is not an integer, IndexError if it is outside 0..size - 1.
    """
    t = integer(token, "token")
    if not 0 <= t < size:
        raise IndexError(f"token {t}: expected 0..{size - 1}")
    return t


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """The values as a C-contiguous, aligned `np.ndarray` of native byte order.

    The array itself if it is one, otherwise a copy.
    """
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return array if array.flags.aligned else array.copy()


def frozen(value: Any) -> Any:
    """A read-only copy of an array or of a list, safe from changes; other values as they are."""
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.flags.writeable):
        value = value.copy()
        freeze([value])
    return value


def freeze(values: Iterable[Any]) -> None:
    """Make all arrays among some values read-only: the library's own that a user can reach."""
    for value in values:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


def writable(array: np.ndarray) -> np.ndarray:
    """An array of the same memory marked as writable, for kernels that only read it.

    `array` itself if it is writable.

    Read-only arrays are another type to the compiler, so each kernel would be compiled twice; and a copy
    would double the memory of a memory-mapped corpus.
    """
    if array.flags.writeable:
        return array
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    # which keeps the memory alive
    return np.asarray(SimpleNamespace(__array_interface__=interface, owner=array))


def offsets_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """int64[n + 1] from n lengths: ``[2, 0, 1]`` -> ``[0, 2, 2, 3]``."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:], dtype=np.int64)
    return offsets


def distinct(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values of all parts, ascending.

    As `np.unique`, in a hundredth of the time if parts are ascending.

    >>> distinct(np.array([0, 2, 2, 5]), np.array([3, 1])).tolist()
    [0, 1, 2, 3, 5]
    """
    values = np.concatenate(parts)
    if (values[1:] < values[:-1]).any():
        values = np.sort(values, kind="stable")  # of parts that ascend a merge, O(n)
    is_first = np.ones(values.size, bool)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return values[is_first]


def places_of(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """All places in stretches of these lengths, int64, which begin at `starts`, one stretch after the other.

    >>> places_of(np.array([2, 7]), np.array([3, 1])).tolist()
    [2, 3, 4, 7]
    """
    ends = offsets_of(lengths)
    return np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])


def check_offsets(offsets: NDArray[np.int64], size: int, name: str = "offsets") -> None:
    """Raise `ValueError` unless 1-D int64 `offsets` cut an array of `size` values into documents."""
    if offsets.size == 0:
        raise ValueError(f"{name}: expected at least one entry (n + 1 for n documents), got none")
    if offsets[0] < 0:
        raise ValueError(f"{name}: expected 0 or more at the start, got {offsets[0]}")
    # Compared, not subtracted: the difference of two arbitrary offsets may overflow.
    if (at := np.flatnonzero(offsets[1:] < offsets[:-1])).size:
        i = int(at[0])
        raise ValueError(f"{name}: document {i} ends before it starts: {offsets[i]}, then {offsets[i + 1]}")
    if offsets[-1] > size:
        raise ValueError(f"{name}: expected at most {size}, the number of values, got {offsets[-1]}")
