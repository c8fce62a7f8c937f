"""Decoding ids, and positions and counts of tokens in encoded documents."""

from __future__ import annotations

import codecs
import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.decode import ids_to_skip, joined
from ubpe_numba.coding.plan import BATCH, FIRST
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import as_document, as_documents, text_of, weights_of
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.lazy import view
from ubpe_numba.tokenizers.encoding import Encoding, refuse_positions
from ubpe_numba.vocabulary.segmenter import Decoding as Rules

if TYPE_CHECKING:
    from ubpe_numba.coding.occurrences import TokenIndex, Usage
    from ubpe_numba.coding.streams import DecoderStream


def check_errors(errors: Any) -> None:
    """TypeError or ValueError unless `errors` is the name of a handler of `bytes.decode`."""
    expected = "errors: expected 'replace', 'strict' or another handler of bytes.decode, got"
    if not isinstance(errors, str):
        raise TypeError(f"{expected} {quoted(errors)}")
    try:
        codecs.lookup_error(errors)
    except LookupError:
        raise ValueError(f"{expected} {quoted(errors)}") from None


class Decoding(Encoding):
    """`decode`, `decode_batch`, and the positions and counts of tokens in encoded documents."""

    @overload
    def decode(
        self,
        ids: Any,
        *,
        errors: str = ...,
        skip_special_tokens: bool = ...,
        skip: Any = ...,
        as_bytes: bool = ...,
        return_offsets: Literal[True],
    ) -> tuple[Any, NDArray[Any]]: ...
    @overload
    def decode(
        self,
        ids: Any,
        *,
        errors: str = ...,
        skip_special_tokens: bool = ...,
        skip: Any = ...,
        as_bytes: Literal[True],
    ) -> bytes: ...
    @overload
    def decode(
        self,
        ids: Any,
        *,
        errors: str = ...,
        skip_special_tokens: bool = ...,
        skip: Any = ...,
        out: NDArray[Any],
    ) -> NDArray[Any]: ...
    @overload
    def decode(
        self,
        ids: Any,
        *,
        errors: str = ...,
        skip_special_tokens: bool = ...,
        skip: Any = ...,
        as_bytes: Literal[False] = ...,
        out: None = ...,
    ) -> NDArray[Any] | str | bytes: ...
    def decode(
        self,
        ids: Any,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        as_bytes: bool = False,
        out: np.ndarray | None = None,
        return_offsets: bool = False,
    ) -> Any:
        r"""Decode the ids of a document to symbols of the kind in the fit.

        Parameters
        ----------
        ids
            int32, or other integers. UnknownTokenError, with the position, for an id outside the vocabulary.
        errors
            The treatment of invalid UTF-8, as for `bytes.decode`: ``"surrogateescape"`` keeps all bytes.
        skip_special_tokens, skip
            Leave out special tokens, not known words. Leave out certain ids, known or not, as of padding.
        as_bytes
            Return bytes, valid UTF-8 or not, with those that `decode` drops at the start; not for integers.
        out
            A buffer: 1-D, of uint8, uint32 or the integers' dtype. ValueError, with the size, if too small.
        return_offsets
            Return also the place of the first, or parted, character of each id; ValueError if not known.

        Returns
        -------
        doc
            An integer array, `str`, `bytes`, or a list of words; with `out` a part of it (numbers of words).

        Examples
        --------
        >>> tok, buffer = BPE.from_merges([[0, 1]], alphabet=[7, 8]), np.zeros(4, np.int32)
        >>> tok.decode([2, 0], out=buffer), tok.decode([2, 0, -1, -1], skip=-1)
        (array([7, 8, 7], dtype=int32), array([7, 8, 7], dtype=int32))
        >>> text = BPE.for_text(256).fit(["low"])
        >>> text.decode([108, 255], as_bytes=True), text.decode([108, 0xC3, 0xA9], return_offsets=True)
        (b'l\xff', ('lé', array([0, 1, 1])))
        """
        if return_offsets:
            if as_bytes or out is not None:
                raise ValueError("return_offsets: expected it without as_bytes and out")
            skipped = {"skip_special_tokens": skip_special_tokens, "skip": skip}
            doc = self.decode(ids, errors=errors, **skipped)
            return doc, self._starts(ids, doc, skipped)
        is_short = out is None and skip is None and skip_special_tokens is False
        if as_bytes or errors != "replace":
            if as_bytes and (kind := self._fitted().alphabet.kind) == "int":
                raise TypeError(
                    f"as_bytes: the alphabet is one of {kind}; leave it out to get what was encoded"
                )
            if errors != "replace":
                check_errors(errors)
            is_short = is_short and (not as_bytes or kind == "bytes")
        if is_short:
            try:
                short = self._made_plans["decode"]
            except KeyError:
                short = self._short_decoder()
            if short is not None:
                usual = errors == "replace" and not as_bytes
                if (doc := short(ids) if usual else short(ids, None if as_bytes else errors)) is not None:
                    return doc
        now = self._now()
        model, decoder = now._fitted(), now._tables.decoder
        gone = ids_to_skip(skip, skip_special_tokens, model.segmenter)
        checked = decoder.ids(as_document(ids, name="ids"), gone)
        if out is not None:
            return decoder.decode_into(checked, out, now.n_threads)[0]
        if not as_bytes:
            return now._documents(checked, errors)[0]
        symbols = decoder.decode(checked, now.n_threads)[0]
        if model.alphabet.kind == "bytes":
            return symbols.tobytes()
        # the beginning of a text is changed
        text = model.segmenter.restored(f"x{text_of(symbols)}", "surrogateescape")[1:]
        return text.encode("utf-8", "surrogateescape")

    def _starts(self, ids: Any, doc: Any, skipped: dict[str, Any]) -> NDArray[np.int64]:
        """Where each id begins in the document that they are decoded to."""
        model, lengths, values = (
            self._fitted(),
            self._tables.decoder.lengths,
            as_document(ids, name="ids").values,
        )
        gone = ids_to_skip(skipped["skip"], skipped["skip_special_tokens"], model.segmenter)
        there = np.isin(values, () if gone is None else gone, invert=True)
        starts = offsets_of(np.where(there, lengths[np.where(there, values, 0)], 0))
        if isinstance(doc, str):
            data = self.decode(ids, as_bytes=True, **skipped)
            whole = data.decode("utf-8", "replace")
            if model.segmenter.encoding is not None:  # characters that begin before each byte
                begun = offsets_of(np.frombuffer(data, np.uint8) & 0xC0 != 0x80)
                starts = np.append(begun[1:] - 1, begun[-1])[starts]
            if starts[-1] != len(whole) or not whole.endswith(doc):
                raise ValueError(
                    "return_offsets: the ids are no valid UTF-8, or the decoder changes text across tokens"
                )
            starts = np.maximum(starts - (len(whole) - len(doc)), 0)
        return starts[:-1]

    def _documents(self, ids: Ragged, errors: str) -> list[Any]:
        """The decoded documents; of the int32 integers only the ids."""
        alphabet, _, segmenter = self._fitted()
        decoder = self._tables.decoder
        if segmenter.by_names:
            decoder.check(ids.values, ids._offsets, int(ids._offsets[0]))
            from ubpe_numba.text.steps import decoder_of  # here only: integers need not wait for it

            join, names = decoder_of(json.dumps((segmenter.file or {}).get("decoder"))), self._names.names
            shown = segmenter.shown
            return [join([shown.get(i) or names[i] for i in doc.tolist()]) if doc.size else "" for doc in ids]
        symbols, ends = decoder.decode(ids, self.n_threads)
        places = decoder.places(ids, symbols, ends)
        if segmenter.encoding is None and alphabet.kind == "str":
            whole = text_of(symbols)  # slices of it cost a third of as many texts of arrays
            return [segmenter.restored(whole[a:b], errors) for a, b in places]
        if segmenter.encoding is None:
            return [decoder.alphabet.output(symbols[a:b]) for a, b in places]
        view = symbols.astype(np.uint8, copy=False).data  # slices of it cost a third of those of an array
        if errors != "replace" or not segmenter.has_bytes:
            return [str(view[a:b], "utf-8", errors) for a, b in places]
        documents = []
        for (a, b), doc in zip(places, ids, strict=True):
            try:
                documents.append(str(view[a:b], "utf-8"))
            except UnicodeDecodeError:
                names = self._names.names
                documents.append(joined([names[i] for i in doc.tolist()], segmenter.decoding or Rules()))
        return documents

    def decode_batch(
        self,
        batch: Any,
        offsets: Any = None,
        *,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
        as_bytes: bool = False,
        out: np.ndarray | None = None,
    ) -> Ragged | list[Any]:
        """Decode documents of ids to a `Ragged` of integers, or a list of `str`, `bytes` or lists of words.

        Parameters
        ----------
        batch, offsets
            Documents of integers, as for `fit`. Rows of a matrix may be padded: see `skip`.
        errors, skip_special_tokens, skip, as_bytes, out
            As for `decode`; with `out`, documents are parts of it: a `Ragged`, or a list of arrays.

        Examples
        --------
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_batch(np.array([[2, -1], [1, 2]]), skip=-1)
        ['ab', 'bab']
        """
        check_errors(errors)
        tables = self._tables
        decoder, gone = tables.decoder, ids_to_skip(skip, skip_special_tokens, tables.model.segmenter)
        checked = decoder.ids(as_documents(batch, offsets, name="batch"), gone, as_bytes)
        if out is not None:
            symbols, ends = decoder.decode_into(checked, out, self.n_threads)
            if symbols.dtype == np.int32:
                return trusted(symbols, ends)
            return [symbols[a:b] for a, b in pairwise(ends.tolist())]
        if as_bytes:
            return [self.decode(doc, as_bytes=True) for doc in checked]
        if decoder.dtype == np.int32 and tables.model.alphabet.names is None:
            return trusted(*decoder.decode(checked, self.n_threads))
        return self._documents(checked, errors)

    def inverse_transform(self, batch: Any) -> Ragged | list[Any]:
        """`decode_batch` without options, by the name in scikit-learn; `batch` as for `decode_batch`."""
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
        """Yield the documents of an iterable of ids, as `decode` gives them, in bounded memory.

        About `batch` ids are decoded together. Options as for `decode`; errors number all documents.

        Examples
        --------
        >>> list(BPE.from_merges([[0, 1]], alphabet="ab").decode_iter(iter([[2], [], [1, 2]])))
        ['ab', '', 'bab']
        """
        # here only: decoding one document or a list need not wait for it
        from ubpe_numba.coding import streams

        self._fitted()
        options = {"errors": errors, "skip_special_tokens": skip_special_tokens, "skip": skip}
        return streams.through_iter(streams.groups_of(batches, batch, "batches"), self.decode_batch, options)

    def decode_stream(
        self, *, errors: str = "replace", skip_special_tokens: bool = False, skip: Any = None
    ) -> DecoderStream:
        """Decode the ids of a document step by step, as a model generates them, in complete characters.

        Arguments as for `decode`. ``push(ids)`` and ``finish()`` of the `DecoderStream` return certain
        symbols: all in `finish`, if the decoder of a foreign file may change the whole text.

        Examples
        --------
        >>> stream = BPE.for_text(256).fit(["lé lé"]).decode_stream()
        >>> [stream.push(i) for i in "lé".encode()]
        ['l', '', 'é']
        """
        from ubpe_numba.coding.streams import DecoderStream, part_of  # here only, as in `decode_iter`

        check_errors(errors)
        segmenter, tables = self._fitted().segmenter, self._tables
        whole = (
            functools.partial(self.decode, errors=errors)
            if segmenter.restores or segmenter.has_bytes
            else None
        )
        if "parts" not in tables.kept:
            held = None  # all may change until the end
            if whole and not segmenter.by_names:
                # here only: integers need not wait for it
                from ubpe_numba.text.sentencepiece import BYTE_NAMES

                held = {i for i, name in self._names.names.items() if name in BYTE_NAMES}
            tables.kept["parts"] = {}, held
        (parts, held), find = tables.kept["parts"], functools.partial(part_of, tables.decoder)
        gone = ids_to_skip(skip, skip_special_tokens, segmenter)
        return DecoderStream(self._fitted(), tables.decoder, gone, errors, parts, find, whole, held)

    def index(self, ids: Any, offsets: Any = None) -> TokenIndex:
        """Index all occurrences of all tokens in encoded documents.

        Documents as for `decode_batch`; a 1-D array is one document. ``index[token]`` are the `Occurrences`
        of a token in order: `documents`, `places` among the ids, and `starts` in symbols of the decoded
        document. By id: ``index.counts`` and ``index.document_frequencies``.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.index(tok.encode_batch(["aab", "abab"]))[2].documents.tolist()
        [0, 1, 1]
        """
        from ubpe_numba.coding.occurrences import TokenIndex  # here only: decoding need not wait for it

        return TokenIndex(self._known(ids, offsets), self._tables.decoder.lengths, self.n_threads)

    def usage(
        self,
        docs: Any = None,
        offsets: Any = None,
        *,
        ids: Any = None,
        sample_weight: Any = None,
        **options: Any,
    ) -> Usage:
        """Count how often this tokenizer uses each id on documents, and list ids that it never uses.

        Arguments are as for `encode_batch`, without `return_offsets`; `sample_weight` as for `fit`. Instead
        of `docs`, `ids` may be encoded documents, as for `decode_batch`. A `Usage` has `counts` and
        `document_frequencies` by id, and `unused`, the ids that never occur ("glitch tokens").

        Examples
        --------
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
            raise TypeError(
                f"ids: they are encoded already; unexpected argument {quoted(next(iter(options)))}"
            )
        else:
            encoded = self._known(ids, offsets)
        copies = None if sample_weight is None else weights_of(sample_weight, encoded._offsets)
        decoder = self._tables.decoder
        return usage_of(encoded, decoder.sizes.size, copies, self.n_threads, decoder.gaps)

    def _known(self, ids: Any, offsets: Any) -> Ragged:
        """Encoded documents of the user, every id that of a token; raises as `decode_batch`."""
        return self._tables.decoder.ids(as_documents(ids, offsets, name="ids"), known=True)

    def _short_decoder(self) -> Callable[..., Any] | None:
        """Make the decoder of a short document at the call number `FIRST`; None before, or if impossible."""
        plans = self.__dict__.setdefault("_made_plans", {})
        plans["decoded"] = calls = plans.get("decoded", 0) + 1
        if calls == FIRST:
            from ubpe_numba.coding.short import decoder  # here only: the first calls need not wait for it

            plans["decode"] = decoder(self._tables)
        return plans.get("decode")  # type: ignore[no-any-return]

    def explore(
        self,
        docs: Any,
        path: str | os.PathLike[str] | None = None,
        *,
        offsets: Any = None,
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
        """Make a report of tokens and their occurrences in documents: one HTML file that needs no network.

        Parameters
        ----------
        docs, offsets, progress
            As for `fit`.
        path, title
            The file to write, atomically, and its title. None returns the report, which a notebook shows.
        kind
            ``"signal"``, ``"text"``, ``"dna"``, ``"notes"`` (symbols are pitches), or ``"auto"``: integers
            and bytes that are not text are a signal, text of nucleotides only is DNA.
        unit, rate
            The name of a symbol, such as ``"sample"``, and the symbols per second; axes are then in seconds.
        letters, pitches
            Sequences or mappings: the text of each integer (of DNA ``"ACGTN"``); its MIDI pitch or None.
        segmentations
            Objectives, as for `with_objective`; ``"auto"``: all that the vocabulary allows.
        max_symbols
            Plot at most this many symbols: whole documents, evenly spaced. Statistics cover everything.
        unknown, allowed_special, disallowed_special
            As for `encode`, but special tokens are allowed: the report only looks at the documents.

        Returns
        -------
        report
            A `Report` with `html` and a frame in notebooks; None if it was written to `path`.

        Examples
        --------
        >>> BPE(4).fit([[0, 1, 2, 0, 1]]).explore([[0, 1], [2]], title="Three symbols", progress=False).title
        'Three symbols'
        """
        return view("explorer.report", "explore")(
            self, docs, path, offsets=offsets, title=title, kind=kind, unit=unit, rate=rate, letters=letters,
            pitches=pitches,
            segmentations=segmentations, max_symbols=max_symbols, unknown=unknown,
            allowed_special=allowed_special,
            disallowed_special=disallowed_special, progress=progress,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        """Facts and motifs for a notebook."""
        return str(view("notebook", "tokenizer_html")(self))
