"""Decoding ids, and positions and counts of tokens in encoded documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.decode import ids_to_skip
from ubpe_numba.coding.plan import BATCH
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, as_document, as_documents, text_of, weights_of
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import requested_threads
from ubpe_numba.runtime.lazy import html_of, view
from ubpe_numba.tokenizers.encoding import Encoding, refuse_positions

if TYPE_CHECKING:
    from ubpe_numba.coding.occurrences import TokenIndex, Usage
    from ubpe_numba.coding.streams import DecoderStream


class Decoding(Encoding):
    """`decode`, `decode_batch`, and the positions and counts of tokens in encoded documents."""

    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., as_bytes: Literal[True]
    ) -> bytes: ...
    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., out: NDArray[Any]
    ) -> NDArray[Any]: ...
    @overload
    def decode(
        self, ids: Any, *, errors: str = ..., skip_special_tokens: bool = ..., skip: Any = ..., as_bytes: Literal[False] = ...,
        out: None = ...,
    ) -> NDArray[Any] | str | bytes: ...  # fmt: skip
    def decode(
        self,
        ids: Any,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        as_bytes: bool = False,
        out: np.ndarray | None = None,
    ) -> NDArray[Any] | str | bytes:
        r"""Decode the ids of one document to what was fitted.

        Parameters
        ----------
        ids
            int32, or other integers.
        errors
            The treatment of bytes that are no UTF-8, where text is encoded so, as for `bytes.decode`: ``"surrogatepass"`` gives
            back every `str`, ``"surrogateescape"`` keeps all bytes.
        skip_special_tokens
            Leave special tokens out; known words stay.
        skip
            An id or several that are left out, such as that of padding; they need not be in the vocabulary.
        as_bytes
            Of an alphabet of bytes, give the bytes of the tokens, well-formed UTF-8 or not, such as those of one token.
        out
            A buffer for the symbols: a 1-D array of their dtype (uint8 for bytes, uint32 code points for `str`). The result is
            then the part of it that was needed, for every kind of document; the rest of it may be overwritten.

        Returns
        -------
        doc
            An integer array, `str` or `bytes`; with `out` a part of it.

        Raises
        ------
        UnknownTokenError
            For an id outside the vocabulary, naming its position.
        TypeError
            For `as_bytes` if the alphabet is not one of bytes.
        ValueError
            If `out` is too small, saying how many symbols there are, cannot be written to or is not contiguous.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok, buffer = BPE.from_merges([[0, 1]], alphabet=[7, 8]), np.zeros(4, np.int32)
        >>> tok.decode([2, 0], out=buffer), tok.decode([2, 0, -1, -1], skip=-1)
        (array([7, 8, 7], dtype=int32), array([7, 8, 7], dtype=int32))
        >>> text = BPE.for_text(256).fit(["low"])
        >>> text.decode([108, 255]), text.decode([108, 255], as_bytes=True)
        ('l\ufffd', b'l\xff')
        """
        if as_bytes and (kind := self._fitted().alphabet.kind) != "bytes":
            raise TypeError(f"as_bytes: the alphabet is one of {kind}")
        if out is None and skip is None and skip_special_tokens is False and (short := self._short_decoder()) is not None:
            doc = short(ids, None, to_bytes=True) if as_bytes else short(ids, errors)
            if doc is not None:
                return doc  # type: ignore[no-any-return]
        model = self._fitted()
        checked = self._left(as_document(ids, name="ids"), skip, skip_special_tokens)
        if out is not None:
            return self._tables.decoder.decode_into(checked, out, self.n_threads)[0]
        decoder = self._tables.decoder
        symbols = decoder.text(decoder.decode(checked, self.n_threads)[0])
        if as_bytes:
            return symbols.tobytes()
        if model.segmenter.encoding is None:
            return model.segmenter.restored(model.alphabet.output(symbols), errors)  # type: ignore[no-any-return]
        return str(symbols.astype(np.uint8, copy=False).data, "utf-8", errors)  # without `bytes` in between: a copy less

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

    def inverse_transform(self, batch: Any) -> Ragged | list[Any]:
        """`decode_batch` without options, by the name that scikit-learn uses; `batch` as for `decode_batch`."""
        return self.decode_batch(batch)

    def decode_iter(
        self,
        batches: Iterable[Any],
        *,
        batch: int = BATCH,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
    ) -> Iterator[Any]:
        """Decode the documents of an iterable one after the other, as `decode` does, in bounded memory.

        Parameters
        ----------
        batches
            An iterable of documents of ids.
        batch
            Ids that are decoded at a time, on all threads.
        errors, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        iterator
            Of documents as `decode` gives them. Errors have the number of the document in the whole iterable.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> list(BPE.from_merges([[0, 1]], alphabet="ab").decode_iter(iter([[2], [], [1, 2]])))
        ['ab', '', 'bab']
        """
        from ubpe_numba.coding import streams  # here only: decoding one document or a list need not wait for it

        self._fitted()
        options = {"errors": errors, "skip_special_tokens": skip_special_tokens, "skip": skip}
        return streams.decode_iter(streams.groups_of(batches, batch, "batches"), self.decode_batch, options)

    def decode_stream(self, *, errors: str = "replace", skip_special_tokens: bool = False, skip: Any = None) -> DecoderStream:
        """Decode the ids of one document bit by bit, as a model draws them; of UTF-8 only whole characters come out.

        Parameters
        ----------
        errors, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        stream
            A `DecoderStream`: ``push(ids)`` and ``finish()`` return what has become certain. ValueError where a text is changed
            back as a whole, as for some tokenizers from elsewhere.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.for_text(256).fit(["lé lé"]).decode_stream()
        >>> [stream.push(i) for i in "lé".encode()]
        ['l', '', 'é']
        """
        from ubpe_numba.coding.streams import DecoderStream  # here only, as in `decode_iter`

        segmenter = self._fitted().segmenter
        if segmenter.restores:
            raise ValueError("decode_stream: a text of this tokenizer is changed back as a whole: use decode")
        gone = ids_to_skip(skip, skip_special_tokens, segmenter.special)
        return DecoderStream(self._fitted(), self._tables.decoder, gone, errors)

    def index(self, ids: Any, offsets: Any = None) -> TokenIndex:
        """All occurrences of all tokens in encoded documents, to be looked up at once.

        Parameters
        ----------
        ids, offsets
            Encoded documents, given as to `decode_batch`; a 1-D array is one document.

        Returns
        -------
        index
            A `TokenIndex`: ``index[token]`` are the `Occurrences` of a token: `documents`, `places` among the ids, and `starts`
            in symbols of the decoded document, in order; `index.counts` and `index.document_frequencies`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.index(tok.encode_batch(["aab", "abab"]))[2].documents.tolist()
        [0, 1, 1]
        """
        from ubpe_numba.coding.occurrences import TokenIndex  # here only: decoding need not wait for it

        return TokenIndex(self._known(ids, offsets), self._tables.decoder.lengths, self.n_threads)

    def usage(
        self, docs: Any = None, offsets: Any = None, *, ids: Any = None, sample_weight: Any = None, **options: Any
    ) -> Usage:
        """How often this tokenizer uses each of its ids on documents, and which it never uses.

        A token may be in the vocabulary, and in the corpus, and yet never be in an encoding: it was only a step to longer ones,
        or another path is always better. Models learn nothing about such a token ("glitch token").

        Parameters
        ----------
        docs, offsets, sample_weight
            As for `fit`.
        ids
            Documents that are encoded already, given as to `decode_batch`, in the place of `docs`; TypeError unless one of both
            is given.
        **options
            Further arguments of `encode_batch`, but for `return_offsets`.

        Returns
        -------
        usage
            A `Usage` of arrays by id, special tokens included: `counts` and `document_frequencies`; and `unused`, the ids of
            tokens that occur nowhere.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> found = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab").usage(["abab", "b"])
        >>> found.counts.tolist(), found.document_frequencies.tolist(), found.unused.tolist()
        ([0, 1, 0, 1], [0, 1, 0, 1], [0, 2])
        """
        from ubpe_numba.coding.occurrences import usage_of  # here only: decoding need not wait for it

        refuse_positions(options)
        if (docs is None) == (ids is None):
            raise TypeError("docs: expected either documents or ids=, what they were encoded to")
        if isinstance(docs, Counts):
            if sample_weight is not None or offsets is not None:
                raise TypeError("docs: Counts have offsets and weights of their own")
            docs, sample_weight = docs.to_lists(), docs.weights
        if ids is None:
            encoded = self.encode_batch(docs, offsets, **options)
        elif options:
            raise TypeError(f"ids: they are encoded already; unexpected argument {quoted(next(iter(options)))}")
        else:
            encoded = self._known(ids, offsets)
        copies = None if sample_weight is None else weights_of(sample_weight, encoded.offsets)
        decoder = self._tables.decoder
        return usage_of(encoded, decoder.sizes.size, copies, self.n_threads, decoder.gaps)

    def _left(self, documents: Documents, skip: Any, skip_special_tokens: bool) -> Ragged:
        """Ids given by the user without those that a call leaves out."""
        return self._tables.decoder.ids(documents, ids_to_skip(skip, skip_special_tokens, self._fitted().segmenter.special))

    def _known(self, ids: Any, offsets: Any) -> Ragged:
        """Encoded documents of the user, every id that of a token; raises as `decode_batch`."""
        return self._tables.decoder.ids(as_documents(ids, offsets, name="ids"), known=True)

    def _short_decoder(self) -> Callable[..., Any] | None:
        """The decoder of one short document; None where there is none."""
        try:
            return self._made_plans["decode"]  # type: ignore[no-any-return]
        except KeyError:
            requested_threads(self.n_threads)  # raises for a bad one, which short documents do not need
            made = self.__dict__.setdefault("_made_plans", {})
            short = made["decode"] = self._tables.decode_short
            return short

    def explore(
        self,
        docs: Any,
        offsets: Any = None,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        kind: str = "auto",
        unit: str | None = None,
        rate: float | None = None,
        letters: Any = None,
        pitches: Any = None,
        segmentations: str | Sequence[str] = "auto",
        max_symbols: int = 2_000_000,
        unknown: Any = None,
        allowed_special: Any = "all",
        disallowed_special: Any = "none",
        progress: bool | str = "auto",
    ) -> Any:
        """Make a report of the tokens and of where documents hold them: one HTML file for a browser, without a network.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        path
            The file to write, whole or not at all. None: the report is returned, and a notebook shows it.
        title
            By default what the tokenizer is.
        kind
            The picture: ``"signal"``, ``"text"``, ``"dna"``, ``"notes"`` (symbols are pitches), or ``"auto"``: integers and bytes
            that are no text are a signal, text of nucleotides only is DNA.
        unit, rate
            What one symbol is called, such as ``"sample"``; how many of them a second has: axes are in seconds then.
        letters, pitches
            A sequence or mapping: the text of each integer (of DNA by default ``"ACGTN"``); the MIDI pitch of each, None for a
            rest.
        segmentations
            The objectives by which the documents are cut, as `with_objective` takes them. ``"auto"``: all that the vocabulary
            allows.
        max_symbols
            How many symbols are drawn: of more, whole documents at even distances. Everything is counted.
        unknown, allowed_special, disallowed_special, progress
            As for `encode` and `fit`, but special tokens are allowed: the report only looks at the documents.

        Returns
        -------
        report
            A `Report` with `html`, `save(path)` and a frame in notebooks; None if it was written to `path`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> docs = [[0, 1, 2, 0, 1], [0, 1]]
        >>> BPE(4).fit(docs).explore(docs, title="Three symbols", progress=False).title
        'Three symbols'
        """
        return view("explorer.report", "explore")(
            self, docs, offsets, path, title=title, kind=kind, unit=unit, rate=rate, letters=letters, pitches=pitches,
            segmentations=segmentations, max_symbols=max_symbols, unknown=unknown, allowed_special=allowed_special,
            disallowed_special=disallowed_special, progress=progress,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        """Facts and motifs for a notebook."""
        return html_of(self, "tokenizer_html")
