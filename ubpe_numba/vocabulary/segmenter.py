"""What stands between documents and their ids: text as UTF-8, special tokens, the pre-tokenizer, ids in an order of their own.

All of it is optional and applied alike when fitting and encoding: special tokens are taken out of a document, what is left
between them is cut into segments, and each segment is encoded as if it were a document, so that no token ever passes a cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.documents.corpus import Corpus, as_corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.normalise import Documents
from ubpe_numba.errors import ModelFormatError, SpecialTokenError
from ubpe_numba.runtime.arrays import check_fields, integers_of, offsets_of
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.vocabulary.special_tokens import SpecialTokens

__all__ = ["Segmenter", "SpecialChoice"]


class SpecialChoice(NamedTuple):
    """Which special tokens a call of `encode` allows and forbids, as the user says it."""

    allowed: Any = "none"
    disallowed: Any = "all"


class Stretches(NamedTuple):
    """Documents without their special tokens, in the stretches that these leave.

    `values` and `cuts` int64[s + 1]: what is left; stretches `first[d] : first[d + 1]` are those of document d. `words` int64[k]:
    the special tokens taken out; `at` int64[k]: where each stood in the documents, `before` int64[k]: before which stretch.
    """

    values: np.ndarray
    cuts: np.ndarray
    first: np.ndarray
    words: np.ndarray
    at: np.ndarray
    before: np.ndarray


class Segmenter(NamedTuple):
    """How a fitted tokenizer treats documents before and ids after encoding.

    `token_ids` int32[V] are the ids of the tokens of the vocabulary where they are not 0..V-1, as in tokenizers that were trained
    elsewhere; `encoding` is ``"utf-8"`` where `str` is encoded as bytes.
    """

    pretokenizer: Pretokenizer | None = None
    special: SpecialTokens | None = None
    token_ids: np.ndarray | None = None
    encoding: str | None = None

    @classmethod
    def make(cls, pretokenizer: Any, special: Any, known: Any, encoding: Any, kind: str, size: int | None) -> Segmenter:
        """Read the arguments of a tokenizer with an alphabet of this `kind` and `size` ids, None if not known yet.

        TypeError or ValueError, naming the argument; a pre-tokenizer for integers is a ValueError.
        """
        check_encoding(encoding)
        cutter = Pretokenizer.of(pretokenizer)
        if cutter is not None and kind == "int":
            raise ValueError("pretokenizer: it cuts text, and the tokenizer is one of integers; use boundaries")
        if encoding and kind != "bytes":
            raise ValueError(f"encoding: it makes bytes of text, and the alphabet is one of {kind}")
        made = cls(cutter, SpecialTokens.from_user(special, known, kind, size), None, encoding)
        return made if size is None else made.numbered(None, size)

    # ---------------------------------------------------------------------------------------------- fitting

    def corpus(self, corpus: Corpus, n_threads: int | None = None) -> Corpus:
        """The distinct segments of a corpus and how often each occurs.

        Special tokens, allowed or not, and known words are cut out: nothing is learned from them. A segment is the document that
        document frequencies count.
        """
        if self.pretokenizer is None and self.special is None:
            return corpus
        given = self.stretches(corpus.given, "docs")
        kept = Documents(given.values, given.cuts, corpus.given.kind)  # for the alphabet: of weight 0 too
        pieces = self.stretches(Documents(corpus.values, corpus.offsets, corpus.given.kind), "docs")
        if corpus.weights is None and self.pretokenizer is not None and pieces.values.dtype == np.uint8:
            cuts = self.pretokenizer.kernel or self.pretokenizer.split(pieces.values, pieces.cuts)
            from ubpe_numba.text.count_words import count_words  # here only: integers need not wait for it

            return as_corpus(count_words(pieces.values, pieces.cuts, cuts, n_threads))._replace(given=kept)
        segments = self.segments(pieces)
        per_document = np.diff(np.searchsorted(segments, pieces.cuts[pieces.first]))
        weights = np.ones(per_document.size, np.int64) if corpus.weights is None else corpus.weights
        counts = Counts.of(Documents(pieces.values, segments, corpus.given.kind), np.repeat(weights, per_document))
        made = as_corpus(counts)
        if self.pretokenizer is None:  # the documents still are documents, and empty ones count
            made = made._replace(n_documents=made.n_documents + corpus.n_empty)
        return made._replace(given=kept)

    def segments(self, pieces: Stretches) -> np.ndarray:
        """The segments of all stretches, int64[s + 1]."""
        if self.pretokenizer is None or not pieces.values.size:
            return pieces.cuts
        return self.pretokenizer.split(pieces.values, pieces.cuts)

    # ---------------------------------------------------------------------------------------------- special tokens

    def stretches(self, documents: Documents, name: str, chosen: SpecialChoice | None = None) -> Stretches:
        """Take special tokens and known words out of documents.

        Known words are looked for always, special tokens where they are `chosen`; None, as in a fit: all of them, and none is an
        error. SpecialTokenError for one that is forbidden, TypeError where a pre-tokenizer meets integers.
        """
        values, offsets, kind = documents
        if offsets[0] or offsets[-1] != values.size:
            values, offsets = values[offsets[0] : offsets[-1]], offsets - offsets[0]
        none = np.zeros(0, np.int64)
        words = at = left = none
        if (special := self.special) is not None:
            active, forbidden = self._choose(special, chosen)
            if values.size:
                at, words = special.find(Documents(values, offsets, kind), active)
            if forbidden[words].any():
                i = int(np.argmax(forbidden[words]))
                document = int(np.searchsorted(offsets, at[i], side="right")) - 1
                raise SpecialTokenError(document, int(at[i] - offsets[document]), special.words[words[i]])
            if at.size:
                lengths = np.diff(special.offsets)[words]
                taken = offsets_of(lengths)
                left = at - taken[:-1]
                values = np.delete(values, np.repeat(left, lengths) + np.arange(taken[-1]))
                offsets = offsets - taken[np.searchsorted(at, offsets)]
        cuts = np.unique(np.concatenate([offsets, left]))
        if self.pretokenizer is not None and values.size and kind == "int":
            raise TypeError(f"{name}: a pretokenizer cuts text: expected str or bytes, got integers")
        return Stretches(values, cuts, np.searchsorted(cuts, offsets), words, at, np.searchsorted(cuts, left))

    @staticmethod
    def _choose(special: SpecialTokens, chosen: SpecialChoice | None) -> tuple[np.ndarray, np.ndarray]:
        """bool[w] twice: the words to look for, and those of them that are an error."""
        if chosen is None:
            return np.ones(len(special.words), bool), np.zeros(len(special.words), bool)
        some = ~special.always
        allowed = special.chosen(chosen.allowed, "allowed_special", some)
        forbidden = special.chosen(chosen.disallowed, "disallowed_special", some & ~allowed)
        return np.asarray(special.always | allowed | forbidden), forbidden

    # ---------------------------------------------------------------------------------------------- model files

    def state(self) -> dict[str, Any]:
        """What a model file holds beside the vocabulary; empty if there is nothing."""
        parts = {
            "pretokenizer": None if self.pretokenizer is None else self.pretokenizer.state(),
            "special_tokens": None if self.special is None else self.special.state(),
            "encoding": self.encoding,
            "token_ids": self.token_ids,
        }
        return {name: part for name, part in parts.items() if part is not None}

    @classmethod
    def from_state(cls, state: dict[str, Any], size: int, kind: str) -> Segmenter:
        """Make it again, for a vocabulary of `size` ids and documents of `kind`. ModelFormatError if it is not valid."""
        fields = {"pretokenizer": None, "special_tokens": None, "encoding": None, "token_ids": None, **state}
        check_fields(fields, ("pretokenizer", "special_tokens", "encoding", "token_ids"), "text")
        cutter = special = None
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
        if (found := fields["special_tokens"]) is not None:
            special = SpecialTokens.from_state(found, size)
            if special.kind != kind:
                raise ModelFormatError(f"special_tokens: expected words of {kind}, got {special.kind}")
        if fields["encoding"] not in (None, "utf-8") or (fields["encoding"] and kind != "bytes"):
            raise ModelFormatError(f"encoding: expected 'utf-8' and an alphabet of bytes, got {fields['encoding']!r}")
        ids = fields["token_ids"]
        return cls(cutter, special, None, fields["encoding"]).numbered(None if ids is None else ids, size)

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
            most = 2 * size + (1 << 16)
            if (bad := np.flatnonzero((taken < 0) | (taken >= most))).size:
                raise ModelFormatError(f"token_ids[{bad[0]}]: expected 0..{most - 1}, got {taken[bad[0]]}")
            token_ids = taken.astype(np.int32)
            token_ids.setflags(write=False)
        if self.special is not None:
            both = np.isin(self.special.ids, taken)
            if both.any():
                i = int(np.argmax(both))
                raise ModelFormatError(f"special_tokens: {self.special.words[i]!r}: the id {self.special.ids[i]} is taken")
        return self._replace(token_ids=token_ids)


#: Documents and ids pass unchanged.
PLAIN = Segmenter()


def check_encoding(encoding: Any) -> None:
    """Raise ValueError unless it is None or "utf-8"."""
    if encoding not in (None, "utf-8"):
        raise ValueError(f"encoding: expected None or 'utf-8', got {encoding!r}")
