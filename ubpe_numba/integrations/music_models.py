"""The model of a MidiTok tokenizer: which symbol each basic token is, and Hugging Face's tokenizer of the same, there and back.

MidiTok writes the basic token of id i as the character ``chr(33 + i)`` and gives texts to Hugging Face's tokenizers. There the
special tokens come first, then all other characters in their order, then merges. Where texts are cut at bars or beats, each piece
begins with a mark, one more character. For the basic tokens PAD, A, B, C (ids 0..3), PAD special, cut at bars:

    id of the model      0     1     2     3     4     5     6
    stands for           PAD   A     B     C     mark  A B   mark A
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import UnknownSymbolError
from ubpe_numba.runtime.arrays import distinct
from ubpe_numba.tokenizers.bpe import BPE

FIRST_CHARACTER = 33  # of the basic token 0, MidiTok's `CHR_ID_START`
MARK = "\u2581"  # of Metaspace
_SURROGATES = range(0xD800, 0xE000)  # characters that are in no text


class MusicAlphabet(NamedTuple):
    """The symbols of a model: special tokens, then the other basic tokens by id, the mark among them where its character belongs.

    symbols     int32[largest basic id + 1], the symbol of each basic id, -1 where there is none
    basic       int32[A], the basic id of each symbol, -1 for the mark
    mark        the symbol that is the mark, -1 without one
    alone       bool[A], symbols that a text is cut at when it is encoded: the special tokens
    """

    symbols: NDArray[np.int32]
    basic: NDArray[np.int32]
    mark: int
    alone: NDArray[np.bool_]

    @classmethod
    def of(cls, basic: Iterable[int], special: Iterable[int], marked: bool) -> MusicAlphabet:
        """The alphabet of basic ids, some of them special, with or without a mark. ValueError for an id without a character."""
        ids, first = sorted(basic), list(dict.fromkeys(special))
        if bad := [i for i in ids if i + FIRST_CHARACTER in _SURROGATES or (marked and i + FIRST_CHARACTER == ord(MARK))]:
            raise ValueError(
                f"vocabulary: MidiTok has no character for the basic token of id {bad[0]}; make the vocabulary smaller"
            )
        behind = sorted(set(ids).difference(first) | ({ord(MARK) - FIRST_CHARACTER} if marked else set()))
        order = np.array([*first, *behind], np.int64)
        mark = int(np.flatnonzero(order == ord(MARK) - FIRST_CHARACTER)[0]) if marked else -1
        symbols = np.full(max(ids, default=-1) + 1, -1, np.int32)
        known = np.arange(order.size) != mark
        symbols[order[known]] = np.flatnonzero(known)
        return cls(symbols, np.where(known, order, -1).astype(np.int32), mark, np.arange(order.size) < len(first))

    @property
    def characters(self) -> list[str]:
        """The character of each symbol."""
        return [MARK if i < 0 else chr(i + FIRST_CHARACTER) for i in self.basic.tolist()]

    def symbols_of(self, sequences: Ragged) -> NDArray[np.int32]:
        """The symbols of basic ids. UnknownSymbolError for the first id that no basic token has."""
        values = sequences.compact().values
        found = np.full(values.size, -1, np.int32)
        within = (values >= 0) & (values < self.symbols.size)
        found[within] = self.symbols[values[within]]
        if (bad := np.flatnonzero(found < 0)).size:
            at, offsets = int(bad[0]), sequences.compact().offsets
            sequence = int(np.searchsorted(offsets, at, "right")) - 1
            raise UnknownSymbolError(sequence, at - int(offsets[sequence]), int(values[at]), " of basic tokens")
        return found

    def documents_of(
        self, symbols: NDArray[np.int32], cuts: NDArray[np.int64], *, apart: bool
    ) -> tuple[Ragged, NDArray[np.int64]]:
        """Documents of symbols, cut at positions, each with its mark, and where each begins in `symbols`, and the end.

        `cuts` has 0 and the size of `symbols`. `apart`: special tokens are documents of their own, without a mark, as they are in
        encoding; in training they are as others. Documents are never empty.
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
    """The basic ids of texts as MidiTok writes them, or of lists of such texts."""
    lists = ([entry] if isinstance(entry, str) else entry for entry in texts)
    found = []
    for i, text in enumerate(itertools.chain.from_iterable(lists)):
        if not isinstance(text, str):
            raise TypeError(f"{what}: text {i}: expected a str of MidiTok's characters, got {type(text).__name__}")
        found.append(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<i4") - FIRST_CHARACTER)
    lengths = [piece.size for piece in found]
    return Ragged.from_lengths(np.concatenate([np.empty(0, np.int32), *found]).astype(np.int32), np.array(lengths, np.int64))


def token_names(bpe: BPE, alphabet: MusicAlphabet) -> list[str]:
    """Every token of the model as characters."""
    vocabulary, characters = bpe.vocabulary, alphabet.characters
    text = "".join([characters[symbol] for symbol in vocabulary.arena.tolist()])
    return [text[start:stop] for start, stop in itertools.pairwise(vocabulary.offsets.tolist())]


def to_tokenizer(bpe: BPE, alphabet: MusicAlphabet) -> Any:
    """The `tokenizers.Tokenizer` that MidiTok would have trained."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    names, merges = token_names(bpe, alphabet), bpe.vocabulary.merges
    assert merges is not None
    pairs = [(names[left], names[right]) for left, right in merges.tolist()]
    ids = {name: i for i, name in enumerate(names)}
    if alphabet.mark < 0:
        made = Tokenizer(models.BPE(vocab=ids, merges=pairs))
    else:
        made = Tokenizer(models.BPE(vocab=ids, merges=pairs, continuing_subword_prefix="", end_of_word_suffix=""))
        made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.add_special_tokens([AddedToken(names[i]) for i in np.flatnonzero(alphabet.alone).tolist()])
    return made


def from_tokenizer(tokenizer: Any, basic: Iterable[int], marked: bool) -> tuple[BPE, MusicAlphabet] | str:
    """Read a `tokenizers.Tokenizer` that MidiTok trained; what is in the way where it is not of that form."""
    file = json.loads(tokenizer.to_str())
    model, added, cut = file["model"], file["added_tokens"], file["pre_tokenizer"]
    if model["type"] != "BPE":
        return f"its model is {model['type']}, not BPE"
    unusual = [key for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges") if model.get(key)]
    unusual += [key for key in ("normalizer", "post_processor") if file.get(key) is not None]
    expected = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always", "split": True} if marked else None
    if cut != expected:
        unusual.append("pre_tokenizer")
    if unusual:
        return f"its model has a {unusual[0]} that MidiTok does not make"
    vocab: dict[str, int] = model["vocab"]
    names = sorted(vocab, key=vocab.__getitem__)
    size = sum(len(name) == 1 for name in names)
    characters = {ord(name) - FIRST_CHARACTER: i for i, name in enumerate(names[:size]) if name != MARK or not marked}
    if [*vocab.values()] and (sorted(vocab.values()) != [*range(len(names))] or max(map(len, names[:size])) > 1):
        return "the ids of its model are not the basic tokens and then the merges"
    if {*basic} != characters.keys() or (marked and MARK not in vocab):
        return "its model has other basic tokens than its vocabulary, as after `add_to_vocab`"
    if any(token["content"] not in names[:size] or token["single_word"] or token["lstrip"] or token["rstrip"] for token in added):
        return "its model has added tokens that are no basic tokens"
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    if any(vocab.get(left + right) != size + i for i, (left, right) in enumerate(pairs)) or size + len(pairs) != len(names):
        return "the ids of its model are not in the order of its merges"
    order = np.full(size, -1, np.int32)
    symbols = np.full(max(characters, default=-1) + 1, -1, np.int32)
    for i, symbol in characters.items():
        order[symbol], symbols[i] = i, symbol
    alone = np.zeros(size, bool)
    alone[[vocab[token["content"]] for token in added]] = True
    merges = np.array([[vocab[left], vocab[right]] for left, right in pairs], np.int64).reshape(-1, 2)
    return BPE.from_merges(merges, size), MusicAlphabet(symbols, order, vocab[MARK] if marked else -1, alone)
