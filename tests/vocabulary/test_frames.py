"""Tokens that keep to frames: every way to encode against the plain references, files, streams, and what is refused."""

import itertools
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import encode_paths, fit
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Scale, export, load
from ubpe_numba.errors import ModelFormatError

MATCHES = encode_paths.matches


@st.composite
def framed(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    """Documents of some frames that come again and again, and the size of a frame."""
    size = draw(st.sampled_from([2, 3, 4, 5]))
    frame = st.lists(st.integers(0, 2), min_size=size, max_size=size)
    motifs = draw(st.lists(frame, min_size=1, max_size=4))
    rest = st.lists(st.integers(0, 2), max_size=size - 1)
    document = st.tuples(st.lists(st.sampled_from(motifs) | frame, max_size=14), rest).map(
        lambda d: [*itertools.chain(*d[0]), *d[1]]
    )
    return size, draw(st.lists(document, min_size=2, max_size=6))


def keeps(start: int, end: int, size: int) -> bool:
    return start // size == (end - 1) // size or start % size == end % size == 0


def check_places(tok: Any, docs: list[list[int]], size: int, **options: Any) -> None:
    ids, starts = tok.encode_batch(docs, return_offsets=True, **options)
    assert tok.decode_batch(ids).to_lists() == docs
    for doc, begins in zip(docs, starts.to_lists(), strict=True):
        assert all(keeps(*span, size) for span in zip(begins, [*begins, len(doc)][1:], strict=True))


@given(framed(), framed(), st.integers(1, 9))
def test_encodings_equal_the_references(
    learned: tuple[int, list[list[int]]], other: tuple[int, list[list[int]]], chunk: int
) -> None:
    """By rank, continued and saved too, and by each objective, whose paths have only edges that keep to frames."""
    (size, docs), more = learned, [*learned[1][:2], *other[1]]
    tok = BPE(20, alphabet=3).fit(docs, frame=size)
    merges = tok._model.vocabulary.merges.tolist()
    want = fit.fit(more, 3, 0, old=merges, frame=size)[1]
    assert tok.encode_batch(more).to_lists() == want == [tok.encode(doc).tolist() for doc in more]
    assert pickle.loads(pickle.dumps(tok)).count(more).tolist() == [*map(len, want)]
    check_places(tok, more, size, sample=0.3, seed=1)
    text = [symbol for doc in more for symbol in doc]
    parts = tok.stream().over(text[i : i + chunk] for i in range(0, len(text), chunk))
    assert np.concatenate([np.zeros(0, int), *parts]).tolist() == tok.encode(text).tolist()
    assert BPE.from_merges(merges, 3) != tok  # which has no frames
    vocabulary = {tuple(token.tolist()): t for t, token in enumerate(tok._model.vocabulary)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            encode_paths,
            "matches",
            lambda doc, a, v: [(t, b) for t, b in MATCHES(doc, a, v) if keeps(a, b, size)],
        )
        weights = dict(enumerate(tok._model.vocabulary.weights.tolist()))
        for objective in ("shortest", "additive"):
            path = tok.with_objective(objective)
            assert path.encode_batch(more).to_lists() == [
                [*encode_paths.encode(d, vocabulary, weights, objective)] for d in more
            ]
        if any(weights.values()):
            found = tok.with_objective("tfidf").encode_batch(more).to_lists()
            assert found == [[*encode_paths.encode_nbest(doc, vocabulary, weights)[0][0]] for doc in more]
        longest = tok.with_objective("longest").encode_batch(more).to_lists()
        assert longest == [[*encode_paths.longest_first(d, vocabulary)] for d in more]
        likely = tok.with_objective("shortest").reweight(docs)
        logs = dict(enumerate(likely._model.vocabulary.log_probabilities.tolist()))
        for objective, single in (("sentencepiece", True), ("tokenizers", False)):
            scores = {t: float(np.float32(x)) if single else x for t, x in logs.items()}
            forward = [[*encode_paths.encode_forward(doc, vocabulary, scores, single)] for doc in more]
            assert likely.with_objective(objective).encode_batch(more).to_lists() == forward
        check_places(likely, more, size, sample=0.5, seed=1)


def test_probabilities_are_those_of_segmentations_that_keep_to_frames() -> None:
    docs = [[0, 1, 2, 0, 1, 0], [1, 2, 0, 1], [0, 1, 2, 0, 0, 1]]
    tok = UBPE(9, 1, alphabet=3, objective="shortest").fit(docs, frame=2)
    vocabulary = {tuple(token.tolist()): t for t, token in enumerate(tok._model.vocabulary)}
    begun = Counter(int(i) for i in tok.encode_batch(docs).values)
    p = np.maximum([begun[t] for t in range(len(vocabulary))], 2.0**-10)
    p /= p.sum()
    expected = np.zeros(p.size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            encode_paths,
            "matches",
            lambda doc, a, v: [(t, b) for t, b in MATCHES(doc, a, v) if keeps(a, b, 2)],
        )
        for doc in docs:
            paths = [*encode_paths.all_paths(doc, vocabulary)]
            shares = np.array([p[list(path)].prod() for path in paths])
            for path, share in zip(paths, shares / shares.sum(), strict=True):
                np.add.at(expected, list(path), share)
    found = np.exp(tok.reweight(docs, "likelihood", n_rounds=1)._model.vocabulary.log_probabilities)
    np.testing.assert_allclose(
        found, np.maximum(expected, 2.0**-10) / np.maximum(expected, 2.0**-10).sum(), rtol=1e-6
    )


def test_channels_of_a_recording_stay_together(tmp_path: Path) -> None:
    """Eleven channels: many tokens of several instants, none from within one to within another; files and parts of it too."""
    rng = np.random.default_rng(0)
    waves = rng.normal(0, 0.01, (4000, 11)) + np.sign(
        np.sin(np.arange(4000)[:, None] / (40 + 7 * np.arange(11)))
    )
    scale = Scale(levels=4, channels="separate")
    symbols = scale.fit_transform(waves)
    tok = BPE(600, alphabet=scale.n_symbols).fit(symbols.ravel(), frame=11)
    spans = tok.spans([symbols.ravel()])
    ends = spans.starts + spans.lengths
    assert ((spans.starts // 11 == (ends - 1) // 11) | (spans.starts % 11 + ends % 11 == 0)).all()
    assert (spans.lengths > 11).sum() > 50
    whole = tok.encode(symbols.ravel())
    for name in ("model.json", "model.npz"):
        tok.save(tmp_path / name)
        again = load(tmp_path / name)
        assert again == tok and again.encode(symbols.ravel()).tolist() == whole.tolist()
    assert tok.encode(symbols.ravel(), boundaries=[11 * 100]).size <= whole.size + 1
    assert tok.truncate(500).encode(symbols.ravel()).size > whole.size
    assert load(tmp_path / "model.npz").fit_more(symbols.ravel(), 700)._model.segmenter.frame == 11
    assert BPE(600, alphabet=scale.n_symbols).fit(symbols.ravel(), frame=1)._model.segmenter.frame == 0
    assert (
        sum(part.size for part in tok.stream(frame=22).over(np.split(symbols.ravel(), [50, 333])))
        >= whole.size
    )
    parts = [*tok.stream().over(np.split(symbols.ravel(), range(1000, 44_000, 1000)))]
    assert np.concatenate(parts).tolist() == whole.tolist() and len(parts) > 20
    other = (tmp_path / "model.json").read_text().replace('"frame": 11', '"frame": 7')
    refuses(
        ModelFormatError,
        "the token [0-9]+ is neither part of a frame of 7 symbols nor whole frames",
        load,
        other,
    )


DOCS = [[0, 1, 0, 1, 2], [0, 1, 0, 1]]


@each("call, words", [
    (lambda t: BPE(5).fit(DOCS, frame=0), "frame: expected at least 1, got 0"),
    (lambda t: BPE(5).fit(DOCS, frame=2, boundaries=[[1], []]), "document 0: position 1 is inside a frame of 2 symbols"),
    (lambda t: BPE(5, rules=FitRules(order="idf")).fit(DOCS, frame=2), "order='idf' changes the order of merges"),
    (lambda t: BPE(5, preprocessing=Preprocessing(break_tokens=[2])).fit(DOCS, frame=2), "in documents that are cut"),
    (lambda t: t.encode([0, 1, 0], boundaries=[1]), "document 0: position 1 is inside a frame of 2 symbols"),
    (lambda t: t.encode([0, 1, 9], unknown="skip"), "others are no longer in their frames; expected 'raise', 'nearest'"),
    (lambda t: t.stream(unknown="skip"), "others are no longer in their frames"),
    (lambda t: t.count([[0, 1, 9]], unknown="skip"), "others are no longer in their frames"),
    (lambda t: t.stream(frame=3), "frame: expected a multiple of 2, the frame of the tokenizer, got 3"),
    (lambda t: t.truncate(4, by="idf"), "tokens of frames, or with mirrors, leave as they came"),
    (lambda t: t.kernels, "special or break tokens, frames"),
    (lambda t: t.explore(DOCS), "the report knows no tokens that keep to frames"),
    (lambda t: export(t, "ubpe"), "'ubpe' has no frames, and would encode to other ids; save"),
    (lambda t: t.with_objective("shortest").encode_nbest(DOCS, 2), "encode_nbest: segmentations into tokens of frames"),
    (lambda t: t.with_objective("shortest").refine(DOCS), "refine: the search knows no frames"),
])  # fmt: skip
def test_what_does_not_keep_to_frames_is_refused(call: Any, words: str) -> None:
    refuses(ValueError, words, lambda: call(BPE(5).fit(DOCS, frame=2)))
