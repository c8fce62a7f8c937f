"""The unknown token of an export: which symbols of a text the other library knows nothing of, and what it makes of them.

A model over characters, over some bytes or over integers that became characters has no id for any other character. Hugging Face
leaves such a character out without a word, unless the file names a token for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import listed, quoted
from ubpe_numba.formats import export_samples
from ubpe_numba.formats.export_check import ExportCheck, changed, encode_by_rank
from ubpe_numba.formats.pair_table import MOST_INTEGERS
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.text.characters import names_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import symbol_of
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["UnkToken", "check_with_unknown", "loss_of", "texts_with_unknown", "unk_token_of"]

_NEVER = frozenset([0xC0, 0xC1, *range(0xF5, 0x100)])  # bytes that are in no text
_SOME = "XNn0_.,;- \t\néÉß中語\U0001f600\u0301\ue000"  # of many kinds, for samples and messages
_TEXTS = 300  # at most so many samples with unknown characters, of a model of unigrams
_OTHER_INTEGERS = 4  # so many integers outside an alphabet are part of samples


class UnkToken(NamedTuple):
    """The unknown token that a file is to name: its name and id there; where it is a symbol, its id in the alphabet."""

    name: str
    id: int
    symbol: int | None = None


def unk_token_of(check: ExportCheck, unk_token: Any) -> UnkToken | None:
    """The unknown token that a file is to name; None for none, or where the model has a rule of its own.

    `unk_token` is a special token or a symbol as the user has it, of integers in a tuple, None or False. ValueError for one that
    is neither, or another one than the model's own.
    """
    if unk_token is None or unk_token is False:
        return None
    if not isinstance(unk_token, (str, bytes, list, tuple, np.ndarray)):
        raise TypeError(f"unk_token: expected a special token, None or False, got {describe(unk_token)}")
    special, _ = check.words()
    name = check.text_of(unk_token if isinstance(unk_token, (str, bytes)) else tuple(map(int, unk_token)))
    rule = check.model.segmenter.unknown
    if rule is not None and rule.byte_ids is not None:
        return None  # unknown characters become bytes
    if rule is not None:
        if {**check.unheard(special), **special}.get(name) != rule.id:
            raise ValueError(f"unk_token: unknown characters become the id {rule.id} in this model, which is not {quoted(name)}")
        return None
    if name in special:
        return UnkToken(name, special[name])
    alphabet = check.model.alphabet
    symbol = symbol_of(unk_token if isinstance(unk_token, (str, bytes)) else tuple(unk_token), alphabet)
    if symbol is not None:
        if alphabet.kind == "bytes":
            name = names_of(bytes([int(alphabet.symbols[symbol])]))
        return UnkToken(name, check.ids()[symbol], symbol)
    known = listed(special) or "none"
    raise ValueError(f"unk_token: {quoted(name)} is neither a symbol nor a special token of this tokenizer: {known}")


def loss_of(model: Model) -> str | None:
    """What Hugging Face loses by a file without an unknown token, as a message; None if nothing.

    >>> from ubpe_numba import BPE
    >>> loss_of(BPE.for_text(256).fit(["a"], progress=False).model_) is None
    True
    """
    alphabet = model.alphabet
    if model.segmenter.unknown is not None:
        return None
    ways = "give unk_token= a special token"
    if alphabet.kind == "int":
        lost, of = "characters that stand for no integer of the alphabet", f"{alphabet.size} integers"
        ways += " of several integers, or the tokenizer all integers that can occur as its alphabet"
    elif alphabet.kind == "str":
        letter = next((c for c in (*_SOME, *map(chr, range(0x110000))) if not _known(alphabet, c)), None)
        if letter is None:
            return None
        lost, of = f"characters such as {quoted(letter)}", f"{alphabet.size} characters"
        ways += ", or fit over bytes (BPE.for_text), of which none is unknown"
    else:
        missing = np.setdiff1d(np.arange(256), alphabet.symbols)
        if set(missing.tolist()) <= _NEVER:
            return None
        lost, of = f"bytes such as {quoted(bytes([missing[0]]))}", f"{alphabet.size} bytes"
        ways += ", or the tokenizer all 256 bytes as its alphabet (BPE.for_text)"
    return (
        f"alphabet: the exported tokenizer has {of} and no unk_token: tokenizers and transformers leave out {lost} "
        f"without a word, so that ids no longer stand for the whole text. Instead {ways}; unk_token=False says that this is meant"
    )


def _known(alphabet: Alphabet, letter: str) -> bool:
    return bool(alphabet.lookup(np.array([ord(letter)], np.int64))[0] >= 0)


def check_with_unknown(model: Model, unknown: UnkToken) -> ExportCheck:
    """The check of an export to which every unknown symbol is one token, on samples that hold some; for pairs.

    In the model of the check all unknown symbols of the samples are part of the alphabet, in no pair, and have that id; ids are
    those of the model itself where a symbol stands for them, which is merged with others.
    """
    kind = model.alphabet.kind
    if kind == "int":
        size, there = model.alphabet.size, set(model.alphabet.symbols.tolist())
        others = [i for i in range(size + _OTHER_INTEGERS) if i not in there][: min(_OTHER_INTEGERS, MOST_INTEGERS - size)]
    elif kind == "bytes":
        others = np.setdiff1d(np.arange(256), model.alphabet.symbols).tolist()
    else:
        others = sorted(map(ord, {*_SOME, *"".join(export_samples.TEXTS)} - {*map(chr, model.alphabet.symbols.tolist())}))
    wider = _with_symbols(model, others, unknown.id)
    check = ExportCheck(wider, lambda docs: encode_by_rank(wider, docs))
    docs = check.documents()
    segmenter = model.segmenter
    if segmenter.rewrites:  # which may make symbols that no document holds
        made = np.unique(changed(model, docs).values).astype(np.int64)
        widest = _with_symbols(wider, made[wider.alphabet.lookup(made) < 0].tolist(), unknown.id)
        check = ExportCheck(widest, lambda docs: encode_by_rank(widest, docs))
    if unknown.symbol is not None:
        check.encode = lambda docs: encode_by_rank(model, docs, unknown.symbol or 0)
    check.use(docs)
    return check


def texts_with_unknown(texts: list[str]) -> list[str]:
    """Some of these texts by twos with a character between that may be unknown, and texts of many kinds. Deterministic."""
    few = texts[-_TEXTS:]
    return [*export_samples.TEXTS, *(f"{text}{_SOME[i % len(_SOME)]}{few[-1 - i]}" for i, text in enumerate(few))]


def _with_symbols(model: Model, symbols: list[int], token_id: int) -> Model:
    """The same model with further symbols in its alphabet, all of which have one id and are in no pair."""
    if not symbols:
        return model
    alphabet, vocabulary, segmenter = model
    n, more = alphabet.size, len(symbols)
    assert vocabulary.merges is not None  # a pair table has merges
    merges = vocabulary.merges.astype(np.int64)
    merges = np.where(merges < n, merges, merges + more)
    ids = np.arange(len(vocabulary), dtype=np.int32) if segmenter.token_ids is None else segmenter.token_ids
    ids = np.concatenate([ids[:n], np.full(more, token_id, np.int32), ids[n:]])
    return Model(
        Alphabet.from_symbols([*alphabet.symbols.tolist(), *symbols], alphabet.kind),
        Vocabulary.from_merges(n + more, merges.astype(np.int32)),
        segmenter._replace(token_ids=ids),
    )
