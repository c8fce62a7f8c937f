"""What a report counts and draws: kinds of documents and ids, segmentations, documents at even distances, places of tokens."""

from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Preprocessing, export
from ubpe_numba.documents.read import as_documents, read_documents
from ubpe_numba.views.explorer import counts
from ubpe_numba.views.explorer.counts import (
    Cut,
    choose,
    cut_of,
    kind_of,
    kinds_of,
    segmentations_of,
    symbols_of,
)

OPTIONS = {"unknown": "raise", "allowed_special": "all", "disallowed_special": "none"}
TEXT = ["low lower<end> lowest", "", "Newer  newest, 低い\ud800", "wide wider widest <end>"]


def _places(cut: Cut, lengths: np.ndarray) -> list[list[tuple[int, int, int]]]:
    """Of each drawn document its tokens: id, start, length. As the page reads them."""
    found, k = [], 0
    for n in cut.per_document.tolist():
        doc, at = [], 0
        for i in range(k, k + n):
            at += 0 if cut.gaps is None else int(cut.gaps[i])
            width = int(lengths[cut.ids[i]]) if cut.widths is None else int(cut.widths[i])
            doc.append((int(cut.ids[i]), at, width))
            at += width
        found.append(doc)
        k += n
    return found


def _cases() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    rng = np.random.default_rng(0)
    ints = [rng.integers(0, 3, n) for n in (40, 0, 17, 90)]
    lower = BPE(
        60, alphabet="abcdefghijklmnopqrstuvwxyz <>,", preprocessing=Preprocessing(normalizer="Lowercase")
    )
    return {
        "integers": (UBPE(30, objective="shortest").fit(ints, progress=False), ints, {}),
        "special tokens": (
            BPE.for_text(280, special_tokens=["<end>"]).fit(["low lower"] * 3, progress=False),
            TEXT,
            {},
        ),
        "a normalizer": (lower.fit(["low lower"], progress=False), ["LOW lower", "", "Newer"], {}),
        "unknown symbols": (
            BPE(20).fit(["abcabc" * 3], progress=False),
            ["aΩbcabcΩ", "Ω", "abc"],
            {"unknown": "skip"},
        ),
    }


@each("name", ["integers", "special tokens", "a normalizer", "unknown symbols"])
def test_places_and_counts_are_those_of_the_library(name: str) -> None:
    tok, docs, more = _cases()[name]
    options = OPTIONS | more
    documents = read_documents(docs, None, tok._model.segmenter.encoding)
    cut = cut_of("own", tok, documents, np.arange(len(docs)), None, options)
    spans = tok.spans(docs, **options)
    expected: list[list[tuple[int, int, int]]] = [[] for _ in docs]
    for token, start, length, d in zip(*(part.tolist() for part in spans), strict=True):
        expected[d].append((token, start, length))
    size = cut.counts.size
    lengths = np.zeros(size, np.int64)
    lengths[: len(tok._model.vocabulary)] = np.diff(tok._model.vocabulary.offsets)
    assert _places(cut, lengths) == expected
    assert (
        cut.counts.tolist() == np.bincount(spans.ids, minlength=size).tolist()
        and cut.n_tokens == spans.ids.size
    )
    held = [
        len({d for d, doc in enumerate(expected) if any(token == t for token, _, _ in doc)})
        for t in range(size)
    ]
    assert cut.document_frequencies.tolist() == held


@each("most", [3, 25, 60])
def test_of_some_documents_the_tokens_are_those_of_the_whole(most: int) -> None:
    tok, docs, _ = _cases()["integers"]
    documents = read_documents(docs, None, None)
    drawn, limit = choose(np.diff(documents.offsets), most)
    cut = cut_of("own", tok, documents, drawn, limit, OPTIONS)
    whole = cut_of("own", tok, documents, np.arange(len(docs)), None, OPTIONS)
    lengths = np.diff(tok._model.vocabulary.offsets)
    all_places = _places(whole, lengths)
    expected = [all_places[i] for i in drawn.tolist()]
    if limit is not None:
        expected = [[place for place in expected[0] if place[1] + place[2] <= limit]]
    assert _places(cut, lengths) == expected and cut.counts.tolist() == whole.counts.tolist()


def test_the_beginning_of_a_document_with_special_tokens() -> None:
    tok, _, _ = _cases()["special tokens"]
    doc = "low lower<end>" * 9
    cut = cut_of("own", tok, read_documents([doc], None, "utf-8"), np.array([0]), 20, OPTIONS)
    spans = tok.spans([doc], **OPTIONS)
    assert (
        cut.ids.tolist() == spans.ids[spans.starts + spans.lengths <= 20].tolist()
        and cut.n_tokens == spans.ids.size
    )


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 200))
def test_what_is_drawn_fits(lengths: list[int], most: int) -> None:
    sizes = np.array(lengths, np.int64)
    indices, limit = choose(sizes, most)
    assert (np.diff(indices) > 0).all()
    if sizes.sum() <= most:
        assert indices.tolist() == list(range(sizes.size)) and limit is None
    elif limit is None:
        assert 0 < sizes[indices].sum() <= most
    else:
        assert limit == most and indices.size == 1 and sizes[indices[0]] > most


@each("docs, kind", [
    (["GATTACA\n", "nnACGU"], "dna"), (["A cat"], "text"), (["低い"], "text"), ([b"plain text\n"], "text"), ([""], "text"),
    ([bytes(range(256)) * 4], "signal"), ([[65, 67]], "signal"), ([], "signal"),
])  # fmt: skip
def test_the_kind_is_told_by_the_documents(docs: Any, kind: str) -> None:
    assert kind_of("auto", as_documents(docs)) == kind and kind_of("notes", as_documents(docs)) == "notes"


def test_letters_and_pitches() -> None:
    found = symbols_of("text", np.array([1, 5]), letters={1: "one ", 5: "five "})
    assert found is not None and found.labels == ["one ", "five "] and found.levels is None
    found = symbols_of("notes", np.array([0, 1, 2]), pitches=[60, None, 64.5])
    assert found is not None and found.levels is not None and found.labels == ["0", "1", "2"]
    assert found.levels.tolist()[::2] == [60.0, 64.5] and np.isnan(found.levels[1])


def test_integers_beyond_float64_keep_their_digits() -> None:
    found = symbols_of("signal", np.array([2**62, 2**62 + 3]))
    assert found is not None and found.labels == [str(2**62), str(2**62 + 3)] and found.base == str(2**62)
    assert found.levels is not None and found.levels.tolist() == [0.0, 3.0]


@each("arguments, error, says", [
    (("signal", [1], "ab"), ValueError, "letters: they are for kind='text' and 'dna'"),
    (("text", [1], None, [60]), ValueError, "pitches: they are for kind='notes'"),
    (("text", [7], "ab"), ValueError, "letters: nothing for the symbol 7"),
    (("text", [0], [3]), TypeError, "letters: expected str for each symbol, got 3"),
    (("text", [0], 3), TypeError, "letters: expected a sequence or a mapping"),
    (("notes", [0], None, [float("inf")]), ValueError, "pitches: expected a number within"),
    (("notes", [0], None, ["c"]), TypeError, "pitches: expected a number or None for the symbol 0"),
])  # fmt: skip
def test_errors_name_the_argument(arguments: Any, error: Any, says: str) -> None:
    kind, used, *rest = arguments
    refuses(error, says.replace("(", r"\("), symbols_of, kind, np.array(used), *rest)


INTS = [[1, 2, 3, 1, 2, 3, 1, 2], [3, 1, 2], [2, 2, 1]] * 4


def test_its_own_comes_first_then_all_that_the_vocabulary_allows() -> None:
    tok = UBPE(12, objective="shortest").fit(INTS, progress=False)
    assert (
        list(segmentations_of(tok)) == ["shortest", "rank", "tfidf"]
        and segmentations_of(tok)["shortest"] is tok
    )
    assert list(segmentations_of(BPE(12).fit(INTS, progress=False)))[:2] == ["rank", "shortest"]
    likely = UBPE(12, objective="likelihood").fit(INTS, progress=False)
    assert list(segmentations_of(likely)) == ["likelihood", "rank", "shortest", "tfidf"]
    assert "rank" not in segmentations_of(tok.refine(INTS, progress=False))
    assert list(segmentations_of(BPE.from_merges([[0, 1]], alphabet="ab"))) == ["rank", "shortest"]
    tok = UBPE(12, objective="shortest").fit(INTS, progress=False)
    assert list(segmentations_of(tok, ["rank", "shortest", "rank"])) == ["rank", "shortest"]
    assert list(segmentations_of(tok, "rank")) == ["rank"]


def test_segmentations_that_there_are_not_are_refused() -> None:
    tok = UBPE(12, objective="shortest").fit(INTS, progress=False)
    for names in ("other", ["shortest", "other"], []):
        refuses(ValueError, "^segmentations: ", segmentations_of, tok, names)
    refuses(TypeError, "^segmentations: expected names of objectives, got 3", segmentations_of, tok, [3])
    flat = tok.refine(INTS, progress=False)
    refuses(ValueError, "^segmentations: ", segmentations_of, flat, ["rank"])


def test_kinds_of_ids() -> None:
    text = "low lower lowest new newer newest wide wider widest " * 3
    plain = BPE.for_text(290, pretokenizer="gpt2").fit([text], progress=False)
    for tok in (
        plain,
        BPE.for_text(290, special_tokens=["<é>", "<end>"]).fit([text], progress=False),
        BPE(40, preprocessing=Preprocessing(special_tokens=["<é>"])).fit([text], progress=False),
        UBPE(12, objective="shortest").fit(INTS, progress=False),
        # ids of their own
        BPE.load(export(plain, "tiktoken"), pretokenizer="gpt2", special_tokens={"<end>": 300}),
    ):
        v, model = tok.vocabulary, tok._model.vocabulary
        kinds = kinds_of(v)
        assert len(v) == kinds.size == tok.usage([]).counts.size
        assert set(np.flatnonzero(kinds == counts.SPECIAL).tolist()) == set(v.special.values())
        assert [token is None for token in v] == (kinds == counts.GAP).tolist()
        assert (kinds == counts.SYMBOL).sum() == model.n_alphabet and (
            kinds == counts.LEARNED
        ).sum() == model.n_learned
