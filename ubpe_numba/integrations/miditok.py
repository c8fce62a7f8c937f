"""MidiTok's tokenizers with this library's BPE: the same ids and the same files.

Vocabularies are learned, and music is encoded, on ids instead of texts. ``from
ubpe_numba.integrations.miditok import REMI`` replaces ``from miditok import REMI``. Needs the extra
``miditok``.

MidiTok writes the basic token of id i as the character ``chr(33 + i)`` and gives texts to Hugging Face's
tokenizers. There the special tokens come first, then all other characters in their order, then merges. If
texts are split at bars or beats, each piece begins with a mark, an extra character. For the basic tokens PAD,
A, B, C (ids 0..3), PAD special, split at bars:

    id of the model      0     1     2     3     4     5     6
    symbols              PAD   A     B     C     mark  A B   mark A
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import NotFittedError, UnknownSymbolError, quoted
from ubpe_numba.runtime.arrays import distinct
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.vocabulary.rules import FitRules

__all__ = ["MMM", "REMI", "TSD", "BPEMixin", "MIDILike", "PerTok", "Structured"]

FIRST_CHARACTER = 33  # of the basic token 0, MidiTok's `CHR_ID_START`
MARK = "\u2581"  # of Metaspace
_SURROGATES = range(0xD800, 0xE000)  # characters that are in no text


class MusicAlphabet(NamedTuple):
    """The symbols of a model: special tokens, then the other basic tokens by id.

    The mark is among them, at the place of its character.

    symbols     int32[largest basic id + 1], the symbol of each basic id, -1 for none
    basic       int32[A], the basic id of each symbol, -1 for the mark
    mark        the symbol that is the mark, -1 without one
    alone       bool[A], symbols at which a text is split for encoding: the special tokens
    """

    symbols: NDArray[np.int32]
    basic: NDArray[np.int32]
    mark: int
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, basic: Iterable[int], special: Iterable[int], marked: bool) -> MusicAlphabet:
        """The alphabet of basic ids, some of them special, with or without a mark.

        ValueError for an id without a character.
        """
        ids, first = sorted(basic), list(dict.fromkeys(special))
        marks = {ord(MARK) - FIRST_CHARACTER} if marked else set()
        if bad := [i for i in ids if i + FIRST_CHARACTER in _SURROGATES or i in marks]:
            raise ValueError(
                f"vocabulary: MidiTok has no character for the basic token of id {bad[0]}. Use fewer tokens."
            )
        ordered = [*first, *sorted(set(ids).difference(first) | marks)]
        order, mark = np.array(ordered, np.int64), max(map(ordered.index, marks), default=-1)
        symbols = np.full(max(ids, default=-1) + 1, -1, np.int32)
        known = np.arange(order.size) != mark
        symbols[order[known]] = np.flatnonzero(known)
        return cls(
            symbols, np.where(known, order, -1).astype(np.int32), mark, np.arange(order.size) < len(first)
        )

    def symbols_of(self, sequences: Ragged) -> NDArray[np.int32]:
        """The symbols of basic ids. UnknownSymbolError for the first id that no basic token has."""
        values = sequences.compact().values
        symbols = np.full(values.size, -1, np.int32)
        within = (values >= 0) & (values < self.symbols.size)
        symbols[within] = self.symbols[values[within]]
        if (bad := np.flatnonzero(symbols < 0)).size:
            at, offsets = int(bad[0]), sequences.compact().offsets
            sequence = int(np.searchsorted(offsets, at, "right")) - 1
            raise UnknownSymbolError(
                sequence, at - int(offsets[sequence]), int(values[at]), " of basic tokens"
            )
        return symbols

    def documents_of(
        self, symbols: NDArray[np.int32], cuts: NDArray[np.int64], *, apart: bool
    ) -> tuple[Ragged, NDArray[np.int64]]:
        """Split symbols at positions into documents, each with its mark.

        Also returns where each begins in `symbols`, and the end.

        `cuts` has 0 and the size of `symbols`. With `apart`, special tokens are documents of their own,
        without a mark, as in encoding; in training they are like others. Documents are never empty.
        """
        alone = self.alone[symbols] if apart else np.zeros(symbols.size, bool)
        at = np.flatnonzero(alone)
        cuts = distinct(cuts, at, at + 1)
        if self.mark < 0 or symbols.size == 0:
            return Ragged(symbols, cuts), cuts
        moved = np.cumsum(~alone[cuts[:-1]])  # marks up to a document, its own included
        values = np.full(symbols.size + int(moved[-1]), self.mark, np.int32)
        values[np.arange(symbols.size) + np.repeat(moved, np.diff(cuts))] = symbols
        return Ragged(values, cuts + np.concatenate([[0], moved])), cuts

    def basic_of(self, documents: Ragged) -> Ragged:
        """Documents of symbols as basic ids, without marks."""
        whole = documents.compact()
        values = self.basic[whole.values]
        keep = values >= 0
        return Ragged(values[keep], np.concatenate([[0], np.cumsum(keep)])[whole.offsets])


def pieces_of_texts(texts: Iterable[Any], what: str) -> Ragged:
    """The basic ids of texts as MidiTok writes them, or of lists of these."""
    lists = ([entry] if isinstance(entry, str) else entry for entry in texts)
    pieces = []
    for i, text in enumerate(itertools.chain.from_iterable(lists)):
        if not isinstance(text, str):
            raise TypeError(
                f"{what}: text {i}: expected a str of MidiTok's characters, got {type(text).__name__}"
            )
        pieces.append(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<i4") - FIRST_CHARACTER)
    lengths = [piece.size for piece in pieces]
    return Ragged.from_lengths(
        np.concatenate([np.empty(0, np.int32), *pieces]).astype(np.int32), np.array(lengths, np.int64)
    )


def token_names(bpe: BPE, alphabet: MusicAlphabet) -> list[str]:
    """Every token of the model as characters."""
    vocabulary = bpe._model.vocabulary
    characters = [MARK if i < 0 else chr(i + FIRST_CHARACTER) for i in alphabet.basic.tolist()]
    text = "".join([characters[symbol] for symbol in vocabulary.arena.tolist()])
    return [text[start:stop] for start, stop in itertools.pairwise(vocabulary.offsets.tolist())]


def to_tokenizer(bpe: BPE, alphabet: MusicAlphabet) -> Any:
    """The `tokenizers.Tokenizer` that MidiTok would have trained."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    names, merges = token_names(bpe, alphabet), bpe._model.vocabulary.merges
    assert merges is not None
    pairs = [(names[left], names[right]) for left, right in merges.tolist()]
    ids = {name: i for i, name in enumerate(names)}
    if alphabet.mark < 0:
        tokenizer = Tokenizer(models.BPE(vocab=ids, merges=pairs))
    else:
        tokenizer = Tokenizer(
            models.BPE(vocab=ids, merges=pairs, continuing_subword_prefix="", end_of_word_suffix="")
        )
        tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.add_special_tokens([AddedToken(names[i]) for i in np.flatnonzero(alphabet.alone).tolist()])
    return tokenizer


def from_tokenizer(tokenizer: Any, basic: Iterable[int], marked: bool) -> tuple[BPE, MusicAlphabet] | str:
    """Read a `tokenizers.Tokenizer` that MidiTok trained; or the reason why it does not have that form."""
    file = json.loads(tokenizer.to_str())
    model, added, cut = file["model"], file["added_tokens"], file["pre_tokenizer"]
    if model["type"] != "BPE":
        return f"its model is {model['type']}, not BPE"
    unusual = [
        key
        for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges")
        if model.get(key)
    ]
    unusual += [key for key in ("normalizer", "post_processor") if file.get(key) is not None]
    expected = (
        {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True}
        if marked
        else None
    )
    if cut != expected:
        unusual.append("pre_tokenizer")
    if unusual:
        return f"its model has a {unusual[0]} that MidiTok does not make"
    vocab: dict[str, int] = model["vocab"]
    names = sorted(vocab, key=vocab.__getitem__)
    size = sum(len(name) == 1 for name in names)
    characters = {
        ord(name) - FIRST_CHARACTER: i for i, name in enumerate(names[:size]) if name != MARK or not marked
    }
    if [*vocab.values()] and (
        sorted(vocab.values()) != [*range(len(names))] or max(map(len, names[:size])) > 1
    ):
        return "the ids of its model are not the basic tokens and then the merges"
    if {*basic} != characters.keys() or (marked and MARK not in vocab):
        return "its model has other basic tokens than its vocabulary, as after `add_to_vocab`"
    if any(
        token["content"] not in names[:size] or token["single_word"] or token["lstrip"] or token["rstrip"]
        for token in added
    ):
        return "its model has added tokens that are no basic tokens"
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    if any(vocab.get(left + right) != size + i for i, (left, right) in enumerate(pairs)) or size + len(
        pairs
    ) != len(names):
        return "the ids of its model are not in the order of its merges"
    order = np.full(size, -1, np.int32)
    symbols = np.full(max(characters, default=-1) + 1, -1, np.int32)
    for i, symbol in characters.items():
        order[symbol], symbols[i] = i, symbol
    alone = np.zeros(size, bool)
    alone[[vocab[token["content"]] for token in added]] = True
    merges = np.array([[vocab[left], vocab[right]] for left, right in pairs], np.int64).reshape(-1, 2)
    return BPE.from_merges(merges, size), MusicAlphabet(symbols, order, vocab[MARK] if marked else -1, alone)


try:
    import miditok
except ImportError as error:
    raise ImportError(
        "ubpe_numba.integrations.miditok needs miditok: pip install 'ubpe-numba[miditok]'"
    ) from error


_TESTED = "3.0.6 to 3.1.0"
#: Divide a sequence, by the configuration `encode_ids_split`.
_DIVIDED = {"bar": miditok.TokSequence.split_per_bars, "beat": miditok.TokSequence.split_per_beats}
#: All that is not public in MidiTok and used here: the model, characters of basic tokens, basic tokens of
#: tokens.
_PRIVATE = ("_model", "_vocab_base_id_to_byte", "_vocab_learned_bytes_to_tokens")


class BPEMixin(miditok.MusicTokenizer):  # type: ignore[misc]  # mypy does not read miditok
    """A tokenizer of MidiTok whose BPE is learned, encoded and decoded by `BPE`, on ids.

    Basic tokens, scores, files and the other models (Unigram, WordPiece) are MidiTok's own. What `save`
    writes is what MidiTok would have written after a training of its own, and either reads the files of the
    other. `train_more` is new.

    Notes
    -----
    The classes `REMI`, `TSD`, `MIDILike`, `Structured`, `PerTok` and `MMM` of this module are MidiTok's with
    this mixin. For a different class, also your own, write ``class Name(BPEMixin, its_class): ...`` under the
    name that its files have. A model that MidiTok's training does not make, such as one with tokens added
    after it, is left to MidiTok's own code.

    Examples
    --------
    >>> from miditok import TokenizerConfig
    >>> from symusic import Note, Score, Track
    >>> from ubpe_numba.integrations.miditok import REMI
    >>> score, track = Score(480), Track()
    >>> for i in range(32):
    ...     track.notes.append(Note(240 * i, 240, 60 + i % 4, 96))
    >>> score.tracks.append(track)
    >>> tokenizer = REMI(TokenizerConfig())
    >>> basic = tokenizer(score, encode_ids=False)
    >>> tokenizer.train(400, sequences=basic)
    >>> tokens = tokenizer(score)
    >>> len(basic[0]), len(tokens[0])
    (136, 4)
    >>> tokenizer.decode_token_ids(tokens)
    >>> tokens[0].ids == basic[0].ids
    True
    """

    # the result of reading a model, its size and itself
    _read: tuple[Any, int, tuple[BPE, MusicAlphabet] | str] | None = None

    @property
    def bpe(self) -> BPE:
        """The fitted `BPE`, whose symbols and tokens have the ids of the trained tokenizer.

        NotFittedError before a training; AttributeError for a model that MidiTok's training with BPE does not
        make, so that `hasattr` is False.

        Examples
        --------
        As for `BPEMixin`, and then ``tokenizer.bpe.history_``.
        """
        try:
            return self._of_training()[0]
        except NotFittedError:
            raise
        except ValueError as error:
            raise AttributeError(f"bpe: {error}", name="bpe", obj=self) from None

    def train(
        self,
        vocab_size: int,
        model: Any = None,
        iterator: Iterable[Any] | None = None,
        files_paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        sequences: Iterable[Any] | None = None,
        min_frequency: int | None = None,
        max_token_length: int | None = None,
        n_threads: int | None = None,
        progress: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Learn a vocabulary from the beginning; with BPE the same as `miditok.MusicTokenizer.train`.

        Parameters
        ----------
        vocab_size
            Number of ids, basic tokens included; fewer if pairs run out.
        model
            ``"BPE"``, the default. For Unigram, WordPiece or a model of `tokenizers`, and with None for a
            tokenizer that was trained with one, MidiTok's own training runs.
        iterator
            Texts of MidiTok's characters, or lists of these, as a `miditok.TokTrainingIterator` gives them.
        files_paths
            Files of scores. What cannot be read is left out, with a warning.
        sequences
            Basic tokens, instead of `iterator` or `files_paths`, as ``tokenizer(score, encode_ids=False)``
            gives them, one sequence or many. They are split into bars or beats here.
        min_frequency
            Pairs that occur less often are not merged.
        max_token_length
            As the trainer of tokenizers takes it: tokens of more than two basic tokens are shorter than this,
            the mark of a bar or beat being one of them. None for no limit.
        n_threads, progress
            As for `BPE`, and its `fit`.
        **kwargs
            For MidiTok's training of another model.

        Raises
        ------
        TypeError
            For arguments of `tokenizers`' trainer without meaning here, and for invalid sequences.
        ValueError
            Without data or with no basic token in them, and for basic tokens that no single character
            represents.
        UnknownSymbolError
            For an id that no basic token has.
        RuntimeError
            If this version of MidiTok is built in another way.

        Warns
        -----
        UserWarning
            If files cannot be read. As in MidiTok: for several vocabularies, or a size that is not above the
            number of basic tokens; then nothing is learned.

        Examples
        --------
        As for `BPEMixin`; for files ``tokenizer.train(30000, files_paths=paths)``.
        """
        limits = {"min_frequency": min_frequency, "max_token_length": max_token_length}
        limits = {name: value for name, value in limits.items() if value is not None}
        _one_source(iterator, files_paths, sequences)
        if model is None:
            self._check()
        if not (
            model == "BPE"
            or (model is None and (self._model is None or type(self._model.model).__name__ == "BPE"))
        ):
            if sequences is not None:
                raise ValueError("sequences: only for BPE; give files_paths or an iterator for another model")
            super().train(vocab_size, model, iterator, files_paths, **limits, **kwargs)
            return
        if kwargs:
            raise TypeError(f"train: {', '.join(sorted(kwargs))}: not an argument of BPE here")
        none = iterator is None and files_paths is None and sequences is None
        # an error, or a warning and no training
        if self.is_multi_voc or none or vocab_size <= len(self.vocab):
            super().train(vocab_size, "BPE", [] if sequences is not None else iterator, files_paths)
            return
        self._check()
        alphabet = self._alphabet()
        documents = self._documents(alphabet, iterator, files_paths, sequences)
        bpe = BPE(
            int(vocab_size),
            alphabet=alphabet.basic.size,
            n_threads=n_threads,
            **_limits(min_frequency, max_token_length),
        )
        self._adopt(bpe.fit(documents, progress=progress), alphabet)

    def train_more(
        self,
        vocab_size: int,
        iterator: Iterable[Any] | None = None,
        files_paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        sequences: Iterable[Any] | None = None,
        min_frequency: int | None = None,
        max_token_length: int | None = None,
        n_threads: int | None = None,
        progress: bool | str = "auto",
    ) -> None:
        """Continue to a larger vocabulary, on the same or other scores; ids keep their meaning.

        So models stay usable. On the scores of the training, the result equals one training of that size.

        Parameters
        ----------
        vocab_size
            The new size, at least the present one.
        iterator, files_paths, sequences, min_frequency, max_token_length, n_threads, progress
            As for `train`.

        Raises
        ------
        NotFittedError
            Before a training.
        ValueError
            For a size below the present one, for a model that MidiTok's training with BPE does not make, and
            as `train`.
        TypeError, UnknownSymbolError, RuntimeError
            As `train`.

        Warns
        -----
        UserWarning
            If files cannot be read.

        Examples
        --------
        As for `BPEMixin`, and then ``tokenizer.train_more(500, sequences=more)``.
        """
        bpe, alphabet = self._of_training()
        _one_source(iterator, files_paths, sequences)
        if vocab_size < len(bpe._model.vocabulary):
            raise ValueError(
                f"vocab_size: expected at least {len(bpe._model.vocabulary)} ids, got {vocab_size}"
            )
        if iterator is None and files_paths is None and sequences is None:
            raise ValueError("files_paths: expected files, an iterator or sequences to learn from")
        documents = self._documents(alphabet, iterator, files_paths, sequences)
        larger = deepcopy(bpe).set_params(n_threads=n_threads, **_limits(min_frequency, max_token_length))
        self._adopt(larger.fit_more(documents, int(vocab_size), progress=progress), alphabet)

    def encode_token_ids(self, seq: Any) -> None:
        """Encode the ids of a `miditok.TokSequence`, or of a list of them at once, in place.

        Sequences whose ids are encoded already are left as they are.

        Parameters
        ----------
        seq
            A `miditok.TokSequence` or a list of them.

        Raises
        ------
        NotFittedError
            Before a training.
        UnknownSymbolError
            For an id that no basic token has, naming the sequence as the document.

        Examples
        --------
        As for `BPEMixin`, where calling the tokenizer does it.
        """
        if not self.is_trained:
            raise NotFittedError(
                "encode_token_ids: the tokenizer is not trained: call train, or load a trained one"
            )
        understood = self._understood()
        if isinstance(understood, str):
            super().encode_token_ids(seq)
            return
        bpe, alphabet = understood
        sequences = [one for one in (seq if isinstance(seq, list) else [seq]) if not one.are_ids_encoded]
        for one in sequences:
            self.complete_sequence(one)
        basic, cuts = self._cut(sequences, training=False)
        documents, starts = alphabet.documents_of(alphabet.symbols_of(basic), cuts, apart=True)
        ids = bpe.encode_batch(documents).compact()
        flat, ends = ids.values.tolist(), ids.offsets[np.searchsorted(starts, basic.offsets)].tolist()
        for one, (start, stop) in zip(sequences, pairwise(ends), strict=True):
            one.ids, one.are_ids_encoded = flat[start:stop], True

    def decode_token_ids(self, seq: Any) -> None:
        """Decode the ids of a `miditok.TokSequence`, or of a list of them, in place.

        Parameters
        ----------
        seq
            A `miditok.TokSequence` or a list of them; its ids and tokens become basic ones. Those whose ids
            are not encoded are left as they are.

        Raises
        ------
        UnknownTokenError
            For an id outside the vocabulary, with the sequence as the document.

        Examples
        --------
        As for `BPEMixin`.
        """
        understood = self._understood() if self.is_trained else "it is not trained"
        if isinstance(understood, str):
            super().decode_token_ids(seq)
            return
        bpe, alphabet = understood
        sequences = [one for one in _sequences(seq) if one.are_ids_encoded]
        symbols = bpe.decode_batch(Ragged.from_lists([one.ids for one in sequences]))
        assert isinstance(symbols, Ragged)  # of integers
        basic = alphabet.basic_of(symbols)
        names = {i: name for name, i in self.vocab.items()}
        for one, ids in zip(sequences, basic.to_lists(), strict=True):
            one.ids, one.tokens, one.are_ids_encoded = ids, [names[i] for i in ids], False

    def __eq__(self, other: object) -> bool:
        """As MidiTok's, which compares vocabularies and configurations.

        Also equal to a tokenizer of MidiTok's own class.
        """
        if isinstance(other, miditok.MusicTokenizer) and isinstance(self, type(other)):
            return bool(miditok.MusicTokenizer.__eq__(other, self))
        return bool(super().__eq__(other))

    __hash__ = None  # type: ignore[assignment]

    # ---------------------------------------------------------------------------------------------- data

    def _tracks(self, sequence: Any, *, training: bool) -> list[Any]:
        """The parts of a sequence in which time runs once."""
        return [sequence]

    def _cut(self, sequences: Iterable[Any], *, training: bool) -> tuple[Ragged, Any]:
        """The basic ids of sequences, and the borders of bars, beats and sequences in all of them."""
        split = self.config.encode_ids_split
        rows: list[list[int]] = []
        cuts, end = [0], 0
        for sequence in sequences:
            row: list[int] = []
            for track in self._tracks(sequence, training=training):
                if split in _DIVIDED:
                    # slices of a range cost nothing
                    numbered = replace(track, ids=range(len(track.ids)), tokens=[], bytes="")
                    cuts += [end + part.ids.start for part in _DIVIDED[split](numbered) if len(part.ids)]
                row += track.ids
                end += len(track.ids)
                cuts.append(end)
            rows.append(row)
        return Ragged.from_lists(rows), np.array(cuts, np.int64)

    def _documents(self, alphabet: MusicAlphabet, iterator: Any, files_paths: Any, sequences: Any) -> Ragged:
        """The documents of a training. ValueError if it is nothing."""
        if sequences is not None:
            items = list(_sequences(sequences, "sequences"))
            for i, one in enumerate(items):
                if one.are_ids_encoded:
                    raise ValueError(
                        f"sequences: sequence {i} is encoded. Pass basic tokens (encode_ids=False)."
                    )
                self.complete_sequence(one)
            basic, cuts = self._cut(items, training=True)
            what = "sequences"
        else:
            what, texts = (
                ("files_paths", self._texts(files_paths)) if iterator is None else ("iterator", iterator)
            )
            basic = pieces_of_texts(texts, "iterator")
            cuts = basic.offsets
        documents, _ = alphabet.documents_of(alphabet.symbols_of(basic), cuts, apart=False)
        if documents.total == 0:
            raise ValueError(f"{what}: there is no basic token to learn from")
        return documents

    def _texts(self, files_paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[str]]:
        """The files as MidiTok's training sees them."""
        files = miditok.TokTrainingIterator(self, files_paths)
        unread = []
        for path in files_paths:
            texts = files.load_file(path)
            if not texts:
                unread.append(path)
            yield texts
        if unread:
            n, first = f"{len(unread)} of {len(files_paths)}", unread[0]
            warnings.warn(
                f"files_paths: {n} files cannot be read and are left out; the first is {first}", stacklevel=2
            )

    # ---------------------------------------------------------------------------------------------- the model
    # of MidiTok

    def _check(self) -> None:
        if missing := [name for name in _PRIVATE if not hasattr(self, name)]:
            version = importlib.metadata.version("miditok")
            raise RuntimeError(
                f"miditok {version}: its tokenizers lack {', '.join(missing)}; tested with miditok {_TESTED}"
            )

    def _alphabet(self) -> MusicAlphabet:
        """The alphabet of the basic tokens; ValueError for an id without a character."""
        for token, i in self.vocab.items():
            written = self._vocab_base_id_to_byte.get(i)
            if written != chr(i + FIRST_CHARACTER):
                raise ValueError(
                    f"vocabulary: MidiTok writes the basic token {quoted(token)} as {quoted(written)}, not "
                    "as one character of its own, as after a training of Unigram; make a new tokenizer"
                )
        return MusicAlphabet.of(
            self.vocab.values(), self.special_tokens_ids, self.config.encode_ids_split != "no"
        )

    def _adopt(self, bpe: BPE, alphabet: MusicAlphabet) -> None:
        """Make a fitted tokenizer the model."""
        model, basic = to_tokenizer(bpe, alphabet), {i: name for name, i in self.vocab.items()}
        tokens = [
            [basic[i] for i in ids]
            for ids in alphabet.basic_of(
                Ragged(bpe._model.vocabulary.arena, bpe._model.vocabulary.offsets)
            ).to_lists()
        ]
        self._vocab_learned_bytes_to_tokens = dict(zip(token_names(bpe, alphabet), tokens, strict=True))
        self._model = model
        self._read = (model, model.get_vocab_size(), (bpe, alphabet))

    def _understood(self) -> tuple[BPE, MusicAlphabet] | str:
        """The tokenizer and the alphabet of the model, or the reason why it cannot be used; read once."""
        self._check()
        model = self._model
        if self._read is None or self._read[0] is not model or self._read[1] != model.get_vocab_size():
            marked = self.config.encode_ids_split != "no"
            self._read = (model, model.get_vocab_size(), from_tokenizer(model, self.vocab.values(), marked))
        return self._read[2]

    def _of_training(self) -> tuple[BPE, MusicAlphabet]:
        if not self.is_trained:
            raise NotFittedError(f"{type(self).__name__}: not trained: call train, or load a trained one")
        understood = self._understood()
        if isinstance(understood, str):
            raise ValueError(f"{type(self).__name__}: {understood}")
        return understood


class REMI(BPEMixin, miditok.REMI):  # type: ignore[misc]
    """`miditok.REMI` with this library's BPE; see `BPEMixin`."""


class TSD(BPEMixin, miditok.TSD):  # type: ignore[misc]
    """`miditok.TSD` with this library's BPE; see `BPEMixin`."""


class MIDILike(BPEMixin, miditok.MIDILike):  # type: ignore[misc]
    """`miditok.MIDILike` with this library's BPE; see `BPEMixin`."""


class Structured(BPEMixin, miditok.Structured):  # type: ignore[misc]
    """`miditok.Structured` with this library's BPE; see `BPEMixin`."""


class PerTok(BPEMixin, miditok.PerTok):  # type: ignore[misc]
    """`miditok.PerTok` with this library's BPE; see `BPEMixin`."""


class MMM(BPEMixin, miditok.MMM):  # type: ignore[misc]
    """`miditok.MMM` with this library's BPE; see `BPEMixin`."""

    def _tracks(self, sequence: Any, *, training: bool) -> list[Any]:
        if self.config.encode_ids_split == "no" and not training:
            return [sequence]
        tracks: list[Any] = self.split_tokseq_per_track(sequence, keep_track_tokens=True)
        return tracks


def _limits(min_frequency: int | None, max_token_length: int | None) -> dict[str, Any]:
    """The parameters of a `BPE` with the results of a trainer of tokenizers.

    The trainer makes pairs of symbols in any case, and longer tokens if they are shorter than
    `max_token_length`.
    """
    longest = None if max_token_length is None else max(2, max_token_length - 1)
    return {"rules": FitRules(min_count=max(1, min_frequency or 0), max_token_length=longest)}


def _one_source(*sources: Any) -> None:
    if sources[2] is not None and (sources[0] is not None or sources[1] is not None):
        raise ValueError("sequences: expected only one of sequences, iterator and files_paths")


def _sequences(given: Any, what: str | None = None) -> Iterator[Any]:
    """All sequences in lists of them; others are left out, or TypeError with the name of the argument."""
    if isinstance(given, miditok.TokSequence):
        yield given
    elif isinstance(given, (list, tuple)) or (
        what is not None and isinstance(given, Iterable) and not isinstance(given, (str, bytes))
    ):
        yield from chain.from_iterable(_sequences(one, what) for one in given)
    elif what is not None:
        raise TypeError(f"{what}: expected TokSequence objects, got {type(given).__name__}")
