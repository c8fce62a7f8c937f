"""WordPiece: words are cut into the longest pieces of a given vocabulary, as BERT and its kin do."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.chunks import over_documents
from ubpe_numba.coding.kernels import word_pieces
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.fitting.learn_pieces import CRITERIA, learn_pieces
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import describe, offsets_of, positive
from ubpe_numba.runtime.tables import trie
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.alphabet import Alphabet

__all__ = ["WordPiece"]


class WordPiece:
    """Words to ids by the longest piece, from the beginning of each word.

    Parameters
    ----------
    vocabulary
        The id of every piece, or the pieces in order of ids.
    unknown
        The piece for a word that cannot be cut.
    prefix
        What stands before pieces that go on a word; ``""`` if the same pieces do for both.
    longest
        Words of more characters are unknown.
    n_threads
        Threads for batches; None for the number of CPUs.
    normalizer, pretokenizer
        What changes a text and what cuts it into words, as steps of a `tokenizer.json` (`from_huggingface` sets them). With a
        `pretokenizer` documents may be `str`.
    special_tokens
        Words with ids that are found in every `str` before anything is done to it, the longest at a place.

    Raises
    ------
    ValueError
        If `unknown` is no piece, or two pieces have one id.
    TypeError
        For a vocabulary of other things than `str` and ids.

    Notes
    -----
    Ids equal those of the WordPiece model of the package ``tokenizers``. Text has to be normalised and cut into words before,
    which BERT does at spaces and around punctuation.

    `train` learns a vocabulary.

    Examples
    --------
    >>> tok = WordPiece(["[UNK]", "un", "##aff", "##able", "##ably"])
    >>> tok.encode(["unaffable", "un", "able"]).tolist(), tok.decode([1, 2, 4, 1])
    ([1, 2, 3, 1, 0], 'unaffably un')
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int] | Iterable[str],
        *,
        unknown: str = "[UNK]",
        prefix: str = "##",
        longest: int = 100,
        n_threads: int | None = None,
        normalizer: Any = None,
        pretokenizer: Any = None,
        special_tokens: Mapping[str, int] | None = None,
    ) -> None:
        pieces = _pieces(vocabulary)
        self.normalizer = Normalizer.of(normalizer)
        self.pretokenizer = pretokenizer if pretokenizer is None or isinstance(pretokenizer, Splitter) else Splitter(pretokenizer)
        self.special_tokens = _pieces(special_tokens or {})
        by_length = sorted(self.special_tokens, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, by_length))) if by_length else None
        if unknown not in pieces:
            raise ValueError(f"unknown: expected a piece of the vocabulary, got {unknown!r}")
        self.vocabulary, self.unknown, self.prefix = pieces, unknown, prefix
        self.longest, self.n_threads = positive(longest, "longest"), n_threads
        self._names = {i: piece for piece, i in pieces.items()}
        added = {i: word for word, i in self.special_tokens.items()}
        if len(self._names) < len(pieces):
            raise ValueError("vocabulary: two pieces have the same id")
        self._names |= added
        # every piece may begin a word, literally; those with a prefix may go on one, as symbols of their own
        self._alphabet = Alphabet.from_user("".join(sorted(set("".join(pieces)))) or "\0")
        size = self._inside = self._alphabet.size if prefix else 0
        flat: dict[tuple[int, ...], int] = {}
        for piece, i in pieces.items():
            points = self._points(piece)
            for start in [0] if not (prefix and piece.startswith(prefix)) else [0, len(prefix)]:
                symbols = points[start:] + size
                if start == 0:
                    symbols[:1] -= size
                if symbols.size:
                    flat[tuple(symbols.tolist())] = i
        n = self._alphabet.size + size
        self._ids = np.full(n + len(flat), -1, np.int32)
        learned = [sequence for sequence in flat if len(sequence) > 1]
        for sequence, i in flat.items():
            if len(sequence) == 1:
                self._ids[sequence[0]] = i
        self._ids[n : n + len(learned)] = [flat[sequence] for sequence in learned]
        arena = np.concatenate([np.arange(n), *learned]).astype(np.int32)
        lengths = np.array([1] * n + [len(sequence) for sequence in learned])
        self._trie = trie.trie_of(n, arena, lengths)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> WordPiece:
        """Read a vocabulary of a piece a line, as BERT's ``vocab.txt``.

        Parameters
        ----------
        path
            The file, in UTF-8.
        **options
            As for the constructor.

        Returns
        -------
        WordPiece
            The ids are the numbers of the lines.

        Raises
        ------
        OSError, ValueError
            If it cannot be read, or is not UTF-8; and as the constructor raises it.
        """
        with open(path, encoding="utf-8", newline="\n") as f:
            return cls({line.rstrip("\r\n"): i for i, line in enumerate(f)}, **options)

    @classmethod
    def from_huggingface(cls, source: Any, *, n_threads: int | None = None) -> WordPiece:
        """Read a `tokenizer.json` of Hugging Face whose model is WordPiece, as those of BERT are.

        `encode` takes `str` then, and gives the ids that the other's `encode` gives with ``add_special_tokens=False``.

        Parameters
        ----------
        source
            The text, the path of a file, or a `tokenizers.Tokenizer`.
        n_threads
            As for the constructor.

        Returns
        -------
        WordPiece
            One with a normalizer, a pretokenizer and special tokens.

        Raises
        ------
        ModelFormatError
            If the file is not valid, of another type, or says something that has no counterpart here, naming it.
        """
        from ubpe_numba.formats import imports  # here only: nothing else needs them

        words = imports.from_huggingface_words(source)
        try:
            return cls(**words._asdict(), n_threads=n_threads)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error

    @classmethod
    def train(
        cls,
        words: Mapping[str, int] | Iterable[str],
        n_tokens: int,
        *,
        criterion: str = "count",
        min_count: int = 2,
        **options: Any,
    ) -> WordPiece:
        """Learn the pieces of words.

        Parameters
        ----------
        words
            How often each word occurs, or the words of a corpus.
        n_tokens
            How many pieces, the unknown one included.
        criterion
            Which pair is merged next: the most frequent, ``"count"``; that of the largest count(ab) / (count(a) * count(b)),
            ``"pmi"``, which articles name for WordPiece; or the one that raises the likelihood of independent pieces most,
            ``"likelihood"``.
        min_count
            Pairs that occur less often are not merged.
        **options
            As for the constructor.

        Returns
        -------
        WordPiece
            The unknown piece has the id 0, characters follow.

        Raises
        ------
        TypeError, ValueError
            For another criterion, numbers out of range, or words that are no `str`.

        Notes
        -----
        ``"count"`` is what to take: on words of the King James Bible in lower case and 8192 pieces, characters not seen take 253
        pieces per 1000 by count, 254 by likelihood and 465 by pmi, 2.24, 2.24 and 3.02 bits per character (with a `min_count` of
        20 pmi needs 275). ``tokenizers``' trainer of WordPiece merges by count as well. The time is that of merges times pairs:
        8192 pieces of 12,000 words take ten seconds, where `BPE` takes one.

        Examples
        --------
        >>> tok = WordPiece.train({"low": 5, "lower": 2, "lowest": 2}, 10)
        >>> tok.encode(["lowest", "slow"]).tolist(), [*tok.vocabulary][8:]
        ([9, 2, 5, 6, 0], ['lo', 'low'])
        """
        if criterion not in CRITERIA:
            raise ValueError(f"criterion: expected one of {', '.join(map(repr, CRITERIA))}, got {criterion!r}")
        n, least = positive(n_tokens, "n_tokens"), positive(min_count, "min_count")
        counts = dict(words) if isinstance(words, Mapping) else Counter(words)
        for word, count in counts.items():
            if not isinstance(word, str):
                raise TypeError(f"words: expected str, got {describe(word)}")
            positive(count, f"words[{word!r}]")
        unknown, prefix = options.get("unknown", "[UNK]"), options.get("prefix", "##")
        counts.pop("", None)
        pieces = [piece for piece in learn_pieces(counts, n, criterion, least, prefix) if piece != unknown]
        return cls([unknown, *pieces[: n - 1]], **options)

    def encode(self, words: str | Iterable[str]) -> NDArray[np.int32]:
        """Encode one document.

        Parameters
        ----------
        words
            Its words, or with a pretokenizer its text.

        Returns
        -------
        ids
            int32[n].

        Raises
        ------
        TypeError
            For a `str` without a pretokenizer, or for words that are no `str`.
        """
        return self.encode_batch([words]).values

    def encode_batch(self, documents: Iterable[str | Iterable[str]]) -> Ragged:
        """Encode documents on `n_threads` threads.

        Parameters
        ----------
        documents
            The words of each document, or with a pretokenizer its text.

        Returns
        -------
        ids
            A `Ragged` of int32.

        Raises
        ------
        TypeError
            As `encode`.
        """
        words: list[str] = []
        ends = [0]
        special: list[tuple[int, int]] = []  # before which word, and its id
        for document in documents:
            if not isinstance(document, str):
                words.extend(document)
            elif self.pretokenizer is None:
                raise TypeError("words: expected words, got a str; cut it first, for example with str.split")
            else:
                self._cut(document, words, special)
            ends.append(len(words))
            special.append((len(words), -1))
        if wrong := set(map(type, words)) - {str}:
            other = next(word for word in words if type(word) in wrong)
            raise TypeError(f"words: expected str, got {describe(other)}")
        symbols = self._points("".join(words))
        offsets = offsets_of(np.fromiter(map(len, words), np.int64, len(words)))
        if self._inside:
            begins = np.zeros(symbols.size + 1, bool)
            begins[offsets[:-1]] = True
            symbols = np.where(begins[:-1] | (symbols < 0), symbols, symbols + self._inside)
        unknown = self.vocabulary[self.unknown]

        def cut(symbols: np.ndarray, offsets: np.ndarray, out: np.ndarray, out_offsets: np.ndarray) -> int:
            return int(word_pieces.cut_words(symbols, offsets, self._trie, self._ids, unknown, self.longest, out, out_offsets))

        thread_pool.asked_for(self.n_threads)
        found = over_documents(cut, Ragged._trusted(np.ascontiguousarray(symbols, np.int32), offsets), self.n_threads)
        bounds = found.offsets[np.array(ends)]
        if len(special) < len(ends):
            return Ragged._trusted(found.values, bounds)
        at, ids = np.array(special).T
        before = np.cumsum(ids >= 0)[ids < 0]  # how many special tokens there are up to the end of each document
        here = found.offsets[at[ids >= 0]]
        bounds[1:] += before
        return Ragged._trusted(np.insert(found.values, here, ids[ids >= 0]), bounds)

    def _cut(self, text: str, words: list[str], special: list[tuple[int, int]]) -> None:
        """Put the words of a text behind `words`, and its special tokens behind `special`."""
        assert self.pretokenizer is not None  # the caller has checked that
        done = 0
        found = [] if self._special is None else [(*match.span(), match[0]) for match in self._special.finditer(text)]
        for begin, end, word in [*found, (len(text), len(text), None)]:
            part = text[done:begin] if self.normalizer is None else self.normalizer.apply(text[done:begin])
            words += self.pretokenizer.pieces(part, done == 0)
            if word is not None:
                special.append((len(words), self.special_tokens[word]))
            done = end

    def decode(self, ids: Iterable[int]) -> str:
        """The words of ids with a space between them; pieces with the prefix go on the word before.

        Parameters
        ----------
        ids
            Ids of pieces.

        Raises
        ------
        ValueError
            For an id that no piece has.

        Returns
        -------
        text
            Unknown words stand as `unknown`.
        """
        parts: list[str] = []
        for i in ids:
            if (piece := self._names.get(int(i))) is None:
                raise ValueError(f"ids: {i} is the id of no piece")
            if self.prefix and parts and piece.startswith(self.prefix):
                parts.append(piece[len(self.prefix) :])
            else:
                parts.append(f" {piece}" if parts and self.prefix else piece)
        return "".join(parts)

    def _points(self, text: str) -> np.ndarray:
        """The symbols of characters at the beginning of a word, -1 for those of no piece."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return self._alphabet.lookup(points).copy()


def _pieces(given: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    """The id of every piece; TypeError for other things, ValueError for one that is there twice or an id out of range."""
    if isinstance(given, Mapping):
        pieces = dict(given)
    else:
        listed = list(given)
        pieces = {piece: i for i, piece in enumerate(listed)}
        if len(pieces) < len(listed):
            raise ValueError("vocabulary: a piece is there twice")
    for piece, i in pieces.items():
        if not isinstance(piece, str) or isinstance(i, bool) or not isinstance(i, (int, np.integer)):
            raise TypeError(f"vocabulary: expected str and their ids, got {piece!r}: {i!r}")
        if not 0 <= i < 2**31:
            raise ValueError(f"vocabulary: {piece!r}: expected an id in 0..2**31 - 1, got {i}")
    return {piece: int(i) for piece, i in pieces.items()}
