"""A tokenizer inside compiled functions: `Kernels`, compiled by numba, and its header.

inside/native.py compiles its methods.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.headers import header_of, words
from ubpe_numba.coding.kernels import header as kernels
from ubpe_numba.coding.kernels.addresses import NO_MEMORY
from ubpe_numba.coding.plan import Plan
from ubpe_numba.documents.ragged import trusted
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import UnknownSymbolError, UnknownTokenError, quoted
from ubpe_numba.inside.native import KernelsType, kernels_type, register_type
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.border import address_of
from ubpe_numba.vocabulary.unknown import choice_of

__all__ = ["NO_MEMORY", "NO_ROOM", "Kernels"]

NO_ROOM = kernels.NO_ROOM


class Kernels:
    """The present tokenizer, for functions compiled by `numba.njit`.

    `parallel=True` and `nogil=True` work too. Made by `Tokenizer.kernels`, and passed to compiled functions
    as an argument; as a global it raises an error. `encode_into`, `count` and `decode_into` raise nothing,
    hold no GIL, and may be called by any number of threads; `encode` and `decode` return new arrays and raise
    ValueError. From Python all of them do the same. It never changes, and pickles as its tokenizer.

    Documents are 1-D integer arrays of any dtype and strides, read-only ones too: symbols, or code points of
    a tokenizer of characters; ids are int32. ValueError for a tokenizer that splits or changes documents, as
    with a pattern or special tokens.

    Attributes
    ----------
    dtype : numpy.dtype
        The symbols that `decode` returns: uint8 for bytes, uint32 code points for characters, otherwise int32
        or int64.

    Examples
    --------
    >>> import numpy as np
    >>> from numba import njit
    >>> from ubpe_numba import BPE
    >>> @njit
    ... def lengths(kernels, matrix):
    ...     found = np.empty(len(matrix), np.int64)
    ...     for i in range(len(matrix)):
    ...         found[i] = kernels.count(matrix[i])
    ...     return found
    >>> lengths(BPE.from_merges([[0, 1]], alphabet=3).kernels, np.array([[0, 1, 0, 1], [2, 2, 0, 1], [0, 7, 7, 7]]))
    array([ 2,  3, -2])
    """

    __slots__ = ("_header", "_numba_type_", "_plan", "_tokenizer", "dtype")
    _header: NDArray[np.int64]
    _plan: Plan
    _tokenizer: Any
    dtype: np.dtype[Any]

    def __init__(self, tokenizer: Any, plan: Plan) -> None:
        self._set(tokenizer, plan, plan.tables.decoder.dtype, _header(tokenizer, plan))

    def _set(self, tokenizer: Any, plan: Plan, dtype: np.dtype[Any], header: NDArray[np.int64]) -> None:
        fields = {
            "_tokenizer": tokenizer,
            "_plan": plan,
            "dtype": dtype,
            "_header": header,
            "_numba_type_": kernels_type(dtype),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Kernels are frozen: cannot set {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return attrgetter("kernels"), (self._tokenizer,)

    def __repr__(self) -> str:
        return f"Kernels of {self._tokenizer!r}"

    def encode_into(self, doc: Any, out: Any) -> int:
        """Write the ids of a document to an array.

        Parameters
        ----------
        doc : int[n]
            The document.
        out : int32[m]
            The beginning gets the ids; contiguous. Never more than n are needed.

        Returns
        -------
        int
            How many ids there are. -1 - i: the symbol at i is not in the alphabet; `NO_ROOM`: there are more
            than m; `NO_MEMORY`: there was none to work in. Then nothing is written.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> k, out = BPE.from_merges([[0, 1]], alphabet=3).kernels, np.zeros(3, np.int32)
        >>> k.encode_into(np.array([0, 1, 2]), out), out.tolist(), k.encode_into(np.array([0, 9]), out)
        (2, [3, 2, 0], -2)
        """
        try:
            ids = self._ids(doc)
        except UnknownSymbolError as error:
            return -1 - error.position
        return _put(ids, out)

    def count(self, doc: Any) -> int:
        """Count the ids of a document.

        Parameters
        ----------
        doc : int[n]
            The document.

        Returns
        -------
        int
            As `encode_into`, without `NO_ROOM`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet=3).kernels.count(np.array([0, 1, 2]))
        2
        """
        try:
            return self._ids(doc).size
        except UnknownSymbolError as error:
            return -1 - error.position

    def encode(self, doc: Any) -> NDArray[np.int32]:
        """Encode a document to a new array.

        Parameters
        ----------
        doc : int[n]
            The document.

        Returns
        -------
        int32[m]
            Its ids.

        Raises
        ------
        ValueError
            For a symbol that is not in the alphabet. In `prange` numba loses errors: call `encode_into`
            there.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet=3).kernels.encode(np.array([0, 1, 2]))
        array([3, 2], dtype=int32)
        """
        return self._ids(doc)

    def decode_into(self, ids: Any, out: Any) -> int:
        """Write the symbols of ids to an array.

        Parameters
        ----------
        ids : int32[n]
            Ids.
        out : array of `dtype`
            The beginning gets the symbols; contiguous.

        Returns
        -------
        int
            How many symbols there are. -1 - i: no token has the id at i; `NO_ROOM`: there are more than fit.
            Then those of the ids before may be written.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> k, out = BPE.from_merges([[0, 1]], alphabet=3).kernels, np.zeros(4, np.int32)
        >>> k.decode_into(np.array([3, 2], np.int32), out), out.tolist()
        (3, [0, 1, 2, 0])
        """
        try:
            symbols = self._symbols(ids)
        except UnknownTokenError as error:
            return -1 - error.position
        return _put(symbols, out)

    def decode(self, ids: Any) -> NDArray[Any]:
        """Decode ids to a new array of symbols.

        Parameters
        ----------
        ids : int32[n]
            Ids.

        Returns
        -------
        array of `dtype`
            The symbols.

        Raises
        ------
        ValueError
            For an id that no token has.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").kernels.decode(np.array([2, 0], np.int32))
        array([97, 98, 97], dtype=uint32)
        """
        return self._symbols(ids)

    def _ids(self, doc: Any) -> NDArray[np.int32]:
        """The ids of a document, for Python.

        UnknownSymbolError; TypeError for anything but a 1-D array of integers.
        """
        if not isinstance(doc, np.ndarray) or doc.ndim != 1 or doc.dtype.kind not in "iu":
            raise TypeError(f"doc: expected a 1-D array of integers, got {describe(doc)}")
        plan, values = self._plan, np.ascontiguousarray(doc)
        alphabet = plan.model.alphabet
        # no symbols: like an unused id
        if doc.dtype == np.uint64 and (beyond := values > np.uint64(2**63 - 1)).any():
            values = values.astype(np.int64)
            values[beyond] = next(x for x in range(-(2**63), 0) if alphabet.lookup(np.array([x]))[0] < 0)
        documents = Documents(values, np.array([0, values.size]), alphabet.kind)
        unknown = choice_of(plan.unknown, alphabet, plan.model.segmenter.special)
        return plan.documents(documents, unknown, ("none", "none"), "doc")[0].values

    def _symbols(self, ids: Any) -> NDArray[Any]:
        """The symbols of ids, for Python.

        UnknownTokenError; TypeError for anything but a 1-D array of int32.
        """
        if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype != np.int32:
            raise TypeError(f"ids: expected a 1-D array of int32, got {describe(ids)}")
        values = np.ascontiguousarray(ids)
        return self._plan.tables.decoder.decode(trusted(values, np.array([0, values.size])), 1)[0]


def _put(values: NDArray[Any], out: Any) -> int:
    """Write values to the beginning of an array of their dtype; their number, or `NO_ROOM`."""
    if not isinstance(out, np.ndarray) or out.dtype != values.dtype or out.ndim != 1 or not out.flags.carray:
        raise TypeError(
            f"out: expected a 1-D, contiguous and writable array of {values.dtype}, got {describe(out)}"
        )
    if values.size > out.size:
        return NO_ROOM
    out[: values.size] = values
    return values.size


def _header(tokenizer: Any, plan: Plan) -> NDArray[np.int64]:
    """The header of a tokenizer, an array that keeps both alive. ValueError if it splits documents."""
    if (
        not plan.tables.is_plain
        or plan.isolated is not None
        or plan.encoder_for is None
        or plan.model.segmenter.decoding is not None
    ):
        raise ValueError(
            "kernels: this tokenizer cuts or changes documents (a pattern, a normalizer, special or break "
            "tokens, frames, a mirror); encode before the compiled function: encode_batch gives a Ragged, "
            "which it takes"
        )
    unknown = choice_of(plan.unknown, plan.model.alphabet, plan.model.segmenter.special)
    if isinstance(unknown, tuple) or unknown == "nearest":
        raise ValueError(f"kernels: expected unknown='raise', 'skip' or a symbol, got {quoted(plan.unknown)}")
    calls = address_of(kernels.encode_at, words(7)), address_of(kernels.decode_at, words(6))
    return header_of(plan, unknown, calls, (tokenizer, plan))


def of_header(header: NDArray[np.int64]) -> Kernels:
    """The `Kernels` of a header that comes back from compiled code."""
    tokenizer, plan = header.base.of  # type: ignore[union-attr]
    instance = object.__new__(Kernels)
    instance._set(tokenizer, plan, plan.tables.decoder.dtype, header)
    return instance


register_type(KernelsType, {"header": "_header"}, of_header)
