"""WordPiece: words are split into the longest pieces of a vocabulary, as in BERT."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np

from ubpe_numba.coding.decode import Decoder, ids_to_skip
from ubpe_numba.coding.occurrences import Spans
from ubpe_numba.coding.plan import Plan, Tables
from ubpe_numba.coding.streams import DecoderStream
from ubpe_numba.coding.wordpiece import PieceEncoder
from ubpe_numba.documents.read import Documents, as_document, as_documents, with_pairs
from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.fitting.learn_pieces import CRITERIA, learn_pieces
from ubpe_numba.formats import model_file, wordpiece
from ubpe_numba.formats.tokenizer_config import CLEAN
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.arrays import describe, positive, resolve_threads
from ubpe_numba.runtime.lazy import cached_property
from ubpe_numba.runtime.schema import plain_copy
from ubpe_numba.text.pretokenizer import Pretokenizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.text.steps import decoder_of
from ubpe_numba.tokenizers.decoding import Decoding, check_errors
from ubpe_numba.tokenizers.fitted import of_class
from ubpe_numba.tokenizers.saving import Saving
from ubpe_numba.tokenizers.token_names import TokenNames
from ubpe_numba.tokenizers.word_model import (
    WordByWord,
    WordPlan,
    added_tokens,
    model_of,
    read_pieces,
    word_counts,
)
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.segmenter import Segmenter

_PARAMS = ("unknown", "prefix", "longest")
#: Replacements of a decoder that cleans up, in turn.
_CLEANUP = [*CLEAN, (" do not", " don't")]


class WordPiece(Decoding, Saving):
    """Words to ids by the longest piece, from the beginning of each word.

    Parameters
    ----------
    pieces
        The id of every piece, or the pieces in order of ids.
    unknown
        The piece for a word that cannot be split.
    prefix
        The mark of pieces that continue a word; ``""`` if all pieces may do so.
    longest
        Words of more characters are unknown.
    preprocessing
        A `Preprocessing` with the steps that change a text and split it into words, and words with ids that
        are recognized first. An example is ``Preprocessing("BertPreTokenizer",
        normalizer="BertNormalizer")``; `load` sets it. With a `pretokenizer` documents may be `str`. Its
        special tokens and known words have ids or are pieces.
    n_threads
        Threads for batches; None for the number of CPUs.

    Notes
    -----
    Ids equal those of the WordPiece model of the package ``tokenizers``. Without a `pretokenizer`, normalize
    text and split it into words first, which BERT does at spaces and around punctuation (``BertNormalizer``
    and ``BertPreTokenizer`` of that package). A tokenizer from a `tokenizer.json` does it itself.

    Pass a document as a list of words, or with a `pretokenizer` as text. Special tokens in it raise errors
    unless `allowed_special` and `disallowed_special` allow them, as for `BPE`. With
    ``disallowed_special="none"`` they are ordinary text. Positions refer to the original text, or to the
    joined words. Arguments `boundaries`, `sample` and `unknown` do not exist: a word that cannot be split
    becomes the unknown piece.

    `load` reads a ``vocab.txt``, `train` learns a vocabulary, and `save` stores all arguments except
    `n_threads`. The object is never changed by use; threads may share it, and it can be pickled.

    Examples
    --------
    >>> tok = WordPiece(["[UNK]", "un", "##aff", "##able", "##ably"])
    >>> tok.encode(["unaffable", "un", "able"]).tolist(), tok.decode([1, 2, 4, 1])
    ([1, 2, 3, 1, 0], 'unaffably un')
    >>> text = Preprocessing("BertPreTokenizer", normalizer="BertNormalizer")
    >>> tok = WordPiece(["[UNK]", "un", "##able"], preprocessing=text)
    >>> tok.encode(" Ünable, un", return_offsets="spans")[1].tolist()
    [[1, 3], [3, 7], [7, 8], [9, 11]]
    """

    _options: ClassVar[frozenset[str]] = frozenset({"units", "allowed_special", "disallowed_special"})

    def __init__(
        self,
        pieces: Mapping[str, int] | Iterable[str],
        *,
        unknown: str = "[UNK]",
        prefix: str = "##",
        longest: int = 100,
        preprocessing: Preprocessing | None = None,
        n_threads: int | None = None,
    ) -> None:
        self.pieces = read_pieces(pieces)
        self.preprocessing = preprocessing
        prepared = self._prepared
        if isinstance(prepared.pretokenizer, Pretokenizer):
            raise TypeError(
                "preprocessing: expected a Splitter or its steps, such as 'BertPreTokenizer', got a pattern"
            )
        for name in ("encoding", "break_tokens", "stop_tokens", "mirror", "runs"):
            if getattr(prepared, name) is not None:
                raise ValueError(f"{name}: a WordPiece has none")
        special = read_pieces(prepared.special_tokens or {}, "special_tokens")
        known = read_pieces(prepared.known_words or {}, "known_words")
        self._added = {**special, **known}
        if len(self._added) < len(special) + len(known):
            raise ValueError("known_words: one is a special token too")
        if not isinstance(unknown, str) or unknown not in self.pieces:
            raise ValueError(f"unknown: expected a piece of the vocabulary, got {quoted(unknown)}")
        if not isinstance(prefix, str):
            raise TypeError(f"prefix: expected str, got {describe(prefix)}")
        if len(set(self.pieces.values())) < len(self.pieces):
            raise ValueError("pieces: two have the same id")
        self.unknown, self.prefix = unknown, prefix
        self.longest, self.n_threads = positive(longest, "longest"), n_threads
        if n_threads is not None:
            resolve_threads(n_threads)
        flags = prepared.flags or {}
        cutter = Segmenter(
            prepared.pretokenizer, added_tokens(special, known, flags), normalizer=prepared.normalizer
        )
        self._model = model_of(self.pieces, prefix, self.pieces[unknown], cutter)
        self._encoder = PieceEncoder(
            self.pieces, self._model.alphabet, prefix, self.pieces[unknown], min(self.longest, 2**62)
        )
        self._keep(None)

    def __repr__(self) -> str:
        params = ", ".join(f"{name}={getattr(self, name)!r}" for name in _PARAMS)
        return f"WordPiece({params}): {len(self.pieces)} pieces"

    def __getstate__(self) -> dict[str, Any]:
        return dict(
            plain_copy(
                {**self.get_params(), "_file": self._model.segmenter.file, "_metadata": self.metadata_}
            )
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        extras = state.pop("_file", None), state.pop("_metadata", None)
        self.__init__(**state)  # type: ignore[misc]
        self._keep(*extras)

    def _keep(self, file: dict[str, Any] | None, metadata: dict[str, Any] | None = None) -> Self:
        """Keep the parts of a file that act after encoding, and its metadata."""
        model = self._model._replace(segmenter=self._model.segmenter._replace(file=file))
        vars(self).update(_model=model, _made_plans={}, metadata_=metadata)
        return self

    def set_params(self, **params: Any) -> Self:  # noqa: D102
        super().set_params(**params)
        changed = type(self)(**self.get_params())._keep(self._model.segmenter.file, self.metadata_)
        self.__dict__ = vars(changed)  # at once, for other threads
        return self

    # ---------------------------------------------------------------------------------------------- the model

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens and known words included: the rows of an embedding.

        Examples
        --------
        >>> WordPiece({"[UNK]": 0, "un": 1, "a": 5}).vocab_size
        6
        """
        return max(self._names.names) + 1

    @property
    def _names(self) -> TokenNames:
        cached = super()._tables.kept
        if "names" not in cached:
            ids = {**self.pieces, **self._added}
            names = {i: piece for piece, i in self.pieces.items()} | {
                i: word for word, i in self._added.items()
            }
            cached["names"] = TokenNames(dict(sorted(ids.items(), key=lambda item: item[1])), names, {})
        return cached["names"]  # type: ignore[no-any-return]

    @property
    def _tables(self) -> Tables:
        if (size := self.vocab_size) > max(2**24, 2 * len(self._names.names)):
            raise ValueError(f"pieces: the id {size - 1} is too far from the others to count by id")
        return super()._tables

    def _symbols_by_id(self, tables: Tables) -> Decoder:
        alphabet, vocabulary, segmenter = tables.model
        return Decoder(vocabulary, alphabet, segmenter._replace(decoding=None))  # with the prefix

    def _unknown(self, unknown: Any) -> str:
        return "raise"  # a word, not its characters, is unknown

    def _encode_params(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _PARAMS} | {"empty": self.pieces.get("")}

    # ---------------------------------------------------------------------------------------------- encoding

    def _new_plan(self) -> Plan:
        now = self._now()
        return WordPlan(super(WordPiece, now)._tables, now._encoder, now.n_threads)

    def spans(self, docs: Any, offsets: None = None, **options: Any) -> Spans:  # noqa: D102
        ids, spans = self.encode_batch(docs, offsets, return_offsets="spans", **options)
        documents = np.repeat(np.arange(len(ids)), ids.lengths)
        return Spans(ids.values, spans[:, 0].copy(), spans[:, 1] - spans[:, 0], documents)

    # ---------------------------------------------------------------------------------------------- decoding

    @overload  # type: ignore[override]
    def decode(self, ids: Any, *, as_bytes: Literal[True], **options: Any) -> bytes: ...
    @overload
    def decode(self, ids: Any, *, as_bytes: Literal[False] = ..., **options: Any) -> str: ...
    def decode(
        self,
        ids: Any,
        *,
        skip_special_tokens: bool = False,
        skip: Any = None,
        as_bytes: bool = False,
        **options: Any,
    ) -> Any:
        """Decode ids to words with a space between them; pieces with the prefix continue the previous word.

        Parameters
        ----------
        ids
            An integer array or list. Unknown words become `unknown`.
        skip_special_tokens, skip, as_bytes, **options
            As for `Tokenizer.decode`, without `out`; `errors` changes nothing.

        Examples
        --------
        >>> WordPiece(["[UNK]", "un", "##able"]).decode([1, 2, 0, 1])
        'unable [UNK] un'
        """
        one = as_document(ids, name="ids")
        return self._texts(one, skip_special_tokens, skip, as_bytes, **options)[0]

    @overload
    def decode_batch(self, batch: Any, *, as_bytes: Literal[True], **options: Any) -> list[bytes]: ...
    @overload
    def decode_batch(self, batch: Any, offsets: Any = ..., **options: Any) -> list[str]: ...
    def decode_batch(
        self,
        batch: Any,
        offsets: Any = None,
        *,
        skip_special_tokens: bool = False,
        skip: Any = None,
        as_bytes: bool = False,
        **options: Any,
    ) -> list[Any]:
        """Decode documents of ids to a list of texts, as `decode`, whose errors name the document too.

        Parameters
        ----------
        batch, offsets, skip_special_tokens, skip, as_bytes, **options
            As for `Tokenizer.decode_batch`.

        Examples
        --------
        >>> WordPiece(["[UNK]", "un", "##able"]).decode_batch([[1, 2, 1], [], [0]])
        ['unable un', '', '[UNK]']
        """
        ids = as_documents(batch, offsets, name="batch")
        return self._texts(ids, skip_special_tokens, skip, as_bytes, **options)

    def _texts(
        self,
        documents: Documents,
        skip_special_tokens: bool,
        skip: Any,
        as_bytes: bool,
        errors: str = "replace",
    ) -> list[Any]:
        if as_bytes:
            texts = self._texts(documents, skip_special_tokens, skip, False, errors)
            return [text.encode("utf-8", "surrogatepass") for text in texts]
        check_errors(errors)
        gone = ids_to_skip(skip, skip_special_tokens, self._model.segmenter)
        checked = WordByWord(self._names.names).ids(documents, gone)
        bounds = checked.offsets - checked.offsets[0]
        ids = checked.values[checked.offsets[0] : checked.offsets[-1]].tolist()
        if self._joins[0] is not None:
            join, called = decoder_of(self._joins[0]), self._names.names | self._model.segmenter.shown
            return [
                join([called[i] for i in ids[a:b]]) if a < b else "" for a, b in pairwise(bounds.tolist())
            ]
        names = [self._spaced(i) for i in ids]
        for at in set(bounds[:-1][np.diff(bounds) > 0].tolist()):
            names[at] = self._spaced(ids[at], first=True)
        return ["".join(names[a:b]) for a, b in pairwise(bounds.tolist())]

    @cached_property
    def _joins(self) -> tuple[str | None, bool]:
        """The decoder of the file, if tokenizers runs it, and whether spaces before punctuation go."""
        ours = {"type": "WordPiece", "prefix": self.prefix, "cleanup": False}
        own = (self._model.segmenter.file or {}).get("decoder", ours) or {}
        is_ours = own.get("type") == "WordPiece" and own.get("prefix") == self.prefix
        return None if is_ours else json.dumps(own or None), bool(own.get("cleanup", True))

    def _spaced(self, token: int, first: bool = False) -> str:
        """The text of an id after others: with a space before it, or without the prefix.

        `first`: it is the first.
        """
        name: str = self._model.segmenter.shown.get(token) or self._names.names[token]
        if self.prefix and not first:
            name = name[len(self.prefix) :] if name.startswith(self.prefix) else f" {name}"
        for old, new in _CLEANUP if self._joins[1] and " " in name else ():
            name = name.replace(old, new)
        return name

    def decode_stream(  # noqa: D102
        self, *, errors: str = "replace", skip_special_tokens: bool = False, skip: Any = None
    ) -> DecoderStream:
        check_errors(errors)
        gone = ids_to_skip(skip, skip_special_tokens, self._model.segmenter)
        held = frozenset[int]() if self._joins[0] is None else None
        parts = super()._tables.kept.setdefault("parts", {})
        return DecoderStream(
            self._model, WordByWord(self._names.names), gone, errors, parts, self._spaced, self.decode, held
        )

    # ---------------------------------------------------------------------------------------------- files

    @classmethod
    def _imported(cls, words: Any, params: dict[str, Any]) -> Self:
        return cls._of_words(words, **params)

    def _fitted(self) -> Model:
        return self._model

    @classmethod
    def _loaded(
        cls,
        where: str,
        state: dict[str, Any],
        n_bytes: int,
        n_threads: int | None,
        max_symbols: int | None = None,
    ) -> Self:
        try:
            return cls._of_words(Words(**wordpiece.from_state(state)), n_threads=n_threads)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error

    @classmethod
    def _of_words(cls, words: Words, **params: Any) -> Self:
        """A tokenizer from the parts of a file; TypeError or ValueError as for the constructor."""
        cutter: Any = words.pretokenizer
        if cutter is not None and not isinstance(cutter, Splitter):
            cutter = Splitter(cutter)
        text = Preprocessing(
            cutter, words.special_tokens or None, known_words=words.known_words or None,
            normalizer=words.normalizer,
            flags=words.flags or None,
        )  # fmt: skip
        params |= {"preprocessing": None if text.is_plain else text}
        pieces = cls(
            words.vocabulary, unknown=words.unknown, prefix=words.prefix, longest=words.longest, **params
        )
        return pieces._keep(words.file)

    def _words(self) -> Words:
        text = self._prepared
        words = dict(text.special_tokens or {}), dict(text.known_words or {}), dict(text.flags or {})
        cutter: Any = text.pretokenizer
        file = self._model.segmenter.file
        return Words(
            self.pieces, self.unknown, self.prefix, self.longest, text.normalizer, cutter, *words, file
        )

    def _save(self, path: str | os.PathLike[str], **parts: dict[str, Any]) -> None:
        for piece in self.pieces:
            if piece != with_pairs(piece):
                raise ValueError(
                    f"pieces: {quoted(piece)}: surrogates in pairs would be read as one character"
                )
        model_file.save(path, {**wordpiece.state_of(self._words()), **parts})

    @of_class
    def train(
        cls,
        words: Mapping[str, int] | Iterable[str],
        n_tokens: int,
        *,
        criterion: str = "count",
        min_count: int = 2,
        special_tokens: Iterable[str] = (),
        **options: Any,
    ) -> WordPiece:
        """Learn the pieces of words.

        Parameters
        ----------
        words
            A mapping of words to their counts, the words of a corpus, or documents that are lists of words.
        n_tokens
            Number of pieces, special tokens and the unknown piece included. Characters come first; if there
            are too many, the rest are unknown.
        criterion
            The pair to merge next. ``"count"``: the most frequent. ``"pmi"``: the largest count(ab) /
            (count(a) * count(b)), as articles on WordPiece have it. ``"likelihood"``: the largest gain in the
            likelihood of independent pieces.
        min_count
            Pairs that occur less often are not merged.
        special_tokens
            The first pieces, such as ``["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]``. A missing unknown
            piece is put before them.
        **options
            As for the constructor.

        Returns
        -------
        WordPiece
            Special tokens have the ids 0, 1, ..., characters follow.

        Notes
        -----
        ``"count"`` is the best: on unseen words, with 8192 pieces, 1000 characters take 287 pieces by count,
        288 by likelihood and 493 by pmi (benchmarks/pieces.py). ``tokenizers``' trainer of WordPiece also
        merges by count. For 12,700 distinct words, 8192 pieces take about three seconds, three to four times
        as long as that trainer.

        Examples
        --------
        >>> tok = WordPiece.train({"low": 5, "lower": 2, "lowest": 2}, 10)
        >>> tok.encode(["lowest", "slow"]).tolist(), [*tok.pieces][8:]
        ([9, 2, 5, 6, 0], ['lo', 'low'])
        """
        if criterion not in CRITERIA:
            raise ValueError(
                f"criterion: expected one of {', '.join(map(repr, CRITERIA))}, got {quoted(criterion)}"
            )
        n, least = positive(n_tokens, "n_tokens"), positive(min_count, "min_count")
        counts, first = word_counts(words), read_pieces(special_tokens, "special_tokens")
        unknown = options.get("unknown", "[UNK]")
        first = first if unknown in first else {unknown: 0, **first}
        if n < len(first):
            raise ValueError(f"n_tokens: expected at least the {len(first)} special tokens, got {n}")
        most = cls([*first], **options).longest  # raises for options, before a long training
        for word in counts:
            if len(word) > most and len(word.split()) > 1:
                raise ValueError(
                    f"words: got a text of {len(word)} characters; cut it first, for example with str.split"
                )
        learned = learn_pieces(counts, n, criterion, least, options.get("prefix", "##"))
        return cls([*first, *[piece for piece in learned if piece not in first][: n - len(first)]], **options)
