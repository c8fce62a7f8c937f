"""Tokenizers made from a table of pairs."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from sample_corpora import CORPORA, fitted
from tables import each, refuses

from ubpe_numba import BPE, UBPEClassic, export
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError
from ubpe_numba.vocabulary.alphabet import MAX_SIZE

PAIRED = [BPE, UBPEClassic]


@pytest.mark.parametrize("cls", PAIRED, ids=lambda cls: cls.__name__)
@each("name", CORPORA)
def test_from_merges_is_the_fitted_tokenizer(cls: Any, name: str) -> None:
    tok = fitted(cls, CORPORA[name], None)
    v = tok._model.vocabulary
    symbols = tok._model.alphabet.symbols
    alphabet = {"text": lambda x: "".join(map(chr, x)), "bytes": bytes}.get(name, np.array)(symbols)
    learned = v.weights[v.n_alphabet :]
    for merges in (v.merges, v.merges.tolist(), v.merges.astype(np.int64)):
        again = cls.from_merges(merges, alphabet, weights=learned)
        assert again.fingerprint == tok.fingerprint and again.n_tokens == len(v)
        assert again.encode_batch(CORPORA[name]) == tok.encode_batch(CORPORA[name])
    # ids in any order: what is built first may have the higher id
    n, m = v.n_alphabet, v.n_learned
    backward = np.concatenate([np.arange(n), n + m - 1 - np.arange(m)])[v.merges][::-1]
    other = cls.from_merges(backward, alphabet)
    assert other.decode([len(v) - 1 - i for i in range(m)]) is not None
    for t in range(n, n + m):
        assert other._model.vocabulary.sequence(2 * n + m - 1 - t).tolist() == v.sequence(t).tolist()


def test_from_merges_by_hand() -> None:
    tok = BPE.from_merges([[0, 1], [2, 0]], alphabet="ab")
    assert tok.encode("ababa").tolist() == [2, 3] and tok.decode([3, 2, 1]) == "abaabb"
    assert BPE.from_merges([], alphabet=4).encode([0, 3]).tolist() == [0, 3]
    assert BPE.from_merges([[0, 1]], alphabet={5: 1, -9: 0}).encode([-9, 5, 5]).tolist() == [2, 1]
    assert BPE.from_merges([[0, 1]], b"xy", n_threads=2).decode([2, 2]) == b"xyxy"
    assert UBPEClassic.from_merges([[0, 1]], "ab", n_candidates=3).n_candidates == 3
    refuses(UnknownSymbolError, "symbol 'c' is not in the alphabet of 2 symbols", tok.encode, "abc")
    refuses(
        ModelFormatError, "weights: expected 1 values", BPE.from_merges, [[0, 1]], "ab", weights=[1.0, 2.0]
    )
    refuses(
        TypeError,
        "alphabet: expected a size, a sequence or a mapping, got None",
        BPE.from_merges,
        [[0, 1]],
        None,
    )


def test_the_largest_number_of_tokens_is_saved_and_larger_ones_are_refused(tmp_path: pathlib.Path) -> None:
    dump = json.loads(export(BPE(8).fit([[0, 1, 0, 1]], progress=False), "ubpe"))
    tok = BPE.load(json.dumps({**dump, "n_tokens": MAX_SIZE}))
    tok.save(tmp_path / "model.json")
    assert BPE.load(tmp_path / "model.json").fingerprint == tok.fingerprint
    refuses(ModelFormatError, "n_tokens", BPE.load, json.dumps({**dump, "n_tokens": MAX_SIZE + 1}))
