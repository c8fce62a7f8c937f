"""WordPiece: words are cut into the longest pieces of a given vocabulary, as BERT and its kin do."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ubpe_numba import formats
from ubpe_numba.coding.piece_encoder import PieceEncoder
from ubpe_numba.coding.text_words import TextWords
from ubpe_numba.coding.usage import Usage, usage_of
from ubpe_numba.documents.normalise import Documents, as_document, as_documents
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import ModelFormatError, UnknownTokenError, quoted
from ubpe_numba.fitting.learn_pieces import CRITERIA, learn_pieces
from ubpe_numba.formats import model_file, vocab_txt, wordpiece
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.arrays import describe, integer, offsets_of, place_of, positive
from ubpe_numba.runtime.files import naming, write_atomically
from ubpe_numba.text.normalizer import Normalizer
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.special_tokens import FLAGS, SpecialTokens

__all__ = ["WordPiece"]

_PARAMS = ("unknown", "prefix", "longest")


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
        What changes a text and what cuts it into words: a `Normalizer` and a `Splitter`, or the steps that they are made of, such
        as ``"BertNormalizer"`` and ``"BertPreTokenizer"`` (`from_huggingface` sets them). With a `pretokenizer` documents may be
        `str`.
    special_tokens
        Words with ids that are found in every `str` before anything is done to it, the longest at a place.
    known_words
        The same for words that are no special tokens elsewhere: `to_huggingface` writes them so.
    flags
        How some of these words are found, by names as in a `tokenizer.json`: white space beside them belongs to them,
        ``"lstrip"`` and ``"rstrip"``; they are not part of a longer word, ``"single_word"``; they are found after the others, in
        text that the normalizer has changed, and are changed as it is, ``"normalized"``.

    Raises
    ------
    ValueError
        If `unknown` is no piece, two pieces have one id, or a word of `flags` is not known.
    TypeError
        For a vocabulary of other things than `str` and ids.

    Notes
    -----
    Ids equal those of the WordPiece model of the package ``tokenizers``. Text has to be normalised and cut into words before,
    which BERT does at spaces and around punctuation (``BertNormalizer`` and ``BertPreTokenizer`` of that package); a tokenizer
    that was read by `from_huggingface` does it itself. In lists of words special tokens are pieces like any other: the word
    ``"[CLS]"`` becomes that one id. Text that was cut around punctuation has no such word.

    `from_file` reads a ``vocab.txt``, `train` learns a vocabulary, `save` keeps all arguments but `n_threads`. Once made, the
    object is only read; threads may share it, and it can be pickled.

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
        known_words: Mapping[str, int] | None = None,
        flags: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        pieces = _pieces(vocabulary)
        self.normalizer = Normalizer.of(normalizer)
        self.pretokenizer = pretokenizer if pretokenizer is None or isinstance(pretokenizer, Splitter) else Splitter(pretokenizer)
        self.special_tokens, self.known_words = _pieces(special_tokens or {}), _pieces(known_words or {})
        self._added = {**self.special_tokens, **self.known_words}
        if len(self._added) < len(self.special_tokens) + len(self.known_words):
            raise ValueError("known_words: one is a special token too")
        self.flags = _flags(flags or {}, self._added)
        self._segmenter = Segmenter(self.pretokenizer, _added_tokens(self._added, self.flags), normalizer=self.normalizer)
        by_length = sorted(self._added, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, by_length))) if by_length else None  # where there are no flags
        if not isinstance(unknown, str) or unknown not in pieces:
            raise ValueError(f"unknown: expected a piece of the vocabulary, got {quoted(unknown)}")
        if not isinstance(prefix, str):
            raise TypeError(f"prefix: expected str, got {describe(prefix)}")
        self.vocabulary, self.unknown, self.prefix = pieces, unknown, prefix
        self.longest, self.n_threads = positive(longest, "longest"), n_threads
        self._names = {i: piece for piece, i in pieces.items()}
        if len(self._names) < len(pieces):
            raise ValueError("vocabulary: two pieces have the same id")
        self._names |= {i: word for word, i in self._added.items()}
        self._encoder = PieceEncoder(pieces, prefix, pieces[unknown], min(self.longest, 2**62))

    def __repr__(self) -> str:
        params = ", ".join(f"{name}={getattr(self, name)!r}" for name in _PARAMS)
        return f"WordPiece({params}): {len(self.vocabulary)} pieces"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*Words._fields, "n_threads")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    @property
    def is_lossless(self) -> bool:
        """Whether `decode` gives back every text as it was given: never, since it puts a space between words.

        Examples
        --------
        >>> WordPiece(["[UNK]", "a"]).is_lossless
        False
        """
        return False

    @classmethod
    def from_huggingface(cls, source: Any, *, n_threads: int | None = None) -> WordPiece:
        """Read a `tokenizer.json` of Hugging Face whose model is WordPiece, as those of BERT are.

        `encode` takes `str` then, and gives the ids that the other's `encode` gives with ``add_special_tokens=False``.

        Parameters
        ----------
        source
            The text, the path of a file or of a folder that has it, a `tokenizers.Tokenizer`, or a fast tokenizer of
            transformers.
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

        Examples
        --------
        >>> import json
        >>> model = {"type": "WordPiece", "vocab": {"[UNK]": 0, "un": 1, "##able": 2}, "unk_token": "[UNK]"}
        >>> model |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
        >>> cut = {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "BertPreTokenizer"}}
        >>> WordPiece.from_huggingface(json.dumps({"model": model, **cut, "added_tokens": []})).encode("Unable").tolist()
        [1, 2]
        """
        words = formats.imports.from_huggingface_words(source)
        try:
            return cls(**words._asdict(), n_threads=n_threads)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], *, n_threads: int | None = None) -> WordPiece:
        """Read the vocabulary of a `.gguf` file of llama.cpp, of the kind bert.

        Parameters
        ----------
        path
            The file; of its tensors nothing is read.
        n_threads
            As for the constructor.

        Returns
        -------
        WordPiece
            One that treats text as BERT does: in lower case where the file says so or, where it says nothing, where no piece
            has a capital of ASCII.

        Raises
        ------
        ModelFormatError
            If the file is not valid, or of another kind.

        Examples
        --------
        >>> tok = WordPiece.from_gguf("bert.gguf")  # doctest: +SKIP
        """
        with naming(path):
            words = formats.imports.any_of_gguf(path)
            if not isinstance(words, Words):
                raise ModelFormatError("not a vocabulary of WordPiece: BPE.from_gguf or UBPE.from_gguf reads it, and load any")
        try:
            return cls(**words._asdict(), n_threads=n_threads)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(str(error)) from error

    def to_huggingface(self, path: str | os.PathLike[str] | None = None, *, template: Any = None) -> str:
        """Make the `tokenizer.json` for Hugging Face's tokenizers, of the type WordPiece.

        Parameters
        ----------
        path
            A file to write it to as well.
        template
            What stands around a document there, such as ``"[CLS] $A [SEP]"``; see `BPE.to_huggingface`.

        Returns
        -------
        str
            The content of the file.

        Raises
        ------
        TypeError
            For a template of another type.
        ValueError
            Without a pretokenizer, for a `template` with a word that is no special token, or if the file cannot say the same,
            naming the first sample that is encoded differently.

        Notes
        -----
        Special tokens are special there as well. What BERT puts around a text, ``[CLS]`` and ``[SEP]``, is in the file
        only as `template`.

        Examples
        --------
        >>> cut = {"pretokenizer": {"type": "BertPreTokenizer"}, "normalizer": {"type": "BertNormalizer"}}
        >>> text = WordPiece(["[UNK]", "un", "##able", "!"], **cut).to_huggingface()
        >>> WordPiece.from_huggingface(text).encode("Unable!").tolist()
        [1, 2, 3]
        """
        text = formats.exports.to_huggingface_words(
            Words(*(getattr(self, name) for name in Words._fields)),
            lambda docs: self.encode_batch(docs).to_lists(),
            lambda text: lambda docs: WordPiece.from_huggingface(text).encode_batch(docs).to_lists(),
            template,
        )
        if path is not None:
            write_atomically(path, text.encode())
        return text

    def to_transformers(
        self,
        *,
        template: Any = None,
        unk_token: str | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        cls_token: str | None = None,
        sep_token: str | None = None,
        mask_token: str | None = None,
        model_max_length: int | None = None,
        padding_side: str | None = None,
        chat_template: str | None = None,
        **params: Any,
    ) -> Any:
        """Make a `transformers.PreTrainedTokenizerFast` that gives the same ids.

        Parameters
        ----------
        template
            As for `to_huggingface`.
        unk_token, bos_token, eos_token, pad_token, cls_token, sep_token, mask_token
            Which special tokens of this tokenizer have these tasks; `unk_token` may also be the piece for unknown words.
        model_max_length
            The most ids that the model takes, for ``truncation=True``.
        padding_side
            ``"left"`` or ``"right"``, where padding goes.
        chat_template
            A template of Jinja, for `apply_chat_template`.
        **params
            Its further arguments.

        Returns
        -------
        transformers.PreTrainedTokenizerFast
            Its `save_pretrained` writes the files that other programs read.

        Raises
        ------
        ImportError
            Without the extra ``hf``.
        TypeError, ValueError
            As `to_huggingface`; ValueError too for a word that is no special token, to which transformers would give a new id.

        Examples
        --------
        >>> tok = WordPiece(["[UNK]", "un", "##able"], pretokenizer="BertPreTokenizer")
        >>> tok.to_transformers(unk_token="[UNK]").encode("unable")  # doctest: +SKIP
        [1, 2]
        """
        roles = {
            "unk_token": unk_token, "bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token,
            "cls_token": cls_token, "sep_token": sep_token, "mask_token": mask_token,
        }  # fmt: skip
        params |= {"model_max_length": model_max_length, "padding_side": padding_side, "chat_template": chat_template}
        return formats.exports.to_transformers(self.to_huggingface(template=template), roles, params)

    @classmethod
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
            How often each word occurs, or the words of a corpus.
        n_tokens
            How many pieces, special tokens and the unknown one included. Characters come first: those for which there is no room
            are unknown.
        criterion
            Which pair is merged next: the most frequent, ``"count"``; that of the largest count(ab) / (count(a) * count(b)),
            ``"pmi"``, which articles name for WordPiece; or the one that raises the likelihood of independent pieces most,
            ``"likelihood"``.
        min_count
            Pairs that occur less often are not merged.
        special_tokens
            Pieces to begin with, such as ``["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]``. The unknown one is put before them
            if it is not there.
        **options
            As for the constructor.

        Returns
        -------
        WordPiece
            Special tokens have the ids 0, 1, ..., characters follow.

        Raises
        ------
        TypeError, ValueError
            For another criterion, numbers out of range, or words that are no `str`.

        Notes
        -----
        ``"count"`` is what to take: of words of the King James Bible in lower case that were not seen, and 8192 pieces, 1000
        characters take 287 pieces by count, 288 by likelihood and 493 by pmi, 2.45, 2.45 and 3.27 bits per character (with a
        `min_count` of 20 pmi takes 307; benchmarks/pieces.py). ``tokenizers``' trainer of WordPiece merges by count as well. The
        time is that of merges times pairs: 8192 pieces of 12,700 distinct words take some three seconds, three to four times as
        long as that trainer.

        Examples
        --------
        >>> tok = WordPiece.train({"low": 5, "lower": 2, "lowest": 2}, 10)
        >>> tok.encode(["lowest", "slow"]).tolist(), [*tok.vocabulary][8:]
        ([9, 2, 5, 6, 0], ['lo', 'low'])
        """
        if criterion not in CRITERIA:
            raise ValueError(f"criterion: expected one of {', '.join(map(repr, CRITERIA))}, got {quoted(criterion)}")
        n, least = positive(n_tokens, "n_tokens"), positive(min_count, "min_count")
        if isinstance(words, (str, bytes)):
            raise TypeError(f"words: expected words, got {describe(words)}; cut it first, for example with str.split")
        counts = dict(words) if isinstance(words, Mapping) else Counter(words)
        for word, count in counts.items():
            if not isinstance(word, str):
                raise TypeError(f"words: expected str, got {describe(word)}")
            positive(count, f"words[{quoted(word)}]")
        if sum(count * len(word) for word, count in counts.items()) >= 2**62:
            raise ValueError("words: expected less than 2**62 characters in all, by counts")
        first = _pieces(special_tokens, "special_tokens")
        unknown, prefix = options.get("unknown", "[UNK]"), options.get("prefix", "##")
        first = first if unknown in first else {unknown: 0, **first}
        if n < len(first):
            raise ValueError(f"n_tokens: expected at least the {len(first)} special tokens, got {n}")
        cls([*first], **options)  # raises for options, before a long training
        counts.pop("", None)
        learned = [piece for piece in learn_pieces(counts, n, criterion, least, prefix) if piece not in first]
        return cls([*first, *learned[: n - len(first)]], **options)

    # ---------------------------------------------------------------------------------------------- pieces by name

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens and known words included: the rows of an embedding.

        Examples
        --------
        >>> WordPiece({"[UNK]": 0, "un": 1, "a": 5}).vocab_size
        6
        """
        return max(self._names) + 1

    def get_vocab(self) -> dict[str, int]:
        """The id of every piece, special token and known word, in order of ids.

        Returns
        -------
        dict
            A new one at each call.

        Examples
        --------
        >>> WordPiece(["[UNK]", "un", "##able"]).get_vocab()
        {'[UNK]': 0, 'un': 1, '##able': 2}
        """
        return dict(sorted({**self.vocabulary, **self._added}.items(), key=lambda item: item[1]))

    def token_to_id(self, token: str) -> int | None:
        """The id of a piece, a special token or a known word.

        Parameters
        ----------
        token
            The piece, with its prefix.

        Returns
        -------
        int or None
            None if there is none.

        Examples
        --------
        >>> tok = WordPiece(["[UNK]", "un", "##able"])
        >>> tok.token_to_id("##able"), tok.token_to_id("able")
        (2, None)
        """
        return self._added.get(token, self.vocabulary.get(token))

    def id_to_token(self, token_id: int) -> str | None:
        """The piece, special token or known word of an id.

        Parameters
        ----------
        token_id
            An id.

        Returns
        -------
        str or None
            None if no piece has it.

        Raises
        ------
        TypeError
            If it is no integer.

        Examples
        --------
        >>> tok = WordPiece(["[UNK]", "un", "##able"])
        >>> tok.id_to_token(2), tok.id_to_token(3)
        ('##able', None)
        """
        return self._names.get(integer(token_id, "token_id"))

    def __eq__(self, other: object) -> bool:
        """Equal where all arguments but `n_threads` are."""
        if not isinstance(other, WordPiece):
            return NotImplemented
        mine, yours = self.__getstate__(), other.__getstate__()
        return type(self) is type(other) and all(mine[name] == yours[name] for name in Words._fields)

    def __hash__(self) -> int:
        return hash((type(self), len(self.vocabulary), self.unknown, self.prefix, self.longest))

    # ---------------------------------------------------------------------------------------------- encoding

    @overload
    def encode(self, words: str | Iterable[str], *, return_offsets: Literal[False] = ...) -> NDArray[np.int32]: ...
    @overload
    def encode(
        self, words: str | Iterable[str], *, return_offsets: Literal[True]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
    def encode(self, words: str | Iterable[str], *, return_offsets: bool = False) -> Any:
        """Encode one document.

        Parameters
        ----------
        words
            Its words, or with a pretokenizer its text.
        return_offsets
            Return a triple: the ids, and of each id the number of its word and the position in this word of its first character.
            Of a text, words are those that the normalizer and the pretokenizer make, special tokens among them, and positions are
            those in the text as it was given.

        Returns
        -------
        ids
            int32[n]; with `return_offsets` a triple of such arrays: ids, words, starts.

        Raises
        ------
        TypeError
            For a `str` without a pretokenizer, or for words that are no `str`, naming the position.

        Examples
        --------
        >>> tok = WordPiece(["[UNK]", "un", "##aff", "##able"])
        >>> [part.tolist() for part in tok.encode(["unaffable", "", "able", "un"], return_offsets=True)]
        [[1, 2, 3, 0, 1], [0, 0, 0, 2, 3], [0, 2, 5, 0, 0]]
        >>> tok = WordPiece(["[UNK]", "un", "##able"], normalizer="BertNormalizer", pretokenizer="BertPreTokenizer")
        >>> [part.tolist() for part in tok.encode(" Ünable, un", return_offsets=True)]
        [[1, 2, 0, 1], [0, 0, 1, 2], [1, 3, 7, 9]]
        """
        found = self._encode([words], "words", None, return_offsets)
        return tuple(part.values for part in found) if return_offsets else found[0].values

    @overload
    def encode_batch(self, documents: Iterable[str | Iterable[str]], *, return_offsets: Literal[False] = ...) -> Ragged: ...
    @overload
    def encode_batch(
        self, documents: Iterable[str | Iterable[str]], *, return_offsets: Literal[True]
    ) -> tuple[Ragged, Ragged, Ragged]: ...
    def encode_batch(self, documents: Iterable[str | Iterable[str]], *, return_offsets: bool = False) -> Any:
        """Encode documents on `n_threads` threads; the result does not depend on how many.

        Parameters
        ----------
        documents
            The words of each document, or with a pretokenizer its text.
        return_offsets
            As for `encode`.

        Returns
        -------
        ids
            A `Ragged` of int32; with `return_offsets` a triple of `Ragged`: ids, words, starts.

        Raises
        ------
        TypeError
            As `encode`, naming the document too.

        Examples
        --------
        >>> WordPiece(["[UNK]", "un", "##able"]).encode_batch([["unable", "un"], [], ["able"]]).to_lists()
        [[1, 2, 1], [], [0]]
        """
        found = self._encode(documents, "documents", 0, return_offsets)
        return found if return_offsets else found[0]

    def _encode(
        self, documents: Iterable[str | Iterable[str]], name: str, first: int | None, return_offsets: bool
    ) -> tuple[Ragged, ...]:
        """Ids of documents, with words and starts if asked for; messages call them `name`, and number them from `first` on."""
        listed: list[str] = []
        ends = [0]
        special: dict[int, int] = {}  # the ids of the words of a text that are special tokens
        texts: TextWords | None = None
        number: list[int] = []  # which of the texts each document is, -1 for one of words
        if self.pretokenizer is not None and (return_offsets or self.flags or self.pretokenizer.asks_for_start):
            documents = list(documents)
            is_text = [isinstance(words, str) for words in documents]
            number = np.where(is_text, np.cumsum(is_text) - 1, -1).tolist()
            given = [words for words in documents if isinstance(words, str)]
            texts = TextWords.of(self._segmenter, given, return_offsets)
        for d, words in enumerate(documents):
            if type(words) is list:
                listed.extend(words)
            elif isinstance(words, str) and self.pretokenizer is not None:
                if texts is None:
                    self._cut(words, listed, special)
                else:
                    texts.put(number[d], listed, special)
            elif isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
                where = name if first is None else f"{name}: document {first + d}"
                hint = "; cut it first, for example with str.split" if isinstance(words, str) else ""
                raise TypeError(f"{where}: expected words, got {describe(words)}{hint}")
            else:
                listed.extend(words)
            ends.append(len(listed))
        bounds = np.array(ends)
        starts: np.ndarray | None = None
        try:
            if return_offsets:
                found, starts = self._encoder.encode_with_starts(listed, self.n_threads)
            else:
                found = self._encoder.encode(listed, self.n_threads)
        except TypeError as error:
            at = next((i for i, word in enumerate(listed) if not isinstance(word, str)), None)
            if at is None:
                raise
            raise TypeError(f"{place_of(name, bounds, at, first)}: expected str, got {describe(listed[at])}") from error
        if special:  # stand as empty words, which have no pieces
            here = np.fromiter(special, np.int64, len(special))
            lengths = np.diff(found.offsets)
            lengths[here] = 1
            places = found.offsets[here]
            ids = np.insert(found.values, places, np.fromiter(special.values(), np.int32, len(special)))
            starts = None if starts is None else np.insert(starts, places, 0)
            found = Ragged._trusted(ids, offsets_of(lengths))
        offsets = found.offsets[bounds]
        if starts is None:
            return (Ragged._trusted(found.values, offsets),)
        word = np.arange(len(listed)) - np.repeat(bounds[:-1], np.diff(bounds))  # the number of each in its document
        numbers = np.repeat(word, np.diff(found.offsets))
        if texts is not None:
            owners = np.repeat(np.array(number, np.int64), np.diff(offsets))
            rows = owners >= 0
            starts[rows] = texts.positions(owners[rows], numbers[rows], starts[rows])
        return tuple(Ragged._trusted(part.astype(np.int32, copy=False), offsets) for part in (found.values, numbers, starts))

    def _cut(self, text: str, words: list[str], special: dict[int, int]) -> None:
        """Put the words of a text behind `words`: an empty one for a special token, whose id `special` has by its number.

        As `TextWords` does, in less time for one text, where there are no flags, nobody asks for positions, and the pretokenizer
        treats the beginning of a text as any other place.
        """
        assert self.pretokenizer is not None  # the caller has checked that
        done = 0
        found = [] if self._special is None else [(*match.span(), match[0]) for match in self._special.finditer(text)]
        for begin, end, word in [*found, (len(text), len(text), None)]:
            part = text[done:begin] if self.normalizer is None else self.normalizer.apply(text[done:begin])
            words += self.pretokenizer.pieces(part)
            if word is not None:
                special[len(words)] = self._added[word]
                words.append("")
            done = end

    def usage(self, documents: Iterable[str | Iterable[str]]) -> Usage:
        """How often each piece is used on documents, and which never is.

        Parameters
        ----------
        documents
            As for `encode_batch`.

        Returns
        -------
        usage
            As of `Tokenizer.usage`.

        Raises
        ------
        TypeError
            As `encode_batch`.
        ValueError
            If an id is above 2**24 and twice the number of pieces: the arrays have an entry for each below it.

        Examples
        --------
        >>> found = WordPiece({"[UNK]": 0, "un": 1, "##able": 2, "a": 5}).usage([["unable", "un"], ["able"]])
        >>> found.counts.tolist(), found.document_frequencies.tolist(), found.unused.tolist()
        ([1, 2, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0], [5])
        """
        size = max(self._names) + 1
        if size > max(2**24, 2 * len(self._names)):
            raise ValueError(f"vocabulary: the id {size - 1} is too far from the others to count by id")
        gaps = np.ones(size, bool)
        gaps[list(self._names)] = False
        return usage_of(self.encode_batch(documents), size, None, self.n_threads, gaps)

    # ---------------------------------------------------------------------------------------------- decoding

    def decode(self, ids: Any) -> str:
        """The words of ids with a space between them; pieces with the prefix go on the word before.

        Parameters
        ----------
        ids
            An integer array or list.

        Returns
        -------
        text
            Unknown words stand as `unknown`.

        Raises
        ------
        UnknownTokenError
            For an id that no piece has, naming its position.
        TypeError
            For ids that are no integers.

        Examples
        --------
        >>> WordPiece(["[UNK]", "un", "##able"]).decode([1, 2, 0, 1])
        'unable [UNK] un'
        """
        return self._texts(as_document(ids, name="ids"))[0]

    def decode_batch(self, batch: Any, offsets: Any = None) -> list[str]:
        """Decode documents of ids.

        Parameters
        ----------
        batch, offsets
            A `Ragged`, such as `encode_batch` returns, a list of arrays or lists, or a flat array with `offsets`.

        Returns
        -------
        texts
            As of `decode`.

        Raises
        ------
        UnknownTokenError, TypeError
            As `decode`, naming the document too.

        Examples
        --------
        >>> WordPiece(["[UNK]", "un", "##able"]).decode_batch([[1, 2, 1], [], [0]])
        ['unable un', '', '[UNK]']
        """
        return self._texts(as_documents(batch, offsets, name="batch"))

    def _texts(self, documents: Documents) -> list[str]:
        if documents.kind == "str":
            raise TypeError("ids: expected integers, got str")
        bounds = documents.offsets - documents.offsets[0]
        ids = documents.values[documents.offsets[0] : documents.offsets[-1]].tolist()
        names: list[Any] = list(map(self._names.get, ids))
        if None in names:
            at = names.index(None)
            document = int(np.searchsorted(bounds, at, side="right")) - 1
            raise UnknownTokenError(document, at - int(bounds[document]), ids[at], max(self._names) + 1)
        if prefix := self.prefix:
            names = [piece[len(prefix) :] if piece.startswith(prefix) else f" {piece}" for piece in names]
            for at in set(bounds[:-1][np.diff(bounds) > 0].tolist()):
                names[at] = self._names[ids[at]]
        return ["".join(names[a:b]) for a, b in pairwise(bounds.tolist())]

    # ---------------------------------------------------------------------------------------------- files

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> WordPiece:
        r"""Read a vocabulary of a piece a line, as BERT's ``vocab.txt``.

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
        ModelFormatError
            If it is not UTF-8, or empty, naming the line.
        OSError, ValueError
            If it cannot be read; and as the constructor raises it.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
        >>> with open(path, "w", encoding="utf-8") as f:
        ...     _ = f.write("[UNK]\nun\n##able\n")
        >>> tok = WordPiece.from_file(path, normalizer="BertNormalizer", pretokenizer="BertPreTokenizer")
        >>> tok.encode("Unable").tolist()
        [1, 2]
        """
        return cls(vocab_txt.read(path), **options)

    def to_file(self, path: str | os.PathLike[str]) -> None:
        """Write the pieces, one a line, as BERT's ``vocab.txt``; the arguments of the constructor have no place in it.

        Parameters
        ----------
        path
            Where; the old file stays if anything goes wrong.

        Raises
        ------
        ValueError
            If ids are not 0, 1, ..., or a piece has a line break, white space at its end, or a surrogate.
        OSError
            From the disk.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
        >>> WordPiece(["[UNK]", "un", "##able"]).to_file(path)
        >>> WordPiece.from_file(path).vocabulary
        {'[UNK]': 0, 'un': 1, '##able': 2}
        """
        vocab_txt.write(path, self.vocabulary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write vocabulary and arguments to a model file, ``.json`` or ``.npz``. Atomic: the old file or the new one.

        Parameters
        ----------
        path
            Where; the suffix decides the format.

        Raises
        ------
        ValueError, OSError
            As `Tokenizer.save`; for a piece with two surrogates in place of one character.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
        >>> WordPiece(["<unk>", "un", "able"], unknown="<unk>", prefix="").save(path)
        >>> WordPiece.load(path)
        WordPiece(unknown='<unk>', prefix='', longest=100): 3 pieces
        """
        for piece in self.vocabulary:
            if not piece.isascii() and piece != piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass"):
                raise ValueError(f"vocabulary: {quoted(piece)}: surrogates in pairs would be read as one character")
        words = Words(*(getattr(self, name) for name in Words._fields))
        model_file.save(path, wordpiece.state_of(words))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, n_threads: int | None = None) -> WordPiece:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path
            The file.
        n_threads
            As for the constructor; a file does not hold it.

        Returns
        -------
        WordPiece
            The tokenizer that was saved, but for `n_threads`.

        Raises
        ------
        ModelFormatError, OSError
            As `Tokenizer.load`.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "words.json")
        >>> tok = WordPiece(["[UNK]", "un", "##able"])
        >>> tok.save(path)
        >>> WordPiece.load(path) == tok
        True
        """
        state, _ = model_file.load(path)
        where, name = os.fspath(path), state["tokenizer"]
        if name != "WordPiece":
            raise ModelFormatError(f"{where}: a {name}, not a WordPiece: use {name}.load")
        try:
            return cls(**wordpiece.from_state(state), n_threads=n_threads)
        except (TypeError, ValueError) as error:
            raise ModelFormatError(f"{where}: {error}") from error


def _pieces(given: Any, name: str = "vocabulary") -> dict[str, int]:
    """The id of every piece; TypeError for other things, ValueError for one that is there twice or an id out of range."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{name}: expected pieces, got {describe(given)}")
    if isinstance(given, Mapping):
        pieces = dict(given)
    else:
        listed = list(given)
        pieces = {}
        for i, piece in enumerate(listed):
            if not isinstance(piece, str):
                raise TypeError(f"{name}: position {i}: expected str, got {describe(piece)}")
            if pieces.setdefault(piece, i) != i:
                raise ValueError(f"{name}: a piece is there twice: {quoted(piece)}, as {pieces[piece]} and {i}")
    for piece, i in pieces.items():
        if not isinstance(piece, str) or isinstance(i, bool) or not isinstance(i, (int, np.integer)):
            raise TypeError(f"{name}: expected str and their ids, got {quoted(piece)}: {quoted(i)}")
        if not 0 <= i < 2**31:
            raise ValueError(f"{name}: {quoted(piece)}: expected an id in 0..2**31 - 1, got {quoted(i)}")
    return {str(piece): int(i) for piece, i in pieces.items()}


def _flags(given: Any, words: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """The flags of words; TypeError for what is no mapping to names, ValueError for another word or name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"flags: expected words and names of flags, got {describe(given)}")
    made: dict[str, tuple[str, ...]] = {}
    for word, names in given.items():
        if word not in words:
            raise ValueError(f"flags: {quoted(word)} is neither a special token nor a known word")
        listed = [*names] if isinstance(names, Iterable) and not isinstance(names, str) else [None]
        if not all(isinstance(name, str) for name in listed):
            raise TypeError(f"flags: {quoted(word)}: expected names, got {describe(names)}")
        if other := [name for name in listed if name not in FLAGS]:
            raise ValueError(f"flags: {quoted(word)}: expected {', '.join(FLAGS)}, got {quoted(other[0])}")
        if listed:
            made[word] = tuple(name for name in FLAGS if name in listed)
    return made


def _added_tokens(words: Mapping[str, int], flags: Mapping[str, Iterable[str]]) -> SpecialTokens | None:
    """Special tokens and known words as a segmenter has them: each is found in every text."""
    if not words:
        return None
    masks = {word: sum(map(FLAGS.__getitem__, names)) for word, names in flags.items()}
    return SpecialTokens(
        "str", tuple(words), np.array([*words.values()], np.int32), np.ones(len(words), bool), dict[Any, int](masks)
    )
