"""The encodings of a document by all sizes of the vocabulary are those of truncated tokenizers; the kernel is the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, WordPiece
from ubpe_numba.errors import UnknownTokenError
from ubpe_numba.plot import skyline
from ubpe_numba.tokenizers.base import Tokenizer


def reference(tok: Tokenizer, ids: list[int], birth: dict[int, int]) -> list[tuple[int, ...]]:
    """The blocks of `skyline` by a queue for each token: (start, stop, born, absorbed, token)."""
    found, v, start = [], tok.vocabulary, 0
    for i in ids:
        queue = [(start, i, len(tok._model.vocabulary) + 1)]
        for begin, token, absorbed in queue:
            parts, n = v.parents(token), int(v.lengths[token])
            found.append((begin, begin + n, birth.get(token, v.n_alphabet), absorbed, token))
            if parts is not None:
                queue += [
                    (begin, parts[0], birth[token]),
                    (begin + int(v.lengths[parts[0]]), parts[1], birth[token]),
                ]
        start += int(v.lengths[i])
    return found


PLAIN: dict[str, Any] = {
    "integers": lambda docs: BPE(40, alphabet=6).fit(docs),
    "by rank of all": lambda docs: UBPE(40, 6, objective="shortest").fit(docs).with_objective("rank"),
    "mirrored": lambda docs: BPE(40, alphabet=6, preprocessing=Preprocessing(mirror={0: 1, 2: 3, 4: 5})).fit(
        docs
    ),
    "frames": lambda docs: BPE(40, alphabet=6).fit(docs, frame=3),
}


@each("name", list(PLAIN))
@given(
    docs=st.lists(
        st.lists(st.integers(0, 5), max_size=40) | st.integers(0, 40).map(lambda n: [0, 1] * n), min_size=1
    )
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_size_is_there_and_blocks_are_those_of_the_reference(name: str, docs: list[list[int]]) -> None:
    tok, doc = PLAIN[name]([*docs, [0, 1, 2, 0, 1, 2, 3, 4, 5]]), docs[0]
    ids = tok.encode(doc)
    blocks = skyline(tok, ids)
    n, v = tok.vocabulary.n_alphabet, tok.vocabulary
    mirror = range(len(v)) if v.mirror is None else v.mirror.tolist()
    assert blocks.tolist() == reference(
        tok, ids.tolist(), {t: max(t, mirror[t]) + 1 for t in range(n, len(v))}
    )
    for size in range(n, len(v) + 1):
        there = np.sort(blocks[(blocks["born"] <= size) & (size < blocks["absorbed"])], order="start")
        assert there["token"].tolist() == tok.truncate(size).encode(doc).tolist()


def test_text_with_special_tokens_and_ids_of_its_own() -> None:
    verses = ["the cat sat on the mat", "the rat that sat"]
    words = Preprocessing(encoding="utf-8", pretokenizer="gpt2", special_tokens=["<end>"], special_first=True)
    tok = BPE(290, preprocessing=words).fit(verses)
    ids = tok.encode("the bat<end>that", allowed_special="all")
    blocks = skyline(tok, ids)
    whole = blocks[blocks["absorbed"] == len(tok._model.vocabulary) + 1]
    assert whole["token"].tolist() == ids.tolist() and whole["stop"].tolist()[-1] == len("the bat<end>that")
    for size in (256, 258, 261):
        there = np.sort(blocks[(blocks["born"] <= size) & (size < blocks["absorbed"])], order="start")
        assert (
            there["token"].tolist()
            == tok.truncate(size).encode("the bat<end>that", allowed_special="all").tolist()
        )
    assert skyline(tok, []).size == 0


@each("tok, ids, error, message", [
    (UBPE(8, 2, objective="shortest").fit([[0, 1, 0, 1]]), [0], ValueError, r"got 'shortest'; use tok.with_objective\('rank'"),
    (UBPEClassic(4, 2, rules=FitRules(encode="batch")).fit([[0, 1] * 3]), [0], ValueError, "got 'batch'; use BPE"),
    (BPE.from_merges([[3, 0], [0, 1]], 2), [0], ValueError, "^tok: the merges of this vocabulary are not known, or not"),
    (WordPiece(["[UNK]", "a"]), [0], TypeError, "^tok: expected a BPE or another tokenizer that merges pairs, got WordPiece"),
    (BPE.from_merges([[0, 1]], alphabet=2), [0, 3], UnknownTokenError, "3"),
    (BPE.from_merges([[0, 1]], alphabet=2), [[0]], TypeError, "ids"),
])  # fmt: skip
def test_what_is_not_nested_is_refused(tok: Any, ids: Any, error: type[Exception], message: str) -> None:
    refuses(error, message, skyline, tok, ids)
