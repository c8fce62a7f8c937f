"""What a type checker knows of a user's script: checked with `mypy --strict` against the installed package (`.ci/run`).

It runs, too: `python tests/types/user_script.py`.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from ubpe_numba import BPE, UBPE, Counts, Ragged, Tokenizer, UBPEClassic, WordPiece, bounds, count_documents
from ubpe_numba.types import ModelInputs, NBest, TokenTable, Usage

Ids = NDArray[np.int32]
Starts = NDArray[np.int64]

docs = [[0, 1, 2, 0, 1], [0, 1, 2]]
tok = BPE(6).fit(docs)
assert_type(tok, BPE)
assert_type(UBPEClassic(6).fit(docs).truncate(4), UBPEClassic)
assert_type(BPE.from_merges([[0, 1]], alphabet="ab"), BPE)
assert_type(BPE.for_text(300), BPE)
assert_type(tok.vocabulary, TokenTable)

assert_type(tok.encode([0, 1]), Ids)
assert_type(tok.encode([0, 1], return_offsets=False, sample=0.1), Ids)
assert_type(tok.encode([0, 1], return_offsets=True), tuple[Ids, Starts])
assert_type(tok.encode_batch(docs), Ragged)
assert_type(tok.encode_batch(docs, return_offsets=True), tuple[Ragged, Ragged])
assert_type(tok.encode([0, 1], return_offsets="spans", boundaries=[1]), tuple[Ids, Starts])
assert_type(tok.encode_batch(docs, return_offsets="spans"), tuple[Ragged, Starts])
assert_type(tok(docs), ModelInputs)
assert_type(tok.stream().push([0, 1]), Ids)
ids, starts = tok.encode([0, 1], return_offsets=True)
longest: int = int(np.diff(starts).max(initial=0))

buffer = np.zeros(8, np.int32)
assert_type(tok.decode(ids, out=buffer), NDArray[Any])
assert_type(tok.decode(ids), NDArray[Any] | str | bytes)
assert_type(BPE.for_text(256).fit(["a"]).decode([97], as_bytes=True), bytes)
assert_type(tok.decode_batch([[0]]), Ragged | list[Any])

universal = UBPE(6, objective="shortest").fit(docs)
assert_type(universal, UBPE)
assert_type(universal.encode([0, 1]), Ids)
assert_type(universal.encode_nbest([[0, 1]], 2)[0], tuple[Ragged, NDArray[np.float64]])
assert_type(universal.encode_nbest(docs, 2), NBest)
assert_type(universal.refine(docs), UBPE)

by_weight = UBPE(6).fit([*docs, [2, 2]])
assert_type(bounds.encode_nbest(by_weight, [[0, 1]], 2, exact=True), tuple[NBest, NDArray[np.float64]])
assert_type(bounds.lower_bound(by_weight, [[0, 1]]).tokens, int)

assert_type(count_documents(docs), Counts)

pieces = WordPiece(["[UNK]", "un", "##able"])
assert_type(pieces.encode(["unable", "un"]), Ids)
assert_type(pieces.encode(["unable"], return_offsets=True), tuple[Ids, NDArray[np.int64]])
assert_type(pieces.encode_batch([["unable"], []]), Ragged)
assert_type(pieces.encode_batch([["unable"]], return_offsets=True), tuple[Ragged, Ragged])
assert_type(pieces.decode([1, 2]), str)
assert_type(pieces.decode_batch([[1, 2]]), list[str])
assert_type(pieces.usage([["un"]]), Usage)
assert_type(WordPiece.train(["un", "unable"], 9), WordPiece)
assert_type(tok.usage(docs), Usage)


def tokens_per_symbol(any_tokenizer: Tokenizer, document: list[int]) -> float:
    """A function over any of the three."""
    encoded = any_tokenizer.encode(document)
    assert_type(encoded, Ids)
    return encoded.size / len(document)


assert 0.0 < tokens_per_symbol(tok, docs[0]) <= 1.0
