"""The tables of encoding text: what they hold, against plain definitions."""

from __future__ import annotations

from random import Random

import numpy as np
from byte_vocabularies import vocabulary
from reference import encode_pairs as reference
from tables import each

from ubpe_numba.coding.kernels.text_tables import UNBROKEN
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.word_encoder import WordEncoder, tables_of
from ubpe_numba.runtime.tables.packed import FREE, NO_PAIR
from ubpe_numba.vocabulary.vocabulary import Vocabulary


def edges_of(trie: np.ndarray) -> dict[tuple[int, int], int]:
    """(node, byte) -> child."""
    return {(e >> 40, e >> 32 & 0xFF): e & 0xFFFFFFFF for e in trie[trie != FREE].tolist()}


@each("seed", range(12))
def test_tables_hold_what_they_say(seed: int) -> None:
    rng = Random(seed)
    byte_ids = list(range(256))
    if seed % 2:
        rng.shuffle(byte_ids)
    byte_of = {symbol: byte for byte, symbol in enumerate(byte_ids)}
    pairs = vocabulary(rng, byte_ids)
    merges = {pair: (i, 256 + i) for i, pair in enumerate(pairs)}
    known = Vocabulary.from_merges(256, pairs)
    tables, stable, arena = tables_of(known, np.array(byte_ids, np.int32))
    tokens = [known.sequence(t).tolist() for t in range(len(known))]
    data = [bytes(byte_of[symbol] for symbol in token) for token in tokens]

    assert arena.tobytes() == b"".join(data)
    assert tables.lengths.tolist() == [len(token) for token in tokens]
    want = reference.stable(tokens, merges)
    assert stable.astype(bool).tolist() == want
    assert tables.prefixes.tolist() == reference.prefixes(tokens, want)
    entries = tables.pairs[tables.pairs != FREE].tolist()
    assert {(e >> 43, e >> 22 & 0x1FFFFF): e & 0x3FFFFF for e in entries} == {p: t for p, (_, t) in merges.items()}
    two = {(byte_of[a], byte_of[b]): t for (a, b), (_, t) in merges.items() if a < 256 and b < 256}
    assert {(k >> 8, k & 0xFF): t for k, t in enumerate(tables.two_bytes.tolist()) if t != NO_PAIR} == two

    edges = edges_of(tables.trie)
    nodes = {bytes([byte]): byte for byte in range(256)}
    for text in sorted({d[:n] for t, d in enumerate(data) if want[t] for n in range(2, len(d) + 1)}, key=len):
        nodes[text] = edges.pop((nodes[text[:-1]], text[-1]))
    assert not edges and sorted(nodes.values()) == list(range(tables.token_of.size))
    found = {text: int(tables.token_of[node]) for text, node in nodes.items()}
    assert {text: t for text, t in found.items() if t >= 0} == {d: t for t, d in enumerate(data) if want[t]}


@each("seed", range(8))
def test_characters_and_what_breaks_them_up(seed: int) -> None:
    pairs = vocabulary(Random(seed), list(range(256)))
    known = Vocabulary.from_merges(256, pairs)
    tables, stable, _ = tables_of(known, np.arange(256, dtype=np.int32))
    data = [known.sequence(t).astype(np.uint8).tobytes() for t in range(len(known))]
    solid = {ord(d.decode("utf-8", "surrogatepass")): t for t, d in enumerate(data)
             if len(d) > 1 and stable[t] and reference.character_at(d, 0) == len(d)}  # fmt: skip
    assert {point: t for point, t in enumerate(tables.solid.tolist()) if t >= 0} == solid
    # wherever a token lies across an end of a character of a text and has not all of it, the tables know one of its id or lower
    for t, token in enumerate(data):
        for other in [d for d in data if reference.character_at(d, 0) == len(d)]:
            for n in range(1, len(other)):
                if len(token) > n and token.endswith(other[:n]):  # before `other`, and into it
                    assert tables.into[token[-n - 1] << 8 | other[0]] <= t
                if len(token) > n and token.startswith(other[-n:]) and token[n] & 0xC0 != 0x80:
                    assert tables.out_of[other[-1] << 8 | token[n]] <= t
    assert tables.into.max() == tables.out_of.max() == UNBROKEN


def test_a_character_of_four_bytes_is_no_other_one() -> None:
    """Its bytes but the second, read as those of three bytes, are another character: U+24005 is U+0905."""
    pairs = [(0xF0, 0xA4), (0x80, 0x85), (256, 257), (0xE0, 0xA5), (259, 0x85)]
    known = Vocabulary.from_merges(256, pairs)
    tables, _, _ = tables_of(known, np.arange(256, dtype=np.int32))
    assert np.flatnonzero(tables.solid >= 0).tolist() == [0x945]
    encoder = WordEncoder(PairEncoder(known, batch=False))
    text = np.frombuffer("\U00024005\u0905\u0945".encode(), np.uint8)
    found = encoder.encode(text, np.array([0, 4, 7, 10]), np.array([0, 4, 7, 10]), 1)
    assert found.to_lists() == [[258], [0xE0, 0xA4, 0x85], [260]]
