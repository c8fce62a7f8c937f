"""Encoding one document or many."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding import requests
from ubpe_numba.coding.coder import Encode, EncodeOptions
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.runtime import thread_pool
from ubpe_numba.tokenizers.fitted import Fitted
from ubpe_numba.vocabulary.stretches import SpecialChoice

if TYPE_CHECKING:
    from ubpe_numba.coding.model_inputs import ModelInputs
    from ubpe_numba.coding.short_document import ShortEncode
    from ubpe_numba.coding.word_encoder import WordEncoder

Ids = NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.int64]]  # without starts, and with
Batch = Ragged | tuple[Ragged, Ragged] | tuple[Ragged, NDArray[np.int64]]

_NONE, _ALL = "none", "all"  # what `encode` is given by default; compared as objects, whatever a user passes


class Encoding(Fitted):
    """`encode`, `encode_batch` and the call for models."""

    @abstractmethod
    def _encode_ids(self, documents: Ragged) -> Ragged:
        """Encode documents of alphabet ids."""

    def _word_encoder(self) -> WordEncoder | None:
        """An encoder of text in segments that does what `_encode_ids` does, faster; None where there is none."""
        return None

    @overload
    def encode(
        self,
        doc: Any,
        *,
        unknown: Any = ...,
        return_offsets: Literal[False] = ...,
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> NDArray[np.int32]: ...
    @overload
    def encode(
        self,
        doc: Any,
        *,
        unknown: Any = ...,
        return_offsets: Literal[True, "spans"],
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def encode(
        self,
        doc: Any,
        *,
        unknown: Any = None,
        return_offsets: bool | str = False,
        units: str | None = None,
        boundaries: Any = None,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> Ids:
        """Encode one document.

        Parameters
        ----------
        doc
            An integer array or list, `str` or `bytes`. TypeError for another kind than was fitted.
        unknown
            What becomes of symbols outside the alphabet: ``"raise"`` an UnknownSymbolError that names the position, ``"skip"``
            them, or put the alphabet id, the symbol (``"N"``, ``b"N"``) or the special token (``"[UNK]"``) given here. A special
            token is put for each of them, and no other token crosses it. None: as the constructor says.
        return_offsets
            True: return a pair, the ids, and int64 of as many, the position in the document (in symbols: integers, code points,
            or bytes, those of UTF-8 where text is encoded so) of the first symbol of each token. Symbols that are skipped, or
            that a normalizer or a pre-tokenizer leaves out, belong to no token, and may stand inside of one.
            ``"spans"``: in the place of the positions int64[n, 2], for each token where it begins and where it ends, behind the
            last of its symbols. Where a normalizer makes one character of several, the first of them counts.
        units
            For text, what positions count: ``"characters"`` or ``"bytes"``, those of UTF-8, instead of symbols. A token that
            holds a part of a character covers the whole of it, in characters.
        boundaries
            Positions that no token crosses, as for `fit`, in symbols: the parts between them are encoded as documents.
        allowed_special, disallowed_special
            Which special tokens are found in the document, as in tiktoken: ``"none"``, ``"all"`` or a set are allowed. Of the
            others, those in `disallowed_special` (``"all"``, ``"none"`` or a set) are a SpecialTokenError, so that text from
            outside cannot smuggle one in, and the rest is taken for ordinary symbols.

        Returns
        -------
        ids
            int32[n]; with `return_offsets` a pair of ids and starts, or ids and spans.

        Raises
        ------
        NotFittedError
            Without a vocabulary.
        UnknownSymbolError, SpecialTokenError
            With document and position.
        TypeError, ValueError
            For a document of another kind, or an argument out of range.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(258, pretokenizer=None, special_tokens=["<end>"]).fit(["abab ab"])
        >>> ids, starts = tok.encode("abc<end>", allowed_special="all", return_offsets=True)
        >>> ids.tolist(), starts.tolist()
        ([256, 99, 257], [0, 2, 3])
        >>> tok.encode("abc<end>", allowed_special="all", return_offsets="spans")[1].tolist()
        [[0, 2], [2, 3], [3, 8]]
        >>> tok.encode("abab", boundaries=[1]).tolist()
        [97, 98, 256]
        """
        return self._encode_one(doc, unknown, return_offsets, units, boundaries, allowed_special, disallowed_special)

    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        unknown: Any = ...,
        return_offsets: Literal[False] = ...,
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> Ragged: ...
    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        unknown: Any = ...,
        return_offsets: Literal[True],
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> tuple[Ragged, Ragged]: ...
    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        unknown: Any = ...,
        return_offsets: Literal["spans"],
        units: str | None = ...,
        boundaries: Any = ...,
        allowed_special: Any = ...,
        disallowed_special: Any = ...,
    ) -> tuple[Ragged, NDArray[np.int64]]: ...
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = None,
        *,
        unknown: Any = None,
        return_offsets: bool | str = False,
        units: str | None = None,
        boundaries: Any = None,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> Batch:
        """Encode documents on `n_threads` threads; the result does not depend on how many.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        boundaries
            As for `fit`: positions for each document.
        unknown, return_offsets, units, allowed_special, disallowed_special
            As for `encode`.

        Returns
        -------
        ids
            A `Ragged` of int32; with ``return_offsets=True`` a pair of `Ragged`, the ids and the position of each token in its
            document; with ``"spans"`` the ids and int64[n, 2], a row for each of ``ids.values``.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError
            As `encode`, naming the document too.
        ValueError
            As `encode`; with ``return_offsets=True`` also if a document is so long that a position does not fit int32.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> ids = tok.encode_batch(["ab", "", "bab"])
        >>> ids.to_lists(), ids.values.tolist(), ids.offsets.tolist()
        ([[2], [], [1, 2]], [2, 1, 2], [0, 1, 1, 3])
        >>> ids, starts = tok.encode_batch(["ab", "", "bab"], return_offsets=True)
        >>> starts.to_lists()
        [[0], [], [0, 1]]
        >>> tok.encode_batch(["ab", "bab"], return_offsets="spans")[1].tolist()
        [[0, 2], [0, 1], [1, 3]]

        Documents in one flat array, document i in ``values[offsets[i]:offsets[i + 1]]``:

        >>> beats = BPE.from_merges([[0, 1]], alphabet=[7, 8])
        >>> beats.encode_batch(np.array([7, 8, 8, 7, 8]), [0, 2, 5]).to_lists()
        [[2], [1, 2]]
        """
        choice = SpecialChoice(allowed_special, disallowed_special)
        return self._encode_many(docs, offsets, (unknown, return_offsets, choice, boundaries, units))

    def _short(self) -> ShortEncode | None:
        """What encodes one short document as `_encode_ids` and `_word_encoder` do, without options; None where there is none."""
        return None

    def _encode_one(
        self,
        doc: Any,
        unknown: Any,
        return_offsets: bool | str,
        units: str | None,
        boundaries: Any,
        allowed_special: Any,
        disallowed_special: Any,
        encode: Encode | None = None,
    ) -> Ids:
        """One document through the coder, by `encode` instead of `_encode_ids` if given; a short one without options directly."""
        if (
            encode is None and unknown is None and return_offsets is False and units is None and boundaries is None
            and allowed_special is _NONE and disallowed_special is _ALL and thread_pool.is_valid(self.n_threads)
            and (short := self._short()) is not None and (ids := short(doc)) is not None
        ):  # fmt: skip
            return ids
        choice = SpecialChoice(allowed_special, disallowed_special)
        options = EncodeOptions(self._unknown(unknown), return_offsets, choice, boundaries, units)
        words = self._word_encoder if encode is None else None
        return requests.encode_one(self._coder, doc, encode or self._encode_ids, options, words, self.n_threads)

    def _encode_many(self, docs: Any, offsets: Any, options: tuple[Any, ...], encode: Encode | None = None) -> Batch:
        """Documents through the coder, by `encode` instead of `_encode_ids` if given; `options` as of `EncodeOptions`."""
        checked = EncodeOptions(*options)._replace(unknown=self._unknown(options[0]))
        words = self._word_encoder if encode is None else None
        return requests.encode_many(self._coder, docs, offsets, encode or self._encode_ids, checked, words, self.n_threads)

    def __call__(
        self,
        docs: Any,
        *,
        max_length: int | None = None,
        truncation: bool | str = False,
        padding: bool | str = False,
        pad_id: Any = None,
        pad_to_multiple_of: int | None = None,
        side: str = "right",
        truncation_side: str = "right",
        template: Any = None,
        return_tensors: str | None = None,
        return_offsets: bool = False,
        return_attention_mask: bool = True,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> ModelInputs:
        """Encode one document or many to what a model takes, by the names that Hugging Face's tokenizers use.

        Parameters
        ----------
        docs
            One document, a `str`, bytes or a 1-D array, or documents as for `encode_batch`.
        max_length
            The length for `truncation`, and for ``padding="max_length"``, ids of the template included.
        truncation
            True (or ``"longest_first"``): documents with more ids than `max_length` are cut.
        padding
            True or ``"longest"``: all get the length of the longest document; ``"max_length"``: that length.
        pad_id
            The id that fills them up: an id or a special token. None: the special token that is called ``"[PAD]"``, ``"<pad>"``
            or ``"<|pad|>"``.
        pad_to_multiple_of
            With `padding`, the length is rounded up to a multiple of this.
        side, truncation_side
            ``"right"`` or ``"left"``: where padding stands, and where documents are cut.
        template
            What is put around each document: special tokens and ``$A`` for the document, such as ``"[CLS] $A [SEP]"``, or a list
            of them and of ids. `encode` never puts anything.
        return_tensors
            ``"np"`` or ``"pt"``: int64 matrices of NumPy or PyTorch, with a row for each document also if it is one.
        return_offsets
            Add `offset_mapping`: for each id where its token begins and ends, in characters of text, else in symbols; 0 and 0
            for the template and for padding.
        return_attention_mask
            Add `attention_mask`: 1 for ids, 0 for padding.
        allowed_special, disallowed_special
            As for `encode`.

        Returns
        -------
        inputs
            A `ModelInputs`, a dict of `input_ids` and what was asked for. Of one document they are arrays of one dimension, of
            documents that are padded int32 matrices, otherwise `Ragged` (`offset_mapping` a list of arrays).

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError
            As `encode_batch`.
        TypeError, ValueError
            For documents or an argument that is not valid, naming it; where documents of several lengths are to be a tensor.
        ImportError
            By ``return_tensors="pt"`` without PyTorch.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", special_tokens=["[CLS]", "[PAD]"])
        >>> inputs = tok(["abab", "b"], template="[CLS] $A", padding=True, return_tensors="np")
        >>> inputs["input_ids"].tolist(), inputs.attention_mask.tolist()
        ([[3, 2, 2], [3, 1, 4]], [[1, 1, 1], [1, 1, 0]])
        >>> tok("abab")["input_ids"].tolist()
        [2, 2]
        """
        from ubpe_numba.coding import model_inputs  # here only: encoding need not wait for it

        model = self._fitted()
        shape = model_inputs.Shape.of(
            model.segmenter.special, max_length=max_length, truncation=truncation, padding=padding, pad_id=pad_id,
            pad_to_multiple_of=pad_to_multiple_of, side=side, truncation_side=truncation_side, template=template,
            return_tensors=return_tensors, return_attention_mask=return_attention_mask,
        )  # fmt: skip
        single = model_inputs.is_one(docs)
        is_text = model.alphabet.kind == "str" or model.segmenter.encoding is not None
        encode: Any = self.encode_batch
        options = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        if return_offsets:
            options |= {"return_offsets": "spans", "units": "characters" if is_text else None}
        found = encode(docs, **options)
        ids, spans = found if return_offsets else (found, None)
        return shape.inputs(ids, spans, single)

    def transform(self, docs: Any) -> Ragged:
        """`encode_batch`, by the name that scikit-learn uses.

        Parameters
        ----------
        docs
            Documents, given as to `fit`.

        Returns
        -------
        ids
            A `Ragged` of int32.

        Raises
        ------
        NotFittedError, UnknownSymbolError, SpecialTokenError, TypeError
            As `encode_batch`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").transform(["ab", "", "bab"]).to_lists()
        [[2], [], [1, 2]]
        """
        return self.encode_batch(docs)
