"""Encoding one document or many."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.plan import Batch, EncodeOptions, Ids, Plan
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import listed
from ubpe_numba.tokenizers.fitted import Fitted

if TYPE_CHECKING:
    from ubpe_numba.coding.model_inputs import ModelInputs


class Encoding(Fitted):
    """`encode`, `encode_batch` and the call for models."""

    #: The options of `encode` that this class takes.
    _options: ClassVar[tuple[str, ...]] = ("unknown", "units", "boundaries", "allowed_special", "disallowed_special")

    @abstractmethod
    def _new_plan(self) -> Plan:
        """The plan of this model and of what this tokenizer is set to."""

    def _drawn_plan(self, options: Mapping[str, Any]) -> Plan | None:
        """The plan of a call whose options ask for draws; None if they do not."""
        return None

    def _plan(self, options: Mapping[str, Any] | None = None) -> Plan:
        """The plan of a call with these options; TypeError for one that this class does not take.

        That without draws is made once, and forgotten when an attribute of the tokenizer is set.
        """
        if options:
            if unknown := options.keys() - set(self._options):
                raise TypeError(self._not_an_option(sorted(unknown)[0]))
            if (drawn := self._drawn_plan(options)) is not None:
                return drawn
        try:
            return self._made_plans["encode"]  # type: ignore[no-any-return]
        except KeyError:
            made = self.__dict__.setdefault("_made_plans", {})  # an attribute that is set meanwhile brings another dict
            plan = made["encode"] = self._new_plan()
            return plan

    def _not_an_option(self, name: str) -> str:
        import difflib  # here only: for a message

        near = difflib.get_close_matches(name, (*self._options, "return_offsets"), 1)
        hint = f". Did you mean {near[0]!r}?" if near else f"; expected return_offsets, {listed(self._options)}"
        return f"{type(self).__name__}.encode() got an unexpected keyword argument {name!r}{hint}"

    @overload
    def encode(
        self, doc: Any, *, return_offsets: Literal[False] = ..., **options: Unpack[EncodeOptions]
    ) -> NDArray[np.int32]: ...
    @overload
    def encode(
        self, doc: Any, *, return_offsets: Literal[True, "spans"], **options: Unpack[EncodeOptions]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def encode(self, doc: Any, *, return_offsets: bool | str = False, **options: Unpack[EncodeOptions]) -> Ids:
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
        dropout
            Of `BPE` and `UBPEClassic`. BPE-dropout, to train models on many segmentations of the same text: each occurrence of a
            merge is left out with this probability, 0..1, at the step that would make it (1: the alphabet).
        sample
            Of `UBPE`. Subword regularisation, for the same use: True draws one segmentation among all instead of the best. Its
            probability is proportional to the product of the probabilities of its tokens, raised to `alpha`; by ``"additive"``,
            to exp(alpha * the sum of its weights).
        alpha
            Of `sample`, 0 or more: below 1 all segmentations become more alike, at 0 they are equally probable, above 1 likely
            ones are preferred.
        seed
            Of `dropout` and `sample`, 0..2**64 - 1. Draws depend on nothing but `seed`, the number of the document (0 here; where
            text is cut, of its segment, and with `boundaries` of the part), the position and, by rank, the rank, so not on
            threads or on what else is encoded.

        Returns
        -------
        ids
            int32[n]; with `return_offsets` a pair of ids and starts, or ids and spans.

        Raises
        ------
        UnknownSymbolError, SpecialTokenError
            With document and position.
        TypeError, ValueError
            For a document of another kind, an argument out of range, or an option that this class does not take. ValueError also
            for dropout with the articles' batch rule, and for weights times `alpha` beyond -66..66.

        Notes
        -----
        By dropout an occurrence is drawn once. In the paper's loop over the words of a text, one that was left out may be drawn
        again as long as its word goes on, which in an uncut document would bring nearly all of them back. Source: I. Provilkov et
        al., BPE-Dropout, 2020.

        By every objective but ``"additive"`` the probabilities of `sample` are those of ``"likelihood"``: weights by tf-idf do
        not add up along a path. Source: T. Kudo, Subword regularization, 2018.

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
        >>> BPE.from_merges([[0, 1]], alphabet="ab").encode("abababab", dropout=0.5, seed=1).tolist()
        [2, 2, 2, 0, 1]
        >>> from ubpe_numba import UBPE
        >>> tok = UBPE(5, 1, objective="likelihood").fit(["abab", "ab", "ba", "abba", "a", "b"])
        >>> [tok.encode("abab", sample=True, alpha=0.2, seed=seed).tolist() for seed in range(4)]
        [[2, 0, 1], [0, 1, 2], [2, 2], [2, 2]]
        """
        return self._plan(options).one(doc, return_offsets, options)

    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal[False] = ..., **options: Unpack[EncodeOptions]
    ) -> Ragged: ...
    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal[True], **options: Unpack[EncodeOptions]
    ) -> tuple[Ragged, Ragged]: ...
    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal["spans"], **options: Unpack[EncodeOptions]
    ) -> tuple[Ragged, NDArray[np.int64]]: ...
    def encode_batch(
        self, docs: Any, offsets: Any = None, *, return_offsets: bool | str = False, **options: Unpack[EncodeOptions]
    ) -> Batch:
        """Encode documents on `n_threads` threads; the result does not depend on how many.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        boundaries
            As for `fit`: positions for each document.
        unknown, return_offsets, units, allowed_special, disallowed_special, dropout, sample, alpha, seed
            As for `encode`. Documents are numbered from 0, and every one is drawn by itself.

        Returns
        -------
        ids
            A `Ragged` of int32; with ``return_offsets=True`` a pair of `Ragged`, the ids and the position of each token in its
            document; with ``"spans"`` the ids and int64[n, 2], a row for each of ``ids.values``.

        Raises
        ------
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
        >>> tok.encode_batch(["ab", "bab"], dropout=1.0).to_lists()
        [[0, 1], [1, 0, 1]]
        """
        return self._plan(options).many(docs, offsets, return_offsets, options)

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

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").transform(["ab", "", "bab"]).to_lists()
        [[2], [], [1, 2]]
        """
        return self.encode_batch(docs)
