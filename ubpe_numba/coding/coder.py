"""A model at work: its encoders and its decoder, made in this one place, and documents that go through them.

Special tokens are taken out of a document, what is left between them is cut into segments, each segment is encoded as if it were
a document, and the ids are put together and renumbered:

    "low lower<end>"  ->  "low", " lower" | <end>  ->  [256] [32 256 101 114] | 257  ->  [256, 32, 256, 101, 114, 257]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.chunks import Bound
from ubpe_numba.coding.decode import Decoder
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.path_search import PathSearch
from ubpe_numba.coding.short_document import ShortDecoder, ShortEncode, short_symbols
from ubpe_numba.coding.token_places import Places, places_of_tokens, traced_places
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import offsets_of, places_of
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.stretches import SpecialChoice, Stretches, traced, without_symbols
from ubpe_numba.vocabulary.token_weights import log_probabilities, token_weights
from ubpe_numba.vocabulary.unknown import with_ids
from ubpe_numba.vocabulary.unknown_choice import Stand, UnknownChoice

if TYPE_CHECKING:
    from ubpe_numba.coding.lattice import Lattice
    from ubpe_numba.coding.word_encoder import WordEncoder

#: Stands for the logarithms of probabilities where weights of tokens are asked for.
LIKELIHOOD = object()
#: The objectives by which the best path of a document is that of its parts, wherever no token crosses.
BY_SUMS = ("shortest", "additive")
#: Turns documents of alphabet ids into ids of the vocabulary.
Encode = Callable[[Ragged], Ragged]


class EncodeOptions(NamedTuple):
    """What a call of `encode` asks for beside the documents; the fields are arguments of `Tokenizer.encode`."""

    unknown: UnknownChoice = "raise"
    return_offsets: bool | str = False
    special: SpecialChoice = SpecialChoice()
    boundaries: Any = None
    units: str | None = None


class Coder:
    """The encoders and the decoder of one model, each made when it is first needed and then kept.

    A model never changes, so nothing here becomes stale: a tokenizer that gets another model gets another coder. What a user may
    still change, the batch rule and the weights of tokens, is an argument. Two threads may both make a table; they make the same.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        segmenter = model.segmenter
        #: Whether documents and ids pass unchanged, but for their encoding.
        self.is_plain = (
            segmenter.pretokenizer is None and segmenter.special is None and segmenter.token_ids is None
            and not segmenter.rewrites and not segmenter.whole_words
        )  # fmt: skip
        #: Which symbols stand alone, bool[alphabet], where that is not seen to before documents become ids; None if none do.
        self.lone = _lone(model)
        self._holds_lone: bool | None = None
        self._pair_encoders: dict[bool, PairEncoder] = {}
        self._path_encoder: tuple[Any, PathEncoder] | None = None
        self._likely_encoder: PathEncoder | None = None
        self._path_search: PathSearch | None = None
        self._lattice: tuple[PathEncoder, float, Lattice] | None = None
        self._word_encoder: WordEncoder | None = None
        self._decoder: Decoder | None = None
        self._unstable: dict[bytes, int] | None = None
        self._short_encoders: dict[Any, ShortEncode | None] = {}
        self._short_decoder: ShortDecoder | None = None

    # ---------------------------------------------------------------------------------------------- tables

    def pair_encoder(self, batch: bool = False) -> PairEncoder:
        """The encoder by merge rank, or by the articles' batch rule; for vocabularies that know pairs."""
        made = self._pair_encoders.get(batch)
        if made is None:
            one_by_one = self.model.segmenter.one_by_one and not batch
            made = self._pair_encoders[batch] = PairEncoder(self.model.vocabulary, batch, one_by_one)
        return made

    def word_encoder(self) -> WordEncoder | None:
        """The encoder by merge rank of text in segments; None where there is no fast way: pairs out of order, bytes unknown."""
        if self._word_encoder is None:
            alphabet, pairs = self.model.alphabet, self.pair_encoder()
            if alphabet.kind != "bytes" or alphabet.size != 256 or not pairs.linear:
                return None
            from ubpe_numba.coding.word_encoder import WordEncoder  # here only: integers need not wait for it

            if not WordEncoder.takes(pairs):
                return None
            byte_ids = None if alphabet.is_identity else alphabet.lookup(np.arange(256, dtype=np.uint8))
            self._word_encoder = WordEncoder(pairs, byte_ids, self.model.segmenter.whole_words)
        return self._word_encoder

    def parts(self, one_by_one: bool) -> bool:
        """Whether documents of ids are to be cut at symbols that stand alone.

        `one_by_one` says that the encoding of a document in which no token crosses a place is that of both its parts, as by merge
        rank and by sums of weights. Then nothing is to be done if no token holds such a symbol, as after a fit.
        """
        if self.lone is None or not one_by_one:
            return self.lone is not None
        if self._holds_lone is None:
            alphabet, vocabulary, segmenter = self.model
            self._holds_lone = segmenter.lone is not None and segmenter.lone.held_by(alphabet, vocabulary)
        return self._holds_lone

    def apart(self, encode: Encode, one_by_one: bool = True) -> Encode:
        """An encoder of documents of alphabet ids that cuts them at symbols that stand alone; see `parts`."""
        return self._cut_ids(encode) if self.parts(one_by_one) else encode

    def _cut_ids(self, encode: Encode) -> Encode:
        """An encoder of documents that cuts them at every symbol that stands alone."""

        def cut(ids: Ragged) -> Ragged:
            assert self.lone is not None
            given = ids.compact()
            alone = np.flatnonzero(self.lone[given.values])
            marked = np.zeros(given.values.size + 1, bool)
            marked[alone] = marked[alone + 1] = marked[given.offsets] = True
            cuts = np.flatnonzero(marked)
            found = encode(Ragged._trusted(given.values, cuts))
            return Ragged._trusted(found.values, found.offsets[np.searchsorted(cuts, given.offsets)])

        return cut

    def path_encoder(self, weights: Any) -> PathEncoder:
        """The encoder by best path; `weights` as the argument `token_weights` of `UBPE`, which raises what it raises."""
        if weights is LIKELIHOOD:  # kept beside the other, since a call may sample and the next one not
            likely = self._likely_encoder
            if likely is None:
                vocabulary = self.model.vocabulary
                likely = self._likely_encoder = PathEncoder(vocabulary, log_probabilities(vocabulary))
            return likely
        found = self._path_encoder  # another thread may ask for other weights meanwhile
        if found is None or found[0] is not weights:
            vocabulary = self.model.vocabulary
            added = None if weights is None else token_weights(vocabulary, weights)
            self._path_encoder = found = weights, PathEncoder(vocabulary, added)
            self._short_encoders.clear()
        return found[1]

    def path_search(self, encoder: PathEncoder) -> PathSearch:
        """The search for the n best paths, over the tables of `encoder`."""
        if self._path_search is None or self._path_search.encoder is not encoder:
            self._path_search = PathSearch(encoder)
        return self._path_search

    def lattice(self, weights: Any, alpha: float) -> Lattice:
        """All segmentations, each weighing exp(alpha * the sum of the weights of its tokens); `weights` as for `path_encoder`.

        ValueError if weights are beyond what sums over all segmentations can hold.
        """
        from ubpe_numba.coding.lattice import Lattice  # here only: other encoders need not wait for it

        encoder = self.path_encoder(weights)
        found = self._lattice  # another thread may ask for another alpha meanwhile
        if found is None or found[:2] != (encoder, alpha):
            self._lattice = found = encoder, alpha, Lattice.of(encoder, alpha)
        return found[2]

    @property
    def decoder(self) -> Decoder:
        """The decoder."""
        if self._decoder is None:
            self._decoder = Decoder(self.model.vocabulary, self.model.alphabet, self.model.segmenter)
        return self._decoder

    # ---------------------------------------------------------------------------------------------- short documents

    # These are made when the general path has been used, which has reported what is wrong with the arguments or the environment:
    # until then, and where there is no short way, they are None.

    def short_by_pairs(self, batch: bool) -> ShortEncode | None:
        """What encodes one short document as `pair_encoder` and `word_encoder` do."""
        try:
            return self._short_encoders[batch]
        except KeyError:
            pairs = self._pair_encoders.get(batch)
            return None if pairs is None else self._short_encoder(batch, pairs.bound, not batch, not batch)

    def short_by_path(self, weights: Any, objective: str) -> ShortEncode | None:
        """What encodes one short document as `path_encoder` does."""
        known = self._path_encoder
        encoder = self._likely_encoder if weights is LIKELIHOOD else known[1] if known and known[0] is weights else None
        if encoder is None:
            return None
        key = encoder, objective
        try:
            return self._short_encoders[key]
        except KeyError:
            effective = encoder.effective(objective)
            return self._short_encoder(key, encoder.bound(effective), False, effective in BY_SUMS)

    def _short_encoder(self, key: Any, bound: Bound, by_words: bool, one_by_one: bool) -> ShortEncode | None:
        """Make what encodes short documents by a kernel, or text by words, and keep it by its key; see `parts`."""
        if not thread_pool.is_valid_environment():
            return None
        made: ShortEncode | None = None
        if self.is_plain and not self.parts(one_by_one):
            made = short_symbols(self.model, bound)
        elif by_words and self.model.segmenter.lone is None and (words := self.word_encoder()) is not None:
            from ubpe_numba.coding.short_text import short_text  # here only, as the word encoder

            made = short_text(self.model, words)
        self._short_encoders[key] = made
        return made

    def short_decoder(self) -> ShortDecoder | None:
        """What decodes one short document as `decoder` does."""
        if self._short_decoder is None and self._decoder is not None and thread_pool.is_valid_environment():
            segmenter = self.model.segmenter
            if segmenter.restores or (segmenter.decoding is not None and segmenter.decoding.n):
                return None
            self._short_decoder = ShortDecoder(self._decoder, self.model.alphabet, segmenter.encoding)
        return self._short_decoder

    # ---------------------------------------------------------------------------------------------- documents

    def encode(
        self,
        given: Documents,
        encode: Encode,
        options: EncodeOptions,
        name: str,
        words: Callable[[], WordEncoder | None] | None = None,
        n_threads: int | None = None,
    ) -> tuple[Ragged, Places | None]:
        """The ids of documents, and where each token stands if the options ask for it.

        Parameters
        ----------
        given
            The documents.
        encode
            Encodes segments of alphabet ids.
        options
            What becomes of unknown symbols and special tokens.
        name
            What messages call the documents.
        words
            Gives an encoder of text in segments that does the same as `encode` faster, or None.
        n_threads
            Threads for `words`.

        Raises
        ------
        UnknownSymbolError, TypeError
            As `Alphabet.to_ids`.
        SpecialTokenError
            For a special token that is not allowed.
        """
        model = self.model
        skips = False
        if self.is_plain:
            assert not isinstance(options.unknown, Stand)  # there are no special tokens
            ids = model.alphabet.to_ids(given, options.unknown, name=name)
            encoded = encode(ids)
            skips = ids.total < given.offsets[-1] - given.offsets[0]
        else:
            encoded, places = self._encode_cut(given, encode, options, name, words, n_threads)
            if places is not None:
                return encoded, places
        if not options.return_offsets:
            return encoded, None
        return encoded, places_of_tokens(encoded, given, self.decoder.lengths, model.alphabet if skips else None)

    def _encode_cut(
        self,
        given: Documents,
        encode: Encode,
        options: EncodeOptions,
        name: str,
        words: Callable[[], WordEncoder | None] | None,
        n_threads: int | None,
    ) -> tuple[Ragged, Places | None]:
        """The ids of documents that are cut, hold special tokens, or have ids in an order of their own.

        And where each token stands, if that is asked for and text is rewritten, so that it cannot be told from the ids.
        """
        alphabet, _, segmenter = self.model
        if given.kind != alphabet.kind:
            alphabet.check_kind(given, name=name)
        cutter, unknown = segmenter.pretokenizer, options.unknown
        by_words = words() if words is not None and cutter is not None and given.values.dtype == np.uint8 else None
        pattern = segmenter.kernel
        whole = segmenter.special is None and segmenter.unknown is None and segmenter.lone is None
        as_given = whole and not segmenter.rewrites
        if by_words is not None and pattern is not None and as_given and given.kind == "bytes":
            found = by_words.encode(given.values, given.offsets, pattern, n_threads)  # nothing to take out, nothing to copy
            ids = segmenter.token_ids
            return (found if ids is None else Ragged._trusted(ids[found.values], found.offsets)), None
        pieces = segmenter.stretches(given, name, options.special)
        pieces = segmenter.rewritten(pieces, options.special, bool(options.return_offsets))
        known: NDArray[np.bool_] | None = None
        if by_words is None and (unknown == "skip" or isinstance(unknown, Stand)):  # by words all symbols are known
            known = alphabet.lookup(pieces.values) >= 0
            pieces = traced(pieces) if options.return_offsets else pieces
            if isinstance(unknown, Stand):
                pieces = without_symbols(pieces, segmenter.segments(pieces), np.flatnonzero(~known), unknown.number)
                known = None
        if by_words is not None:
            found = by_words.encode(pieces.values, pieces.cuts, pattern or segmenter.segments(pieces), n_threads)
        else:
            found = self._encode_segments(given, pieces, encode, options, name)
        values, offsets = found.values, found.offsets[pieces.first]
        places: Places | None = None
        if pieces.origins is not None:
            origins = pieces.origins if known is None else pieces.origins[known]
            places = traced_places(np.diff(self.model.vocabulary.offsets)[values], origins, given, segmenter.rewrites)
        ends = found.offsets
        if segmenter.token_ids is not None:
            values, sources = self._ids_of(values, pieces)
            if sources is not None:
                ends = np.searchsorted(sources, ends)
                offsets = ends[pieces.first]
                places = None if places is None else places.of_sources(sources)
        if pieces.words.size and segmenter.special is not None:
            at = ends[pieces.before]
            values = np.insert(values, at, segmenter.special.ids[pieces.words])
            places = None if places is None else places.insert(at, pieces.at, pieces.at + pieces.sizes)
            offsets = offsets + np.searchsorted(pieces.owners, np.arange(offsets.size))
        if places is not None:
            places = places.moved(np.repeat(given.offsets[0] - given.offsets[:-1], np.diff(offsets)))
        return Ragged._trusted(values, offsets), places

    def _whole_words(self, segments: Ragged, found: Ragged, complete: NDArray[np.bool_]) -> Ragged:
        """The ids of segments, where those that equal a token that merging does not make of them are that token.

        `complete` bool[s]: of which segments all symbols are known.
        """
        if self._unstable is None:
            vocabulary = self.model.vocabulary
            tokens = Ragged._trusted(vocabulary.arena.copy(), vocabulary.offsets.copy())
            alone = self.pair_encoder().encode(tokens, None).lengths
            self._unstable = {vocabulary.sequence(t).tobytes(): t for t in np.flatnonzero(alone != 1).tolist()}
        longest = max(map(len, self._unstable), default=0) // 4
        several = np.flatnonzero((found.lengths > 1) & (segments.lengths <= longest) & complete)
        which = [(i, self._unstable.get(segments[i].tobytes(), -1)) for i in several.tolist()]
        equal = np.array([pair for pair in which if pair[1] >= 0], np.int64).reshape(-1, 2)
        lengths, values = found.lengths, found.values[found.offsets[0] : found.offsets[-1]].copy()
        starts = (found.offsets[:-1] - found.offsets[0])[equal[:, 0]]
        keep = np.ones(values.size, bool)
        keep[places_of(starts + 1, lengths[equal[:, 0]] - 1)] = False
        values[starts] = equal[:, 1]
        lengths[equal[:, 0]] = 1
        return Ragged._trusted(values[keep], offsets_of(lengths))

    def _ids_of(self, tokens: NDArray[np.int32], pieces: Stretches) -> tuple[NDArray[np.int32], NDArray[np.int64] | None]:
        """The ids of tokens, and of each the token that it comes from; None where there is one for each."""
        alphabet, vocabulary, segmenter = self.model
        assert segmenter.token_ids is not None  # else tokens are ids
        ids = segmenter.token_ids[tokens]
        if (unknown := segmenter.unknown) is None or not (bad := (ids < 0) | (ids == unknown.id)).any():
            return ids, None
        begins = None
        if unknown.fuse and unknown.byte_ids is None:
            all_have_ids = not (ids < 0).any()
            at = np.flatnonzero(bad[1:] & bad[:-1]) + 1 if all_have_ids else np.flatnonzero(bad)
            sizes = np.diff(vocabulary.offsets)[tokens]
            starts, segments = (np.cumsum(sizes) - sizes)[at], segmenter.segments(pieces)
            first = segments[np.searchsorted(segments, starts)] == starts
            if all_have_ids:
                sources = np.delete(np.arange(tokens.size), at[~first])
                return ids[sources], sources
            begins = np.zeros(tokens.size, bool)
            begins[at] = first
        arena = alphabet.to_symbols(vocabulary.arena)
        found = with_ids(unknown, tokens, segmenter.token_ids, arena, vocabulary.offsets, begins)
        return found.ids, found.sources

    def _for_unknown(self, options: EncodeOptions) -> str | int:
        """What becomes of symbols outside the alphabet: what the options say, or else the symbol that stands for them."""
        alphabet, unknown = self.model.alphabet, self.model.segmenter.unknown
        if isinstance(options.unknown, Stand):  # which have been taken out
            return "raise"
        if options.unknown == "raise" and unknown is not None and alphabet.kind == "str":
            from ubpe_numba.text.private_use import UNKNOWN  # here only: few models have characters that stand for others

            symbol = int(alphabet.lookup(np.array([UNKNOWN], np.uint32))[0])
            return symbol if symbol >= 0 else "raise"
        return options.unknown

    def _encode_segments(self, given: Documents, pieces: Stretches, encode: Encode, options: EncodeOptions, name: str) -> Ragged:
        """The ids of every stretch, each of its segments encoded by itself."""
        alphabet, _, segmenter = self.model
        cuts = segmenter.segments(pieces)
        try:
            ids = alphabet.to_ids(Documents(pieces.values, cuts, given.kind), self._for_unknown(options), name=name)
        except UnknownSymbolError as error:
            at = int(cuts[error.document]) + error.position
            if segmenter.rewrites:
                pieces = segmenter.stretches(given, name, options.special)
                origins = segmenter.rewritten(pieces, options.special, True).origins
                assert origins is not None  # it was asked for
                at = int(origins[at])
            else:
                before = pieces.at - np.cumsum(pieces.sizes) + pieces.sizes  # where the words stood, in what is left
                at += int(pieces.sizes[before <= at].sum())
            starts = given.offsets - given.offsets[0]
            document = int(np.searchsorted(starts, at, side="right")) - 1
            raise UnknownSymbolError(document, at - int(starts[document]), error.symbol, error.hint) from None
        found = encode(ids)
        if segmenter.whole_words:
            found = self._whole_words(ids, found, np.diff(cuts) == ids.lengths)
        return Ragged._trusted(found.values, found.offsets[np.searchsorted(cuts, pieces.cuts)])


def _lone(model: Model) -> np.ndarray | None:
    """Which symbols stand alone, bool[alphabet]; None if none do, or text is cut at them before."""
    lone = model.segmenter.lone
    if lone is None or model.segmenter.pretokenizer is not None:
        return None
    found = np.zeros(model.alphabet.size, bool)
    found[lone.ids(model.alphabet)] = True
    return found
