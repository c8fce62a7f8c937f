"""Break and stop tokens: every one a token of its own, in fits and in encodings, however documents are given."""

import functools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference.reserved import parts_at
from tables import each, refuses

from ubpe_numba import BPE, UBPE, Counts, FitRules, Preprocessing, UBPEClassic, export
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import ModelFormatError, UnknownSymbolError
from ubpe_numba.vocabulary.reserved import BREAK, STOP, Reserved

pytestmark = pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")  # few documents, or all alike
documents = st.lists(st.lists(st.integers(0, 4), max_size=30), min_size=1, max_size=5)
lone = st.sets(st.integers(0, 4), max_size=3).map(sorted)
OBJECTIVES = ["tfidf", "shortest", "likelihood", "sentencepiece"]


def bounds(docs: list[list[int]], alone: list[int]) -> list[list[int]]:
    """The places before and behind each symbol that stands alone."""
    return [[p for i, s in enumerate(doc) if s in alone for p in (i, i + 1)] for doc in docs]


@given(documents, lone, lone)
def test_cuts_equal_reference(docs: list[list[int]], breaks: list[int], stops: list[int]) -> None:
    found = Reserved.from_user(None, None, "int", None, breaks=breaks, stops=stops)
    if found is None:
        assert not breaks and not stops
        return
    assert sorted(found.symbols(BREAK | STOP).tolist()) == sorted({*breaks, *stops})
    # documents may be part of an array
    flat = np.array([9, *(s for doc in docs for s in doc), 0, 1], np.int64)
    offsets = 1 + np.cumsum([0, *map(len, docs)])
    cuts = found.cuts(flat, offsets, BREAK | STOP)
    want = [p for doc in docs for p in parts_at(doc, {*breaks, *stops})]
    lengths = np.diff(cuts).tolist()
    assert [flat[a : a + n].tolist() for a, n in zip(cuts.tolist(), lengths, strict=False)] == want
    assert set(offsets.tolist()) <= set(cuts.tolist())


def corpus(seed: int = 0, n: int = 30) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 5, rng.integers(0, 60)).tolist() for _ in range(n)] + [[], [0], [0, 0], [1, 0]]


@each("name", ["break_tokens", "stop_tokens"])
def test_a_fit_is_one_with_boundaries(cls: Any, name: str) -> None:
    """The same merges, idf and fingerprint of the vocabulary, with weights of documents and as Counts too."""
    docs = corpus()
    weights = [1 + i % 3 for i in range(len(docs))]

    def fitted(*given: Any, n: int = 40, **options: Any) -> Any:
        return cls(n, alphabet=5, preprocessing=Preprocessing(**{name: [0, 3]})).fit(*given, **options)

    tok, want = fitted(docs), cls(40, alphabet=5).fit(docs, boundaries=bounds(docs, [0, 3]))
    v = tok._model.vocabulary
    assert v == want._model.vocabulary and v.fingerprint == want._model.vocabulary.fingerprint
    assert not {0, 3} & {s for t in range(5, len(v)) for s in v.sequence(t).tolist()}
    weighed = fitted(docs, sample_weight=weights)._model.vocabulary
    assert (
        weighed
        == cls(40, alphabet=5)
        .fit(docs, sample_weight=weights, boundaries=bounds(docs, [0, 3]))
        ._model.vocabulary
    )
    assert weighed == fitted(Counts.of(as_documents(docs), np.array(weights)))._model.vocabulary
    if cls is BPE:
        assert fitted(docs, n=30).fit_more(docs, 40)._model.vocabulary.fingerprint == v.fingerprint


def by_parts(tok: Any, doc: list[int], alone: list[int]) -> list[int]:
    """What a tokenizer that knows of no such symbols makes of the parts."""
    return [
        i for part in parts_at(doc, alone) for i in (part if len(part) == 1 else tok.encode(part).tolist())
    ]


@functools.cache
def plain_ones(fitted_so: bool) -> list[tuple[Any, dict[str, Any], Any]]:
    """Of every kind, over five symbols, without symbols that stand alone; `fitted_so`: no token holds these."""
    docs, kinds = (
        corpus(1),
        [(BPE, {}), (UBPEClassic, {"n_candidates": 4}), (UBPEClassic, {"rules": FitRules(encode="batch")})],
    )
    kinds += [(UBPE, {"n_candidates": 4, "objective": name}) for name in OBJECTIVES]
    cuts = bounds(docs, [0, 3]) if fitted_so else None
    return [
        (cls, options, cls(40, alphabet=5, **options).fit(docs, boundaries=cuts)) for cls, options in kinds
    ]


def tokenizers(**params: Any) -> list[Any]:
    """Tokenizers whose vocabularies hold symbols that stand alone, or not, and those without such symbols."""
    made = []
    for cls, options, plain in (*plain_ones(True), *plain_ones(False)):
        tok = cls(40, alphabet=5, preprocessing=Preprocessing(**params), **options)
        tok._adopt(plain._model._replace(segmenter=tok._segmenter("int", 40)))
        made.append((tok, plain))
    return made


def test_encodings_are_those_of_the_parts() -> None:
    """By every encoder, one document and many, short and long, with starts, unknown symbols, streams and on threads."""
    docs = [*corpus(2), np.random.default_rng(3).integers(0, 5, 9000).tolist()]
    for tok, plain in tokenizers(break_tokens=[3], stop_tokens=[0]):
        want = [by_parts(plain, doc, [0, 3]) for doc in docs]
        for _ in range(2):  # the second time by what is made for short documents
            assert [tok.encode(doc).tolist() for doc in docs] == want
        assert (
            tok.encode_batch(docs).to_lists() == want
            and [ids.tolist() for ids in tok.encode_iter(docs, batch=50)] == want
        )
        assert [tok.decode(ids).tolist() for ids in want] == docs
        ids, starts = tok.encode(docs[0], return_offsets=True)
        alone = [docs[0][a] for a, i in zip(starts.tolist(), ids.tolist(), strict=True) if i in (0, 3)]
        assert alone == [s for s in docs[0] if s in (0, 3)]
        assert tok.encode([1, 9, 2], unknown="skip").tolist() == by_parts(plain, [1, 2], [0, 3])
        refuses(UnknownSymbolError, "position 2", tok.encode, [0, 1, 9])
        frames = [i for a in range(0, 9000, 1000) for i in by_parts(plain, docs[-1][a : a + 1000], [0, 3])]
        assert np.concatenate(list(tok.stream(frame=1000).over([docs[-1]]))).tolist() == frames


def test_streams_without_frames_are_certain_where_no_token_holds_a_symbol() -> None:
    doc = np.random.default_rng(3).integers(0, 5, 3000).tolist()
    (inside, _), *_, = tokenizers(break_tokens=[0, 3])  # fmt: skip
    assert (
        np.concatenate(list(inside.stream().over([doc[:1000], doc[1000:]]))).tolist()
        == inside.encode(doc).tolist()
    )
    across = BPE.from_merges([[0, 1]], alphabet=3, preprocessing=Preprocessing(break_tokens=[1]))
    assert across.encode([0, 1, 0, 2]).tolist() == [0, 1, 0, 2]
    refuses(ValueError, "frame: expected", lambda: across.stream().over([[0, 1]]))


def test_samples_and_dropout_never_cross() -> None:
    doc = corpus(4)[3] * 4
    for tok in (
        tok for tok, _ in tokenizers(break_tokens=[0, 3]) if isinstance(tok, UBPE) or tok.rules is None
    ):
        for ids in [tok.encode(doc, sample=0.3, seed=seed) for seed in range(5)]:
            assert tok.decode(ids).tolist() == doc
            assert [i for i in ids.tolist() if i in (0, 3)] == [s for s in doc if s in (0, 3)]


def test_the_n_best_by_sums_are_those_without_tokens_that_cross() -> None:
    for tok, plain in tokenizers(break_tokens=[0, 3])[:7]:
        if isinstance(tok, UBPE) and tok.objective != "tfidf":
            got, weights = tok.encode_nbest([[1, 2, 1, 0, 2, 1]], 5)[0]
            want, others = plain.encode_nbest([[1, 2, 1, 0, 2, 1]], 5)[0]
            assert got.to_lists() == want.to_lists() and weights.tolist() == others.tolist()
    for tok, _ in tokenizers(break_tokens=[0, 3])[7:]:
        if isinstance(tok, UBPE):
            refuses(ValueError, "encode_nbest: a tokenizer with a pattern", tok.encode_nbest, [[1, 0, 1]], 2)


TEXT = "one|two, three|four\none|two, three|| 低い|低い\n" * 3


@each("pretokenizer", [None, "gpt2", "cl100k", "o200k", "whitespace", r"[^,]+"])
@each("special", [None, ["<e>"]])
def test_no_token_of_text_holds_a_lone_symbol_and_others(pretokenizer: Any, special: Any) -> None:
    """Break tokens cut before the pattern, which sees stop tokens; special tokens, offsets, batches, a clone."""
    docs = [TEXT, TEXT[5:40], "", "|", "\n", "<e>" if special else "e", "a|<e>|b" if special else "a|b"]
    params = {
        "pretokenizer": pretokenizer,
        "special_tokens": special,
        "break_tokens": "\n",
        "stop_tokens": b"|",
    }
    tok = BPE.for_text(320, **params).fit(docs)
    lone_ids = {10, 124}
    for ids in tok.encode_batch(docs, allowed_special="all"):
        for i in ids.tolist():
            text = tok.decode([i], as_bytes=True)
            assert i in lone_ids or not {*text} & lone_ids
    encoded = tok.encode_batch(docs, allowed_special="all").to_lists()
    assert [tok.encode(doc, allowed_special="all").tolist() for doc in docs] == encoded
    assert [tok.decode(ids) for ids in encoded] == docs
    parts = TEXT.replace("|", "\0|\0").replace("\n", "\0\n\0").split("\0")
    if pretokenizer is None:
        want = [i for part in parts for i in tok.encode(part).tolist()]
        assert tok.encode(TEXT).tolist() == want
    again = BPE(**tok.get_params()).fit(docs)
    assert (
        again.fingerprint
        == tok.fingerprint
        != BPE.for_text(320, pretokenizer=pretokenizer).fit(docs).fingerprint
    )


def test_a_pattern_sees_stop_tokens_and_not_what_is_behind_a_break_token() -> None:
    merges, symbols = [[32, 97], [32, 32]], bytes(range(256))
    broken = BPE.from_merges(
        merges, symbols, preprocessing=Preprocessing("gpt2", encoding="utf-8", break_tokens="|")
    )
    stopped = BPE.from_merges(
        merges, symbols, preprocessing=Preprocessing("gpt2", encoding="utf-8", stop_tokens="|")
    )
    # " |" is a segment of GPT-2's pattern, and of two spaces the second goes with what follows
    assert broken.encode("  |a").tolist() == [257, 124, 97] and stopped.encode("  |a").tolist() == [
        32,
        32,
        124,
        97,
    ]


@each("text, match", [
    ({"break_tokens": [1, 1]}, "break_tokens: expected ascending"),
    ({"break_tokens": ["a"]}, "break_tokens: expected integers"), ({"stop_tokens": 1}, "stop_tokens: expected integers"),
    ({"break_tokens": [[1]]}, "break_tokens: expected ascending"),
    ({"break_tokens": [7]}, "break_tokens: 7 is not in the alphabet"), ({"stop_tokens": [2**63]}, "fit int64"),
    ({"stop_tokens": [-1]}, "stop_tokens: -1 is not in the alphabet"), ({"break": [1]}, "break"),
    ({"python_pattern": "a"}, "python_pattern: expected an object"),
])  # fmt: skip
def test_hostile_files(text: Any, match: str, tmp_path: Any) -> None:
    BPE.from_merges([[0, 1]], alphabet=3).save(tmp_path / "m.json")
    file = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(file | {"text": text}))
    refuses(ModelFormatError, match, lambda: BPE.load(tmp_path / "m.json"))


@each("alphabet, value, error, match", [
    (3, 5, TypeError, "break_tokens: expected symbols in a list, got 5"), (3, "a", TypeError, "break_tokens: expected integers"),
    (3, [5], ValueError, "break_tokens: 5 is not in the alphabet of 3 symbols"), (3, [1.0], TypeError, "integers, got 1.0"),
    (3, [True], TypeError, "got True"), (3, [2**63], ValueError, "out of range"), (3, [[1, 2]], TypeError, "got "),
    ("abc", "d", ValueError, "break_tokens: 'd' is not in the alphabet"), ("abc", ["ab"], TypeError, "known_words keeps"),
    ("abc", [97], TypeError, "single characters, got 97"), (b"abc", [256], ValueError, "256 is out of range"),
    (b"abc", "é", TypeError, "single bytes, got 'é'"), (b"abc", [b"ab"], TypeError, "known_words keeps longer ones whole"),
])  # fmt: skip
def test_bad_arguments(alphabet: Any, value: Any, error: Any, match: str) -> None:
    docs = [[0, 1, 2]] if alphabet == 3 else [alphabet]
    refuses(
        error,
        match,
        lambda: BPE(5, alphabet=alphabet, preprocessing=Preprocessing(break_tokens=value)).fit(docs),
    )
    with pytest.raises(error, match=match.replace("break", "stop")):
        BPE.from_merges([[0, 1]], alphabet=alphabet, preprocessing=Preprocessing(stop_tokens=value))


def test_exports_are_refused_where_ids_would_differ() -> None:
    inside = BPE.from_merges([[0, 1]], alphabet="ab|", preprocessing=Preprocessing(break_tokens="|"))
    again = BPE.load(export(inside, "tokenizer.json", unk_token=False))
    assert again.encode("ab|ab").tolist() == inside.encode("ab|ab").tolist() == [3, 2, 3]
    cut = BPE.for_text(258, break_tokens="|").fit(["ab|ab|ab"])
    across = BPE.from_merges([[0, 2]], alphabet="ab|", preprocessing=Preprocessing(break_tokens="|"))
    for tok, format in (
        (cut, "tokenizer.json"),
        (cut, "tiktoken"),
        (cut, "vocab+merges"),
        (across, "tokenizer.json"),
    ):
        refuses(ValueError, "break_tokens: other libraries have none", export, tok, format)


def test_refined_and_reweighted_tokens_hold_none() -> None:
    docs = corpus(7, 40)
    tok = UBPE(
        40,
        4,
        alphabet=5,
        preprocessing=Preprocessing(break_tokens=[0], stop_tokens=[3]),
        objective="shortest",
    ).fit(docs)
    for other in (
        tok.refine(docs),
        tok.refine(docs, objective="likelihood"),
        tok.reweight(docs),
        tok.reweight(docs, "idf"),
    ):
        assert other.preprocessing == tok.preprocessing and not {0, 3} & set(
            other._model.vocabulary.arena[5:].tolist()
        )
        for doc in docs[:5]:
            assert other.decode(other.encode(doc)).tolist() == doc
