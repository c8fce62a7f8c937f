"""Pairs of the pieces of a BPE of sentencepiece: the kernel equals the reference, and ids are those of sentencepiece."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.token_pairs import last_merge
from sentencepiece_models import A_AND_B, BYTES, FLAGS, NORMAL, SPECIAL, TEXTS, UNUSED, Piece, model, pairs, same_ids
from sentencepiece_models import BPE as PAIRS

from ubpe_numba import BPE, ModelFormatError
from ubpe_numba.formats.kernels.last_merges import pairs_of_pieces
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.tables.trie import trie_of


@settings(max_examples=100)
@given(st.lists(st.text("abc", min_size=2, max_size=9), max_size=12, unique=True), st.randoms())
def test_pairs_of_pieces_equal_the_reference(names: list[str], random: Any) -> None:
    tokens = [*"abc", *names]
    rank = {name: i for i, name in enumerate(tokens)}
    lengths = np.array([len(name) for name in tokens])
    arena = np.array(["abc".index(c) for name in tokens for c in name], np.int32)
    found = np.empty((len(names), 2), np.int32)
    ends, ranks, parts = np.empty((3, int(lengths.max())), np.int32)
    pairs_of_pieces(
        arena, offsets_of(lengths), 3, trie_of(3, arena, lengths), ends, ranks, parts, np.empty(ends.size, np.int64), found
    )
    for name, (left, right) in zip(names, found.tolist(), strict=True):
        want = last_merge(name, lambda x, y: rank.get(x + y, 99), 99)
        assert (tokens[left], tokens[right]) == want if want else left == right == -1


@settings(max_examples=100)
@given(pairs(), st.data(), FLAGS, TEXTS)
def test_unused_pieces_are_taken_apart(pieces: list[Piece], data: st.DataObject, flags: dict[str, bool], docs: list[str]) -> None:
    """They are read where it makes no difference that they are left out; `pairs` may hold some that nothing merges to, too."""
    types = st.sampled_from([NORMAL, NORMAL, UNUSED])
    pieces = [(n, s, data.draw(types) if t == NORMAL else t) for n, s, t in pieces]
    blob = model(pieces + (BYTES if flags["by_bytes"] else []), PAIRS, **flags)
    try:
        tokenizer = BPE.from_sentencepiece(blob)
    except ModelFormatError as error:
        if "is unused, so it is taken apart again" not in str(error) and "but is none itself" not in str(error):
            raise
    else:
        same_ids(blob, tokenizer, docs, flags["remove"])


def test_pieces_that_are_in_no_text() -> None:
    """One that nothing merges to, and unused ones: of merges, and of a single character, which is unknown then."""
    pieces = [*SPECIAL, *A_AND_B, ("bbb", -4.0, NORMAL), ("abb", -5.0, UNUSED), ("c", 0.0, UNUSED), ("a" * 7999, -7.0, NORMAL)]
    data = model(pieces, PAIRS)
    tokenizer = BPE.from_sentencepiece(data)
    same_ids(data, tokenizer, ["abbb bbbb", "abab ab" * 3, "abbabb", "acb", "a" * 7999])
    assert len(tokenizer.vocabulary.merges) == 1 and tokenizer.encode("abb").tolist() == [4, 3]
