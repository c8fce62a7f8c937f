"""The plan of an encode: how documents become ids, made once for a model and the settings of a tokenizer.

    document  -> short?  one function reads, encodes and makes the ids (short.py; for text word_encoder.py)
              -> else    read -> special tokens out, text split (cut_documents.py) -> alphabet ids
                         -> kernel over chunks (run.py)

A document that is not usual takes the second way, which has all options and all messages. Positions come from
lengths of tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.decode import Decoder
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.places import UNITS, Places, in_units, places_of_tokens
from ubpe_numba.coding.run import Encoder
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Documents, as_corpus, read_document, read_documents
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.arrays import integer
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import UnknownChoice, choice_of

if TYPE_CHECKING:
    from ubpe_numba.coding.lattice import Lattice
    from ubpe_numba.coding.path_encoder import PathEncoder
    from ubpe_numba.coding.word_encoder import WordEncoder
    from ubpe_numba.vocabulary.frames import Frames
    from ubpe_numba.vocabulary.reserved import SpecialChoice

# calls of the general reader before there is a way for short documents, whose kernels take a while to compile
FIRST = 8
# symbols, or ids, of documents of an iterator that are worked on at a time: enough for every thread
BATCH = 1 << 22
#: Stands for the logarithms of probabilities where weights of tokens are expected.
LIKELIHOOD = object()
NOT_IN_FRAMES = (
    "without a symbol others are no longer in their frames; expected 'raise', 'nearest', or a symbol"
)
#: Turns documents of alphabet ids into ids of the vocabulary.
Encode = Callable[[Ragged], Ragged]
Ids = NDArray[np.int32] | tuple[NDArray[np.int32], NDArray[np.int64]]  # without positions, and with
Batch = Ragged | tuple[Ragged, Ragged] | tuple[Ragged, NDArray[np.int64]]


class EncodeOptions(TypedDict, total=False):
    """The options of `Tokenizer.encode`, which explains them."""

    unknown: Any
    units: str | None
    boundaries: Any
    allowed_special: Any
    disallowed_special: Any
    sample: float | None
    seed: int


class Tables:
    """The encoders and the decoder of a model, each made on demand and then stored.

    A model never changes, so nothing here becomes stale. What a user may still change, the batch rule and the
    weights of tokens, is an argument. Two threads may both make a table; they make the same.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kept: dict[str, Any] = {}  # by others that make something of a model
        segmenter, reserved = model.segmenter, model.segmenter.reserved
        #: Whether documents and ids pass unchanged, except for their encoding.
        self.is_plain = (
            segmenter.pretokenizer is None and segmenter.normalizer is None
            and (reserved is None or not reserved.found.any())
            and segmenter.token_ids is None and not segmenter.whole_words
        )  # fmt: skip
        #: The vocabulary and the documents for encoders whose tokens respect frames.
        self.frames: Frames | None = None
        if segmenter.frame:
            from ubpe_numba.vocabulary.frames import Frames  # here only: few models have frames

            self.frames = Frames.over(model.vocabulary, segmenter.frame)
        #: The mirror of each token, int32[V], if documents count together with their mirrors.
        self.mirror: NDArray[np.int32] | None = None
        if segmenter.mirror is not None:
            from ubpe_numba.vocabulary.mirror import tokens_of  # here only: few models have one

            self.mirror = tokens_of(model)
        self._holds_isolated: bool | None = None
        self._pairs: dict[bool, PairEncoder] = {}
        self._paths: dict[bool, Any] = {}

    def pairs(self, batch: bool = False) -> PairEncoder:
        """The encoder by merge rank, or by the batch rule of the UBPE articles; needs pairs."""
        pair_encoder = self._pairs.get(batch)
        if pair_encoder is None:
            by_heap = self.model.segmenter.one_by_one and not batch
            if batch and self.mirror is not None:
                raise ValueError(
                    "rules: with a mirror some runs are merged from their ends, which only encode='rank' does"
                )
            vocabulary = self.model.vocabulary if self.frames is None else self.frames.vocabulary
            pair_encoder = self._pairs[batch] = PairEncoder(vocabulary, batch, by_heap, self.mirror)
        return pair_encoder

    @cached_property
    def words(self) -> WordEncoder | None:
        """The encoder by merge rank of text in segments; None if pairs are out of order, or bytes unknown."""
        alphabet, _, segmenter = self.model
        if alphabet.kind != "bytes" or alphabet.size != 256 or not self.pairs().linear:
            return None
        from ubpe_numba.coding.word_encoder import WordEncoder  # here only: integers need not wait for it

        if not WordEncoder.takes(self.pairs()):
            return None
        byte_ids = None if alphabet.is_identity else alphabet.lookup(np.arange(256, dtype=np.uint8))
        return WordEncoder(self.pairs(), byte_ids, segmenter.whole_words)

    def paths(self, weights: Any) -> PathEncoder:
        """The encoder by best path; `weights` as the argument `token_weights` of `UBPE`, or LIKELIHOOD."""
        vocabulary = self.model.vocabulary
        # kept in addition to the other, since a call may sample and the next not
        is_likely = weights is LIKELIHOOD
        entry = self._paths.get(is_likely)  # another thread may come with other weights meanwhile
        if entry is None or entry[0] is not weights:
            from ubpe_numba.coding.path_encoder import PathEncoder  # here only: merges need not wait for it
            from ubpe_numba.vocabulary.weights import log_probabilities, token_weights

            worth = log_probabilities(vocabulary) if is_likely else token_weights(vocabulary, weights)
            self._paths[is_likely] = entry = weights, PathEncoder(vocabulary, worth, self.frames)
        return entry[1]

    def lattice(self, weights: Any, alpha: float) -> Lattice:
        """All segmentations, each weighing exp(alpha * the sum of the weights of its tokens).

        `weights` as for `paths`.

        ValueError if weights are beyond what sums over all segmentations can hold.
        """
        from ubpe_numba.coding.lattice import Lattice  # here only: other encoders need not wait for it

        encoder = self.paths(weights)
        entry = self.kept.get("lattice")  # another thread may come with another alpha meanwhile
        if entry is None or entry[:2] != (encoder, alpha):
            entry = self.kept["lattice"] = encoder, alpha, Lattice.of(encoder, alpha)
        lattice: Lattice = entry[2]
        return lattice

    @cached_property
    def unstable(self) -> dict[bytes, int]:
        """The tokens that merging does not make of their own symbols, by these (int32, as bytes)."""
        vocabulary = self.model.vocabulary
        alone = self.pairs().encode(trusted(vocabulary.arena.copy(), vocabulary.offsets.copy()), None).lengths
        return {vocabulary.sequence(t).tobytes(): t for t in np.flatnonzero(alone != 1).tolist()}

    @cached_property
    def decoder(self) -> Decoder:
        """The decoder."""
        return Decoder(self.model.vocabulary, self.model.alphabet, self.model.segmenter)

    def isolated(self, one_by_one: bool) -> NDArray[np.bool_] | None:
        """Symbols at which documents are divided before they are encoded, bool[alphabet], or None.

        `one_by_one`: whether the encoding of a document in which no token crosses a place is that of both its
        parts, as by merge rank and by sums of weights. Nothing is divided if these symbols occur in no token,
        as after a fit.
        """
        alphabet, vocabulary, segmenter = self.model
        reserved = segmenter.reserved
        # which splits text there
        if reserved is None or not reserved.has_symbols or segmenter.pretokenizer is not None:
            return None
        if one_by_one and self._holds_isolated is None:
            self._holds_isolated = reserved.held_by(alphabet, vocabulary)
        if one_by_one and not self._holds_isolated:
            return None
        mask = np.zeros(alphabet.size, bool)
        mask[reserved.symbol_ids(alphabet)] = True
        return mask


class Plan:
    """How documents become ids by an encoder; the tokenizer keeps it until a setting changes.

    `encode` takes documents of alphabet ids. It uses the record that `encoder_for` gives for the number of
    symbols (None if randomness depends on the call). `words` encodes text in segments as `encode` does,
    faster. `unknown` and `n_threads` are options of the tokenizer. `isolated`, bool[alphabet] or None, marks
    symbols at which `encode` divides documents; `one_by_one` as for `Tables.isolated`. `final` is the encoder
    `pairs` if the beginning of an encoding is final before the end of the text is known, unless documents are
    divided.
    """

    def __init__(
        self,
        tables: Tables,
        encode: Encode,
        unknown: Any,
        n_threads: int | None,
        *,
        encoder_for: Callable[[int], Encoder] | None = None,
        words: WordEncoder | None = None,
        one_by_one: bool = True,
        pairs: PairEncoder | None = None,
    ) -> None:
        self.tables, self.model, self.unknown, self.n_threads, self.words = (
            tables,
            tables.model,
            unknown,
            n_threads,
            words,
        )
        self.encode, self.encoder_for = encode, encoder_for
        #: The encoder of a short document without options, after `FIRST` calls.
        self.short: Callable[[Any], Any] | None = None
        self._calls = 0
        self.one_by_one, self.isolated = one_by_one, tables.isolated(one_by_one)
        self.final = pairs
        if tables.frames is not None:
            self.encoder_for, self.encode = None, partial(tables.frames.encode, encode)
        if self.isolated is not None:
            # streams are pickled with it
            self.final, self.encode = None, partial(_cut_at, self.isolated, encode)
        if tables.mirror is not None:
            from ubpe_numba.vocabulary.mirror import encode_either  # here only: few models have one

            self.final = self.encoder_for = None
            self.encode, self.one_by_one = partial(encode_either, self.encode, tables.mirror), False

    def _count(self) -> None:
        """Make the encoder of short documents when enough calls came to the general reader."""
        self._calls += 1
        if self._calls != FIRST:
            return
        segmenter = self.model.segmenter
        if self.words is None:
            from ubpe_numba.coding.short import encoder

            self.short = encoder(self)
        elif segmenter.lone is None:
            from ubpe_numba.coding.word_encoder import short_text  # here only, as the encoder of words

            self.short = short_text(self.model, self.words)

    def one(self, doc: Any, return_offsets: Any, options: Mapping[str, Any]) -> Ids:
        """The ids of a document; with `return_offsets` a pair of ids and starts, or of ids and spans."""
        if not options:
            self._count()
            # ids tell them
            with_lengths = return_offsets in (True, "spans") and self.model.segmenter.decoding is None
            if with_lengths and self.short is not None and (ids := self.short(doc)) is not None:
                sizes = self.tables.decoder.lengths.take(ids)
                ends = sizes.cumsum()
                return ids, np.stack(
                    [ends - sizes, ends], axis=1
                ) if return_offsets == "spans" else ends - sizes
        _, encoded, places = self._encode(doc, None, return_offsets, options, "doc")
        if places is None:
            return encoded.values
        return encoded.values, places.T.copy() if return_offsets == "spans" else places[0].copy()

    def many(self, docs: Any, offsets: Any, return_offsets: Any, options: Mapping[str, Any]) -> Batch:
        """The ids of documents; with starts as a `Ragged`, with spans as rows of pairs.

        ValueError where int32 is too small.
        """
        if not options and return_offsets is False and offsets is None and type(docs) in (list, Ragged):
            self._count()
            if self.short is not None:
                from ubpe_numba.coding.short import many

                if (ids := many(self.short, docs)) is not None:
                    return ids
        documents, encoded, places = self._encode(docs, offsets, return_offsets, options, "docs")
        if places is None:
            return encoded
        if return_offsets == "spans":
            return encoded, places.T.copy()
        lengths = np.diff(documents.offsets)
        if (long := np.flatnonzero(lengths > 2**31)).size:
            raise ValueError(
                f"return_offsets: document {long[0]} has {lengths[long[0]]} symbols, beyond int32. Use "
                "'spans'."
            )
        return encoded, trusted(places[0].astype(np.int32), encoded._offsets)

    def _encode(
        self, docs: Any, offsets: Any, return_offsets: Any, options: Mapping[str, Any], name: str
    ) -> tuple[Documents, Ragged, Places | None]:
        """Read documents, or the single one "doc", and give their ids.

        Also the places of tokens if `return_offsets` requests them.
        """
        alphabet, _, segmenter = self.model
        kind, encoding = alphabet.kind, segmenter.encoding
        special = options.get("allowed_special", "none"), options.get("disallowed_special", "all")
        unknown_option = options.get("unknown")
        unknown = choice_of(
            self.unknown if unknown_option is None else unknown_option, alphabet, segmenter.special
        )
        if segmenter.frame and (unknown == "skip" or isinstance(unknown, tuple)):
            raise ValueError(f"unknown: {NOT_IN_FRAMES}, got {quoted(unknown)}")
        boundaries, units, words = options.get("boundaries"), options.get("units"), isinstance(kind, Named)
        if name == "doc":
            documents = read_document(docs, encoding, words)
            docs, boundaries = None, None if boundaries is None else [boundaries]
        else:
            documents = read_documents(docs, offsets, encoding, words)
        documents = alphabet.aligned(documents, name)
        if return_offsets not in (False, True, "spans"):
            raise ValueError(f"return_offsets: expected False, True or 'spans', got {quoted(return_offsets)}")
        if units is not None and units not in UNITS:
            raise ValueError(f"units: expected {' or '.join(map(repr, UNITS))}, got {quoted(units)}")
        if units is not None and kind != "str" and encoding is None:
            raise ValueError("units: documents are bytes or integers, whose positions are counted in symbols")
        if units is not None and not return_offsets:
            raise ValueError(
                "units: positions are given with return_offsets=True or 'spans' only; leave it out"
            )
        trace = bool(return_offsets)
        if boundaries is None:
            encoded, places = self.documents(documents, unknown, special, name, trace)
        else:  # parts between boundaries are encoded as documents, and put together again
            corpus = as_corpus(docs, offsets, None, boundaries, lambda *_: documents)
            if segmenter.frame:
                from ubpe_numba.vocabulary.frames import check_boundaries  # here only, as above

                check_boundaries(corpus, segmenter.frame)
            of, starts = corpus.document_of, corpus.offsets
            assert of is not None  # there are boundaries
            first = np.searchsorted(of, np.arange(documents.offsets.size))
            try:
                ids, places = self.documents(
                    Documents(corpus.values, starts, documents.kind), unknown, special, name, trace
                )
            except LocatedError as error:
                part, (_, arguments, *_) = error.document, cast(tuple[Any, ...], error.__reduce__())
                document = int(of[part])
                position = error.position + int(starts[part] - starts[first[document]])
                raise type(error)(document, position, *arguments[2:]) from None
            encoded = trusted(ids.values, ids._offsets[first])
            places = (
                None if places is None else places + np.repeat(starts[:-1] - starts[first[of]], ids.lengths)
            )
        if places is not None and units is not None:
            places = in_units(places, encoded._offsets, documents, units)
        return documents, encoded, places

    def documents(
        self, given: Documents, unknown: UnknownChoice, special: SpecialChoice, name: str, trace: bool = False
    ) -> tuple[Ragged, Places | None]:
        """The ids of documents, called `name` in messages, and with `trace` the place of each token."""
        alphabet, skips = self.model.alphabet, False
        places: Places | None = None
        if self.tables.is_plain and not isinstance(unknown, tuple):
            ids = alphabet.to_ids(given, unknown, name=name)
            encoded = self.encode(ids)
            skips = ids.total < given.offsets[-1] - given.offsets[0]
        else:
            from ubpe_numba.coding.cut_documents import encode_cut  # here only: integers need not wait for it

            words = self.words if given.values.dtype == np.uint8 else None
            unstable = self.tables.unstable if self.model.segmenter.whole_words and words is None else {}
            encoded, places = encode_cut(
                self.model, self.encode, words, unstable, self.n_threads, given, unknown, special, name, trace
            )
        if places is not None or not trace:
            return encoded, places
        return encoded, places_of_tokens(
            encoded, given, self.tables.decoder.lengths, alphabet if skips else None
        )


def _cut_at(isolated: NDArray[np.bool_], encode: Encode, ids: Ragged) -> Ragged:
    """Encode documents that are divided before and after every isolated symbol."""
    compacted = ids.compact()
    alone = np.flatnonzero(isolated[compacted.values])
    marked = np.zeros(compacted.values.size + 1, bool)
    marked[alone] = marked[alone + 1] = marked[compacted.offsets] = True
    cuts = np.flatnonzero(marked)
    encoded = encode(trusted(compacted.values, cuts))
    return trusted(encoded.values, encoded._offsets[np.searchsorted(cuts, compacted.offsets)])


def plan_by_rank(
    tables: Tables, unknown: Any = "raise", n_threads: int | None = None, batch: bool = False
) -> Plan:
    """The plan by merge rank, or by the batch rule of the UBPE articles."""
    pairs = tables.pairs(batch)
    words = None if batch or tables.model.segmenter.pretokenizer is None else tables.words
    return Plan(
        tables, partial(pairs.encode, n_threads=n_threads), unknown, n_threads, encoder_for=pairs.encoder,
        words=words,
        one_by_one=not batch, pairs=pairs if pairs.linear else None,
    )  # fmt: skip


def plan_by_path(
    tables: Tables, weights: Any, objective: str, unknown: Any = "raise", n_threads: int | None = None
) -> Plan:
    """The plan by the best path; `weights` as for `Tables.paths`, `objective` as for `PathEncoder.encode`."""
    paths = tables.paths(weights)
    effective = "shortest" if objective == "tfidf" and not paths.weighs else objective  # no token has an idf
    return Plan(
        tables,
        partial(paths.encode, objective=effective, n_threads=n_threads),
        unknown,
        n_threads,
        encoder_for=None if effective == "longest" else partial(paths.encoder, effective),
        one_by_one=effective in ("shortest", "additive"),  # the best path of a document is that of its parts
    )


def checked_seed(seed: Any) -> int:
    """The option `seed` of draws; TypeError or ValueError for another."""
    if not 0 <= (value := integer(seed, "seed")) < 2**64:
        raise ValueError(f"seed: expected 0..2**64 - 1, got {seed}")
    return value
