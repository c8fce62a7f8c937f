"""The alphabet of a tokenizer: which symbol has which id, for integers, characters and bytes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Documents, as_document, text_of
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError, quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.schema import integers_of, pickled

__all__ = ["MAX_SIZE", "Alphabet"]

log = logging.getLogger("ubpe_numba")

SPARE = 1 << 18  # ids may leave this many gaps, and as many again as there are tokens; a gap costs 25 bytes
MAX_SIZE = 2**31 - 3  # the working text of a fit holds ids and -(id + 2), both in int32
_LIMITS = {"int": MAX_SIZE, "str": 0x110000, "bytes": 256}
_ELEMENTS = {"int": "integers", "str": "characters", "bytes": "bytes"}
_DOCUMENTS = {"int": "sequences of integers", "str": "str", "bytes": "bytes"}
#: The advice if a tokenizer of the first kind gets documents of the second.
_WAYS = {
    ("int", "str"): "fit on text to encode it, as by BPE.for_text",
    ("bytes", "str"): "str.encode() gives bytes",
    ("str", "bytes"): "bytes.decode() gives str",
    ("str", "int"): "ids are for decode",
}
_DTYPES: dict[str, type[np.integer[Any]]] = {"int": np.int32, "str": np.uint32, "bytes": np.uint8}
# learned integer alphabets are 0..max below this: each symbol is its own id, and no table is needed
_DENSE = 65536
_DENSE_MOST = 2**22  # also below this for a large corpus; an unused id of a vocabulary costs 36 bytes
_NO_IDS: NDArray[np.int32] = np.zeros(0, np.int32)
# the largest high - low + 1 of symbols for which there is a table: at most 8 MB, and all of Unicode fits
TABLE_SPAN = 2**21
CHUNK = 2**15  # symbols looked up at once, so that temporary arrays stay in the processor's cache


class SymbolTable(NamedTuple):
    """Ids of symbols: a table if the symbols lie close together, else sorted symbols for binary search.

    For the symbols 7, 5 (ids 0, 1): `low` 5, `table` [-1, 1, -1, 0, -1], of which entry ``symbol - low + 1``
    is the id.
    """

    low: int  # the smallest symbol
    # -1, the id of every integer from `low` to the largest symbol (-1 for none), -1; empty without one
    table: NDArray[np.int32]
    keys: NDArray[np.int64]  # the sorted symbols if a table is missing, else empty
    order: NDArray[np.int32]  # the ids of `keys`

    def __call__(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """The ids, int32[n], of n integers (not uint64), -1 for unknown ones.

        O(n), or O(n log size) without a table.
        """
        ids = np.empty(values.size, np.int32)
        for start in range(0, values.size, CHUNK):
            part, out = values[start : start + CHUNK].astype(np.int64), ids[start : start + CHUNK]
            if self.table.size:
                # Symbols outside the table are clipped to the -1 at its ends. If the subtraction overflows,
                # the result is outside the table too: inside would need a symbol 2**64 away.
                part -= self.low
                part += 1
                self.table.take(part, out=out, mode="clip")
            else:
                at = np.minimum(np.searchsorted(self.keys, part), self.keys.size - 1)
                out[:] = np.where(self.keys[at] == part, self.order[at], -1)
        return ids


class Alphabet:
    """Symbols with the ids 0..size-1. Immutable; made and validated by the class methods below.

    Several symbols may share an id, such as the upper and lower case of a letter. Decoding returns the first
    of them; the others are folded onto it.

    Attributes
    ----------
    kind : str
        What documents are made of: ``"int"``, ``"str"`` or ``"bytes"``.
    size : int
        The number of ids, 1..`MAX_SIZE` (at most 256 for bytes, 0x110000 for str).
    is_identity : bool
        Whether every symbol (a code point for str) is its own id, without others.
    is_lossless : bool
        Whether no two symbols have the same id.
    symbols : ndarray
        The symbol of each id.
    folded_symbols, folded_ids : ndarray
        The symbols that are folded onto others, ascending, and their ids; empty if there are none.

    Examples
    --------
    >>> from ubpe_numba.documents.read import as_documents
    >>> alphabet = Alphabet.from_user("ACGT")
    >>> alphabet
    Alphabet(kind='str', size=4, symbols='ACGT')
    >>> alphabet.to_ids(as_documents(["GAT", "C"])).to_lists()
    [[2, 0, 3], [1]]
    >>> alphabet.output(alphabet.to_symbols(np.array([2, 0, 3], np.int32)))
    'GAT'
    >>> folded = Alphabet.from_user({"A": 0, "a": 0, "C": 1, "c": 1})
    >>> folded, folded.is_lossless
    (Alphabet(kind='str', size=2, symbols='AC', folded='ac'), False)
    >>> folded.to_ids(as_documents(["CaA"])).to_lists()
    [[1, 0, 0]]
    """

    __slots__ = ("_finder", "_symbols", "folded_ids", "folded_symbols", "is_identity", "kind", "size")
    kind: str
    size: int
    is_identity: bool
    folded_symbols: NDArray[Any]
    folded_ids: NDArray[np.int32]
    _symbols: NDArray[Any] | None  # None for the identity until `symbols` is first used: it may be large
    _finder: SymbolTable | None  # None until the first look-up

    def __init__(
        self,
        kind: str,
        size: int,
        symbols: NDArray[Any] | None = None,
        folded_symbols: NDArray[Any] | None = None,
        folded_ids: NDArray[np.int32] = _NO_IDS,
    ) -> None:
        """Store without a check, read-only; `symbols` is None for the identity."""
        folded = np.zeros(0, _DTYPES[kind]) if folded_symbols is None else folded_symbols
        fields = {
            "kind": kind,
            "size": size,
            "is_identity": symbols is None,
            "folded_symbols": folded,
            "folded_ids": folded_ids,
        }
        for name, value in {**fields, "_symbols": symbols, "_finder": None}.items():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def dense(cls, size: Any, kind: str = "int", name: str = "size") -> Alphabet:
        """Make the identity, in which the symbols 0..size-1 are their own ids.

        Parameters
        ----------
        size : int
            The number of symbols.
        kind : str
            What the symbols are: ``"int"``, ``"bytes"``, or ``"str"`` (code points).
        name : str
            The name of the size in messages.
        """
        limit = _limit(kind)
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(f"{name}: expected an integer, got {describe(size)}")
        if not 1 <= size <= limit:
            raise ValueError(
                f"{name}: expected 1..{limit} symbols for kind {quoted(kind)}, got {quoted(int(size))}"
            )
        return cls(kind, int(size))

    @classmethod
    def from_symbols(cls, symbols: Any, kind: str) -> Alphabet:
        """Make an alphabet of distinct symbols, with ids in their order.

        Parameters
        ----------
        symbols : sequence of int, str or bytes
            The symbols, as the attribute `symbols` holds them: integers, which are code points for ``"str"``
            (a `str` is accepted too) and 0..255 for ``"bytes"``.
        kind : str
            What the symbols are: ``"int"``, ``"str"`` or ``"bytes"``.
        """
        _limit(kind)
        values, _, kind_of_symbols = as_document(symbols, name="symbols")
        if kind_of_symbols not in ("int", kind):
            raise TypeError(f"symbols: expected {_ELEMENTS[kind]}, got {_ELEMENTS[kind_of_symbols]}")
        return cls._from_values(values, kind, "symbols")

    @classmethod
    def _from_values(
        cls, values: NDArray[Any], kind: str, name: str, n: int | None = None, ids: Any = _NO_IDS
    ) -> Alphabet:
        """Check symbols, and make an alphabet of the first n; the others are folded onto `ids`."""
        limit = _limit(kind)
        if not 1 <= values.size <= limit:
            raise ValueError(
                f"{name}: expected 1..{limit} symbols for kind {quoted(kind)}, got {values.size}"
            )
        if kind != "int" and (at := np.flatnonzero((values < 0) | (values >= limit))).size:
            raise ValueError(f"{name}: entry {at[0]}: expected 0..{limit - 1}, got {values[at[0]]}")
        order = np.argsort(values, kind="stable")
        if (at := np.flatnonzero(values[order[1:]] == values[order[:-1]])).size:
            first, second = order[at[0]], order[at[0] + 1]
            twice = quoted(shown_symbol(values[first], kind))
            raise ValueError(f"{name}: symbol {twice} is there twice, as entry {first} and entry {second}")
        return cls._from_distinct(values, kind, values.size if n is None else n, ids)

    @classmethod
    def _from_distinct(cls, values: NDArray[Any], kind: str, n: int, ids: Any = _NO_IDS) -> Alphabet:
        """Make an alphabet of valid symbols, in the dtype of their kind, for integers the narrower."""
        if n == values.size and np.array_equal(values, np.arange(n)):
            return cls(kind, n)
        wide = kind == "int" and not -(2**31) <= values.min() <= values.max() < 2**31
        values = values.astype(np.int64 if wide else _DTYPES[kind])
        if n == values.size:
            return cls(kind, n, values)
        # whatever their order in a mapping, equal alphabets have equal fields
        ascending = np.argsort(values[n:])
        return cls(
            kind, n, values[:n].copy(), values[n:][ascending], np.asarray(ids)[ascending].astype(np.int32)
        )

    @classmethod
    def from_user(cls, alphabet: Any, kind: str | None = None) -> Alphabet:
        """Read the argument `alphabet` of a tokenizer.

        Parameters
        ----------
        alphabet : int, sequence or mapping
            The number of symbols; or the symbols in the order of their ids (integers, characters, bytes; a
            `str` or `bytes` of them); or a mapping of the symbols onto 0..size-1. Symbols of a mapping may
            share an id: decoding returns the first of them.
        kind : str, optional
            The kind of the documents; by default that of the symbols. An alphabet of integers may be used for
            ``"bytes"``, and one of bytes for ``"int"``.

        Examples
        --------
        >>> Alphabet.from_user({-1: 1, 7: 0}).symbols
        array([ 7, -1], dtype=int32)
        >>> Alphabet.from_user(4)
        Alphabet(kind='int', size=4)
        >>> Alphabet.from_user({b"A": 0, b"C": 1, b"a": 0}).lookup(np.frombuffer(b"CAa", np.uint8))
        array([1, 0, 0], dtype=int32)
        """
        _limit(kind or "int")
        if isinstance(kind, Named) or (kind in (None, "int") and has_names(alphabet)):
            return cls.of_names(alphabet)
        if isinstance(alphabet, (bool, float, Set)) or alphabet is None:
            raise TypeError(f"alphabet: expected a size, a sequence or a mapping, got {describe(alphabet)}")
        if isinstance(alphabet, (int, np.integer)):
            return cls.dense(alphabet, kind or "int", "alphabet")
        values, _, kind_of_symbols = _read_symbols(alphabet)
        if kind not in (None, kind_of_symbols) and "str" in (kind, kind_of_symbols):
            raise TypeError(f"alphabet: expected {_ELEMENTS[str(kind)]}, got {_ELEMENTS[kind_of_symbols]}")
        if not isinstance(alphabet, Mapping):
            return cls._from_values(values, kind or kind_of_symbols, "alphabet")
        order, n, ids = _groups_by_id(alphabet)
        return cls._from_values(values[order], kind or kind_of_symbols, "alphabet", n, ids)

    @classmethod
    def of_names(cls, given: Any) -> Alphabet:
        """Make an alphabet of symbols that have names: a sequence of them, or a mapping to ids."""
        from ubpe_numba.documents.words import names_of  # here only: not for numbers

        names = names_of(given)
        if isinstance(given, Mapping):
            order, n, _ = _groups_by_id(given)
            if n < len(names):
                raise ValueError("alphabet: several words have one id; each needs its own")
            names = tuple(names[i] for i in order.tolist())
        return cls(Named(names), len(names))

    @property
    def names(self) -> tuple[Any, ...] | None:
        """The names of the symbols, if they have any."""
        return self.kind.names if isinstance(self.kind, Named) else None

    def aligned(self, documents: Documents, name: str = "docs") -> Documents:
        """Documents of symbols with names, numbered as here: those of others follow.

        Other documents as they are.

        TypeError if the symbols here have names and those of the documents have none, or the other way round.
        """
        if isinstance(self.kind, Named):
            from ubpe_numba.documents.words import aligned  # here only, as above

            return aligned(documents, self.kind, name)
        if isinstance(documents.kind, Named) and documents.offsets[-1] > documents.offsets[0]:
            raise TypeError(f"{name}: expected {_DOCUMENTS[self.kind]}, as in the fit, got lists of words")
        return documents

    @classmethod
    def learn(cls, documents: Documents, n_symbols: int | None = None) -> Alphabet:
        """Choose the alphabet for a corpus.

        Bytes: all 256. Characters: those that occur, sorted. Integers: 0..max if none is negative and max is
        below 65536, or below both 2**22 and four times the number of symbols in the corpus (unused ids then
        cost little). Otherwise the sorted symbols that occur. A corpus without symbols gets an alphabet of a
        single symbol, 0 or U+0000.

        Parameters
        ----------
        documents : Documents
            The corpus, as `as_documents` returns it; or its distinct documents.
        n_symbols : int, optional
            The number of symbols of the corpus, if only distinct documents are passed.

        Examples
        --------
        >>> from ubpe_numba.documents.read import as_documents
        >>> Alphabet.learn(as_documents([[-5, 10**12]])).symbols
        array([           -5, 1000000000000])
        """
        values, kind = _window(documents), documents.kind
        if isinstance(kind, Named):
            return cls(kind, len(kind.names))
        if kind == "bytes" or values.size == 0:
            return cls(kind, 256 if kind == "bytes" else 1)
        low, high = int(values.min()), int(values.max())
        size = values.size if n_symbols is None else n_symbols
        if kind == "int" and low >= 0 and high < min(max(_DENSE, 4 * size), _DENSE_MOST):
            return cls(kind, high + 1)
        symbols = distinct_symbols(documents)
        return cls._from_distinct(symbols, kind, symbols.size)

    @property
    def symbols(self) -> NDArray[Any]:
        """The symbol of each id, read-only.

        uint8 for bytes, uint32 code points for str, int32 or int64 for integers.
        """
        symbols = self._symbols
        if symbols is None:
            symbols = np.arange(self.size, dtype=_DTYPES[self.kind])
            symbols.setflags(write=False)
            object.__setattr__(self, "_symbols", symbols)
        return symbols

    @property
    def is_lossless(self) -> bool:
        """Whether no two symbols have the same id, so that symbols can be told from ids."""
        return not self.folded_ids.size

    @property
    def finder(self) -> SymbolTable:
        """The look-up of ids, made when it is first needed. O(span), or O(n log n) without a table."""
        if self._finder is not None:
            return self._finder
        symbols, ids = self.symbols, np.arange(self.size, dtype=np.int32)
        if self.folded_ids.size:
            symbols, ids = (
                np.concatenate([symbols, self.folded_symbols]),
                np.concatenate([ids, self.folded_ids]),
            )
        low, span = int(symbols.min()), int(symbols.max()) - int(symbols.min()) + 1
        if span <= TABLE_SPAN:
            table = np.full(span + 2, -1, np.int32)
            table[symbols.astype(np.int64) - low + 1] = ids
            finder = SymbolTable(low, table, np.zeros(0, np.int64), ids[:0])
        else:
            order = np.argsort(symbols)
            finder = SymbolTable(low, ids[:0], symbols[order].astype(np.int64), ids[order])
        object.__setattr__(self, "_finder", finder)  # two threads may both make it: both make the same
        return finder

    def refuse_folded(self) -> None:
        """Raise an error if several symbols have one id: before an export to libraries without shared ids."""
        if not self.is_lossless:
            both = self.symbols[self.folded_ids[0]], self.folded_symbols[0]
            first, other = (quoted(shown_symbol(symbol, self.kind)) for symbol in both)
            raise ValueError(
                f"alphabet: {first} and {other} have the same id, which other libraries cannot express; to "
                "export the tokenizer without the folded symbols: from_merges(tok.vocabulary.merges, "
                "tok.decode(tok.vocabulary.symbol_ids))"
            )

    def check_kind(self, documents: Documents, *, name: str = "docs") -> None:
        """Raise an error if documents are not of the kind of the alphabet.

        Integers are accepted for bytes and bytes for integers, and documents without symbols for every kind.

        Arguments as for `to_ids`.
        """
        kind = documents.kind
        if kind != self.kind and "str" in (kind, self.kind) and _window(documents).size:
            fitted, got = _DOCUMENTS[self.kind], _DOCUMENTS[kind]
            way = _WAYS[self.kind, kind]
            raise TypeError(
                f"{name}: the tokenizer was fitted on {fitted}, expected the same, got {got}; {way}"
            )

    def lookup(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """Map symbols to ids, int32[n], -1 for unknown ones, in new memory.

        Parameters
        ----------
        values : integer array
            Symbols as `Documents` holds them.

        Examples
        --------
        >>> Alphabet.from_user([5, 3]).lookup(np.array([3, 4, 5]))
        array([ 1, -1,  0], dtype=int32)
        """
        return self._find(values)[0]

    def to_ids(self, documents: Documents, unknown: str | int = "raise", *, name: str = "docs") -> Ragged:
        """Map the symbols of all documents to ids, in new memory.

        Parameters
        ----------
        documents : Documents
            The documents, as `as_documents` returns them.
        unknown : str or int
            What happens to symbols that are not in the alphabet. ``"raise"`` raises an error, ``"skip"``
            leaves them out. ``"nearest"`` replaces integers by the nearest symbol, the lower of two. An id
            replaces them by itself.
        name : str
            The name of the documents in messages.

        Raises
        ------
        UnknownSymbolError
            For the first unknown symbol if `unknown` is ``"raise"``, with its document and position.
        TypeError
            If the documents are `str` and the alphabet is not, or the other way round.
        """
        documents = self.aligned(documents, name)
        self.check_kind(documents, name=name)
        symbols, offsets = _window(documents), documents.offsets
        if offsets[0]:  # no copy for a million documents that begin at 0
            offsets = offsets - offsets[0]
        ids, complete = self._find(symbols)
        if complete:
            return trusted(ids, offsets)
        missing = np.flatnonzero(ids < 0)
        if unknown == "raise":
            at = missing[0]
            document = int(np.searchsorted(offsets, at, side="right")) - 1
            hint = (
                f", 0..{self.size - 1}"
                if self.is_identity and self.names is None
                else f" of {self.size} symbols"
            )
            symbol = shown_symbol(symbols[at], documents.kind)
            way = (
                "; encode with unknown=, or after set_params(unknown=...), to skip or replace it, or fit "
                "with it in alphabet="
            )
            raise UnknownSymbolError(document, int(at - offsets[document]), symbol, hint + way)
        if unknown == "skip":
            return trusted(np.delete(ids, missing), offsets - np.searchsorted(missing, offsets))
        log.info("unknown: %d of %d symbols replaced", missing.size, ids.size)
        ids[missing] = self._nearest(symbols[missing]) if unknown == "nearest" else unknown
        return trusted(ids, offsets)

    def _nearest(self, values: NDArray[Any]) -> NDArray[np.int32]:
        """The ids of the symbols nearest to integers, of two the lower: int32[n]. O(n log size)."""
        order = np.argsort(self.symbols)
        symbols, numbers = self.symbols[order].astype(np.int64), values.astype(np.int64)
        below = (np.searchsorted(symbols, numbers) - 1).clip(0)
        above = np.minimum(below + 1, symbols.size - 1)
        low, high = symbols[below], symbols[above]
        # unsigned, since a difference may need 64 bits
        upper = (numbers >= high) | (
            (numbers > low) & ((high - numbers).view(np.uint64) < (numbers - low).view(np.uint64))
        )
        return order[np.where(upper, above, below)].astype(np.int32)

    def _find(self, values: NDArray[Any]) -> tuple[NDArray[np.int32], bool]:
        """The ids, -1 for unknown symbols, and whether all symbols are known."""
        if values.dtype == np.uint64:
            values = as_document(values, name="values").values
        if not self.is_identity:
            ids = self.finder(values)
            return ids, int(ids.min(initial=0)) >= 0
        ids = np.empty(values.size, np.int32)
        if values.dtype == np.int64:  # values beyond int32 stay unknown
            np.clip(values, -1, self.size, out=ids, casting="unsafe")
        else:
            ids[:] = values
        # Ids are checked, not symbols, which others may write to meanwhile. As unsigned integers negative
        # ones are large, so the maximum alone decides. `np.maximum.reduce`, since `max` is a Python function
        # as slow as encoding a short document.
        unsigned = ids.view(np.uint32)
        if int(np.maximum.reduce(unsigned, initial=0)) < self.size:
            return ids, True
        ids[unsigned >= self.size] = -1
        return ids, False

    def to_symbols(self, ids: NDArray[np.int32]) -> NDArray[Any]:
        """Map ids to symbols of the dtype of `symbols`, without a check; `ids` itself if it is that already.

        Parameters
        ----------
        ids : int32[n]
            Ids in 0..size-1.
        """
        if self.is_identity:
            return ids.astype(_DTYPES[self.kind], copy=False)
        return self.symbols[ids]

    def output(self, symbols: NDArray[Any]) -> NDArray[Any] | str | bytes | list[Any]:
        """One document in the form for users: `str`, `bytes`, a list of names, or integers.

        Integers are returned as they are.

        Parameters
        ----------
        symbols : integer array
            The symbols of the document.

        Examples
        --------
        >>> Alphabet.dense(256, "bytes").output(np.array([104, 105], np.uint8))
        b'hi'
        """
        if self.kind == "str":
            return text_of(symbols)
        if isinstance(self.kind, Named):
            return list(map(self.kind.names.__getitem__, symbols.tolist()))
        return symbols.astype(np.uint8, copy=False).tobytes() if self.kind == "bytes" else symbols

    def state(self) -> dict[str, Any]:
        """The arguments of `from_state`: symbols are None for the identity.

        Folded symbols are included only if there are any.
        """
        if self.names is not None:
            from ubpe_numba.documents.words import to_state  # here only, as above

            return {"kind": "name", "size": self.size, "symbols": to_state(self.names)}
        state = {"kind": self.kind, "size": self.size, "symbols": None if self.is_identity else self.symbols}
        return (
            state
            if self.is_lossless
            else {**state, "folded_symbols": self.folded_symbols, "folded_ids": self.folded_ids}
        )

    @classmethod
    def from_state(
        cls, kind: str, size: int, symbols: Any = None, folded_symbols: Any = None, folded_ids: Any = None
    ) -> Alphabet:
        """Make an alphabet from a result of `state`, whose arrays may be lists.

        Symbols as for `from_symbols`.
        """
        try:
            if kind == "name":
                from ubpe_numba.documents.words import from_state  # here only, as above

                alphabet = cls.of_names(from_state(symbols))
            else:
                alphabet = cls.dense(size, kind, "alphabet size")
                alphabet = alphabet if symbols is None else cls.from_symbols(symbols, kind)
            if alphabet.size != size:
                raise ValueError(f"symbols: expected {size}, the size, got {alphabet.size}")
            if folded_symbols is None and folded_ids is None:
                return alphabet
            if symbols is None:
                raise ValueError("symbols: expected them, as there are folded ones")
            folded = cls.from_symbols(folded_symbols, kind).symbols
            onto = integers_of(folded_ids, "folded_ids")
            if onto.shape != folded.shape:
                raise ValueError(
                    f"folded_ids: expected {folded.size}, one for each of folded_symbols, got shape "
                    f"{onto.shape}"
                )
            if not 0 <= onto.min() <= onto.max() < size:
                raise ValueError(f"folded_ids: expected 0..{size - 1}, got {onto.min()}..{onto.max()}")
            both = np.concatenate([alphabet.symbols.astype(np.int64), folded.astype(np.int64)])
            return cls._from_values(both, kind, "symbols, and after them folded_symbols", size, onto)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"alphabet: {error}") from error

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"an Alphabet is frozen: cannot set or delete {name!r}")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(Alphabet.from_state, *self.state().values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alphabet):
            return NotImplemented
        if (self.kind, self.size, self.is_identity, self.names) != (
            other.kind,
            other.size,
            other.is_identity,
            other.names,
        ):
            return False
        names = ("symbols", "folded_symbols", "folded_ids")
        return self.is_identity or all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in names
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.size, self.is_identity))

    def __repr__(self) -> str:
        if self.names is not None:
            return f"Alphabet(size={self.size}, names={list(self.names[:8])}{'...' * (self.size > 8)})"
        if self.is_identity:
            return f"Alphabet(kind={self.kind!r}, size={self.size})"
        shown = ""
        for name, symbols in (("symbols", self.symbols), ("folded", self.folded_symbols)):
            some = self.output(symbols[:8])
            if symbols.size:
                first = str(some.tolist()) if isinstance(some, np.ndarray) else repr(some)
                shown += f", {name}={first}" + "..." * (symbols.size > 8)
        return f"Alphabet(kind={self.kind!r}, size={self.size}{shown})"


def distinct_symbols(documents: Documents) -> NDArray[Any]:
    """The distinct symbols of documents, ascending.

    O(symbols), unless they are spread too widely for a table: then sorted.
    """
    values = _window(documents)
    if values.size == 0:
        return values
    low, high = int(values.min()), int(values.max())
    if high - low >= max(TABLE_SPAN, 4 * values.size):
        return np.unique(values)
    seen = np.zeros(high - low + 1, bool)
    for start in range(0, values.size, CHUNK):
        seen[values[start : start + CHUNK].astype(np.int64) - low] = True
    return np.flatnonzero(seen) + low


def has_names(alphabet: Any) -> bool:
    """Whether `alphabet` is a list or a mapping of anything but integers, characters and bytes."""
    if isinstance(alphabet, np.ndarray) and alphabet.dtype.kind in "OUS":
        alphabet = alphabet.tolist()
    if not isinstance(alphabet, (list, tuple, Mapping)) or not len(alphabet):
        return False
    return any(
        len(item) != 1 if isinstance(item, (str, bytes)) else isinstance(item, tuple) for item in alphabet
    )


def alphabet_of(argument: Any, given: Documents) -> Alphabet:
    """The alphabet of a fit: the argument of the constructor or, if None, learned from the documents."""
    if argument is None:
        return Alphabet.learn(given)
    # documents without any symbol are of any kind
    return Alphabet.from_user(argument, given.kind if given.offsets[-1] > given.offsets[0] else None)


def shown_symbol(symbol: Any, kind: str) -> Any:
    """A symbol as users see it: the character of a code point, the name of a number, or the integer."""
    if isinstance(kind, Named):
        return kind.names[int(symbol)]
    return chr(symbol) if kind == "str" else int(symbol)


def check_size(alphabet: Alphabet, n_tokens: int, learned: bool) -> None:
    """ValueError if `n_tokens` is less than the size of the alphabet, which may be `learned`."""
    if n_tokens < alphabet.size:
        hint = ""
        if learned and alphabet.is_identity and alphabet.kind == "int":
            hint = f". It was learned as 0..{alphabet.size - 1}; try alphabet=numpy.unique(...)."
        raise ValueError(
            f"n_tokens: expected at least the alphabet's {alphabet.size} symbols, got {n_tokens}{hint}"
        )


def _limit(kind: object) -> int:
    """The largest size of an alphabet of this kind; ValueError for another kind."""
    if not isinstance(kind, str) or kind not in _LIMITS:
        raise ValueError(f"kind: expected 'int', 'str' or 'bytes', got {quoted(kind)}")
    return _LIMITS[kind]


def _window(documents: Documents) -> NDArray[Any]:
    """The part of `values` that the offsets cover."""
    return documents.values[documents.offsets[0] : documents.offsets[-1]]


def _read_symbols(symbols: Any) -> Documents:
    """A document of the symbols of an alphabet that is given as a sequence.

    TypeError or ValueError for invalid entries.
    """
    if isinstance(symbols, np.ndarray) and symbols.dtype.kind in "OUST":
        symbols = symbols.tolist()
    if isinstance(symbols, (str, bytes, bytearray, memoryview)) or hasattr(type(symbols), "__array__"):
        return as_document(symbols, name="alphabet")
    try:
        items = list(symbols)
    except TypeError:
        way = "; its n_symbols" if hasattr(symbols, "n_symbols") else ""  # of a `Scale`
        raise TypeError(
            f"alphabet: expected a size, a sequence or a mapping, got {describe(symbols)}{way}"
        ) from None
    cls = next((cls for cls in (str, bytes) if items and isinstance(items[0], cls)), None)
    if cls is None:
        return as_document(items, name="alphabet")
    for i, item in enumerate(items):
        if not isinstance(item, cls) or len(item) != 1:
            error = ValueError if isinstance(item, cls) else TypeError
            raise error(f"alphabet: entry {i}: expected {cls.__name__} of length 1, got {quoted(item)}")
    if cls is str:  # one by one: side by side two surrogates would be a single character
        return Documents(np.array([*map(ord, items)], np.uint32), np.array([0, len(items)]), "str")
    return as_document(b"".join(items), name="alphabet")


def _groups_by_id(alphabet: Mapping[Any, int]) -> tuple[NDArray[np.int64], int, NDArray[np.int64]]:
    """The order of symbols by ids, for a mapping of n symbols to ids.

    Indices of entries int64[n]: first of each id 0..m-1 the first entry that has it, then all the others; m;
    and the ids of those others. Raises TypeError or ValueError unless the ids are 0..m-1, each at least once.

    >>> _groups_by_id({"a": 1, "b": 0, "A": 1})
    (array([1, 0, 2]), 2, array([1]))
    """
    keys, n = list(alphabet), len(alphabet)
    ids = as_document(list(alphabet.values()), name="alphabet: ids").values.astype(np.int64)
    if (at := np.flatnonzero((ids < 0) | (ids >= n))).size:
        raise ValueError(f"alphabet: symbol {quoted(keys[at[0]])} has id {ids[at[0]]}, expected 0..{n - 1}")
    groups, first = np.unique(ids, return_index=True)
    if (gap := np.flatnonzero(groups != np.arange(groups.size))).size:
        last = keys[int(np.argmax(ids))]
        raise ValueError(f"alphabet: no symbol has id {gap[0]}, though {quoted(last)} has {ids.max()}")
    others = np.delete(np.arange(n), first)
    return np.concatenate([first, others]), groups.size, ids[others]
