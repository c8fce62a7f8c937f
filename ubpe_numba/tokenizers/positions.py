"""Positions and counts of tokens in documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.documents.counts import Counts, weights_of
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.lazy import html_of, view
from ubpe_numba.tokenizers.decoding import Decoding
from ubpe_numba.tokenizers.encoding import Encoding

if TYPE_CHECKING:
    from ubpe_numba.coding.occurrences import Occurrences, Spans, TokenIndex, Usage


class Positions(Encoding, Decoding):
    """`spans`, `find`, `index`, `usage` and the report of `explore`."""

    def spans(self, docs: Any, offsets: Any = None, **options: Any) -> Spans:
        """Encode documents, and say of every token where it stands: flat arrays, a row a token.

        Parameters
        ----------
        docs, offsets
            As for `encode_batch`.
        **options
            Further arguments of `encode_batch`, but for `return_offsets`.

        Returns
        -------
        spans
            A `Spans`: `ids`, `starts` and `lengths` in symbols, and `documents`. A token covers the symbols that it stands for;
            where text is changed or symbols are skipped, all up to the next token or the end of the document.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> spans = BPE.from_merges([[0, 1]], alphabet="ab").spans(["aab", "", "b"])
        >>> spans.ids.tolist(), spans.starts.tolist(), spans.lengths.tolist(), spans.documents.tolist()
        ([0, 2, 1], [0, 1, 0], [1, 2, 1], [0, 0, 2])
        """
        from ubpe_numba.coding.occurrences import spans_of  # here only: encoding need not wait for it

        _refuse_offsets(options)
        docs = list(docs) if hasattr(docs, "__next__") else docs
        encode: Any = self.encode_batch  # the options differ
        ids, starts = encode(docs, offsets, return_offsets=True, **options)
        covers = self.is_lossless and options.get("unknown") in (None, "raise")
        ends = None if covers else np.diff(self._read(docs, offsets).offsets)
        return spans_of(ids, starts, self._tables.decoder.lengths, ends)

    def find(self, token: int, ids: Any, offsets: Any = None) -> Occurrences:
        """Where one token occurs in encoded documents.

        Parameters
        ----------
        token
            An id.
        ids, offsets
            Encoded documents, given as to `decode_batch`; a 1-D array is one document.

        Returns
        -------
        occurrences
            An `Occurrences`: `documents`, `places` among the ids, and `starts` in symbols of the decoded document, in order.

        Raises
        ------
        IndexError
            If `token` is not in 0..V - 1. An id in between that stands for no token occurs nowhere.
        UnknownTokenError, TypeError
            As `decode_batch`, for `ids`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> tok.find(2, tok.encode_batch(["aab", "abab"])).starts.tolist()
        [1, 0, 2]
        """
        from ubpe_numba.coding.occurrences import find  # here only, as in `spans`

        return find(token, self._known(ids, offsets), self._tables.decoder.lengths)

    def index(self, ids: Any, offsets: Any = None) -> TokenIndex:
        """All occurrences of all tokens in encoded documents, to be looked up at once.

        Parameters
        ----------
        ids, offsets
            Encoded documents, given as to `decode_batch`; a 1-D array is one document.

        Returns
        -------
        index
            A `TokenIndex`: ``index[token]`` is what `find` returns; `index.counts` and `index.document_frequencies`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> index = tok.index(tok.encode_batch(["aab", "abab"]))
        >>> index.counts.tolist(), index[2].documents.tolist()
        ([1, 0, 3], [0, 1, 1])
        """
        from ubpe_numba.coding.occurrences import TokenIndex  # here only, as in `spans`

        return TokenIndex(self._known(ids, offsets), self._tables.decoder.lengths, self.n_threads)

    def usage(
        self, docs: Any = None, offsets: Any = None, *, ids: Any = None, sample_weight: Any = None, **options: Any
    ) -> Usage:
        """How often this tokenizer uses each of its ids on documents, and which it never uses.

        Parameters
        ----------
        docs, offsets, sample_weight
            As for `fit`.
        ids
            Documents that are encoded already, given as to `decode_batch`, in the place of `docs`.
        **options
            Further arguments of `encode_batch`, but for `return_offsets`.

        Returns
        -------
        usage
            Arrays of all ids, those of special tokens included: `counts` and `document_frequencies`; and `unused`, the ids of
            tokens that occur nowhere.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError, ValueError
            As `encode_batch` and `fit`; TypeError unless one of `docs` and `ids` is given.
        UnknownTokenError
            As `decode_batch`, for `ids`.

        Notes
        -----
        A token may be in the vocabulary, and in the corpus, and yet never be in an encoding: it was only a step to longer ones,
        or another path is always better. Models learn nothing about such a token ("glitch token"). Of 4096 tokens learned on
        600,000 bytes, by lines, by rank 105 are never used on these lines themselves (King James Bible; 255 on a Chinese text),
        by ``"shortest"`` 115 (310), by ``"tfidf"`` 2459 (1496).

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
        >>> found = tok.usage(["abab", "b"])
        >>> found.counts.tolist(), found.document_frequencies.tolist(), found.unused.tolist()
        ([0, 1, 0, 1], [0, 1, 0, 1], [0, 2])
        >>> tok.usage(ids=[[3], [1]]).counts.tolist()
        [0, 1, 0, 1]
        """
        from ubpe_numba.coding.occurrences import usage_of  # here only, as in `spans`

        _refuse_offsets(options)
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

        It has the documents with their tokens in colours, a table of all tokens to search and to sort, of a chosen token its
        occurrences in their contexts, its merges and its figures, and the same documents cut in other ways.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        path
            The file to write, whole or not at all. None: the report is returned, and a notebook shows it.
        title
            By default what the tokenizer is.
        kind
            What the documents are shown as: ``"signal"``, ``"text"``, ``"dna"``, ``"notes"`` (symbols are pitches), or
            ``"auto"``: integers and bytes that are no text are a signal, text of nucleotides only is DNA.
        unit
            What one symbol is called: by default ``"sample"``, ``"character"`` or ``"byte"``, ``"base"``, ``"note"``.
        rate
            How many symbols a second has: axes are in seconds then.
        letters
            For text and DNA of integers, a `str`, sequence or mapping: the text of each symbol (of DNA by default ``"ACGTN"``).
        pitches
            For notes, a sequence or mapping: the pitch of each symbol as MIDI numbers it, None for a rest.
        segmentations
            The objectives by which the documents are cut, as `with_objective` takes them. ``"auto"``: its own first, then the
            others that the vocabulary allows.
        max_symbols
            How many symbols are drawn: of more, whole documents at even distances. Everything is counted.
        unknown, allowed_special, disallowed_special
            As for `encode`, but special tokens are allowed: the report only looks at the documents.
        progress
            As for `fit`.

        Returns
        -------
        report
            A `Report` with `html`, `save(path)` and a frame in notebooks; None if it was written to `path`.

        Raises
        ------
        TypeError, ValueError
            For documents or an argument that is not valid, naming it.

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


def _refuse_offsets(options: dict[str, Any]) -> None:
    for name in ("return_offsets", "units"):
        if name in options:
            raise TypeError(f"unexpected argument {quoted(name)}")
