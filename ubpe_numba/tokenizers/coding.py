"""Encoding and decoding, as the three tokenizers share them: one document, batches, positions, buffers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.coding import pipeline
from ubpe_numba.coding.decode import Decoder
from ubpe_numba.coding.token_starts import starts_of
from ubpe_numba.documents.normalise import Documents, as_document, as_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.utf8 import utf8_document, utf8_documents
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.tokenizers.streaming import Streams
from ubpe_numba.tokenizers.text import Text
from ubpe_numba.vocabulary.segmenter import SpecialChoice

if TYPE_CHECKING:
    from ubpe_numba.coding.word_encoder import WordEncoder

_Encode = Callable[[Ragged], Ragged]


class Coder(Text, Streams):
    """From documents to ids and back."""

    @abstractmethod
    def _encode_ids(self, documents: Ragged) -> Ragged:
        """Encode documents of alphabet ids."""

    @property
    def _word_encoder(self) -> WordEncoder | None:
        """Encodes words of bytes faster, where there is such a way."""
        return None

    # The tables of encoding and decoding are made when first needed: two threads may both make them, the same.

    @property
    def _decoder(self) -> Decoder:
        made: Decoder | None = self.__dict__.get("_decoder_")
        if made is None or made.vocabulary is not self.vocabulary_ or made.segmenter is not self.segmenter_:
            made = self._decoder_ = Decoder(self.vocabulary_, self.alphabet_, self.segmenter_)
        return made

    # ---------------------------------------------------------------------------------------------- encoding

    def encode(
        self,
        doc: Any,
        *,
        unknown: str | int = "raise",
        return_offsets: bool = False,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> Any:
        """Encode one document (an integer array or list, `str` or `bytes`) to int32 ids.

        Parameters
        ----------
        doc
            The document. TypeError for another kind than was fitted.
        unknown
            What becomes of symbols outside the alphabet: ``"raise"`` an UnknownSymbolError that names the position, ``"skip"``
            them, or put the alphabet id given here.
        return_offsets
            Return a pair: the ids, and int64 of as many, the position in the document (in symbols: integers, code points, or
            bytes, those of UTF-8 where text is encoded so) of the first symbol of each token. A token ends where the next one
            starts, or the document does; but for skipped symbols, which belong to no token, and may stand inside of one.
            ValueError with ``unknown="skip"`` where documents are cut, or have special tokens.
        allowed_special, disallowed_special
            Which special tokens are found in the document, as in tiktoken: ``"none"``, ``"all"`` or a set are allowed; of the
            others those in `disallowed_special`, ``"all"`` of them, ``"none"`` or a set, are a ValueError, lest text from outside
            smuggle one in, and the rest is taken for ordinary symbols.

        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(258, pretokenizer=None, special_tokens=["<end>"]).fit(["abab ab"])
        >>> ids, starts = tok.encode("abc<end>", allowed_special="all", return_offsets=True)
        >>> ids.tolist(), starts.tolist()
        ([256, 99, 257], [0, 2, 3])
        """
        return self._encode_one(
            self._encode_ids, doc, unknown, return_offsets, SpecialChoice(allowed_special, disallowed_special)
        )

    def encode_batch(
        self,
        docs: Any,
        offsets: Any = None,
        *,
        unknown: str | int = "raise",
        return_offsets: bool = False,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> Any:
        """Encode documents, given as to `fit`, to a `Ragged`, on `n_threads` threads; the result does not depend on how many.

        Options as for `encode`. With `return_offsets` a pair of `Ragged`: the ids, and the position of each token in its
        document; ValueError if such a position does not fit int32.
        """
        chosen = SpecialChoice(allowed_special, disallowed_special)
        return self._encode_many(self._encode_ids, docs, offsets, unknown, return_offsets, chosen)

    def _encode_one(self, encode: _Encode, doc: Any, unknown: str | int, with_starts: bool, chosen: SpecialChoice) -> Any:
        self._check_fitted()
        given = as_document(doc) if self.segmenter_.encoding is None else utf8_document(doc)
        encoded, starts = self._encoded_with_starts(encode, given, unknown, with_starts, chosen, "doc")
        return encoded.values if starts is None else (encoded.values, starts)

    def _encode_many(
        self, encode: _Encode, docs: Any, offsets: Any, unknown: str | int, with_starts: bool, chosen: SpecialChoice
    ) -> Any:
        self._check_fitted()
        given = as_documents(docs, offsets) if self.segmenter_.encoding is None else utf8_documents(docs, offsets)
        encoded, starts = self._encoded_with_starts(encode, given, unknown, with_starts, chosen, "docs")
        if starts is None:
            return encoded
        lengths = np.diff(given.offsets)
        if (long := np.flatnonzero(lengths > 2**31)).size:
            size = lengths[long[0]]
            raise ValueError(f"return_offsets: document {long[0]} has {size} symbols, beyond int32; use encode for it")
        return encoded, Ragged._trusted(starts.astype(np.int32), encoded.offsets)

    def _encoded_with_starts(
        self, encode: _Encode, given: Documents, unknown: str | int, with_starts: bool, chosen: SpecialChoice, name: str
    ) -> tuple[Ragged, np.ndarray | None]:
        if self.segmenter_.is_plain:
            ids = self.alphabet_.to_ids(given, unknown, name=name)
            encoded = encode(ids)
            skipped = ids.total < given.offsets[-1] - given.offsets[0]
        else:
            if with_starts and unknown == "skip":
                raise ValueError("return_offsets: positions are not known where symbols are skipped and documents are cut")
            words = self._word_encoder if encode == self._encode_ids else None
            encoded = pipeline.encode(
                self.segmenter_, given, self.alphabet_, encode, unknown, chosen, name, words, self.n_threads
            )
            skipped = False
        if not with_starts:
            return encoded, None
        lengths = self._decoder.sizes // self._decoder.dtype.itemsize
        return encoded, starts_of(encoded, given, lengths, self.alphabet_ if skipped else None)

    def transform(self, docs: Any) -> Ragged:
        """`encode_batch`, by the name that scikit-learn uses."""
        encoded: Ragged = self.encode_batch(docs)
        return encoded

    # ---------------------------------------------------------------------------------------------- decoding

    def decode(self, ids: Any, *, errors: str = "replace", out: np.ndarray | None = None) -> np.ndarray | str | bytes:
        """Decode the ids of one document to what was fitted: an integer array, `str` or `bytes`.

        Parameters
        ----------
        ids
            int32, or other integers. UnknownTokenError for an id outside the vocabulary, naming its position.
        errors
            Where text is encoded as UTF-8 it is `str` again, and this says what becomes of bytes that are no UTF-8, as for
            `bytes.decode`: ``"surrogatepass"`` gives back every `str`, ``"surrogateescape"`` keeps all bytes, and `decode_bytes`
            leaves them as they are.
        out
            A buffer for the symbols, to be used again and again: a one-dimensional array of ``alphabet_.symbols.dtype`` (uint8
            for bytes, uint32 code points for `str`). The result is then the part of it that was needed, an array for every kind
            of document; what lies behind may be overwritten. ValueError, saying how many symbols there are, if it is too small,
            and if it cannot be written to or is not contiguous; TypeError for another dtype.

        >>> from ubpe_numba import BPE
        >>> tok, buffer = BPE.from_merges([[0, 1]], alphabet=[7, 8]), np.zeros(4, np.int32)
        >>> tok.decode([2, 0], out=buffer)
        array([7, 8, 7], dtype=int32)
        """
        self._check_fitted()
        checked = self._ids(as_document(ids, name="ids"))
        if out is not None:
            return self._decoder.decode_into(checked, out, self.n_threads)[0]
        return self._output(self._decoder.decode(checked, self.n_threads)[0], errors)

    def decode_bytes(self, ids: Any) -> bytes:
        """Decode the ids of one document to `bytes`. TypeError if the alphabet is not one of bytes."""
        self._check_fitted()
        if self.alphabet_.kind != "bytes":
            raise TypeError(f"decode_bytes: the alphabet is one of {self.alphabet_.kind}")
        return self._decoder.decode(self._ids(as_document(ids, name="ids")), self.n_threads)[0].tobytes()

    def decode_batch(
        self, batch: Any, offsets: Any = None, *, errors: str = "replace", out: np.ndarray | None = None
    ) -> Ragged | list[Any]:
        """Decode documents of ids: a `Ragged` for integers (a list of int64 arrays where int32 is too small), else a list.

        Options as for `decode`; the result shares `out`, a `Ragged` or a list of arrays.
        """
        self._check_fitted()
        checked = self._ids(as_documents(batch, offsets, name="batch"))
        if out is not None:
            symbols, ends = self._decoder.decode_into(checked, out, self.n_threads)
        else:
            symbols, ends = self._decoder.decode(checked, self.n_threads)
        if symbols.dtype == np.int32:
            return Ragged(symbols, ends)
        places = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        if out is not None:
            return [symbols[a:b] for a, b in places]
        if self.segmenter_.encoding is None:
            return [self.alphabet_.output(symbols[a:b]) for a, b in places]
        view = symbols.astype(np.uint8, copy=False).data  # slices of it cost a third of those of an array
        return [str(view[a:b], "utf-8", errors) for a, b in places]

    def inverse_transform(self, batch: Any) -> Ragged | list[Any]:
        """`decode_batch`, by the name that scikit-learn uses."""
        return self.decode_batch(batch)

    def _output(self, symbols: np.ndarray, errors: str) -> np.ndarray | str | bytes:
        if self.segmenter_.encoding is None:
            return self.alphabet_.output(symbols)
        return str(symbols.astype(np.uint8, copy=False).data, "utf-8", errors)  # without `bytes` in between: a copy less

    def _ids(self, documents: Any) -> Ragged:
        """Ids given by the user as int32; an id that does not even fit is unknown like any other."""
        values, offsets, kind = documents
        if kind == "str":
            raise TypeError("ids: expected integers, got str")
        if values.dtype == np.int32:
            return Ragged._trusted(values, offsets)
        size = self._decoder.sizes.size
        bad = np.flatnonzero((values < 0) | (values >= size))
        bad = bad[(bad >= offsets[0]) & (bad < offsets[-1])]
        if bad.size:
            document = int(np.searchsorted(offsets, bad[0], side="right")) - 1
            raise UnknownTokenError(document, int(bad[0] - offsets[document]), int(values[bad[0]]), size)
        return Ragged._trusted(values.astype(np.int32), offsets)
