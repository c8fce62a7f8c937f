"""Treatment of documents before encoding and of ids after it.

That is: text as UTF-8, reserved sequences, text steps, token ids.

All of it is optional, and applied in the same way when fitting and encoding. Special tokens are removed from
a document. The rest is normalized and split into segments. Each segment is encoded like a document, so no
token crosses its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.read import Corpus, Documents, as_corpus, text_of
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.arrays import distinct
from ubpe_numba.runtime.schema import Field, Schema, check_fields, integers_of, pickled
from ubpe_numba.vocabulary.alphabet import SPARE
from ubpe_numba.vocabulary.unknown import Unknown

if TYPE_CHECKING:
    from ubpe_numba.text.normalizer import Normalizer
    from ubpe_numba.text.pretokenizer import Pretokenizer
    from ubpe_numba.text.splitter import Splitter
    from ubpe_numba.vocabulary.reserved import Reserved, SpecialChoice
    from ubpe_numba.vocabulary.stretches import Stretches

__all__ = ["PLAIN", "Decoding", "Segmenter"]

_MOST_STEPS = 64  # replacements of a `Decoding`, and how often it leaves something out


class Decoding(NamedTuple):
    """Rules for the text of tokens, in tokenizers from elsewhere that change text before they encode it.

    In every token some characters are replaced, in turn; at the beginning of a text up to `n` times `strip`
    is left out, of its `first` token only if so. `by_names`: documents are decoded by the decoder of the
    file, from the names of tokens::

        tokens      "▁Hello"  "▁world"        replace ▁ by " ", leave out one " " at the beginning
        text        "Hello world"
    """

    replace: tuple[tuple[str, str], ...] = ()
    strip: str = ""
    n: int = 0
    first: bool = False
    by_names: bool = False

    def token(self, text: str) -> str:
        """The text of a token, replaced."""
        for old, new in self.replace:
            text = text.replace(old, new)
        return text

    def n_stripped(self, symbols: np.ndarray) -> int:
        """Number of symbols of a text, bytes or code points, that are left out at its beginning.

        >>> Decoding((), " ", 1).n_stripped(np.frombuffer(b"  a", np.uint8))
        1
        """
        size = self.n * len(self.strip.encode())
        text = (
            symbols[:size].tobytes().decode("utf-8", "ignore")
            if symbols.dtype == np.uint8
            else text_of(symbols[:size])
        )
        rest = text
        for _ in range(self.n):
            rest = rest.removeprefix(self.strip)
        gone = text[: len(text) - len(rest)]
        return len(gone.encode()) if symbols.dtype == np.uint8 else len(gone)

    def state(self) -> dict[str, Any]:
        """The fields for a model file."""
        return _DECODING.write({**self._asdict(), "replace": [list(pair) for pair in self.replace]})

    @classmethod
    def from_state(cls, state: Any) -> Decoding:
        """The inverse of `state`; ModelFormatError for anything else."""
        fields = _DECODING.read(state)
        if fields["n"] and not fields["strip"]:
            raise ModelFormatError(
                f"decoding: n: expected 0..{_MOST_STEPS}, and something to leave out, got {fields['n']} "
                "times nothing"
            )
        return cls(tuple((old, new) for old, new in fields.pop("replace")), **fields)


_DECODING = Schema(
    "decoding",
    {
        "replace": Field(
            f"at most {_MOST_STEPS} pairs of texts",
            lambda pairs: (
                isinstance(pairs, list)
                and len(pairs) <= _MOST_STEPS
                and all(
                    isinstance(pair, list) and len(pair) == 2 and set(map(type, pair)) == {str} and pair[0]
                    for pair in pairs
                )
            ),
        ),
        "strip": Field("a text", lambda text: isinstance(text, str)),
        "n": Field(f"0..{_MOST_STEPS}", lambda n: type(n) is int and 0 <= n <= _MOST_STEPS),
        **dict.fromkeys(
            ("first", "by_names"), Field("true or false", lambda value: type(value) is bool, default=False)
        ),
    },
)


class Segmenter(NamedTuple):
    """How a fitted tokenizer treats documents before and ids after encoding.

    Text steps are imported only if used.

    `reserved` are special tokens, known words, break and stop tokens. `token_ids` int32[V] are the ids of the
    tokens of the vocabulary if they are not 0..V-1, as in foreign tokenizers. -1 marks a token without an id,
    which `unknown` replaces. `encoding` is ``"utf-8"`` if `str` is encoded as bytes. `decoding` joins the
    texts of tokens. `whole_words`: a segment that equals a token becomes that token, before any merge.
    `one_by_one`: the order of merges matters even between places of a pair (formats/merge_order.py).

    `file` has the parts of a `tokenizer.json` that act after encoding, unchanged: `post_processor` and
    `decoder`, and `config`, the defaults of a call. `frame` is the number of symbols per frame
    (vocabulary/frames.py), 0 without frames. `mirror` is that of each symbol, in both directions, if
    documents count together with their mirrors (vocabulary/mirror.py). `runs` are symbols whose runs are
    doubling tokens (fitting/runs.py).
    """

    pretokenizer: Pretokenizer | Splitter | None = None
    reserved: Reserved | None = None
    token_ids: np.ndarray | None = None
    encoding: str | None = None
    normalizer: Normalizer | None = None
    unknown: Unknown | None = None
    decoding: Decoding | None = None
    whole_words: bool = False
    one_by_one: bool = False
    file: dict[str, Any] | None = None
    frame: int = 0
    mirror: dict[Any, Any] | None = None
    runs: str | bytes | list[int] | None = None

    @property
    def special(self) -> Reserved | None:
        """The reserved sequences, if there are special tokens or known words among them."""
        return self.reserved if self.reserved is not None and self.reserved.words else None

    @property
    def lone(self) -> Reserved | None:
        """The reserved sequences, if there are break or stop tokens among them."""
        return self.reserved if self.reserved is not None and self.reserved.has_symbols else None

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(Segmenter, *self)

    def corpus(self, corpus: Corpus, n_threads: int | None = None, count: bool = True) -> Corpus:
        """The distinct segments of a corpus and how often each occurs.

        With `count` False all segments as they are.

        Special tokens, allowed or not, and known words are removed: nothing is learned from them. A segment
        is the document that document frequencies count.
        """
        corpus_of_segments = corpus
        if self.pretokenizer is not None or self.special is not None or self.normalizer is not None:
            kind = corpus.given.kind
            stretches = self.stretches(corpus.given, "docs")
            documents = Documents(stretches.values, stretches.cuts, kind)  # for the alphabet: of weight 0 too
            pieces = self.stretches(Documents(corpus.values, corpus.offsets, kind), "docs")
            if corpus.weights is None and self.pretokenizer is not None and pieces.values.dtype == np.uint8:
                cuts = self.kernel or self.segments(pieces)
                # here only: integers need not wait for it
                from ubpe_numba.text.count_words import count_words

                return as_corpus(count_words(pieces.values, pieces.cuts, cuts, n_threads))._replace(
                    given=documents
                )
            cut, of = self.cut(pieces, kind)
            weights = None if corpus.weights is None else corpus.weights[of]
            if count:
                corpus_of_segments = as_corpus(
                    Counts.of(cut, np.ones(of.size, np.int64) if weights is None else weights)
                )
            else:
                corpus_of_segments = as_corpus(None, None, weights, None, lambda *_: cut)
            if self.pretokenizer is None:  # the documents still are documents, and empty ones count
                corpus_of_segments = corpus_of_segments._replace(
                    n_documents=corpus_of_segments.n_documents + corpus.n_empty
                )
            corpus_of_segments = corpus_of_segments._replace(given=documents)
        return (
            self.lone.part(corpus_of_segments)
            if self.pretokenizer is None and self.lone is not None
            else corpus_of_segments
        )

    def cut(self, pieces: Stretches, kind: str) -> tuple[Documents, np.ndarray]:
        """The segments of stretches as they are encoded, and the index of the document of each, int64[s]."""
        segments = self.segments(pieces)
        per_document = np.diff(np.searchsorted(segments, pieces.cuts[pieces.first]))
        return Documents(pieces.values, segments, kind), np.repeat(np.arange(per_document.size), per_document)

    @property
    def kernel(self) -> str | None:
        """The pattern, for `cut.scan`, if it alone splits text between special and break tokens."""
        if self.pretokenizer is None or (self.lone is not None and self.lone.has_stops):
            return None
        return self.pretokenizer.kernel

    def segments(self, pieces: Stretches) -> np.ndarray:
        """The segments of all stretches, int64[s + 1]."""
        if self.pretokenizer is None or not pieces.values.size:
            return pieces.cuts
        cuts = pieces.segments
        if cuts is None:
            cuts = self.pretokenizer.split(pieces.values, pieces.cuts)
        if self.lone is None:
            return cuts
        from ubpe_numba.vocabulary.reserved import STOP  # here only: few models have any

        return self.lone.cuts(pieces.values, cuts, STOP)

    @property
    def rewrites(self) -> bool:
        """Whether anything else than the text as it is may be encoded."""
        return self.normalizer is not None or self._splitter is not None

    @property
    def shown(self) -> dict[int, str]:
        """Words of a `tokenizer.json` that a normalizer changes, by id, as normalized text shows them.

        They are decoded in this form.
        """
        if self.special is None or self.normalizer is None or self.file is None:
            return {}
        return self.special.shown(self.normalizer.apply, self.normalizer.restore)

    @property
    def by_names(self) -> bool:
        """Whether documents are decoded by the decoder of a file, from the names of tokens."""
        return (self.decoding is not None and self.decoding.by_names) or bool(self.shown)

    @property
    def restores(self) -> bool:
        """Whether a decoded text is changed as a whole."""
        at_start = self.decoding is not None and self.decoding.n > 0
        return at_start or self.by_names or (self.normalizer is not None and self.normalizer.restores)

    @property
    def has_bytes(self) -> bool:
        """Whether the vocabulary has tokens of bytes in addition to those of characters."""
        return self.unknown is not None and self.unknown.byte_ids is not None

    def restored(self, text: Any, errors: str) -> Any:
        """A decoded document in which the normalizer of a text is undone as far as it can be."""
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
        cutter: Any = self.pretokenizer
        return cutter if getattr(cutter, "cutters", ()) is None else None

    def stretches(
        self, documents: Documents, name: str, chosen: SpecialChoice | None = None, trace: bool = False
    ) -> Stretches:
        """Documents as they are encoded: without special tokens and known words, normalized, split.

        They are split here only if splitting changes text.

        Known words are always found, special tokens if `chosen` includes them; None, as in a fit, includes
        all and forbids none. With `trace` the result has the place in the documents of each value.
        SpecialTokenError for a forbidden token, TypeError for a pre-tokenizer with integers.
        """
        # here only, for the same reason
        from ubpe_numba.vocabulary.stretches import traced, without_late_words, without_words

        pieces = without_words(self.reserved, documents, chosen, self.pretokenizer is not None)
        if (
            (self.pretokenizer is not None or self.normalizer is not None)
            and pieces.values.size
            and documents.kind == "int"
        ):
            raise TypeError(
                f"{name}: a pretokenizer splits text: expected str, bytes or a memoryview, got integers. "
                "Ids: decode."
            )
        special = self.special
        late = special is not None and bool(special.late.any())
        # ids tell no lengths
        odd = self.unknown is not None or (special is not None and (special.has_flags or special.shared))
        if not self.rewrites and not late and not (trace and odd):
            return pieces
        values, cuts, origins, segments = pieces.values, pieces.cuts, None, None
        asked, splitter = trace, self._splitter
        trace = trace or (splitter is not None and splitter.asks_for_start and self.normalizer is not None)
        if trace:
            origins = traced(pieces).origins
        if self.normalizer is not None:
            from ubpe_numba.text.normalizer import normalized  # here only: integers are not rewritten

            values, cuts, came = normalized(self.normalizer, values, cuts, trace)
            origins = None if origins is None else origins[came]
        if special is not None and late:
            change = None if self.normalizer is None else self.normalizer.apply
            pieces, cuts, origins = without_late_words(
                special, change, pieces._replace(values=values), cuts, origins, chosen
            )
            values = pieces.values
        whole = distinct(cuts)
        first, before = (np.searchsorted(whole, cuts[at]) for at in (pieces.first, pieces.before))
        if splitter is not None:
            from ubpe_numba.text.splitter import split_text  # here, as above

            at_start = np.zeros(whole.size, bool)
            at_start[first[:-1][first[:-1] < first[1:]]] = True
            leads = (before == first[pieces.owners]) & (before < first[pieces.owners + 1])
            at_start[before[leads]] = False  # a special token begins the document
            if origins is not None:  # the first parts may be gone
                full = np.flatnonzero(first[:-1] < first[1:])  # documents that are not empty
                at_start[first[full]] &= origins[whole[first[full]]] == pieces.begins[full]
            values, whole, segments, came = split_text(splitter, values, whole, at_start[:-1], trace)
            origins = None if origins is None else origins[came]
        origins = origins if asked else None
        return pieces._replace(
            values=values, cuts=whole, first=first, before=before, segments=segments, origins=origins
        )

    def state(self) -> dict[str, Any]:
        """The fields of a model file other than the vocabulary; may be empty."""
        parts = {"normalizer": self.normalizer, "unknown": self.unknown, "decoding": self.decoding}
        fields: dict[str, Any] = dict.fromkeys(_FIELDS.fields)
        if self.pretokenizer is not None:
            # not `isinstance`: the classes are imported for text only
            name = type(self.pretokenizer).__name__
            fields[_CUTTERS.get(name, "pretokenizer")] = self.pretokenizer.state()
        fields |= {name: part.state() for name, part in parts.items() if part is not None}
        fields |= {"encoding": self.encoding, "token_ids": self.token_ids, "file": self.file}
        fields |= {
            "whole_words": self.whole_words or None,
            "one_by_one": self.one_by_one or None,
            "frame": self.frame or None,
        }
        if self.mirror is not None:
            from ubpe_numba.vocabulary.mirror import to_state  # here only: few models have one

            fields["mirror"] = to_state(self.mirror)
        if self.runs is not None:
            fields["runs"] = self.runs.decode("latin-1") if isinstance(self.runs, bytes) else self.runs
        return _FIELDS.write(fields if self.reserved is None else fields | self.reserved.state())

    @classmethod
    def from_state(cls, state: dict[str, Any], size: int, kind: str) -> Segmenter:
        """The inverse of `state`, for a vocabulary of `size` ids and documents of `kind`.

        ModelFormatError for anything else.
        """
        fields = _FIELDS.read(state)
        if sum(fields[name] is not None for name in _CUTTERS.values()) > 1:
            raise ModelFormatError(f"text: expected only one of {', '.join(_CUTTERS.values())}")
        steps: tuple[Any, Any] = None, None
        if any(fields[name] is not None for name in (*_CUTTERS.values(), "normalizer")):
            steps = _steps_of_state(fields)
            if kind == "int":
                raise ModelFormatError("text: integers are neither cut nor normalised")
        words, reserved = (fields["special_tokens"], fields["break_tokens"], fields["stop_tokens"]), None
        if any(part is not None for part in words):
            from ubpe_numba.vocabulary.reserved import Reserved  # here only: few models have any

            reserved = Reserved.from_state(*words, kind, size)
        if fields["encoding"] and kind != "bytes":
            raise ModelFormatError(
                f"encoding: expected 'utf-8' and an alphabet of bytes, got {quoted(fields['encoding'])}"
            )
        unknown = (
            None if fields["unknown"] is None else Unknown.from_state(fields["unknown"], 2 * size + SPARE)
        )
        if unknown is not None and unknown.byte_ids is not None and kind != "bytes":
            raise ModelFormatError(f"unknown: expected an alphabet of bytes, got one of {kind}")
        if (mirror := fields["mirror"]) is not None:
            from ubpe_numba.vocabulary.mirror import from_state  # here, as above

            mirror = from_state(mirror)
        flags = fields["whole_words"] is True, fields["one_by_one"] is True
        if (runs := fields["runs"]) is not None and (
            isinstance(runs, list) is not (kind == "int") or (kind == "bytes" and max(runs) > "\xff")
        ):
            raise ModelFormatError(f"runs: expected symbols of an alphabet of {kind}, got {quoted(runs)}")
        runs = runs.encode("latin-1") if kind == "bytes" and runs is not None else runs
        rest = unknown, fields["decoding"], *flags, fields["file"], fields["frame"] or 0, mirror, runs
        cutter, normalizer = steps
        return cls(cutter, reserved, None, fields["encoding"], normalizer, *rest).numbered(
            fields["token_ids"], size
        )

    def ids(self, size: int) -> np.ndarray:
        """The ids of the `size` tokens of a vocabulary, int32."""
        return np.arange(size, dtype=np.int32) if self.token_ids is None else self.token_ids

    def n_ids(self, size: int) -> int:
        """One more than the largest id of the `size` tokens of a vocabulary and of special tokens."""
        most = size - 1 if self.token_ids is None else int(self.token_ids.max())
        return 1 + (most if self.special is None else max(most, int(self.special.ids.max())))

    @property
    def n_first(self) -> int:
        """Number of special tokens with the ids 0, 1, ..., directly before the vocabulary; else 0."""
        if self.token_ids is None or self.special is None:
            return 0
        ids = np.concatenate([self.special.ids[~self.special.always], self.token_ids])
        return ids.size - self.token_ids.size if np.array_equal(ids, np.arange(ids.size)) else 0

    def numbered(self, token_ids: Any, size: int) -> Segmenter:
        """Set the ids of the `size` tokens of a vocabulary, None for 0..size-1.

        Several tokens may have one id where their symbols are equal. ModelFormatError for ids that are not
        valid, far apart, or those of special tokens.
        """
        taken = np.arange(size)
        if token_ids is not None:
            taken = integers_of(token_ids, "token_ids")
            if taken.shape != (size,):
                raise ModelFormatError(f"token_ids: expected {size} ids, got shape {taken.shape}")
            most, least = 2 * size + SPARE, 0 if self.unknown is None else -1
            if (bad := np.flatnonzero((taken < least) | (taken >= most))).size:
                raise ModelFormatError(f"token_ids[{bad[0]}]: expected 0..{most - 1}, got {taken[bad[0]]}")
            token_ids = taken.astype(np.int32)
            token_ids.setflags(write=False)
        if self.special is not None and not self.special.shared:
            if (both := np.flatnonzero(np.isin(self.special.ids, taken))).size:
                i = both[0]
                raise ModelFormatError(
                    f"special_tokens: {quoted(self.special.words[i])}: the id {self.special.ids[i]} is taken"
                )
        return self._replace(token_ids=token_ids)


#: The field of a model file for each class of pre-tokenizers.
_CUTTERS = {"Pretokenizer": "pretokenizer", "Splitter": "splitter", "PythonPattern": "python_pattern"}
_ANY, _TRUE = Field(default=None), Field("true", lambda value: value is True, default=None)
_OBJECT = Field("an object", lambda value: isinstance(value, dict), default=None)
_FIELDS = Schema(
    "text",
    {
        "pretokenizer": _OBJECT, "splitter": _ANY, "python_pattern": _OBJECT, "normalizer": _ANY,
        "special_tokens": _ANY,
        "encoding": Field("'utf-8'", lambda name: name == "utf-8", default=None),
        "token_ids": _ANY, "unknown": _ANY,
        "decoding": Field(make=lambda state, _: Decoding.from_state(state), default=None),
        "whole_words": _TRUE, "one_by_one": _TRUE, "break_tokens": _ANY, "stop_tokens": _ANY,
        "file": _OBJECT, "mirror": _ANY,
        "runs": Field(
            "a text, or a list of integers",
            lambda runs: (type(runs) is str and runs != "")
            or (type(runs) is list and {*map(type, runs)} == {int}), default=None,
        ),
        "frame": Field("an integer of at least 2", lambda n: type(n) is int and 1 < n < 2**62, default=None),
    },
)  # fmt: skip


def _steps_of_state(fields: dict[str, Any]) -> tuple[Pretokenizer | Splitter | None, Normalizer | None]:
    """The pre-tokenizer and the normalizer of a model file; ModelFormatError if they are not valid."""
    from ubpe_numba.text.normalizer import Normalizer  # here only: not for integers
    from ubpe_numba.text.pretokenizer import Pretokenizer, PythonPattern
    from ubpe_numba.text.splitter import Splitter

    cutter: Pretokenizer | Splitter | None = None
    normalizer = None if fields["normalizer"] is None else Normalizer.from_state(fields["normalizer"])
    try:
        if (step := fields["pretokenizer"]) is not None:
            check_fields(step, ("name", "pattern", "unicode"), "pretokenizer")
            cutter = Pretokenizer.from_state(step)
            if step["name"] != cutter.name or not isinstance(step["unicode"], str):
                raise ModelFormatError(
                    "pretokenizer: the name, the pattern and the alphabet do not go together"
                )
        if (step := fields["python_pattern"]) is not None:
            check_fields(step, ("pattern", "unicode"), "python_pattern")
            cutter = PythonPattern(step["pattern"])
    except (TypeError, ValueError) as error:
        raise ModelFormatError(str(error)) from error
    if fields["splitter"] is not None:
        cutter = Splitter.from_state(fields["splitter"])
    return cutter, normalizer


#: Documents and ids pass unchanged.
PLAIN = Segmenter()
