"""Encoding by tf-idf and by fewest tokens against the plain reference."""

from __future__ import annotations

import math
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, tables
from reference import decode as reference_decode
from reference import encode_pairs, encode_paths

from ubpe_numba import BPE, UBPE, Ragged, UBPEClassic
from ubpe_numba.coding.kernels.viterbi import pack
from ubpe_numba.coding.n_best import n_best_paths
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.vocabulary import Vocabulary


@given(st.data(), tables())
def test_tfidf_shortest_and_n_best_equal_the_reference(data: st.DataObject, table: Table) -> None:
    """tf-idf, fewest tokens, and n best."""
    size, pairs, weights = table
    docs = data.draw(documents(size, 40))
    flat = reference_decode.expand(pairs, size)
    tokens = {s: i for i, s in enumerate(flat)}
    idf = {size + i: w for i, w in enumerate(weights)}
    encoder = PathEncoder(Vocabulary.from_merges(size, pairs, weights))
    ragged = Ragged.from_lists(docs)
    best = [list(encode_paths.encode_top(d, tokens, idf, 1)[0][0]) for d in docs]
    assert encoder.encode(ragged, "tfidf", 1).to_lists() == best
    shortest = [list(encode_paths.encode_shortest(d, tokens, idf)) for d in docs]
    assert encoder.encode(ragged, "shortest", 1).to_lists() == shortest
    for d in docs[:1]:
        for n in (2, 3, 7):
            want = encode_paths.encode_top(d, tokens, idf, n)
            found, weight = n_best_paths(encoder, Ragged.from_lists([d]), n, n, False, 1)[0]
            assert found.to_lists() == [list(path) for path, _ in want]
            assert (weight * 2**24).tolist() == [w for _, w in want]


@pytest.mark.parametrize("text", ["ab" * 2000, "a" * 4000, "aab" * 1200 + "ba" * 400], ids=["abab", "aaaa", "mixed"])
def test_long_periodic_documents(text: str) -> None:
    """A careless search needs quadratic time or deep recursion here; the beginning is compared with the reference."""
    docs = [text[:400], text[1:300], "abba" * 20, "b" * 33, ""]
    short = [ord(c) - ord("a") for c in text[:700]]
    for cls in (BPE, UBPEClassic):
        tok = cls(60).fit(docs, progress=False)
        v = tok._model.vocabulary
        ranks = {(a, b): (i, v.n_alphabet + i) for i, (a, b) in enumerate(v.merges.tolist())}
        assert tok.encode(text[:700]).tolist() == encode_pairs.encode_rank(short, ranks)
        ids = tok.encode(text)
        assert tok.decode(ids) == text
        assert not {tuple(pair) for pair in zip(ids.tolist(), ids[1:].tolist(), strict=False)} & ranks.keys()
    tok = UBPE(60, 5).fit(docs, progress=False)
    v = tok._model.vocabulary
    tokens, idf = {tuple(v.sequence(t).tolist()): t for t in range(len(v))}, dict(enumerate(v.weights.tolist()))
    assert tok.encode(text[:700]).tolist() == list(encode_paths.encode_top(short, tokens, idf, 1)[0][0])
    assert tok.set_params(objective="shortest").encode(text[:700]).tolist() == list(
        encode_paths.encode_shortest(short, tokens, idf)
    )
    for objective in ("tfidf", "shortest"):
        assert tok.decode(tok.set_params(objective=objective).encode(text)) == text


def test_lattice_batches_of_periodic_documents() -> None:
    """Several periodic documents in one call, in any order, are encoded as one by one."""
    rng = np.random.default_rng(0)
    docs = [
        np.tile(p, 400)[:n].astype(np.int32)
        for p in ([0, 1], [0, 0, 1], [0, 1, 1, 0, 1], [0], [1, 0])
        for n in (300, 301, 299, 300)
    ]
    tok = UBPE(40, 5, alphabet=2).fit([*(d[:60] for d in docs), [0], [1], [0, 1]], progress=False)
    enc = PathEncoder(tok._model.vocabulary)
    one = [enc.encode(Ragged.from_lists([d]), "tfidf", 1).to_lists()[0] for d in docs]
    for order in (range(len(docs)), rng.permutation(len(docs)), rng.permutation(len(docs))):
        some = [docs[i] for i in order]
        assert enc.encode(Ragged.from_lists(some), "tfidf", 1).to_lists() == [one[i] for i in order]


def test_an_answer_about_one_document_is_not_one_about_another() -> None:
    """Long walks note how often the rest holds a token: [2, 3] 50 times behind position 2 of the first, never in the second.

    Two tails that hardly differ in weight stay apart all through (0, 1) * n, so that walks are long in both documents.
    """
    vocabulary = Vocabulary.from_merges(4, [(0, 1), (1, 0), (2, 3), (3, 0), (3, 1)], [1.0, 1.001, 1.0, 0.5, 0.001])
    first, second = [2, 3, 1] + [0, 1] * 60 + [2, 3] * 50, [2, 3] + [0, 1] * 60
    found = PathEncoder(vocabulary).encode(Ragged.from_lists([first, second]), "tfidf", 1).to_lists()
    assert found[1] == [6] + [4] * 60


@pytest.mark.parametrize(
    ("pairs", "units", "doc", "want"),
    [
        ([(0, 1), (1, 0)], [2, 3], [1, 1, 1, 0, 1, 0, 0, 1, 1, 0], [1, 1, 3, 3, 2, 3]),
        ([(0, 1), (2, 2), (1, 0)], [2, 1, 3], [0, 1, 0, 0, 1, 0, 1, 1], [0, 4, 2, 2, 1]),
        ([(1, 1), (2, 1)], [2, 2], [1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 1, 0, 1, 3, 3]),
    ],
)
def test_a_token_may_add_more_than_it_adds_to_a_lower_count(
    pairs: list[tuple[int, int]], units: list[int], doc: list[int], want: list[int]
) -> None:
    """Of weights of a few 2**-26, since sums are rounded to 2**-24: what could be heavier by a rounding is looked at."""
    weights = [unit / 2**26 for unit in units]
    tokens = {s: i for i, s in enumerate(reference_decode.expand(pairs, 2))}
    idf = {2 + i: w for i, w in enumerate(weights)}
    encoder = PathEncoder(Vocabulary.from_merges(2, pairs, weights))
    assert list(encode_paths.encode_top(doc, tokens, idf, 1)[0][0]) == want
    assert encoder.encode(Ragged.from_lists([doc]), "tfidf", 1).to_lists() == [want]


def test_a_kept_tail_may_add_more_than_it_adds_to_a_lower_count() -> None:
    """The same of the n best: two and three of them, where a tail that could be heavier by a rounding comes last."""
    for n, size, pairs, units, doc in (
        (2, 2, [(1, 1), (0, 0), (2, 0)], [1, 2, 3], [1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1]),
        (3, 3, [(1, 1), (2, 3), (1, 3)], [4, 1, 1], [1] * 13),
        (3, 2, [(0, 0), (1, 0), (3, 2), (3, 0)], [1, 3, 2, 1], [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0]),
    ):
        weights = [unit / 2**26 for unit in units]
        tokens = {s: i for i, s in enumerate(reference_decode.expand(pairs, size))}
        want = encode_paths.encode_top(doc, tokens, {size + i: w for i, w in enumerate(weights)}, n)
        search = PathEncoder(Vocabulary.from_merges(size, pairs, weights))
        paths, found = n_best_paths(search, Ragged.from_lists([doc]), n, n, False, 1)[0]
        assert paths.to_lists() == [list(path) for path, _ in want]
        assert (found * 2**24).tolist() == [weight for _, weight in want]


def test_tiny_idf_against_the_reference() -> None:
    """Weights of a few units of the fixed point, 2**-24, where rounding decides."""
    rng = np.random.default_rng(2)
    for case in range(300):
        size = 2
        pairs, lengths = [], [1] * size
        while len(pairs) < 8:
            a, b = (int(i) for i in rng.integers(0, len(lengths), 2))
            if (a, b) not in pairs and lengths[a] + lengths[b] < 12:
                pairs.append((a, b))
                lengths.append(lengths[a] + lengths[b])
        weights = (rng.integers(1, 40, len(pairs)) / 2**26).tolist()
        flat = reference_decode.expand(pairs, size)
        tokens = {s: i for i, s in enumerate(flat)}
        idf = {size + i: w for i, w in enumerate(weights)}
        doc = (rng.integers(0, 2, 40) if case % 2 else np.tile(rng.integers(0, 2, rng.integers(1, 6)), 40)[:40]).tolist()
        enc = PathEncoder(Vocabulary.from_merges(size, pairs, weights))
        assert enc.encode(Ragged.from_lists([doc]), "tfidf", 1).to_lists()[0] == list(
            encode_paths.encode_top(doc, tokens, idf, 1)[0][0]
        )


def test_more_of_one_token_than_the_table_of_logarithms_has() -> None:
    """The table has 4096 logarithms; a token that occurs more often takes the logarithm itself."""
    v = Vocabulary.from_merges(2, [(0, 1)], [0.5])
    for n in (4094, 4095, 4096, 4097, 6000):
        found = PathEncoder(v).encode(Ragged.from_lists([[0, 1] * n]), "tfidf", 1)
        assert found.total == n
        _paths, weight = n_best_paths(PathEncoder(v), Ragged.from_lists([[0, 1] * n]), 1, 1, False, 1)[0]
        assert weight[0] * 2**24 == round(0.5 * 2**24 * (1 + math.log(n)))


@given(st.data(), tables())
def test_packed_costs_give_the_paths_of_pairs_of_costs(data: st.DataObject, table: Table) -> None:
    """With costs so large that they can be packed for short documents only, up to the longest of these."""
    size, pairs, weights = table
    vocabulary = Vocabulary.from_merges(size, pairs, weights)
    n, longest = len(vocabulary), int(np.diff(vocabulary.offsets).max())
    cost = st.sampled_from([0, 1, -1, 2, 3, 2**20, 2**30 - 1, 2**30, -(2**30)])
    first = np.array(data.draw(st.lists(cost, min_size=n, max_size=n)), np.float64)
    second = np.array(data.draw(st.lists(cost, min_size=n, max_size=n)), np.float64)
    plain, packed = PathEncoder(vocabulary), PathEncoder(vocabulary)
    plain.costs["shortest"] = packed.costs["shortest"] = np.stack([first, second], axis=1).ravel()
    costs, most = pack(first, second, longest)
    assert all(int(c) % 2**20 == int(b) % 2**20 for c, b in zip(costs, second, strict=True) if most > 2**12)
    plain.packed["shortest"] = costs, -1
    docs = Ragged.from_lists([doc[: min(most, 40)] for doc in data.draw(documents(size, 40))])
    assert packed.encode(docs, "shortest", 1) == plain.encode(docs, "shortest", 1)


def test_packed_sums_wrap_around_in_long_documents() -> None:
    """Sums of 20,000 symbols go far beyond 2**63; ties and near ties in periods."""
    rng = np.random.default_rng(0)
    vocabulary = Vocabulary.from_merges(3, [(0, 1), (3, 3), (1, 0), (0, 0), (6, 6), (5, 2), (2, 2)])
    docs = Ragged.from_lists([np.tile(rng.integers(0, 3, k), 20_000 // k) for k in (1, 2, 3, 5, 7, 20_000)])
    for added in (rng.integers(-20, 20, len(vocabulary)).astype(float), rng.normal(-8.0, 3.0, len(vocabulary))):
        plain, packed = PathEncoder(vocabulary, added), PathEncoder(vocabulary, added)
        plain.packed["additive"] = plain.packed["shortest"] = np.zeros(0, np.uint64), -1
        for objective in ("additive", "shortest"):
            assert packed.encode(docs, objective, 1) == plain.encode(docs, objective, 1)
        assert packed.packed["additive"][1] > 20_000


def test_costs_that_cannot_be_packed() -> None:
    """The largest weights, and a long token: pairs of numbers are compared in documents that are longer than 100 symbols."""
    vocabulary = Vocabulary.from_merges(1, [[i, i] for i in range(8)])
    encoder = PathEncoder(vocabulary, np.linspace(-1e6, 1e6, len(vocabulary)))
    found = encoder.encode(Ragged.from_lists([[0] * 300, [0] * 5000]), "additive", 1)
    assert 0 < encoder.packed["additive"][1] < 5000
    assert found.to_lists() == [encoder.encode(Ragged.from_lists([[0] * n]), "additive", 1).to_lists()[0] for n in (300, 5000)]
    assert pack(np.array([2.0**61]), np.array([1.0]), 1)[1] == pack(np.array([1.0]), np.array([np.inf]), 1)[1] == 0


@given(st.data(), tables())
def test_the_forward_search_equals_the_reference(data: st.DataObject, table: Table) -> None:
    """With few different scores, so that ties are frequent, scores that float32 cannot hold, and sums beyond 100000."""
    size, pairs, _ = table
    n = size + len(pairs)
    least = data.draw(st.sampled_from([-20.0, -40000.0, -1e6]))
    score = st.one_of(st.sampled_from([-1.0, -2.0, -3.0, 0.5]), st.floats(least, 0.0))
    scores = data.draw(st.lists(score, min_size=n, max_size=n))
    docs = data.draw(documents(size, 20))
    tokens = {s: i for i, s in enumerate(reference_decode.expand(pairs, size))}
    encoder = PathEncoder(Vocabulary.from_merges(size, pairs), np.array(scores))
    for objective, single in (("sentencepiece", True), ("tokenizers", False)):
        want = [list(encode_paths.encode_forward(d, tokens, dict(enumerate(scores)), single)) for d in docs]
        assert encoder.encode(Ragged.from_lists(docs), objective, 1).to_lists() == want


def test_ids_equal_those_of_sentencepiece(tmp_path: pathlib.Path) -> None:
    """Of its own vocabulary, on text without words, where exact ties are frequent."""
    sentencepiece = pytest.importorskip("sentencepiece")
    rng = np.random.default_rng(0)
    lines = ["".join("abcdefgh"[i] for i in rng.integers(0, 4, 60) + rng.integers(0, 5)) for _ in range(150)]
    (tmp_path / "text").write_text("\n".join(lines))
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text"), model_prefix=str(tmp_path / "m"), vocab_size=120, model_type="unigram",
        add_dummy_prefix=False, character_coverage=1.0, hard_vocab_limit=False, minloglevel=2, num_threads=1,
        normalization_rule_name="identity", byte_fallback=False,
    )  # fmt: skip
    peer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    pieces = [(peer.id_to_piece(i), peer.get_score(i)) for i in range(peer.get_piece_size()) if peer.get_score(i)]
    alphabet = sorted(set("".join(lines)))
    known = dict(pieces)
    learned = [piece for piece, _ in pieces if len(piece) > 1]
    code = {c: i for i, c in enumerate(alphabet)}
    scores = [known.get(c, min(known.values()) - 10.0) for c in alphabet] + [known[piece] for piece in learned]
    v = Vocabulary.from_sequences(
        len(alphabet), [code[c] for piece in learned for c in piece], [len(piece) for piece in learned], log_probabilities=scores
    )
    tok = UBPE(len(v), alphabet="".join(alphabet), objective="sentencepiece")
    tok._adopt(Model(Alphabet.from_user("".join(alphabet)), v))
    names = [*alphabet, *learned]
    lines.append("".join(lines) * 3)  # whose sum of scores is far beyond 100000
    for line, ids in zip(lines, tok.encode_batch(lines).to_lists(), strict=True):
        assert [names[i] for i in ids] == peer.encode(line, out_type=str)
    candidates, weights = tok.encode_nbest([lines[0]], 3)[0]
    assert len(candidates) == 3 and weights[0] >= weights[1] >= weights[2]
    assert tok.decode(tok.encode(lines[0], sample=0.3, seed=1)) == lines[0]
