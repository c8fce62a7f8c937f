"""What stands between documents and their ids: text as UTF-8, special tokens, normalizer, pre-tokenizer, ids of their own.

All of it is optional and applied alike when fitting and encoding: special tokens are taken out of a document, what is left
between them is normalised and cut into segments, and each segment is encoded as if it were a document, so that no token ever
passes a cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.corpus import Corpus, as_corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import distinct, places_of
from ubpe_numba.runtime.schema import check_fields, integers_of
from ubpe_numba.text import rewrite
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.pretokenizer import Pretokenizer, PythonPattern
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.decoding import Decoding
from ubpe_numba.vocabulary.lone_symbols import LoneSymbols
from ubpe_numba.vocabulary.special_tokens import SpecialTokens
from ubpe_numba.vocabulary.stretches import SpecialChoice, Stretches, without_late_words, without_words
from ubpe_numba.vocabulary.unknown import Unknown

__all__ = ["PLAIN", "Segmenter"]


class Segmenter(NamedTuple):
    """How a fitted tokenizer treats documents before and ids after encoding.

    `token_ids` int32[V] are the ids of the tokens of the vocabulary where they are not 0..V-1, as in tokenizers that were trained
    elsewhere, -1 for one that has none, which `unknown` replaces; `encoding` is ``"utf-8"`` where `str` is encoded as bytes;
    `decoding` is how the texts of tokens become one. `whole_words`: a segment that equals a token becomes that token, before any
    merge; `one_by_one`: the order of merges matters even between places of one pair (formats/merge_order.py). `lone` are the
    break and stop tokens.
    """

    pretokenizer: Pretokenizer | Splitter | None = None
    special: SpecialTokens | None = None
    token_ids: np.ndarray | None = None
    encoding: str | None = None
    normalizer: Normalizer | None = None
    unknown: Unknown | None = None
    decoding: Decoding | None = None
    whole_words: bool = False
    one_by_one: bool = False
    lone: LoneSymbols | None = None

    @classmethod
    def make(
        cls,
        pretokenizer: Any,
        special: Any,
        known: Any,
        encoding: Any,
        kind: str,
        size: int | None,
        normalizer: Any = None,
        lone: tuple[Any, Any] = (None, None),
        special_first: bool = False,
    ) -> Segmenter:
        """Read the arguments of a tokenizer with an alphabet of this `kind` and `size` ids, None if not known yet.

        `lone` are its break and stop tokens; with `special_first` special tokens have the ids before all others. TypeError or
        ValueError, naming the argument; a pre-tokenizer or a normalizer for integers is a ValueError.
        """
        if encoding not in (None, "utf-8"):
            raise ValueError(f"encoding: expected None or 'utf-8', got {quoted(encoding)}")
        cutter = pretokenizer if isinstance(pretokenizer, Splitter) else Pretokenizer.of(pretokenizer)
        changer = Normalizer.of(normalizer)
        if cutter is not None and kind == "int":
            raise ValueError("pretokenizer: it cuts text, and the tokenizer is one of integers; use boundaries")
        if changer is not None and kind == "int":
            raise ValueError("normalizer: it changes text, and the tokenizer is one of integers")
        if encoding and kind != "bytes":
            raise ValueError(f"encoding: it makes bytes of text, and the alphabet is one of {kind}")
        words = SpecialTokens.from_user(special, known, kind, size, first=special_first)
        made = cls(cutter, words, None, encoding, changer, lone=LoneSymbols.from_user(*lone, kind))
        return made if size is None else made.behind(made._n_special if special_first else 0, size)

    # ---------------------------------------------------------------------------------------------- fitting

    def corpus(self, corpus: Corpus, n_threads: int | None = None) -> Corpus:
        """The distinct segments of a corpus and how often each occurs.

        Special tokens, allowed or not, and known words are cut out: nothing is learned from them. A segment is the document that
        document frequencies count.
        """
        if self.pretokenizer is None and self.lone is not None:
            return self.lone.part(self._replace(lone=None).corpus(corpus, n_threads))
        if self.pretokenizer is None and self.special is None and self.normalizer is None:
            return corpus
        given = self.rewritten(self.stretches(corpus.given, "docs"))
        kept = Documents(given.values, given.cuts, corpus.given.kind)  # for the alphabet: of weight 0 too
        pieces = self.rewritten(self.stretches(Documents(corpus.values, corpus.offsets, corpus.given.kind), "docs"))
        if corpus.weights is None and self.pretokenizer is not None and pieces.values.dtype == np.uint8:
            cuts = self.kernel or self.segments(pieces)
            from ubpe_numba.text.count_words import count_words  # here only: integers need not wait for it

            return as_corpus(count_words(pieces.values, pieces.cuts, cuts, n_threads))._replace(given=kept)
        cut, of = self._cut(pieces, corpus.given.kind)
        weights = np.ones(of.size, np.int64) if corpus.weights is None else corpus.weights[of]
        counts = Counts.of(cut, weights)
        made = as_corpus(counts)
        if self.pretokenizer is None:  # the documents still are documents, and empty ones count
            made = made._replace(n_documents=made.n_documents + corpus.n_empty)
        return made._replace(given=kept)

    def cut(self, corpus: Corpus) -> tuple[Documents, np.ndarray]:
        """The segments of a corpus that a pre-tokenizer cuts, none counted, and which of the corpus' each is from, int64[s]."""
        kind = corpus.given.kind
        return self._cut(self.rewritten(self.stretches(Documents(corpus.values, corpus.offsets, kind), "docs")), kind)

    def _cut(self, pieces: Stretches, kind: str) -> tuple[Documents, np.ndarray]:
        segments = self.segments(pieces)
        per_document = np.diff(np.searchsorted(segments, pieces.cuts[pieces.first]))
        return Documents(pieces.values, segments, kind), np.repeat(np.arange(per_document.size), per_document)

    @property
    def kernel(self) -> str | None:
        """The pattern that alone cuts what stands between special and break tokens, as `cut.scan` takes it, if it does."""
        alone = self.pretokenizer is not None and (self.lone is None or not self.lone.stops.size)
        return self.pretokenizer.kernel if alone and self.pretokenizer is not None else None

    def segments(self, pieces: Stretches) -> np.ndarray:
        """The segments of all stretches, int64[s + 1]."""
        if self.pretokenizer is None or not pieces.values.size:
            return pieces.cuts
        cuts = pieces.segments
        if cuts is None:
            cuts = self.pretokenizer.split(pieces.values, pieces.cuts)
        return cuts if self.lone is None else self.lone.cuts(pieces.values, cuts, self.lone.stops)

    # ---------------------------------------------------------------------------------------------- documents in stretches

    def stretches(self, documents: Documents, name: str, chosen: SpecialChoice | None = None) -> Stretches:
        """Take special tokens and known words out of documents, and cut at break tokens where a pre-tokenizer has to see that.

        Known words are looked for always, special tokens where they are `chosen`; None, as in a fit: all of them, and none is an
        error. SpecialTokenError for one that is forbidden, TypeError where a pre-tokenizer meets integers.
        """
        made = without_words(self.special, None if self.pretokenizer is None else self.lone, documents, chosen)
        if (self.pretokenizer is not None or self.normalizer is not None) and made.values.size and documents.kind == "int":
            raise TypeError(f"{name}: a pretokenizer cuts text: expected str or bytes, got integers")
        return made

    # ---------------------------------------------------------------------------------------------- text that is changed

    @property
    def rewrites(self) -> bool:
        """Whether anything else than the text as it is may be encoded."""
        return self.normalizer is not None or self._splitter is not None

    @property
    def restores(self) -> bool:
        """Whether text that was decoded is changed back."""
        return self.normalizer is not None and self.normalizer.restores

    def restored(self, text: Any, errors: str) -> Any:
        """What was decoded, changed back where that is `str` and something was done to it."""
        if self.normalizer is None or not isinstance(text, str):
            return text
        return self.normalizer.restore(text, errors)

    @property
    def is_lossless(self) -> bool:
        """Whether decoding gives back every text, as it was given."""
        words = self.special is not None and self.special.has_flags
        return (
            self.normalizer is None and self.decoding is None and not words
            and (self._splitter is None or self._splitter.is_lossless)
            and (self.unknown is None or self.unknown.byte_ids is not None)
        )  # fmt: skip

    @property
    def _splitter(self) -> Splitter | None:
        """A pre-tokenizer that does more than cut."""
        cutter = self.pretokenizer
        return cutter if isinstance(cutter, Splitter) and cutter.cutters is None else None

    def rewritten(self, pieces: Stretches, chosen: SpecialChoice | None = None, trace: bool = False) -> Stretches:
        """The stretches as they are encoded: normalised, without words of normalised text, and cut where that does more than cut.

        `chosen` as for `stretches`. With `trace` they know where each of their values comes from in the documents. Errors as
        there.
        """
        special = self.special
        late = special is not None and special.has_normalized
        odd = self.unknown is not None or (special is not None and special.has_flags)  # ids do not tell lengths
        if not self.rewrites and not late and not (trace and odd):
            return pieces
        values, cuts, origins, segments = pieces.values, pieces.cuts, None, None
        asked, splitter = trace, self._splitter
        trace = trace or (splitter is not None and splitter.asks_for_start and self.normalizer is not None)
        if trace:
            origins = np.delete(np.arange(values.size + pieces.sizes.sum()), places_of(pieces.at, pieces.sizes))
        if self.normalizer is not None:
            found = rewrite.normalized(self.normalizer, values, cuts, trace)
            values, cuts = found.values, found.cuts
            origins = None if origins is None else origins[found.origins]
        if special is not None and late:
            change = None if self.normalizer is None else self.normalizer.apply
            pieces, cuts, origins = without_late_words(special, change, pieces._replace(values=values), cuts, origins, chosen)
            values = pieces.values
        whole = distinct(cuts)
        first, before = (np.searchsorted(whole, cuts[at]) for at in (pieces.first, pieces.before))
        if splitter is not None:
            at_start = np.zeros(whole.size, bool)
            at_start[first[:-1][first[:-1] < first[1:]]] = True
            leads = (before == first[pieces.owners]) & (before < first[pieces.owners + 1])
            at_start[before[leads]] = False  # a special token begins the document
            if origins is not None:  # what was there at first may be gone
                documents = np.flatnonzero(first[:-1] < first[1:])
                at_start[first[documents]] &= origins[whole[first[documents]]] == pieces.begins[documents]
            done = rewrite.split(splitter, values, whole, at_start[:-1], trace)
            values, whole, segments = done.values, done.cuts, done.segments
            origins = None if origins is None else origins[done.origins]
        origins = origins if asked else None
        return pieces._replace(values=values, cuts=whole, first=first, before=before, segments=segments, origins=origins)

    # ---------------------------------------------------------------------------------------------- model files

    def state(self) -> dict[str, Any]:
        """What a model file holds beside the vocabulary; empty if there is nothing."""
        name = "python_pattern" if isinstance(self.pretokenizer, PythonPattern) else "pretokenizer"
        parts = {
            name: self.pretokenizer.state() if isinstance(self.pretokenizer, Pretokenizer) else None,
            "splitter": self.pretokenizer.state() if isinstance(self.pretokenizer, Splitter) else None,
            "normalizer": None if self.normalizer is None else self.normalizer.state(),
            "special_tokens": None if self.special is None else self.special.state(),
            "encoding": self.encoding,
            "token_ids": self.token_ids,
            "unknown": None if self.unknown is None else self.unknown.state(),
            "decoding": None if self.decoding is None else self.decoding.state(),
            "whole_words": self.whole_words or None,
            "one_by_one": self.one_by_one or None,
            **({} if self.lone is None else self.lone.state()),
        }
        return {name: part for name, part in parts.items() if part is not None}

    @classmethod
    def from_state(cls, state: dict[str, Any], size: int, kind: str) -> Segmenter:
        """Make it again, for a vocabulary of `size` ids and documents of `kind`. ModelFormatError if it is not valid."""
        cutters = ("pretokenizer", "splitter", "python_pattern")
        names = (
            *cutters, "normalizer", "special_tokens", "encoding", "token_ids", "unknown", "decoding", "whole_words", "one_by_one",
            "break_tokens", "stop_tokens",
        )  # fmt: skip
        fields = {**dict.fromkeys(names), **state}
        check_fields(fields, names, "text")
        if sum(fields[name] is not None for name in cutters) > 1:
            raise ModelFormatError(f"text: expected only one of {', '.join(cutters)}")
        cutter: Pretokenizer | Splitter | None = None
        special = None
        normalizer = None if fields["normalizer"] is None else Normalizer.from_state(fields["normalizer"])
        if (found := fields["pretokenizer"]) is not None:
            if not isinstance(found, dict):
                raise ModelFormatError("pretokenizer: expected an object")
            check_fields(found, ("name", "pattern", "unicode"), "pretokenizer")
            try:
                cutter = Pretokenizer.from_state(found)
            except (TypeError, ValueError) as error:
                raise ModelFormatError(str(error)) from error
            if kind == "int" or found["name"] != cutter.name or not isinstance(found["unicode"], str):
                raise ModelFormatError("pretokenizer: the name, the pattern and the alphabet do not go together")
        if (found := fields["python_pattern"]) is not None:
            if not isinstance(found, dict):
                raise ModelFormatError("python_pattern: expected an object")
            check_fields(found, ("pattern", "unicode"), "python_pattern")
            try:
                cutter = PythonPattern(found["pattern"])
            except (TypeError, ValueError) as error:
                raise ModelFormatError(str(error)) from error
        if (found := fields["splitter"]) is not None:
            cutter = Splitter.from_state(found)
        if kind == "int" and (cutter is not None or normalizer is not None):
            raise ModelFormatError("text: integers are neither cut nor normalised")
        if (found := fields["special_tokens"]) is not None:
            special = SpecialTokens.from_state(found, size)
            if special.kind != kind:
                raise ModelFormatError(f"special_tokens: expected words of {kind}, got {special.kind}")
        if fields["encoding"] not in (None, "utf-8") or (fields["encoding"] and kind != "bytes"):
            raise ModelFormatError(f"encoding: expected 'utf-8' and an alphabet of bytes, got {quoted(fields['encoding'])}")
        for name in ("whole_words", "one_by_one"):
            if fields[name] not in (None, True):
                raise ModelFormatError(f"{name}: expected true, got {quoted(fields[name])}")
        unknown = None if fields["unknown"] is None else Unknown.from_state(fields["unknown"], _most(size))
        if unknown is not None and unknown.byte_ids is not None and kind != "bytes":
            raise ModelFormatError(f"unknown: expected an alphabet of bytes, got one of {kind}")
        decoding = None if fields["decoding"] is None else Decoding.from_state(fields["decoding"])
        whole, single = fields["whole_words"] is True, fields["one_by_one"] is True
        lone = LoneSymbols.from_state(fields["break_tokens"], fields["stop_tokens"], kind)
        made = cls(cutter, special, None, fields["encoding"], normalizer, unknown, decoding, whole, single, lone)
        return made.numbered(fields["token_ids"], size)

    @property
    def _n_special(self) -> int:
        """How many special tokens there are, without known words."""
        return 0 if self.special is None else int((~self.special.always).sum())

    @property
    def n_first(self) -> int:
        """How many special tokens have the ids 0, 1, ... in front of those of the vocabulary, which follow without gaps; or 0."""
        n, ids = self._n_special, self.token_ids
        if ids is None or self.special is None or not n or not np.array_equal(ids, np.arange(n, n + ids.size)):
            return 0
        return n if np.array_equal(self.special.ids[~self.special.always], np.arange(n)) else 0

    def behind(self, n_first: int, size: int) -> Segmenter:
        """The same where the `size` tokens of a vocabulary have the ids from `n_first` on; errors as of `numbered`."""
        return self.numbered(np.arange(n_first, n_first + size) if n_first else None, size)

    def numbered(self, token_ids: Any, size: int) -> Segmenter:
        """The same with ids of its own for the `size` tokens of a vocabulary, or 0..size-1.

        Several tokens may have one id where they stand for the same symbols. ModelFormatError for ids that are not valid, far
        apart, or those of special tokens.
        """
        taken = np.arange(size)
        if token_ids is not None:
            taken = integers_of(token_ids, "token_ids")
            if taken.shape != (size,):
                raise ModelFormatError(f"token_ids: expected {size} ids, got shape {taken.shape}")
            most, least = _most(size), 0 if self.unknown is None else -1
            if (bad := np.flatnonzero((taken < least) | (taken >= most))).size:
                raise ModelFormatError(f"token_ids[{bad[0]}]: expected 0..{most - 1}, got {taken[bad[0]]}")
            token_ids = taken.astype(np.int32)
            token_ids.setflags(write=False)
        if self.special is not None and not self.special.shared:
            both = np.isin(self.special.ids, taken)
            if both.any():
                i = int(np.argmax(both))
                raise ModelFormatError(f"special_tokens: {quoted(self.special.words[i])}: the id {self.special.ids[i]} is taken")
        return self._replace(token_ids=token_ids)


def _most(size: int) -> int:
    """How many ids there may be for so many tokens."""
    return 2 * size + (1 << 16)


#: Documents and ids pass unchanged.
PLAIN = Segmenter()
