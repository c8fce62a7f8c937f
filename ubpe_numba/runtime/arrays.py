"""Arguments of every module: arrays in one memory layout, offsets, and checks that name what is wrong.

Two parts, in this order:

- any value: `describe` names it in messages, `told` names what an unknown argument is called here, `positive` checks an integer
  that a user gave, `resolve_threads` finds out how many threads to use;
- arrays of documents: `Documents` is their form, `plain`, `signed` and `writable` give arrays the form that kernels are made for,
  `frozen` copies what others may change, `freeze` is for what they may see,
  `offsets_of` and `check_offsets` make and check offsets, `distinct` joins cuts, `places_of` lists the indices of ranges,
  `flatten_ints` flattens lists, `GrowingArray` collects batches.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.errors import quoted, shortened
from ubpe_numba.runtime.schema import pickled

F = TypeVar("F", bound=Callable[..., Any])
#: No machine has more processors: Linux is built for at most 8,192. More threads are a mistake, and each costs a stack.
MOST_THREADS = 8192
#: Variables of the environment that request a number of threads, in order of precedence.
THREAD_VARIABLES = ("UBPE_NUM_THREADS", "NUMBA_NUM_THREADS")
_TYPES: list[np.dtype[Any]] = [np.dtype(t) for t in (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)]


#: Ends of messages: how to go on where one document has several in it, is of floats, or has missing values.
SEVERAL = {
    "doc": "; encode_batch takes several documents",
    "ids": "; decode_batch takes several documents",
    "docs": "; offsets= divide one flat array or text: leave them out",
    "chunks": "; over() takes several chunks",
}
_GATHERED = 1 << 17  # symbols that are put in order at a time
ROUND = "; round or quantise first, as by ubpe_numba.quantize"
MISSING = "; drop or fill missing values first"


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
    """`value` as an int of at least 1. Otherwise raises TypeError, which says what was `expected`, or ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: expected {expected}, got {quoted(value)}")
    if value < 1:
        raise ValueError(f"{name}: expected at least 1, got {quoted(int(value))}")
    return int(value)


def resolve_threads(n_threads: int | None) -> int:
    """The number of threads: the argument, else UBPE_NUM_THREADS, NUMBA_NUM_THREADS, else the CPUs this process may use.

    Raises TypeError or ValueError that names the argument or variable if its value is not an integer in 1..MOST_THREADS.
    """
    if (requested := requested_threads(n_threads)) is not None:
        return requested
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    """The number of threads that the argument or the environment requests, None if neither does; raises as `resolve_threads`."""
    if n_threads is not None:
        return check_threads(n_threads, "n_threads")
    for name in THREAD_VARIABLES:
        if text := os.environ.get(name):
            digits = text.lstrip("0")[:20] if text.isascii() and text.isdigit() else ""  # Python makes no int of thousands
            n = int(digits or 0)
            if not 1 <= n <= MOST_THREADS:
                raise ValueError(f"environment variable {name}: expected an integer in 1..{MOST_THREADS}, got {quoted(text)}")
            return n
    return None


def told(function: F) -> F:
    """A function, or a class with its class methods, whose error of an unknown argument says its name here, or a near one.

    >>> @told
    ... def fit(n_tokens): ...
    >>> fit(vocab_size=3)
    Traceback (most recent call last):
    TypeError: fit() got an unexpected keyword argument 'vocab_size'; here: n_tokens
    """
    if isinstance(function, type):
        for name, value in list(vars(function).items()):
            if isinstance(value, classmethod) and name[0] != "_":
                setattr(function, name, classmethod(told(value.__func__)))
        function.__init__ = told(function.__init__)  # type: ignore[misc]
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            owner, mark, rest = str(error).partition(f"{function.__name__}() got an unexpected keyword argument '")
            if not mark and " positional argument" in str(error) and f"{function.__name__}() takes" in str(error):
                named = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
                raise TypeError(f"{error}; by name: {', '.join(named)}" if named else str(error)) from None
            if not mark:
                raise
            from ubpe_numba.runtime.counterparts import ARGUMENTS, hint  # here only: for a message

            known = inspect.signature(function).parameters.keys() - {"self"}
            argument = rest.partition("'")[0]  # from Python 3.13 on one that is near follows
            text = f"{owner}{mark}{argument}'".replace(".__init__()", "()").replace("Encoding.__call__()", "tok()")
            raise TypeError(text + hint(ARGUMENTS, argument, known)) from None

    return cast(F, call)


def store(made: object, given: dict[str, Any]) -> None:
    """Set the arguments of a constructor, which are its `locals()`, as attributes."""
    vars(made).update({name: value for name, value in given.items() if name not in ("self", "__class__")})


def integer(value: Any, name: str) -> int:
    """`value` as an int. Otherwise raises TypeError: for booleans, too."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {describe(value)}") from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected an integer, got {quoted(value)}")
    return found


def checked_token(token: Any, size: int) -> int:
    """An id of a vocabulary of `size` tokens; TypeError if it is no integer, IndexError if it is outside 0..size - 1."""
    t = integer(token, "token")
    if not 0 <= t < size:
        raise IndexError(f"token {t}: expected 0..{size - 1}")
    return t


def has_arrow(cls: type) -> bool:
    """Whether instances of a class hand out arrays of Arrow."""
    return hasattr(cls, "__arrow_c_stream__") or hasattr(cls, "__arrow_c_array__")


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """The values as a C-contiguous, aligned `np.ndarray` of native byte order: the array itself if it is one, else a copy."""
    array = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return array if array.flags.aligned else array.copy()


def signed(values: NDArray[Any], where: Callable[..., str]) -> NDArray[Any]:
    """Integers as they are, but uint64 as int64: NumPy and Numba promote a mix of the two to float64.

    ValueError beyond int64; `where` says what messages call the value at an index.
    """
    if values.dtype != np.uint64:
        return values
    found = values.view(np.int64)
    if (at := np.argwhere(found < 0)).size:
        index = tuple(at[0].tolist())
        raise ValueError(f"{where(*index)}: expected an integer that fits int64, got {values[index]}")
    return found


def frozen(value: Any) -> Any:
    """A copy of an array, read-only, or of a list, which nobody changes between two looks at it; other values as they are."""
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.flags.writeable):
        value = value.copy()
        freeze([value])
    return value


def freeze(values: Iterable[Any]) -> None:
    """Make all arrays among some values read-only: those that are the library's own and that a user can reach."""
    for value in values:
        if isinstance(value, np.ndarray):
            value.setflags(write=False)


def writable(array: np.ndarray) -> np.ndarray:
    """An array of the same memory marked as writable, for kernels that only read it; `array` itself if it is writable.

    Read-only arrays are another type to the compiler, so each kernel would be compiled twice; and a copy would double the memory
    of a memory-mapped corpus.
    """
    if array.flags.writeable:
        return array
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    return np.asarray(SimpleNamespace(__array_interface__=interface, owner=array))  # which keeps the memory alive


class Named(str):
    """The kind "int" of documents whose symbols have names: the integer i is names[i]. Those of `base`, if any, come first."""

    __slots__ = ("base", "names", "number")
    names: tuple[Any, ...]
    number: dict[Any, int]
    base: Named | None

    def __new__(cls, names: tuple[Any, ...], base: Named | None = None) -> Named:
        """Make a kind of names."""
        self = super().__new__(cls, "int")
        self.names, self.number, self.base = names, {name: i for i, name in enumerate(names)}, base
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return pickled(Named, self.names, self.base)


class Documents(NamedTuple):
    """n documents: document i is ``values[offsets[i]:offsets[i + 1]]``."""

    #: 1-D, C-contiguous, aligned, of native byte order: uint8 for bytes, uint32 code points for str, otherwise the dtype that was
    #: given (uint64 becomes int64); integers from an iterator have the narrowest dtype. May be the user's memory, and read-only.
    values: NDArray[Any]
    #: int64[n + 1], not decreasing. ``offsets[0]`` may be above 0 and ``offsets[-1]`` below ``len(values)``: those of a `Ragged`
    #: or a user are kept as they are.
    offsets: NDArray[np.int64]
    #: "int" (also of no documents), of symbols with names a `Named`, "str" or "bytes". From Arrow also "utf8", strings as bytes,
    #: and "one", a column of integers.
    kind: str

    def take(self, indices: NDArray[np.int64]) -> Documents:
        """Copy the documents with these indices, int64[k], in this order. O(their symbols)."""
        starts, ends = self.offsets[indices], offsets_of(self.offsets[indices + 1] - self.offsets[indices])
        values = np.empty(ends[-1], self.values.dtype)
        begin = 0
        while begin < len(starts):  # in pieces: a place is 8 bytes
            end = max(int(np.searchsorted(ends, ends[begin] + _GATHERED, side="right")) - 1, begin + 1)
            places = places_of(starts[begin:end], np.diff(ends[begin : end + 1]))
            values[ends[begin] : ends[end]] = self.values[places]
            begin = end
        return Documents(values, ends, self.kind)


def offsets_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """int64[n + 1] from n lengths: ``[2, 0, 1]`` -> ``[0, 2, 2, 3]``."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:], dtype=np.int64)
    return offsets


def distinct(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values of all parts, ascending and each once: what `np.unique` gives, in a hundredth of the time where parts ascend.

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


def flatten_ints(rows: Sequence[Sequence[int]], name: str, first: int | None = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Flatten n lists, tuples or ranges of integers to int64 values and int64[n + 1] offsets, without a Python loop over items.

    In messages `first` is the index of `rows[0]`, None if it is the only document. Raises TypeError for anything but integers
    (bools too), ValueError for one beyond int64.
    """
    flat: list[Any] = list(chain.from_iterable(rows))
    offsets = offsets_of(np.fromiter(map(len, rows), np.int64, len(rows)))
    types = set(map(type, flat))
    if not types <= {int}:
        wrong = {t for t in types if t is bool or not issubclass(t, (int, np.integer))}
        for position, item in enumerate(flat if wrong else ()):
            if type(item) in wrong:
                shown = f"{quoted(item)} ({type(item).__name__}){way_of_item(item, name, first is None)}"
                raise TypeError(f"{place_of(name, offsets, position, first)}: expected an integer, got {shown}")
    try:
        return np.array(flat, np.int64), offsets
    except OverflowError:
        position = next(i for i, item in enumerate(flat) if not -(2**63) <= item < 2**63)
        where = place_of(name, offsets, position, first)
        raise ValueError(f"{where}: expected an integer that fits int64, got {quoted(int(flat[position]))}") from None


def several(name: str) -> str:
    """End of the message about several documents where one is expected: how to go on; empty if unknown."""
    return SEVERAL.get("chunks" if name.startswith("chunks: ") else name, "")


def way_of_item(item: Any, name: str, one: bool) -> str:
    """End of the message about an item that is no integer, of `one` document or of several: how to go on; empty if unknown.

    >>> way_of_item([1], "ids", True), way_of_item(0.5, "docs: document 0", False)
    ('; decode_batch takes several documents', '; round or quantise first, as by ubpe_numba.quantize')
    """
    is_name = name == "ids" and isinstance(item, str)
    is_several = isinstance(item, (str, bytes, list, tuple)) or getattr(item, "ndim", 0) > 0
    if one and several(name) and is_several and not is_name:
        return several(name)
    if not name.startswith(("doc", "chunk")):
        return "; token_to_id gives the id of a name" if is_name else ""
    if item is None or (isinstance(item, float) and item != item):
        return MISSING
    if isinstance(item, (list, tuple, np.ndarray)):
        return "; a document has one axis: itertools.chain.from_iterable keeps its rows apart"
    words = "; only a tokenizer fitted on lists of words takes them" if isinstance(item, str) else ""
    return ROUND if isinstance(item, float) else words


def place_of(name: str, offsets: NDArray[np.int64], at: int, first: int | None = 0) -> str:
    """`name` with the document and position of the flat index `at`, for messages; `offsets[0]` is 0, `first` as above."""
    document = int(np.searchsorted(offsets, at, side="right")) - 1
    place = f", position {at - offsets[document]}"
    return f"{name}{place}" if first is None else f"{name}: document {first + document}{place}"


class GrowingArray:
    """Integers appended in batches to one array of the narrowest dtype that holds all; it grows in place, by an eighth at a time.

    >>> g = GrowingArray()
    >>> g.append(np.array([1, 2])); g.append(np.array([-300]))
    >>> g.finish()
    array([   1,    2, -300], dtype=int16)
    """

    def __init__(self) -> None:
        self.values: NDArray = np.empty(0, np.uint8)
        self.size = 0

    def append(self, batch: NDArray) -> None:
        """Add integers of any dtype but uint64. O(size of the batch) amortised; O(all) if they need a wider dtype."""
        if not batch.size:
            return
        low, high, bounds = int(batch.min()), int(batch.max()), np.iinfo(self.values.dtype)
        if not self.size or low < bounds.min or bounds.max < high:
            if self.size:
                low, high = min(low, int(bounds.min)), max(high, int(bounds.max))
            dtype = next(t for t in _TYPES if np.iinfo(t).min <= low and high <= np.iinfo(t).max)
            self.values = self.values[: self.size].astype(dtype)
        end = self.size + batch.size
        if end > self.values.size:
            self.values.resize(max(end + end // 8, 1 << 16), refcheck=False)  # realloc moves pages instead of copying them
        self.values[self.size : end] = batch
        self.size = end

    def finish(self) -> NDArray:
        """The array, cut to its size. Nothing may be appended afterwards."""
        self.values.resize(self.size, refcheck=False)
        return self.values
