"""The names of tokens, as in `get_vocab` of Hugging Face, and the ids of names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from ubpe_numba.documents.read import text_of
from ubpe_numba.formats.character_bytes import without_marks
from ubpe_numba.formats.sentencepiece import placeholder_names
from ubpe_numba.text.characters import names_of
from ubpe_numba.text.sentencepiece import byte_name
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.model import Model


class TokenNames(NamedTuple):
    """The id of every name, in order of ids, and the name of every id.

    `by_bytes` has the ids by the bytes of tokens, written as `names_of` does. These names are another text
    than the name of a special token: "Ġ" is the bytes C4 A0, and also the name of a space's token. Empty if
    tokens are named by their characters.
    """

    ids: dict[Any, int]
    names: dict[int, Any]
    by_bytes: dict[str, int]


def token_names(model: Model) -> TokenNames:
    """The names of all ids.

    If tokens of the same symbols share a name, the lowest id has it, or a special token.

    >>> from ubpe_numba import BPE, Preprocessing
    >>> token_names(BPE.from_merges([[0, 1]], alphabet=b" a", preprocessing=Preprocessing(special_tokens=["<end>"]))._model).ids
    {'Ġ': 0, 'a': 1, 'Ġa': 2, '<end>': 3}
    """
    segmenter = model.segmenter
    placeholders = placeholder_names(segmenter)
    called, words_by_id = _of_tokens(model), [*_of_special(model)]
    special = dict(words_by_id)
    numbers = segmenter.ids(len(called)).tolist()
    names = {i: name for i, name in zip(reversed(numbers), reversed(called), strict=True) if i >= 0}
    names |= {i: placeholders[name] for i, name in zip(numbers, called, strict=True) if name in placeholders}
    if (unknown := segmenter.unknown) is not None and unknown.byte_ids is not None:
        names |= {
            i: byte_name(byte)
            for byte, i in enumerate(unknown.byte_ids.tolist())
            if i >= 0 and i != unknown.id
        }
    steps = segmenter.pretokenizer.steps if isinstance(segmenter.pretokenizer, Splitter) else ()
    if steps and steps[-1]["type"] == "Marks":  # prefixes or suffixes of the names in the file
        marks = steps[-1]["inside"], steps[-1]["end"]
        names, special = (
            {i: next(iter(without_marks({name: i}, ([], []), marks)[0])) for i, name in part.items()}
            for part in (names, special)
        )
    by_bytes: dict[str, int] = {}
    if model.alphabet.kind == "bytes" and segmenter.unknown is None:
        by_bytes = {name: i for i, name in sorted(names.items(), reverse=True)}
        if (words := segmenter.special) is not None:
            data, places = words.values.tobytes(), itertools.pairwise(words.offsets.tolist())
            by_bytes |= {names_of(data[a:b]): i for (a, b), i in zip(places, words.ids.tolist(), strict=True)}
    names = {**special, **names}  # a word may have the id of a token, and is that
    ids = {name: i for i, name in sorted(names.items(), reverse=True)}
    ids |= {name: i for i, name in words_by_id if names[i] in (name, special[i])}
    return TokenNames(dict(sorted(ids.items(), key=lambda item: item[1])), names, by_bytes)


def _of_tokens(model: Model) -> list[Any]:
    """The name of every token of the vocabulary."""
    alphabet, vocabulary, segmenter = model
    symbols, places = (
        alphabet.to_symbols(vocabulary.arena),
        list(itertools.pairwise(vocabulary.offsets.tolist())),
    )
    if alphabet.kind == "int":
        integers: list[Any] = (
            symbols.tolist()
            if alphabet.names is None
            else [*map(alphabet.names.__getitem__, symbols.tolist())]
        )
        return [tuple(integers[a:b]) for a, b in places]
    if alphabet.kind == "str":
        text = text_of(symbols)
    elif segmenter.unknown is None:
        text = names_of(symbols.tobytes())
    else:  # a model of characters that is held over bytes
        data = symbols.tobytes()
        return [data[a:b].decode("utf-8", "surrogateescape") for a, b in places]
    return [text[a:b] for a, b in places]


def _of_special(model: Model) -> Iterator[tuple[int, Any]]:
    """The names of special tokens and known words with their ids, which two may have."""
    special = model.segmenter.special
    if special is None:
        return
    bytewise = model.alphabet.kind == "bytes" and model.segmenter.unknown is None
    for word, i, heard in zip(special.words, special.ids.tolist(), special.found.tolist(), strict=True):
        name: Any = word
        # a token that no text becomes, such as one that no pair makes
        if bytewise and not heard and not isinstance(word, str):
            name = names_of(bytes(word))
        elif isinstance(word, bytes):
            try:
                name = word.decode()
            except UnicodeDecodeError:
                name = names_of(word)
        yield i, name
