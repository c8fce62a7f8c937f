"""Cases with enough structure to reach branches that random ones miss: long runs, periods, extremes, empty documents."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from reference import decode, encode_paths
from reference import words as reference

from ubpe_numba import BPE, UBPE, FitRules, ModelFormatError, Ragged, Vocabulary
from ubpe_numba.cli.read import Form
from ubpe_numba.cli.write import write_documents
from ubpe_numba.coding import path_search as search
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.path_search import Options, PathSearch
from ubpe_numba.documents.normalise import Documents, as_documents
from ubpe_numba.fitting import refine
from ubpe_numba.text.count_words import count_words
from ubpe_numba.text.cut import PATTERNS, scan
from ubpe_numba.vocabulary.special_tokens import SpecialTokens


def test_lattice_batches_of_periodic_documents():
    """Asked_at is a flat position; several periodic documents in one call."""
    rng = np.random.default_rng(0)
    docs = [
        np.tile(p, 400)[:n].astype(np.int32)
        for p in ([0, 1], [0, 0, 1], [0, 1, 1, 0, 1], [0], [1, 0])
        for n in (300, 301, 299, 300)
    ]
    tok = UBPE(40, 5, alphabet=2).fit([*(d[:60] for d in docs), [0], [1], [0, 1]], progress=False)
    enc = PathEncoder(tok.vocabulary)
    one = [enc.encode(Ragged.from_lists([d]), "tfidf", 1).to_lists()[0] for d in docs]
    for order in (range(len(docs)), rng.permutation(len(docs)), rng.permutation(len(docs))):
        some = [docs[i] for i in order]
        assert enc.encode(Ragged.from_lists(some), "tfidf", 1).to_lists() == [one[i] for i in order]


def test_stream_phases_that_never_meet():
    """A prefix whose encoding does not go through the start of the stretch: reach must grow."""
    n = 200
    merges = [[i, i + 1] for i in range(n - 2, -1, -1)]  # the last pair of a run goes first: phases depend on the end
    tok = BPE.from_merges(merges, alphabet=n)
    rng = np.random.default_rng(1)
    for text in (
        np.arange(n),
        np.concatenate([np.arange(n)] * 3),
        np.concatenate([np.arange(a, b) for a, b in np.sort(rng.integers(0, n, (20, 2)), 1)]),
    ):
        for step in (1, 7, 50):
            parts = list(tok.encode_stream([text[i : i + step] for i in range(0, text.size, step)]))
            assert np.concatenate(parts).tolist() == tok.encode(text).tolist()


def test_flat_array_longer_than_its_offsets_with_words():
    """Values behind the last offset are not looked at."""
    tok = BPE(12, alphabet=8, known_words=[[6, 7]]).fit([[0, 1, 0, 1, 6, 7]], progress=False)
    flat = np.array([0, 1, 6, 7, 0, 1, 6, 7, 6, 7, 0, 6, 7] * 20)
    for end in (0, 2, 3, 4, 7, 50):
        got = tok.encode_batch(flat, offsets=[0, end])
        assert got.to_lists() == [tok.encode(flat[:end]).tolist()]
    text = "the cat<e>the<e>the cat"
    tok = BPE.for_text(300, pretokenizer="gpt2", special_tokens=["<e>"]).fit([text], progress=False)
    for end in (0, 3, 7, 10, 13):
        got = tok.encode_batch(text, [0, end], allowed_special="all")
        assert got.to_lists() == [tok.encode(text[:end], allowed_special="all").tolist()]


def test_refine_ties_keep_the_earlier_learned():
    tokens = Ragged.from_lists([[0], [1], [2], [3], [0, 1], [2, 3]])
    docs = Ragged.from_lists([[0, 1, 2, 3]] * 3)
    assert refine.worthiest(docs, tokens, 4, 1, 1).tolist() == [0]


def test_tiny_idf_against_the_reference():
    """The slack for rounding, and k/nbest.py: weights of a few units of 2**-24, long documents."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        size = 2
        pairs, lengths = [], [1] * size
        while len(pairs) < 8:
            a, b = (int(i) for i in rng.integers(0, len(lengths), 2))
            if (a, b) not in pairs and lengths[a] + lengths[b] < 12:
                pairs.append((a, b))
                lengths.append(lengths[a] + lengths[b])
        weights = (rng.integers(1, 40, len(pairs)) / 2**26).tolist()
        flat = decode.expand(pairs, size)
        tokens = {s: i for i, s in enumerate(flat)}
        idf = {size + i: w for i, w in enumerate(weights)}
        doc = rng.integers(0, 2, 40).tolist()
        enc = PathEncoder(Vocabulary.from_merges(size, pairs, weights))
        assert enc.encode(Ragged.from_lists([doc]), "tfidf", 1).to_lists()[0] == list(
            encode_paths.encode_top(doc, tokens, idf, 1)[0][0]
        )


def test_two_inactive_words_before_an_active_one():
    """Both longer words at a place are inactive."""
    s = SpecialTokens.from_user([[0, 1, 2, 3], [0, 1, 2], [0, 1], [0]], None, "int", 10)
    doc = np.array([0, 1, 2, 3, 0, 1, 2])
    for active, want in (([0, 0, 1, 1], [(0, 2), (4, 2)]), ([0, 0, 0, 1], [(0, 3), (4, 3)])):
        at, which = s.find(Documents(doc, np.array([0, 7]), "int"), np.array(active, bool))
        assert list(zip(at.tolist(), which.tolist(), strict=False)) == want


def test_more_of_one_token_than_the_table_of_logarithms_has():
    """4096 and more occurrences of a token."""
    v = Vocabulary.from_merges(2, [(0, 1)], [0.5])
    for n in (4094, 4095, 4096, 4097, 6000):
        found = PathEncoder(v).encode(Ragged.from_lists([[0, 1] * n]), "tfidf", 1)
        assert found.total == n
        _paths, weight = PathSearch(PathEncoder(v)).n_best(Ragged.from_lists([[0, 1] * n]), Options(1, 1), 1)[0]
        assert weight[0] * 2**24 == round(0.5 * 2**24 * (1 + math.log(n)))


def test_bytes_past_the_last_code_point():
    """F4 90 80 80 is four stray bytes."""
    for raw in (
        b"\xf4\x90\x80\x80",
        b"a\xf4\x90\x80\x80b",
        b" \xf4\xbf\xbf\xbf1",
        b"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80",
        b"A\xf4\xa0\x80\x80\xf4\xb0\x80\x80 x",
    ):
        for pattern in PATTERNS:
            v = np.frombuffer(raw, np.uint8)
            cuts = scan(v, np.array([0, v.size]), pattern, 1)
            assert [v[a:b].tobytes() for a, b in zip(cuts[:-1], cuts[1:], strict=True)] == reference.split(raw, pattern), (
                raw,
                pattern,
            )


def test_many_words_that_differ_by_a_final_nul():
    """A word and the same with NUL behind it have one key."""
    words = [w for i in range(40_000) for w in (b"%d" % i, b"%d\0" % i)]
    flat = np.frombuffer(b"".join(words), np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(w) for w in words])])
    counts = count_words(flat, np.array([0, flat.size]), offsets)
    assert len(counts) == len(words) and counts.to_lists() == words


def test_null_at_the_start_of_an_arrow_document():
    with pytest.raises(ValueError, match="document 1, position 0 is null"):
        as_documents(pa.array([[1, 2], [None, 3]], pa.list_(pa.int32())))


def test_a_stream_names_the_document_of_another_kind():
    with pytest.raises(TypeError, match=r"got integers \(document \d+\) and str \(document 65538\)"):
        as_documents(iter([[1]] * 65536 + [[1], [2], "a"]))


def test_weights_of_empty_documents():
    for docs, weights in (([[], []], [2**61, 2**61]), ([[], [1]], [2**62, 1])):
        with pytest.raises(ValueError, match="sample_weight"):
            BPE(9, alphabet=4).fit(docs, sample_weight=weights, progress=False)


def test_a_token_that_goes_on_behind_the_end_of_a_word():
    tok = BPE.from_merges([[0, 2], [3, 1]], alphabet="ab_")
    with pytest.raises(ValueError, match="goes on behind the end of a word"):
        tok.to_vocab_merges(end_of_word="_")


def test_arrays_of_several_dtypes_are_written_in_one_that_holds_all(tmp_path):
    write_documents(str(tmp_path / "x.npz"), Form(), [np.array([2**40]), np.array([1], np.int32)], None)
    assert np.load(tmp_path / "x.npz")["values"].tolist() == [2**40, 1]


def test_growing_results_stay_in_bounds(monkeypatch):
    """To run with NUMBA_BOUNDSCHECK=1; the room check of `out`."""
    rng = np.random.default_rng(3)
    docs = [rng.integers(0, 3, n) for n in (50, 0, 400, 7, 300)]
    tok = UBPE(60, 4, alphabet=3).fit(docs, progress=False)
    want = tok.encode_nbest_batch(docs, 7)
    monkeypatch.setattr(search, "_FIRST_IDS", 1)
    found = tok.encode_nbest_batch(docs, 7)
    assert found.candidates == want.candidates


def test_batch_rule_a_pair_waits_for_what_the_pass_creates():
    """The rank that shares a token with a taken one is not of the pass; nor with a later taken one."""
    one = BPE.from_merges([[0, 1], [3, 2], [2, 0]], alphabet=3).set_params(rules=FitRules(encode="batch"))
    assert one.encode([0, 1, 2, 0]).tolist() == [4, 0]
    two = BPE.from_merges([[3, 4], [0, 1], [6, 2], [2, 0]], alphabet=5).set_params(rules=FitRules(encode="batch"))
    assert two.encode([3, 4, 0, 1, 2, 0]).tolist() == [5, 7, 0]


def test_listed_special_tokens_go_round_ids_that_are_given():
    made = SpecialTokens.from_user(["<a>", "<b>"], {"END": 11}, "str", 10)
    assert made.ids.tolist() == [10, 12, 11]


def test_characters_that_are_no_alphabet_of_integers():
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    file = tok.to_huggingface().replace("\ue001", "\ue002")
    with pytest.raises(ModelFormatError, match="alphabet of integers"):
        BPE.from_huggingface(file, kind="int")


def test_ends_of_empty_documents():
    tok = BPE.from_merges([[0, 1]], alphabet=2)
    for docs in ([[], [2], []], [[2], [], [], [0]], [[], []]):
        assert tok.decode_batch(docs).to_lists() == [[s for t in d for s in ([0, 1] if t == 2 else [t])] for d in docs]
