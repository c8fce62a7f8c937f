"""Decoding ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.decode import ids_to_skip
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, as_document, as_documents, text_of
from ubpe_numba.runtime import thread_pool
from ubpe_numba.tokenizers.fitted import Fitted


class Decoding(Fitted):
    """`decode`, `decode_batch` and their helpers."""

    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., out: None = ...
    ) -> NDArray[Any] | str | bytes: ...
    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., out: NDArray[Any]
    ) -> NDArray[Any]: ...
    def decode(
        self,
        ids: Any,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        out: np.ndarray | None = None,
    ) -> NDArray[Any] | str | bytes:
        """Decode the ids of one document to what was fitted.

        Parameters
        ----------
        ids
            int32, or other integers.
        errors
            Where text is encoded as UTF-8 it is `str` again, and this says what becomes of bytes that are no UTF-8, as for
            `bytes.decode`: ``"surrogatepass"`` gives back every `str`, ``"surrogateescape"`` keeps all bytes, and `decode_bytes`
            leaves them as they are.
        skip_special_tokens
            Leave special tokens out; known words stay.
        skip
            An id or several that are left out, such as that of padding; they need not be in the vocabulary.
        out
            A buffer for the symbols, to be used again and again: a one-dimensional array of ``alphabet_.symbols.dtype`` (uint8
            for bytes, uint32 code points for `str`). The result is then the part of it that was needed, an array for every kind
            of document; what lies behind may be overwritten.

        Returns
        -------
        doc
            An integer array, `str` or `bytes`; with `out` a part of it.

        Raises
        ------
        UnknownTokenError
            For an id outside the vocabulary, naming its position.
        TypeError
            For ids that are no integers, or `out` of another dtype.
        ValueError
            If `out` is too small, saying how many symbols there are, cannot be written to or is not contiguous.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok, buffer = BPE.from_merges([[0, 1]], alphabet=[7, 8]), np.zeros(4, np.int32)
        >>> tok.decode([2, 0], out=buffer)
        array([7, 8, 7], dtype=int32)
        >>> tok.decode([2, 0, -1, -1], skip=-1)
        array([7, 8, 7], dtype=int32)
        """
        is_whole = skip is None and skip_special_tokens is False
        if out is None and is_whole and (short := self._short_decoder()) is not None and (doc := short(ids, errors)) is not None:
            return doc  # type: ignore[no-any-return]
        model = self._fitted()
        checked = self._left(as_document(ids, name="ids"), skip, skip_special_tokens)
        if out is not None:
            return self._tables.decoder.decode_into(checked, out, self.n_threads)[0]
        decoder = self._tables.decoder
        symbols = decoder.text(decoder.decode(checked, self.n_threads)[0])
        if model.segmenter.encoding is None:
            return model.segmenter.restored(model.alphabet.output(symbols), errors)  # type: ignore[no-any-return]
        return str(symbols.astype(np.uint8, copy=False).data, "utf-8", errors)  # without `bytes` in between: a copy less

    def decode_bytes(self, ids: Any, *, skip_special_tokens: bool = False, skip: Any = None) -> bytes:
        r"""Decode the ids of one document to `bytes`.

        Parameters
        ----------
        ids, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        bytes
            What the tokens stand for, well-formed UTF-8 or not.

        Raises
        ------
        TypeError
            If the alphabet is not one of bytes.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(256).fit(["low"])
        >>> tok.decode_bytes([108, 255]), tok.decode([108, 255])
        (b'l\xff', 'l\ufffd')
        """
        kind = self._fitted().alphabet.kind
        if kind != "bytes":
            raise TypeError(f"decode_bytes: the alphabet is one of {kind}")
        is_whole = skip is None and skip_special_tokens is False
        if is_whole and (short := self._short_decoder()) is not None and (doc := short(ids, None, to_bytes=True)) is not None:
            return doc  # type: ignore[no-any-return]
        checked, decoder = self._left(as_document(ids, name="ids"), skip, skip_special_tokens), self._tables.decoder
        return decoder.text(decoder.decode(checked, self.n_threads)[0]).tobytes()

    def decode_batch(
        self,
        batch: Any,
        offsets: Any = None,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        out: np.ndarray | None = None,
    ) -> Ragged | list[Any]:
        """Decode documents of ids.

        Parameters
        ----------
        batch, offsets
            Documents of integers, given as to `fit`; the rows of a matrix too, which may be padded: see `skip`.
        errors, skip_special_tokens, skip, out
            As for `decode`; the result shares `out`.

        Returns
        -------
        docs
            A `Ragged` for integers (a list of int64 arrays where int32 is too small), else a list of `str` or `bytes`; with `out`
            a `Ragged` or a list of arrays.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_batch([[2], [1, 2]])
        ['ab', 'bab']
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_batch(np.array([[2, -1], [1, 2]]), skip=-1)
        ['ab', 'bab']
        """
        model = self._fitted()
        checked = self._left(as_documents(batch, offsets, name="batch"), skip, skip_special_tokens)
        if out is not None:
            symbols, ends = self._tables.decoder.decode_into(checked, out, self.n_threads)
        else:
            symbols, ends = self._tables.decoder.decode(checked, self.n_threads)
        if symbols.dtype == np.int32:
            return Ragged._trusted(symbols, ends)
        places = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        if out is not None:
            return [symbols[a:b] for a, b in places]
        if (decoding := model.segmenter.decoding) is not None and decoding.n:
            places = [(a + decoding.n_stripped(symbols[a:b]), b) for a, b in places]
        if model.segmenter.encoding is None and model.alphabet.kind == "str":
            whole = text_of(symbols)  # slices of it cost a third of as many texts of arrays
            return [model.segmenter.restored(whole[a:b], errors) for a, b in places]
        if model.segmenter.encoding is None:
            return [model.alphabet.output(symbols[a:b]) for a, b in places]
        view = symbols.astype(np.uint8, copy=False).data  # slices of it cost a third of those of an array
        return [str(view[a:b], "utf-8", errors) for a, b in places]

    def _left(self, documents: Documents, skip: Any, skip_special_tokens: bool) -> Ragged:
        """Ids given by the user without those that a call leaves out."""
        return self._tables.decoder.ids(documents, ids_to_skip(skip, skip_special_tokens, self._fitted().segmenter.special))

    def _short_decoder(self) -> Callable[..., Any] | None:
        """The decoder of one short document; None where there is none."""
        try:
            return self._made_plans["decode"]  # type: ignore[no-any-return]
        except KeyError:
            thread_pool.asked_for(self.n_threads)  # raises for a bad one, which short documents do not need
            made = self.__dict__.setdefault("_made_plans", {})
            made["decode"] = self._tables.decode_short
            return made["decode"]  # type: ignore[no-any-return]

    def inverse_transform(self, batch: Any) -> Ragged | list[Any]:
        """`decode_batch`, by the name that scikit-learn uses.

        Parameters
        ----------
        batch
            Documents of ids.

        Returns
        -------
        docs
            As by `decode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").inverse_transform([[2], [1, 2]])
        ['ab', 'bab']
        """
        return self.decode_batch(batch)

    def _known(self, ids: Any, offsets: Any) -> Ragged:
        """Encoded documents of the user, every id of which stands for a token; raises as `decode_batch`."""
        return self._tables.decoder.ids(as_documents(ids, offsets, name="ids"), known=True)
