"""Encoding one document or many, streams of them too, and the positions of their tokens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.plan import BATCH, Batch, EncodeOptions, Ids, Plan
from ubpe_numba.documents.ragged import Ragged
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
                told = hint(OF_CALLS, name, known) or f"; expected {listed(known, 9)}"
                raise TypeError(f"{type(self).__name__}.encode() got an unexpected keyword argument {name!r}{told}")
            if options.get("sample") is not None:
                return self._drawn_plan(options)
            if "seed" in options:
                raise ValueError("seed: nothing is drawn without sample, such as sample=0.1; leave it out")
        try:
            return self._made_plans["encode"]  # type: ignore[no-any-return]
        except KeyError:
            made = self.__dict__.setdefault("_made_plans", {})  # an attribute that is set meanwhile brings another dict
            plan = made["encode"] = self._new_plan()
            return plan

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
            An integer array or list, `str` or `bytes`, or a list of words. TypeError for another kind than was fitted.
        unknown
            The treatment of symbols outside the alphabet: ``"raise"`` an UnknownSymbolError that names document and position,
            ``"skip"`` them, or put the symbol (``0``, ``"N"``) or the special token (``"[UNK]"``) given here for each;
            ``"nearest"`` puts the nearest integer, of two the lower. How many is logged (INFO). None: as the constructor says.
        return_offsets
            True: return a pair, the ids, and int64 of as many, the position in the document (in symbols: integers, code points,
            or bytes, those of UTF-8 where text is encoded so) of the first symbol of each token. ``"spans"``: int64[n, 2], where
            each token begins and where it ends. Symbols that are skipped belong to no token, and may lie inside of one.
        units
            For text, what positions count: ``"characters"`` or ``"bytes"``, those of UTF-8, instead of symbols. A token that
            holds a part of a character covers the whole of it, in characters.
        boundaries
            Positions that no token crosses, as for `fit`, in symbols: the parts between them are encoded as documents.
        allowed_special, disallowed_special
            Which special tokens are found, as in tiktoken: ``"none"``, ``"all"`` or a set are allowed. Of the others, those in
            `disallowed_special` (``"all"``, ``"none"`` or a set) are a SpecialTokenError, with document and position, so that
            text from outside cannot smuggle one in, and the rest is taken for ordinary symbols.
        sample
            Draw one segmentation, to train models on many of the same text. By rank BPE-dropout (I. Provilkov et al., 2020, in
            whose loop a merge that was left out may be drawn again): each occurrence of a merge is left out with this
            probability, 0..1; ValueError by the articles' batch rule. Of `UBPE` subword regularisation (T. Kudo, 2018): the
            probability of a segmentation is proportional to the product of the probabilities of its tokens, raised to this power,
            0 or more (by an additive objective to exp(power * the sum of its weights); ValueError for products beyond -66..66):
            at 0 all are equally probable, above 1 likely ones are preferred.
        seed
            Of `sample`, 0..2**64 - 1, by default 0: give every epoch one of its own. Draws depend on `seed`, the number of the
            document (of its segment or part), the position and, by rank, the rank: not on threads or on what else is encoded.

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
        found = plan.one(doc, return_offsets, options)
        made: Any = self._made_plans
        if plan.short is not None and made.get("encode") is plan:  # not if an attribute was set meanwhile
            from ubpe_numba.coding.short import kernels, replace_method  # here only: the first calls need not wait for it

            made["short"] = plan.short
            replace_method(Encoding, "encode", *kernels.METHODS["encode"])
        return found

    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal[False] = ..., out: NDArray[np.int32] | None = ...,
        **options: Unpack[EncodeOptions],
    ) -> Ragged: ...  # fmt: skip
    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal[True], **options: Unpack[EncodeOptions]
    ) -> tuple[Ragged, Ragged]: ...
    @overload
    def encode_batch(
        self, docs: Any, offsets: Any = ..., *, return_offsets: Literal["spans"], **options: Unpack[EncodeOptions]
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
            As for `encode`, `boundaries` for each document. Documents are numbered from 0, and every one is drawn by itself.
        out
            A 1-D, writable int32 array for the ids, such as a memory map; what follows them is left as it is. `docs` is then an
            iterable that is read in bounded memory, and the options are those of `encode_iter`. ValueError if it is too small,
            naming the document without a place, and how many whole documents are in `out`.

        Returns
        -------
        ids
            A `Ragged` of int32; with ``return_offsets=True`` a pair of `Ragged`, the ids and the position of each token
            (ValueError if one does not fit int32); with ``"spans"`` the ids and int64[n, 2], a row for each of ``ids.values``.

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
            raise ValueError("out: it takes the ids of an iterable of documents, without offsets and return_offsets")
        groups = streams.groups_of(docs, BATCH, "docs")
        ends = streams.encode_to(out, groups, now.encode_batch, streams.check_options(dict(options)))
        return Ragged._trusted(out[: ends[-1]], ends)

    def count(self, docs: Any, offsets: Any = None, **options: Any) -> NDArray[np.int64]:
        """Count the tokens of documents, int64[d]: the lengths of `encode_batch`, in memory for a few million symbols.

        A document of millions of symbols is counted in parts where that is exact: by rank with merges in order of creation, and
        where a pattern with a kernel cuts text. Otherwise, and with `boundaries` or `sample`, its ids are made at once. Arguments
        are as for `encode_batch`, but for `return_offsets`, `units` and `out`; iterators are read in bounded memory.

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
        truncation: bool | str = False,
        stride: int = 0,
        padding: bool | str = False,
        pad_id: Any = None,
        pad_to_multiple_of: int | None = None,
        side: str | None = None,
        truncation_side: str | None = None,
        template: Any = None,
        add_special_tokens: bool = True,
        return_tensors: str | None = None,
        return_offsets: bool = False,
        return_attention_mask: bool = True,
        return_token_type_ids: bool | None = None,
        return_special_tokens_mask: bool = False,
        return_overflowing_tokens: bool = False,
        allowed_special: Any = "none",
        disallowed_special: Any = "all",
    ) -> ModelInputs:
        """Encode one document or many, or pairs, to the inputs of a model, by the names that Hugging Face's tokenizers use.

        Parameters
        ----------
        docs, pairs, allowed_special, disallowed_special
            As for `encode_batch`; also one document, a `str`, bytes or a 1-D array. `pairs`: the second document of each pair.
        max_length
            The length for `truncation`, and for ``padding="max_length"``, ids of the template included.
        truncation, stride
            True or ``"longest_first"``, ``"only_first"``, ``"only_second"``: documents, or these of pairs, with more ids are cut.
            Of a long document as much as is needed is read, wherever that gives the same ids; errors in the rest are not
            reported then. `stride`: the ids that windows share, with `return_overflowing_tokens`.
        padding
            True or ``"longest"``: all get the length of the longest document; ``"max_length"``: that length.
        pad_id, pad_to_multiple_of
            The id, or the special token, that fills them up; by default ``"[PAD]"``, ``"<pad>"`` or ``"<|pad|>"``. The length of
            padded documents is rounded up to a multiple.
        side, truncation_side
            ``"right"`` or ``"left"``: the side of the padding, and the side on which documents are cut.
        template, add_special_tokens
            The parts of each input: special tokens and ``$A`` for the document, such as ``"[CLS] $A [SEP]"``, or a list of them
            and of ids; a tuple of two, the second with ``$B``, for pairs. None: the post-processor of the file, as its other
            defaults. `encode` never adds anything.
        return_tensors
            ``"np"`` or ``"pt"``: int64 matrices, a row for each document, also if it is one; ValueError where lengths differ.
        return_offsets, return_attention_mask, return_token_type_ids, return_special_tokens_mask, return_overflowing_tokens
            Add `offset_mapping`: where the token of each id begins and ends, in characters of text, else in symbols; 0 and 0 for
            the template and for padding. Add `attention_mask`, 0 for padding; `token_type_ids` (None: of pairs and with a
            post-processor); `special_tokens_mask`, 1 for ids that were added; further rows for what is cut, and
            `overflow_to_sample_mapping`.

        Returns
        -------
        inputs
            A `ModelInputs`, a dict of `input_ids` and the requested arrays: of one document 1-D, of padded documents int32
            matrices, otherwise lists of arrays.

        Examples
        --------
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["[CLS]", "[PAD]"]))
        >>> inputs = tok(["abab", "b"], template="[CLS] $A", padding=True, return_tensors="np")
        >>> inputs["input_ids"].tolist(), inputs.attention_mask.tolist()
        ([[3, 2, 2], [3, 1, 4]], [[1, 1, 1], [1, 1, 0]])
        """
        from ubpe_numba.coding import model_inputs  # here only: encoding need not wait for it

        model = self._fitted()
        words = model.segmenter.special
        for flag, value in (
            ("add_special_tokens", add_special_tokens), ("return_offsets", return_offsets),
            ("return_attention_mask", return_attention_mask), ("return_special_tokens_mask", return_special_tokens_mask),
            ("return_overflowing_tokens", return_overflowing_tokens),
        ):  # fmt: skip
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"{flag}: expected True or False, got {describe(value)}")
        wanted = {"offset_mapping": return_offsets, "attention_mask": return_attention_mask}
        wanted |= {"special_tokens_mask": return_special_tokens_mask}
        shape = model_inputs.Shape.of(
            {} if words is None else dict(zip(words.words, words.ids.tolist(), strict=True)),
            model.segmenter.file or {}, pairs is not None, max_length=max_length, truncation=truncation, stride=stride,
            padding=padding, pad_id=pad_id, pad_to_multiple_of=pad_to_multiple_of, side=side, truncation_side=truncation_side,
            template=template, add_special_tokens=add_special_tokens, return_tensors=return_tensors, **wanted,
            token_type_ids=return_token_type_ids,
            overflow_to_sample_mapping=return_overflowing_tokens,
        )  # fmt: skip
        single, docs, pairs = model_inputs.is_one(docs), kept(docs), kept(pairs)
        is_text = model.alphabet.kind == "str" or model.segmenter.encoding is not None
        options = {"allowed_special": allowed_special, "disallowed_special": disallowed_special}
        positions = {"return_offsets": "spans", "units": "characters" if is_text else None} if return_offsets else {}
        room = None if pairs is not None or return_overflowing_tokens or model.segmenter.unknown is not None else shape.room
        first = self._encoded(docs, single, room, shape.cuts_left, options, positions)
        second = None if pairs is None else self._encoded(pairs, single, None, False, options, positions)
        if second is not None and len(first[0]) != len(second[0]):
            raise ValueError(f"pairs: expected {len(first[0])} documents, as many as docs, got {len(second[0])}")
        return shape.inputs(first, second, single, (docs, pairs), model.segmenter, self.id_to_token)

    def _encoded(
        self, docs: Any, single: bool, room: int | None, left: bool, options: dict[str, Any], positions: dict[str, Any]
    ) -> tuple[Ragged, NDArray[np.int64] | None]:
        """The ids of documents, and spans if `positions` requests them; of long documents the `room` ids that are kept."""
        encode: Any = self.encode_batch
        docs, single = ([docs], False) if isinstance(docs, str) else (docs, single)
        given = docs
        if room is not None and not (positions and left):  # whose positions count from the beginning
            from ubpe_numba.coding import parts

            given = parts.shortened(self._plan(), encode, docs, single, room, left, options)
        try:
            found = encode(given, **options, **positions)
        except (TypeError, ValueError):  # the message has the position in the whole, if the whole has the error
            if given is docs:
                raise
            found = encode(docs, **options, **positions)
        return found if positions else (found, None)

    def transform(self, docs: Any) -> Ragged:
        """`encode_batch` without options, by the name that scikit-learn uses; `docs` as for `fit`."""
        return self.encode_batch(docs)

    def spans(self, docs: Any, offsets: Any = None, **options: Any) -> Spans:
        """Encode documents, and list the positions of all tokens: flat arrays, a row a token.

        Arguments are as for `encode_batch`, but for `return_offsets`. A `Spans` has `ids`, `starts` and `lengths` in symbols, and
        `documents`. A token covers its symbols; where text is changed or symbols are skipped, all up to the next token or the end
        of the document.

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
        ends = None if covers else np.diff(read_documents(docs, offsets, self._prepared.encoding, words).offsets)
        return spans_of(ids, starts, self._tables.decoder.lengths, ends)

    def encode_iter(self, docs: Iterable[Any], *, batch: int = BATCH, **options: Any) -> Iterator[NDArray[np.int32]]:
        """Yield the int32 ids of each document of an iterable, one after the other, in bounded memory.

        So many symbols as `batch` says are read and encoded at a time, on all threads, without influence on the result. Options
        are `unknown`, `allowed_special` and `disallowed_special`, as for `encode`. Errors have the number of the document in the
        whole iterable, and come after the documents before its batch.

        Examples
        --------
        >>> [ids.tolist() for ids in BPE.from_merges([[0, 1]], alphabet="ab").encode_iter(iter(["ab", "", "bab"]))]
        [[2], [], [1, 2]]
        """
        from ubpe_numba.coding import streams  # here, as below: encoding one document or a list need not wait for it

        self._fitted()
        return streams.through_iter(streams.groups_of(docs, batch, "docs"), self.encode_batch, streams.check_options(options))

    def stream(
        self, *, frame: int | None = None, unknown: Any = None, allowed_special: Any = "none", disallowed_special: Any = "all"
    ) -> EncoderStream:
        """Encode one text without end that comes in chunks, and give out int32 ids as soon as they are certain.

        ``push(chunk)`` and ``finish()`` of the `EncoderStream` return ids, ``over(chunks)`` those of an iterable; where chunks
        end has no influence on them. By rank, with merges in order of creation, all but a few are final (proof in
        ``coding/kernels/incremental.py``), of text that a named pattern cuts all before the last cut that nothing changes. With
        `frame` the text is cut after every `frame` symbols, and each frame is encoded as a document of its own. Other options are
        as for `encode`. ValueError where nothing is certain without frames, and for other documents that are changed or cut.

        Examples
        --------
        >>> stream = BPE.from_merges([[0, 1]], alphabet=3).stream()
        >>> stream.push([0, 1, 2, 0]).tolist(), stream.push([1]).tolist(), stream.finish().tolist()
        ([3, 2], [], [3])
        """
        from ubpe_numba.coding.streams import stream_of

        given = {"unknown": unknown, "allowed_special": allowed_special, "disallowed_special": disallowed_special}
        usual = {"unknown": None, "allowed_special": "none", "disallowed_special": "all"}
        encode = partial(self.encode, **{name: value for name, value in given.items() if value != usual[name]})
        return stream_of(self._plan(), frame, self._unknown(unknown), encode, (allowed_special, disallowed_special))


def refuse_positions(options: dict[str, Any]) -> None:
    """TypeError for an option that changes the result of `encode_batch`, or where it goes."""
    for name in ("return_offsets", "units", "out"):
        if name in options:
            raise TypeError(f"unexpected argument {quoted(name)}; here: encode_batch(docs, {name}=...)")
