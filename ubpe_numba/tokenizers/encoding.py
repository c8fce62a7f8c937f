"""Encoding one document or many, streams of them too, and the positions of their tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.plan import BATCH, Batch, EncodeOptions, Ids, Plan
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import kept, read_documents
from ubpe_numba.errors import listed, quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.counterparts import OF_CALLS, hint
from ubpe_numba.tokenizers.fitted import Fitted

if TYPE_CHECKING:
    from ubpe_numba.coding.model_inputs import ModelInputs
    from ubpe_numba.coding.occurrences import Spans
    from ubpe_numba.coding.streams import EncoderStream


class Encoding(Fitted):
    """`encode`, `encode_batch`, the call for models, streams, and `spans`."""

    _options: ClassVar[frozenset[str]] = EncodeOptions.__optional_keys__
    _drawn_plan: Callable[..., Plan]  # of a call with `sample`, by classes that take it

    @abstractmethod
    def _new_plan(self) -> Plan:
        """The plan of this model and of the arguments of this tokenizer."""

    def _plan(self, options: Mapping[str, Any] | None = None) -> Plan:
        """The plan of a call with these options; TypeError for one that this class does not take.

        A plan without draws is made once, and forgotten when an attribute of the tokenizer is set.
        """
        if options:
            if unknown := options.keys() - self._options:
                name, known = min(unknown), ["return_offsets", *sorted(self._options)]
                hints = hint(OF_CALLS, name, known) or f"; expected {listed(known, 9)}"
                raise TypeError(
                    f"{type(self).__name__}.encode() got an unexpected keyword argument {name!r}{hints}"
                )
            if options.get("sample") is not None:
                return self._drawn_plan(options)
            if "seed" in options:
                raise ValueError("seed: nothing is drawn without sample, such as sample=0.1; leave it out")
        try:
            return self._made_plans["encode"]  # type: ignore[no-any-return]
        except KeyError:
            # an attribute that is set meanwhile brings another dict
            plans = self.__dict__.setdefault("_made_plans", {})
            plan = plans["encode"] = self._new_plan()
            return plan

    @overload
    def encode(
        self, doc: Any, *, return_offsets: Literal[False] = ..., **options: Unpack[EncodeOptions]
    ) -> NDArray[np.int32]: ...
    @overload
    def encode(
        self, doc: Any, *, return_offsets: Literal[True, "spans"], **options: Unpack[EncodeOptions]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...
    def encode(
        self, doc: Any, *, return_offsets: bool | str = False, **options: Unpack[EncodeOptions]
    ) -> Ids:
        """Encode one document.

        Parameters
        ----------
        doc
            An integer array or list, `str`, `bytes`, or a list of words; TypeError for a kind other than
            fitted.
        unknown
            ``"raise"``: UnknownSymbolError with document and position. ``"skip"``: leave unknown symbols out.
            A symbol (``0``, ``"N"``) or special token (``"[UNK]"``) replaces each. ``"nearest"``: the nearest
            integer, the lower of two. Their number is logged (INFO). None: as in the constructor.
        return_offsets
            True: also return the start of each token in the document, int64, in symbols: integers, code
            points, or bytes (if text is encoded as UTF-8). ``"spans"``: start and end, int64[n, 2]. Skipped
            symbols belong to no token, and may lie inside a token.
        units
            For text: ``"characters"`` or ``"bytes"`` of UTF-8; a part of a character counts as all of it.
        boundaries
            Positions that no token crosses, as for `fit`. The parts between them are encoded like documents.
        allowed_special, disallowed_special
            As in tiktoken: special tokens in `allowed_special` (``"none"``, ``"all"`` or a set) are
            recognized. Others in `disallowed_special` raise SpecialTokenError, so texts cannot smuggle them
            in.
        sample
            Choose a random segmentation, to train models on several. By rank this is BPE-dropout (I.
            Provilkov et al., 2020, who give a skipped merge further chances): each merge is skipped with this
            probability. For `UBPE` it is subword regularization (T. Kudo, 2018): probabilities of
            segmentations, products of those of tokens, are raised to this power; by an additive objective
            exp(power * the sum of its weights). ValueError for products beyond -66..66, and by the batch
            rule.
        seed
            The seed of `sample`, by default 0; use another in each epoch. Results depend on `seed`, the
            document's number, the position and, by rank, the rank, not on threads or other documents.

        Returns
        -------
        ids
            int32[n]; with `return_offsets` a pair of ids and starts, or ids and spans.

        Examples
        --------
        >>> tok = BPE.for_text(258, pretokenizer=None, special_tokens=["<end>"]).fit(["abab ab"])
        >>> ids, starts = tok.encode("abc<end>", allowed_special="all", return_offsets=True)
        >>> ids.tolist(), starts.tolist(), tok.encode("abab", boundaries=[1]).tolist()
        ([256, 99, 257], [0, 2, 3], [97, 98, 256])
        >>> BPE.from_merges([[0, 1]], alphabet="ab").encode("abababab", sample=0.5, seed=1).tolist()
        [2, 2, 2, 0, 1]
        """
        if return_offsets is False and not options:  # short documents, without another call of Python
            short = self._made_plans.get("short")
            if short is not None and (ids := short(doc)) is not None:
                return ids  # type: ignore[no-any-return]
        plan = self._plan(options)
        result = plan.one(doc, return_offsets, options)
        plans: Any = self._made_plans
        if plan.short is not None and plans.get("encode") is plan:  # not if an attribute was set meanwhile
            plans["short"] = plan.short
        return result

    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal[False] = ...,
        out: NDArray[np.int32] | None = ...,
        **options: Unpack[EncodeOptions],
    ) -> Ragged: ...  # fmt: skip
    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        return_offsets: Literal[True],
        **options: Unpack[EncodeOptions],
    ) -> tuple[Ragged, Ragged]: ...
    @overload
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = ...,
        *,
        return_offsets: Literal["spans"],
        **options: Unpack[EncodeOptions],
    ) -> tuple[Ragged, NDArray[np.int64]]: ...
    def encode_batch(
        self,
        docs: Any,
        offsets: Any = None,
        *,
        return_offsets: bool | str = False,
        out: NDArray[np.int32] | None = None,
        **options: Unpack[EncodeOptions],
    ) -> Batch:
        """Encode documents on `n_threads` threads; the result does not depend on how many.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        unknown, return_offsets, units, boundaries, allowed_special, disallowed_special, sample, seed
            As for `encode`, with `boundaries` per document. Each document is sampled by its number.
        out
            A 1-D, writable int32 array for the ids, such as a memory map; the rest of it stays. `docs` is
            then an iterable that is read in bounded memory, with the options of `encode_iter`. ValueError,
            with the first document that does not fit, if it is too small.

        Returns
        -------
        ids
            A `Ragged` of int32. With ``return_offsets=True`` also a `Ragged` of starts (ValueError beyond
            int32), with ``"spans"`` also int64[n, 2], a row for each of ``ids.values``.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> ids, spans = tok.encode_batch(["ab", "", "bab"], return_offsets="spans")
        >>> ids.to_lists(), ids.values.tolist(), ids.offsets.tolist(), spans.tolist()
        ([[2], [], [1, 2]], [2, 1, 2], [0, 1, 1, 3], [[0, 2], [0, 1], [1, 3]])
        """
        if out is None:
            return self._plan(options).many(docs, offsets, return_offsets, options)
        from ubpe_numba.coding import streams

        now = self._now()
        now._fitted()
        if offsets is not None or return_offsets is not False:
            raise ValueError(
                "out: it takes the ids of an iterable of documents, without offsets and return_offsets"
            )
        groups = streams.groups_of(docs, BATCH, "docs")
        ends = streams.encode_to(out, groups, now.encode_batch, streams.check_options(dict(options)))
        return trusted(out[: ends[-1]], ends)

    def count(self, docs: Any, offsets: Any = None, **options: Any) -> NDArray[np.int64]:
        """Count the tokens of documents, int64[d], the lengths of `encode_batch`, in bounded memory.

        Long documents are counted in parts if that is exact: by rank with merges in order of creation, or if
        a pattern with a kernel splits text. Otherwise, and with `boundaries` or `sample`, all ids of a
        document are in memory. Arguments as for `encode_batch`, without `return_offsets`, `units` and `out`.

        Examples
        --------
        >>> BPE.from_merges([[0, 1]], alphabet="ab").count(["ab", "", "bab"])
        array([1, 0, 2])
        """
        from ubpe_numba.coding import parts  # here only: encoding need not wait for it

        refuse_positions(options)
        now = self._now()
        plan = now._plan() if now._fitted().segmenter.unknown is None else None
        return parts.count(plan, now.encode_batch, docs, offsets, options)

    def __call__(
        self,
        docs: Any,
        pairs: Any = None,
        *,
        max_length: int | None = None,
        truncation: bool | str | None = None,
        stride: int | None = None,
        padding: bool | str | None = None,
        pad_id: Any = None,
        pad_to_multiple_of: int | None = None,
        side: str | None = None,
        truncation_side: str | None = None,
        template: Any = None,
        add_special_tokens: bool = True,
        return_tensors: str | None = None,
        return_offsets: bool = False,
        return_attention_mask: bool | None = None,
        return_token_type_ids: bool | None = None,
        return_special_tokens_mask: bool = False,
        return_overflowing_tokens: bool = False,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> ModelInputs:
        """Encode documents or pairs to the inputs of a model, with Hugging Face's argument names.

        Parameters
        ----------
        docs, pairs, allowed_special, disallowed_special
            As for `encode_batch`; or one document, a `str`, bytes or a 1-D array. `pairs`: second documents.
        max_length
            The length for `truncation`, and for ``padding="max_length"``, ids of the template included.
        truncation, stride
            True or ``"longest_first"``, ``"only_first"``, ``"only_second"``: truncate documents, or these of
            pairs. If it gives the same ids, only the needed part of a document is read, and errors in the
            rest are not reported. `stride`: the ids that windows share, with `return_overflowing_tokens`.
        padding
            True or ``"longest"``: all get the length of the longest document; ``"max_length"``: that length.
        pad_id, pad_to_multiple_of
            The id, or the special token, for padding; by default ``"[PAD]"``, ``"<pad>"`` or ``"<|pad|>"``.
            The length of padded documents is rounded up to a multiple.
        side, truncation_side
            ``"right"`` or ``"left"``: the side of the padding, and the side that is truncated.
        template, add_special_tokens
            The parts of each input: special tokens and ``$A`` for the document, such as ``"[CLS] $A [SEP]"``,
            or a list of parts, which may be ids. For pairs a tuple of two templates, the second with ``$B``.
            None: the post-processor of the file, as its other defaults. `encode` never adds anything.
        return_tensors
            ``"np"`` or ``"pt"``: int64 matrices with a row per document; ValueError if lengths differ.
        return_offsets, return_special_tokens_mask
            Add `offset_mapping`: start and end of each token, in characters of text, otherwise in symbols; 0
            and 0 for added ids. Add `special_tokens_mask`, 1 for added ids.
        return_attention_mask, return_token_type_ids
            Add `attention_mask`, 0 for padding; `token_type_ids` (None: for pairs with a post-processor).
        return_overflowing_tokens
            Add rows for truncated ids, and `overflow_to_sample_mapping`.

        Returns
        -------
        inputs
            A `ModelInputs`, a dict: 1-D arrays for one document, int32 matrices with padding, or lists of
            arrays.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["[CLS]", "[PAD]"]))
        >>> inputs = tok(["abab", "b"], template="[CLS] $A", padding=True, return_tensors="np")
        >>> inputs["input_ids"].tolist(), inputs.attention_mask.tolist()
        ([[3, 2, 2], [3, 1, 4]], [[1, 1, 1], [1, 1, 0]])
        """
        call = locals()
        from ubpe_numba.coding import model_inputs  # here only: encoding need not wait for it

        model = self._fitted()
        words, file = model.segmenter.special, model.segmenter.file or {}
        if isinstance(pairs, str) and not pairs and "model_input_names" in file.get("config", {}):
            pairs = None  # as transformers has it
        for flag in (
            "add_special_tokens",
            "return_offsets",
            "return_special_tokens_mask",
            "return_overflowing_tokens",
        ):
            if not isinstance(call[flag], (bool, np.bool_)):
                raise TypeError(f"{flag}: expected True or False, got {describe(call[flag])}")
        special = {} if words is None else dict(zip(words.words, words.ids.tolist(), strict=True))
        around = model_inputs.Template()
        if "post_processor" in file:
            from ubpe_numba.formats.huggingface import processed

            around = processed(file["post_processor"])
        shape = model_inputs.Shape.of(special, file, around, pairs is not None, call)
        single, docs, pairs = model_inputs.is_one(docs), kept(docs), kept(pairs)
        is_text = model.alphabet.kind == "str" or model.segmenter.encoding is not None
        options = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        positions = (
            {"return_offsets": "spans", "units": "characters" if is_text else None} if return_offsets else {}
        )
        room = (
            None
            if pairs is not None or return_overflowing_tokens or model.segmenter.unknown is not None
            else shape.room
        )
        first = self._encoded(docs, single, room, shape.cuts_left, options, positions)
        second = None if pairs is None else self._encoded(pairs, single, None, False, options, positions)
        if second is not None and len(first[0]) != len(second[0]):
            raise ValueError(
                f"pairs: expected {len(first[0])} documents, as many as docs, got {len(second[0])}"
            )
        return shape.inputs(first, second, single, (docs, pairs), model.segmenter, self.id_to_token)

    def _encoded(
        self,
        docs: Any,
        single: bool,
        room: int | None,
        left: bool,
        options: dict[str, Any],
        positions: dict[str, Any],
    ) -> tuple[Ragged, NDArray[np.int64] | None]:
        """The ids of documents, and spans if `positions` requests them.

        Long documents give only the `room` ids that are kept.
        """
        encode: Any = self.encode_batch
        docs, single = ([docs], False) if isinstance(docs, str) else (docs, single)
        documents = docs
        if room is not None and not (positions and left):  # whose positions count from the beginning
            from ubpe_numba.coding import parts

            documents = parts.shortened(self._plan(), encode, docs, single, room, left, options)
        try:
            encoded = encode(documents, **options, **positions)
        except (TypeError, ValueError):
            # the message has the position in the whole, if the whole has the error
            if documents is docs:
                raise
            encoded = encode(docs, **options, **positions)
        return encoded if positions else (encoded, None)

    def transform(self, docs: Any) -> Ragged:
        """`encode_batch` without options, by the name that scikit-learn uses; `docs` as for `fit`."""
        return self.encode_batch(docs)

    def spans(self, docs: Any, offsets: Any = None, **options: Any) -> Spans:
        """Encode documents, and list the positions of all tokens: flat arrays, one row per token.

        Arguments are as for `encode_batch`, without `return_offsets`. A `Spans` has `ids`, `starts` and
        `lengths` in symbols, and `documents`. A token covers its symbols. If text is changed or symbols are
        skipped, it extends to the next token or the end of the document.

        Examples
        --------
        >>> spans = BPE.from_merges([[0, 1]], alphabet="ab").spans(["aab", "", "b"])
        >>> spans.ids.tolist(), spans.starts.tolist(), spans.lengths.tolist(), spans.documents.tolist()
        ([0, 2, 1], [0, 1, 0], [1, 2, 1], [0, 0, 2])
        """
        from ubpe_numba.coding.occurrences import spans_of  # here only: encoding need not wait for it

        refuse_positions(options)
        docs = kept(docs)
        encode: Any = self.encode_batch  # the options differ
        ids, starts = encode(docs, offsets, return_offsets=True, **options)
        covers = self.is_lossless and options.get("unknown") in (None, "raise")
        words = self._fitted().alphabet.names is not None
        ends = (
            None if covers else np.diff(read_documents(docs, offsets, self._prepared.encoding, words).offsets)
        )
        return spans_of(ids, starts, self._tables.decoder.lengths, ends)

    def encode_iter(
        self, docs: Iterable[Any], *, batch: int = BATCH, **options: Any
    ) -> Iterator[NDArray[np.int32]]:
        """Yield the int32 ids of each document of an iterable, one after the other, in bounded memory.

        About `batch` symbols are encoded together. Options are as for `encode`: `unknown` and those of
        special tokens. Errors number documents in the iterable, and come after earlier documents.

        Examples
        --------
        >>> [ids.tolist() for ids in BPE.from_merges([[0, 1]], alphabet="ab").encode_iter(iter(["ab", "", "bab"]))]
        [[2], [], [1, 2]]
        """
        # here, as below: encoding one document or a list need not wait for it
        from ubpe_numba.coding import streams

        self._fitted()
        return streams.through_iter(
            streams.groups_of(docs, batch, "docs"), self.encode_batch, streams.check_options(options)
        )

    def stream(
        self,
        *,
        frame: int | None = None,
        unknown: Any = None,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> EncoderStream:
        """Encode a stream of chunks, and return int32 ids as soon as they are certain.

        ``push(chunk)`` and ``finish()`` of the `EncoderStream` return ids; ``over(chunks)`` yields those of
        an iterable. The ids do not depend on the division into chunks. By rank, with merges in order of
        creation, a few ids are held back; for text with a named pattern, all after the last certain split.
        With `frame` every `frame` symbols are a separate document. Other options: as for `encode`. ValueError
        if nothing is certain without frames, or documents are changed or split.

        Examples
        --------
        >>> stream = BPE.from_merges([[0, 1]], alphabet=3).stream()
        >>> stream.push([0, 1, 2, 0]).tolist(), stream.push([1]).tolist(), stream.finish().tolist()
        ([3, 2], [], [3])
        """
        from ubpe_numba.coding.streams import stream_of

        options = {
            "unknown": unknown,
            "allowed_special": allowed_special,
            "disallowed_special": disallowed_special,
        }
        usual = {"unknown": None, "allowed_special": "none", "disallowed_special": "all"}
        encode = partial(
            self.encode, **{name: value for name, value in options.items() if value != usual[name]}
        )
        return stream_of(
            self._plan(), frame, self._unknown(unknown), encode, (allowed_special, disallowed_special)
        )


def refuse_positions(options: dict[str, Any]) -> None:
    """TypeError for an option that changes the form of the result of `encode_batch`."""
    for name in ("return_offsets", "units", "out"):
        if name in options:
            raise TypeError(f"unexpected argument {quoted(name)}; here: encode_batch(docs, {name}=...)")
