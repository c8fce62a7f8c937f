"""Text against plain references: cut by every published pattern, counted, encoded, UTF-8 to and fro; words in pieces."""

from __future__ import annotations

from random import Random

import numpy as np

from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.piece_encoder import PieceEncoder
from ubpe_numba.coding.word_encoder import WordEncoder
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import PATTERNS, scan
from ubpe_numba.tokenizers.bpe import BPE
from ubpe_numba.verification import draw
from ubpe_numba.verification.part import Inputs, Pairs, Part
from ubpe_numba.verification.reference import encode_pairs, words
from ubpe_numba.verification.reference.word_pieces import cut_words
from ubpe_numba.vocabulary.vocabulary import Vocabulary

#: Patterns of what encodes: each is a kernel, and the cutting by all of them is a part of its own.
FEW = ("gpt2", "cl100k", "o200k")


def _flat(docs: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    return np.frombuffer(b"".join(docs), np.uint8), np.cumsum([0, *map(len, docs)], dtype=np.int64)


def _draw_cuts(rng: Random) -> Inputs:
    return {"documents": draw.texts(rng), "pattern": rng.choice(PATTERNS)}


def _compare_cuts(given: Inputs) -> Pairs:
    """Where segments end, and how often each occurs."""
    split = [words.split(doc, given["pattern"]) for doc in given["documents"]]
    ends = [0]
    for segment in (segment for segments in split for segment in segments):
        ends.append(ends[-1] + len(segment))
    values, offsets = _flat(given["documents"])
    yield "places", scan(values, offsets, given["pattern"], 1).tolist(), ends
    counts = count_words(values, offsets, given["pattern"], 1)
    found = dict(zip(counts.to_lists(), counts.weights.tolist(), strict=True))
    yield "counts", found, words.count_segments(given["documents"], given["pattern"])


def _draw_encoded(rng: Random) -> Inputs:
    docs = draw.texts(rng)
    byte_ids = rng.sample(range(256), 256) if rng.random() < 0.5 else list(range(256))
    learned = [bytes(byte_ids[b] for b in doc)[:200] for doc in docs]  # as a vocabulary numbers them
    return {"documents": docs, "pattern": rng.choice(FEW), "pairs": draw.byte_pairs(rng, learned), "byte_ids": byte_ids}


def _compare_encoded(given: Inputs) -> Pairs:
    """All at once, one by one, and decoded; short documents go another way the second time."""
    docs, pattern, pairs, byte_ids = (given[name] for name in ("documents", "pattern", "pairs", "byte_ids"))
    merges = {pair: (i, 256 + i) for i, pair in enumerate(pairs)}
    wanted = [words.encode_segments(doc, pattern, merges, byte_ids) for doc in docs]
    encoder = WordEncoder(PairEncoder(Vocabulary.from_merges(256, pairs), batch=False), np.array(byte_ids, np.int32))
    yield "by the encoder of words", encoder.encode(*_flat(docs), pattern, 1).to_lists(), wanted
    alphabet = bytes(sorted(range(256), key=byte_ids.__getitem__))
    tok = BPE.from_merges(pairs, alphabet=alphabet, pretokenizer=pattern, encoding="utf-8")
    yield "a batch", tok.encode_batch(docs).to_lists(), wanted
    for _ in range(2):
        yield "one by one", [tok.encode(doc).tolist() for doc in docs], wanted
        yield "decoded", [tok.decode_bytes(ids) for ids in wanted], docs


def _draw_utf8(rng: Random) -> Inputs:
    docs = draw.texts(rng)
    return {"documents": docs, "pairs": draw.byte_pairs(rng, [doc[:200] for doc in docs])}


def _compare_utf8(given: Inputs) -> Pairs:
    """Any text as its bytes, lone surrogates among them; any bytes as text, by every way to treat what is not UTF-8."""
    merges = {pair: (i, 256 + i) for i, pair in enumerate(given["pairs"])}
    tok = BPE.from_merges(given["pairs"], alphabet=bytes(range(256)), encoding="utf-8")
    texts = ["".join(point for point, _ in words.decoded(doc) if not "\udc80" <= point <= "\udcff") for doc in given["documents"]]
    wanted = [encode_pairs.encode_rank(list(text.encode("utf-8", "surrogatepass")), merges) for text in texts]
    yield "str, a batch", tok.encode_batch(texts).to_lists(), wanted
    for _ in range(2):
        yield "str, one by one", [tok.encode(text).tolist() for text in texts], wanted
        yield "decoded", [tok.decode(ids, errors="surrogatepass") for ids in wanted], texts
    ids = [encode_pairs.encode_rank(list(doc), merges) for doc in given["documents"]]
    for errors in ("replace", "ignore", "backslashreplace", "surrogateescape"):
        read = [doc.decode("utf-8", errors) for doc in given["documents"]]
        yield f"bytes, {errors}", [tok.decode(one, errors=errors) for one in ids], read
        yield f"bytes, {errors}, a batch", tok.decode_batch(ids, errors=errors), read


def _draw_many(rng: Random) -> Inputs:
    docs = [*draw.texts(rng), draw.text(rng, draw.PIECES), b"the end of it, "]
    copies = 1 + 210_000 // sum(map(len, docs))
    pairs = draw.byte_pairs(rng, [doc[:200] for doc in docs])
    return {"documents": docs, "pattern": rng.choice(FEW), "pairs": pairs, "copies": copies, "threads": rng.choice([2, 3])}


def _compare_many(given: Inputs) -> Pairs:
    """As many documents as threads share."""
    merges = {pair: (i, 256 + i) for i, pair in enumerate(given["pairs"])}
    wanted = [words.encode_segments(doc, given["pattern"], merges, list(range(256))) for doc in given["documents"]]
    docs = given["documents"] * given["copies"]
    tok = BPE.from_merges(given["pairs"], alphabet=bytes(range(256)), pretokenizer=given["pattern"], n_threads=given["threads"])
    found = tok.encode_batch(docs)
    yield "ids", found.to_lists(), wanted * given["copies"]
    yield "decoded", tok.decode_batch(found) == docs, True
    counts = count_words(*_flat(docs), given["pattern"], given["threads"])
    each = words.count_segments(given["documents"], given["pattern"])
    wanted_counts = {segment: n * given["copies"] for segment, n in each.items()}
    yield "counts", dict(zip(counts.to_lists(), counts.weights.tolist(), strict=True)), wanted_counts


def _draw_pieces(rng: Random) -> Inputs:
    letters = "ab#\xe9\U0001f600\ud800\0"
    pieces = sorted({"".join(rng.choices(letters, k=rng.choice([1, 1, 2, 3]))) for _ in range(rng.choice([1, 5, 12]))})
    docs = ["".join(rng.choices(letters[: rng.choice([2, 7])] + "c", k=rng.choice([0, 1, 2, 5, 12, 40]))) for _ in range(12)]
    return {"documents": docs, "pieces": pieces, "prefix": rng.choice(["##", "", "#", "a"]), "longest": rng.choice([3, 12, 100])}


def _compare_pieces(given: Inputs) -> Pairs:
    """WordPiece: the longest piece, from where the one before it ends."""
    pieces, prefix, longest = given["pieces"], given["prefix"], given["longest"]
    ids = {piece: 3 * i + 1 for i, piece in enumerate(sorted({*pieces, *("##" + piece for piece in pieces)}))}
    wanted = cut_words(given["documents"], ids, 0, prefix, longest)
    found, starts = PieceEncoder(ids, prefix, 0, longest).encode_with_starts(given["documents"], 1)
    numbers = [i for i, word in enumerate(found.to_lists()) for _ in word]
    yield "pieces", list(zip(found.values.tolist(), numbers, starts.tolist(), strict=True)), wanted


CUTS = Part("text: cut by published patterns", 200, _draw_cuts, _compare_cuts)
ENCODED = Part("text: encoded, decoded", 100, _draw_encoded, _compare_encoded)
UTF8 = Part("text: UTF-8, and what is none", 80, _draw_utf8, _compare_utf8)
MANY = Part("text: many documents, threads", 3, _draw_many, _compare_many)
PIECES = Part("text: words in pieces (WordPiece)", 100, _draw_pieces, _compare_pieces)
