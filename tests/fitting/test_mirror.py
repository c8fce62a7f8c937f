"""Documents that count together with their mirrors: the fit against the plain reference, and encodings that are mirrored."""

import json
import pathlib
import pickle
from typing import Any

import numpy as np
from fit_cases import CLASSES, LENGTHS, in_package, make, marked, merges
from fitting.test_fit import WAYS, Marked, Way, made_so
from hypothesis import example, given, strategies as st
from reference import fit as reference
from tables import refused, refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, UBPEClassic, export, load
from ubpe_numba.errors import ModelFormatError

DNA = Preprocessing(mirror={"A": "T", "C": "G"})


def other_strand(text: str) -> str:
    return text[::-1].translate(str.maketrans("ACGT", "TGCA"))


@st.composite
def mirrors(draw: st.DrawFn) -> tuple[Marked, list[int]]:
    """Documents with what may go with them, and the mirror of each symbol: some are their own."""
    corpus = draw(marked())
    mirror = list(range(corpus[1]))
    order = draw(st.permutations(mirror[:8]))
    for a, b in list(zip(order[::2], order[1::2], strict=False))[: draw(st.integers(0, 4))]:
        mirror[a], mirror[b] = b, a
    return corpus, mirror


def symmetric(mirror: list[int]) -> Preprocessing:
    return Preprocessing(mirror=dict(enumerate(mirror)))


PLAIN: dict[str, Any] = {"weights": None, "boundaries": None}


@given(
    mirrors(), LENGTHS, st.integers(0, 60), st.sampled_from([1, 2, 5, 50]), st.sampled_from([1, 2, 3]), st.sampled_from(CLASSES),
    st.lists(WAYS, min_size=1, max_size=2),
)  # fmt: skip
@example((([[0, 1, 1, 0, 1, 1, 0]], 2, PLAIN), [0, 1]), None, 9, 1, 1, BPE, [Way(2, 10**9), Way(3, 10**9, 0)])
@example(
    (([[0, 1, 0, 1, 1, 0] * 3], 2, PLAIN), [1, 0]), None, 9, 1, 1, BPE, [Way(2, 10**9), Way(3, 10**9, 0, 0)]
)
# no room for the second
@example((([[2, 2, 2, 2], [0, 1]], 3, PLAIN), [0, 1, 2]), None, 2, 2, 1, UBPEClassic, [Way(first=0)])
@example(
    (([[0, 0, 0, 1, 1, 1, 0, 0], [1, 0, 1]], 2, PLAIN), [1, 0]), None, 12, 5, 1, UBPEClassic, [Way(2, 10**9)]
)
@example((([[1, 0, 0, 0], [0, 0, 0, 1]], 2, PLAIN), [0, 1]), None, 1, 1, 1, BPE, [Way(first=0)])
def test_fits_equal_the_reference(
    case: tuple[Marked, list[int]],
    longest: int | None,
    more: int,
    n_candidates: int,
    min_count: int,
    cls: Any,
    ways: list[Way],
) -> None:
    """For any number of shards; continued in the middle, too, it is one longer fit."""
    (docs, size, marks), mirror = case
    n_candidates = 1 if cls is BPE else n_candidates
    rules = FitRules(min_count=min_count, max_token_length=longest)
    given = docs, mirror, size + more, n_candidates, min_count
    expected, corpus = reference.fit_mirrored(*given, **marks, max_token_length=longest)
    params = {"alphabet": size, "rules": rules, "preprocessing": symmetric(mirror)}
    for way in [Way(), *ways]:
        with made_so(way):
            tok = make(cls, size + min(way.first, more), n_candidates, **params).fit(
                docs, **in_package(marks)
            )
            if way.first < more:
                tok.fit_more(docs, size + more, **in_package(marks))
        assert merges(tok) == expected
    table = tok.vocabulary
    assert np.array_equal(table.mirror[table.mirror], np.arange(len(table)))
    for token, other in enumerate(table.mirror.tolist()):
        assert table[token].tolist() == [mirror[s] for s in reversed(table[other].tolist())]
        for values in (table.counts, table.document_frequencies, table.occurrences, table.weights):
            assert values[token] == values[other]
    if marks["weights"] is None:
        if cls is BPE and marks["boundaries"] is None:
            for doc, ids, after in zip(docs, tok.encode_batch(docs).to_lists(), corpus, strict=True):
                # read the other way, odd runs of a symbol that is its own mirror differ
                assert doc > [mirror[s] for s in reversed(doc)] or ids == after
        assert tok.history_.lengths[-1:].tolist() == [2 * sum(map(len, corpus))] * bool(expected)


@given(
    mirrors(),
    st.sampled_from(["rank", "shortest", "additive", "tfidf", "likelihood", "sentencepiece"]),
    st.booleans(),
)
def test_the_encoding_of_a_mirrored_document_is_the_mirrored_encoding(
    case: tuple[Marked, list[int]], objective: str, breaks: bool
) -> None:
    (docs, size, _), mirror = case
    parts = Preprocessing(mirror=dict(enumerate(mirror)), break_tokens=[0, mirror[0]] if breaks else None)
    tok: Any = UBPE(size + 40, 5, alphabet=size, objective="shortest", preprocessing=parts).fit(
        docs, progress=False
    )
    tok = tok.with_objective(objective)
    turned = [[mirror[s] for s in reversed(doc)] for doc in docs]
    of = tok.vocabulary.mirror
    for doc, other in zip(docs, turned, strict=True):
        ids, back = tok.encode(doc), tok.encode(other)
        assert tok.decode(ids).tolist() == doc
        assert doc == other or of[back][::-1].tolist() == ids.tolist()
    batch = tok.encode_batch(docs)
    assert (
        batch.to_lists() == [tok.encode(doc).tolist() for doc in docs]
        and tok.count(docs).tolist() == batch.lengths.tolist()
    )
    spans = tok.spans(docs)
    assert spans.lengths.sum() == sum(map(len, docs)) or not docs


def test_documents_much_longer_than_others_are_turned_by_themselves() -> None:
    rng = np.random.default_rng(3)
    docs = ["".join(rng.choice(list("ACGT"), n)) for n in (3000, 3, 0, 700, 1, 4097)] + [
        "ACGT" * 2000 + "A",
        "AT" * 3000,
    ]
    tok = BPE(40, alphabet="ACGT", preprocessing=DNA).fit(docs)
    ids, back = tok.encode_batch(docs), tok.encode_batch([other_strand(doc) for doc in docs])
    # the last is its own mirror
    for one, other in list(zip(ids.to_lists(), back.to_lists(), strict=True))[:-1]:
        assert tok.vocabulary.mirror[other][::-1].tolist() == one
    assert tok.decode_batch(ids) == docs


def test_a_mirror_is_kept(tmp_path: pathlib.Path) -> None:
    """In files and pickles, by other objectives, and in shorter vocabularies, which stay closed."""
    docs = ["GATTACAGATTACA", "TGTAATCTTT", "ACCGT" * 9]
    tok = BPE(
        30,
        alphabet="ACGT",
        preprocessing=Preprocessing(special_tokens=["<s>"], special_first=True, mirror=DNA.mirror),
    )
    assert tok.fit(docs).vocabulary.mirror[0] == 0
    for suffix in ("json", "npz"):
        tok.save(tmp_path / f"model.{suffix}")
        again: Any = load(tmp_path / f"model.{suffix}")
        assert again == tok and again.preprocessing == tok.preprocessing
        assert (
            again.fit_more(docs, 34).fingerprint
            == pickle.loads(pickle.dumps(tok)).fit_more(docs, 34).fingerprint
        )
    assert (
        BPE(30, alphabet="ACGT").fit(docs).fingerprint
        != BPE(30, alphabet="ACGT", preprocessing=DNA).fit(docs).fingerprint
    )
    sizes = {len(tok.truncate(n).vocabulary) for n in range(4, 31)}
    assert len(sizes) < 27 and all(tok.truncate(n).encode(doc).size for n in range(4, 31) for doc in docs)
    state = json.loads((tmp_path / "model.json").read_text())
    state["text"]["mirror"] = [["A", "C"], ["C", "A"]]
    (tmp_path / "other.json").write_text(json.dumps(state))
    refuses(ModelFormatError, "mirror: the token", lambda: load(tmp_path / "other.json"))
    steps = [[("up", 1), "stay", ("down", 1), ("up", 1)]] * 2
    words = BPE(9, preprocessing=Preprocessing(mirror={("up", 1): ("down", 1)})).fit(steps)
    words.save(tmp_path / "words.json")
    assert load(tmp_path / "words.json") == words


def test_what_has_no_mirror_is_refused_by_name() -> None:
    docs, plain = ["GATTACA" * 3, "TTTAAACC"], Preprocessing
    tok = BPE(12, alphabet="ACGT", preprocessing=DNA).fit(docs)
    best = tok.with_objective("shortest")

    def fit(**params: Any) -> Any:
        return UBPE(12, **{"alphabet": "ACGT", "preprocessing": DNA, "objective": "shortest", **params}).fit(
            docs
        )

    refused([
        (lambda: plain(mirror=["A"]), TypeError, r"^mirror: expected a mapping of symbols, such as"),
        (lambda: plain(mirror={"A": "T", "T": "C"}), ValueError, r"^mirror: 'T' has two, 'A' and 'C'"),
        (lambda: plain("gpt2", mirror={}), ValueError, r"^mirror: .* pretokenizer cuts or changes"),
        (lambda: fit(preprocessing=plain(mirror={"A": "U"})), ValueError, r"^mirror: 'A' is .* 'U' is not; give alphabet="),
        (lambda: fit(preprocessing=plain(mirror={"a": "t", "c": "g"})), ValueError, r"^mirror: expected symbols of the doc"),
        (lambda: fit(preprocessing=plain(mirror={0: "T"})), TypeError, r"^mirror: expected symbols as documents have them"),
        (lambda: fit(alphabet={"A": 0, "C": 0, "G": 1, "T": 2}), ValueError, r"^mirror: symbols of one id"),
        (lambda: fit(preprocessing=plain(mirror=DNA.mirror, break_tokens="A")), ValueError, r"^break_tokens: the mirror of"),
        (lambda: fit(rules=FitRules(ties="first_seen")), ValueError, r"^rules: ties='first_seen': a fit with a mirror"),
        (lambda: fit(rules=FitRules(order="idf")), ValueError, r"^rules: order='idf': a fit with a mirror"),
        (lambda: fit(objective="likelihood"), ValueError, r"^objective: probabilities are estimated"),
        (lambda: BPE(12, alphabet="ACGT", preprocessing=DNA).fit(docs, frame=3), ValueError, r"^frame: with a mirror"),
        (lambda: tok.truncate(9, by="idf"), ValueError, r"^by: tokens of frames, or with mirrors, leave"),
        (lambda: tok.encode("A", sample=0.5), ValueError, r"^sample: with a mirror"),
        (lambda: tok.stream(), ValueError, r"^frame: expected a number of symbols, got None\. A tokenizer with a mirror"),
        (lambda: tok.kernels, ValueError, r"^kernels: .*a mirror"),
        (lambda: export(tok, "tokenizer.json"), ValueError, r"^mirror: other libraries cannot encode"),
        (lambda: best.encode_nbest(docs, 2), ValueError, r"^encode_nbest: .*a mirror ranks no"),
        (lambda: best.refine(docs), ValueError, r"^refine: a token and its mirror would"),
        (lambda: best.reweight(docs), ValueError, r"^reweight: a token and its mirror would"),
        (lambda: BPE.from_merges([[0, 1]], "ACGT", preprocessing=DNA), ValueError, "^mirror: the token 4, the pair"),
        (lambda: UBPE.load(export(best, "ubpe")), ValueError, r"^mirror: other libraries"),
    ])  # fmt: skip
    assert [ids.tolist() for ids in tok.encode_iter(docs)] == tok.encode_batch(docs).to_lists()
    frames = tok.stream(frame=7).over(docs)
    parts = ["".join(docs)[i : i + 7] for i in range(0, 29, 7)]
    assert np.concatenate(list(frames)).tolist() == tok.encode_batch(parts).values.tolist()
