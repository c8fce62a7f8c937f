"""MidiTok's tokenizers with this library's BPE against MidiTok's own, on real scores and on drawn ones."""

import copy
import functools
import importlib
import pathlib
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from integrations.conftest import needed
from midi_files import PRELUDE, midi_files
from tables import each, refused, refuses
from test_docstrings import _members, problems

from ubpe_numba import Ragged
from ubpe_numba.errors import NotFittedError, UnknownSymbolError, UnknownTokenError

miditok = needed("miditok")
symusic = needed("symusic")
ours: Any = importlib.import_module("ubpe_numba.integrations.miditok")

MORE = 300  # tokens beyond the basic ones
KINDS = ("REMI", "TSD", "MIDILike", "Structured", "PerTok", "MMM")
SPLITS = ("bar", "beat", "no")
PERTOK = {
    "ticks_per_quarter": 320,
    "use_microtiming": True,
    "max_microtiming_shift": 0.125,
    "num_microtiming_bins": 110,
}


def config(kind: str = "REMI", split: str = "bar", **more: Any) -> Any:
    if kind == "PerTok":
        more = {**PERTOK, **more}
    else:
        more = {"use_tempos": True, "use_time_signatures": True, "use_programs": kind != "Structured", **more}
    if kind == "MMM":
        more["base_tokenizer"] = "REMI"
    return miditok.TokenizerConfig(encode_ids_split=split, **more)


def both(kind: str = "REMI", split: str = "bar", **more: Any) -> tuple[Any, Any]:
    """A tokenizer of MidiTok and one of ours."""
    return getattr(miditok, kind)(config(kind, split, **more)), getattr(ours, kind)(
        config(kind, split, **more)
    )


@functools.cache
def readable(kind: str = "REMI") -> list[pathlib.Path]:
    """Scores that MidiTok reads, as many as a minute allows; which ones is up to the tokenizer, such as by time signatures."""
    found, tokenizer = [], getattr(miditok, kind)(config(kind))
    for path in midi_files(12_000)[:10]:
        try:
            tokenizer(path)
        except (RuntimeError, ValueError, KeyError):
            continue
        found.append(path)
    assert PRELUDE in found
    return found


@functools.cache
def both_trained(kind: str = "REMI", split: str = "bar") -> tuple[Any, Any]:
    """The two after a training on all scores, for all tests that only ask them."""
    theirs, mine = both(kind, split)
    for tokenizer in (theirs, mine):
        tokenizer.train(len(theirs.vocab) + MORE, files_paths=readable(kind))
    return theirs, mine


@pytest.fixture
def trained() -> Any:
    """A trained tokenizer of a test's own."""
    return copy.deepcopy(both_trained()[1])


def melody(pitches: list[int], step: int = 240) -> Any:
    score, track = symusic.Score(480), symusic.Track()
    for i, pitch in enumerate(pitches):
        track.notes.append(symusic.Note(step * i, step, pitch, 96))
    score.tracks.append(track)
    return score


def listed(tokens: Any) -> list[Any]:
    return tokens if isinstance(tokens, list) else [tokens]


@pytest.mark.parametrize("kind, split", [*zip(KINDS, SPLITS * 2, strict=True)])
def test_files_and_ids_are_those_of_miditok(kind: str, split: str, tmp_path: pathlib.Path) -> None:
    """The whole JSON, character for character; ids and their decoding; either reads the file of the other."""
    theirs, mine = both_trained(kind, split)
    theirs.save(tmp_path / "theirs.json")
    mine.save(tmp_path / "mine.json")
    assert (tmp_path / "mine.json").read_bytes() == (tmp_path / "theirs.json").read_bytes()
    assert mine._vocab_learned_bytes_to_tokens == theirs._vocab_learned_bytes_to_tokens
    assert mine.vocab_model == theirs.vocab_model and mine == theirs and theirs == mine
    read_by_them = getattr(miditok, kind)(params=tmp_path / "mine.json")
    read_by_us = getattr(ours, kind)(params=tmp_path / "theirs.json")
    for path in readable(kind):
        basic = listed(theirs(path, encode_ids=False))
        expected = listed(theirs(path))
        for tokenizer in (mine, read_by_them, read_by_us):
            found = listed(tokenizer(path))
            assert [one.ids for one in found] == [one.ids for one in expected]
            tokenizer.decode_token_ids(found)
            assert [one.ids for one in found] == [one.ids for one in basic]
            assert [one.tokens for one in found] == [one.tokens for one in basic]
            assert not any(one.are_ids_encoded for one in found)
    batch = listed(mine(path, encode_ids=False))
    mine.encode_token_ids(batch)
    assert [one.ids for one in batch] == [one.ids for one in expected]


@each("kind, split", [*zip(KINDS, SPLITS * 2, strict=True)])
def test_a_training_goes_on_and_learns_of_sequences_and_texts_as_of_files(
    kind: str, split: str, tmp_path: pathlib.Path
) -> None:
    expected, files = both_trained(kind, split)[1], readable(kind)
    longer, by_sequences, by_texts = (both(kind, split)[1] for _ in range(3))
    size = len(longer.vocab) + MORE
    longer.train(size - 200, files_paths=files)
    longer.save(tmp_path / "small.json")
    longer = type(longer)(params=tmp_path / "small.json")
    before, merges = dict(longer.vocab_model), longer.bpe._model.vocabulary.merges.copy()
    longer.train_more(size, files_paths=files)
    assert len(before) < len(longer) == len(expected) <= size  # the prelude alone has fewer pairs
    assert before.items() <= longer.vocab_model.items()
    assert np.array_equal(longer.bpe._model.vocabulary.merges[: len(merges)], merges)
    by_sequences.train(size, sequences=(by_sequences(path, encode_ids=False) for path in files))
    by_texts.train(size, iterator=miditok.TokTrainingIterator(by_texts, files))
    for tokenizer in (longer, by_sequences, by_texts):
        assert tokenizer.to_dict()["_model"] == expected.to_dict()["_model"]


@each(
    "split, limits",
    [
        ("bar", {"min_frequency": 5}),
        ("beat", {"max_token_length": 1}),
        ("no", {"min_frequency": 3, "max_token_length": 6}),
    ],
)
def test_limits_mean_what_the_trainer_of_tokenizers_means(split: str, limits: dict[str, int]) -> None:
    theirs, mine = both("REMI", split)
    size = len(theirs.vocab) + MORE
    theirs.train(size, files_paths=[PRELUDE], **limits)
    mine.train(size, files_paths=[PRELUDE], **limits)
    assert mine.to_dict() == theirs.to_dict() and len(mine) < size


def test_special_tokens_inside_of_sequences_are_left_alone() -> None:
    """Hugging Face takes special tokens out of a text first; what follows them begins with a mark of its own."""
    theirs, mine = both_trained()
    basic = theirs(PRELUDE, encode_ids=False)
    rng = np.random.default_rng(0)
    for n in (1, 3, 200):
        ids = np.insert(
            basic.ids, np.sort(rng.integers(0, len(basic.ids), n)), rng.integers(0, 4, n)
        ).tolist()
        expected, found = miditok.TokSequence(ids=ids[:]), miditok.TokSequence(ids=ids[:])
        theirs.encode_token_ids(expected)
        mine.encode_token_ids(found)
        assert found.ids == expected.ids
        mine.decode_token_ids(found)
        assert found.ids == ids


def test_a_special_token_may_come_after_the_others() -> None:
    """Its id is the last of the basic ones, but Hugging Face puts special tokens first: ids of the model are in another order."""
    theirs, mine = both()
    for tokenizer in (theirs, mine):
        tokenizer.add_to_vocab("Style_Jazz", special_token=True)
        tokenizer.train(len(tokenizer.vocab) + 100, files_paths=[PRELUDE])
    assert mine.to_dict() == theirs.to_dict()
    expected, found = theirs(PRELUDE), mine(PRELUDE)
    assert found.ids == expected.ids
    for tokenizer, tokens in ((theirs, expected), (mine, found)):
        tokenizer.decode_token_ids(tokens)
    assert (found.ids, found.tokens) == (expected.ids, expected.tokens)


@settings(max_examples=40)
@given(
    split=st.sampled_from(SPLITS),
    pitches=st.lists(st.integers(40, 43) | st.integers(21, 100), min_size=1, max_size=60),
    more=st.integers(1, 60),
    step=st.sampled_from([60, 120, 480, 3840]),  # 3840: bars without a note
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # few pairs are left
def test_drawn_melodies(split: str, pitches: list[int], more: int, step: int) -> None:
    theirs, mine = both("TSD", split)
    score = melody(pitches, step)
    basic = theirs(score, encode_ids=False)
    parts = (
        [basic] if split == "no" else basic.split_per_bars() if split == "bar" else basic.split_per_beats()
    )
    size = len(theirs.vocab) + more
    theirs.train(
        size, iterator=[[theirs._ids_to_bytes(part.ids, as_one_str=True) for part in parts if len(part)]]
    )
    mine.train(size, sequences=basic)
    assert mine.to_dict() == theirs.to_dict() and mine(score).ids == theirs(score).ids


def test_scores_go_there_and_back_by_copies_and_files_too(trained: Any, tmp_path: pathlib.Path) -> None:
    assert len(trained.bpe._model.vocabulary) == len(trained) and trained.bpe is trained.bpe
    tokens, plain = trained(PRELUDE), miditok.REMI(config())
    for given_ in (tokens, tokens.ids):  # of plain integers, as a model gives them
        assert trained.decode(given_) == plain.decode(plain(PRELUDE))
    tokens, ids = trained(PRELUDE), list(tokens.ids)
    trained.encode_token_ids(tokens)
    assert tokens.ids == ids  # what is encoded stays
    trained.encode_token_ids([])
    empty = miditok.TokSequence()
    trained.encode_token_ids(empty)
    assert empty.ids == []
    trained.save_pretrained(tmp_path)
    again = [ours.REMI.from_pretrained(tmp_path), copy.deepcopy(trained), pickle.loads(pickle.dumps(trained))]
    assert all(type(one) is ours.REMI and one == trained for one in again)
    for one in (*again, miditok.MusicTokenizer.from_pretrained(tmp_path)):
        assert one(PRELUDE).ids == ids


def test_a_training_begins_anew_and_other_models_are_miditoks_own() -> None:
    theirs, mine = both()
    size = len(mine.vocab) + 50
    for tokenizer in (theirs, mine):
        tokenizer.train(size + 50, files_paths=[PRELUDE])
        tokenizer.train(size, files_paths=[PRELUDE])
    assert mine.to_dict() == theirs.to_dict()
    for tokenizer in (theirs, mine):
        tokenizer.train(size, "WordPiece", files_paths=[PRELUDE])
    assert mine(PRELUDE).ids == theirs(PRELUDE).ids
    for tokenizer in (theirs, mine):
        tokens = tokenizer(PRELUDE)
        tokenizer.decode_token_ids(tokens)
        assert tokens.ids == tokenizer(PRELUDE, encode_ids=False).ids
    refuses(ValueError, "its model is WordPiece, not BPE", mine.train_more, size + 10, files_paths=[PRELUDE])
    refuses(
        ValueError,
        "sequences: only for BPE",
        lambda: mine.train(size, sequences=mine(PRELUDE, encode_ids=False)),
    )


def test_tokens_added_after_a_training_are_miditoks_own() -> None:
    theirs, mine = both()
    for tokenizer in (theirs, mine):
        tokenizer.train(len(tokenizer.vocab) + 50, files_paths=[PRELUDE])
        assert tokenizer(PRELUDE).ids
        tokenizer.add_to_vocab("Late_1")
    assert mine(PRELUDE).ids == theirs(PRELUDE).ids
    refuses(AttributeError, "bpe: .*other basic tokens than its vocabulary", lambda: mine.bpe)
    assert not hasattr(mine, "bpe")


def test_what_needs_training_is_refused_before_it() -> None:
    tokenizer = both()[1]
    assert not tokenizer.is_trained
    for call in (
        lambda: tokenizer.bpe,
        lambda: tokenizer.train_more(999, files_paths=[PRELUDE]),
        lambda: tokenizer.encode_token_ids(tokenizer(PRELUDE)),
    ):
        refuses(NotFittedError, "not trained", call)


@each("given_, kind, message", [
    ({"sequences": [], "files_paths": [PRELUDE]}, ValueError, "sequences: expected only one of"),
    ({"sequences": [1, 2]}, TypeError, "sequences: expected TokSequence objects, got int"),
    ({"sequences": "ab"}, TypeError, "sequences: expected TokSequence objects, got str"),
    ({"sequences": [miditok.TokSequence(ids=[4]), miditok.TokSequence(ids=[4], are_ids_encoded=True)]}, ValueError,
     "sequences: sequence 1 is encoded"),
    ({"iterator": []}, ValueError, "iterator: there is no basic token"),
    ({"iterator": [[1]]}, TypeError, "iterator: text 0: expected a str of MidiTok's characters, got int"),
    ({"iterator": ["% "]}, UnknownSymbolError, "document 0, position 1"),
])  # fmt: skip
def test_wrong_sources(trained: Any, given_: dict[str, Any], kind: type[Exception], message: str) -> None:
    size = len(trained)
    for method in (trained.train, trained.train_more):
        refuses(kind, message, method, size, **given_)
    assert len(trained) == size


def test_wrong_arguments_and_ids(trained: Any) -> None:
    size, n, files = len(trained), len(trained.vocab), {"files_paths": [PRELUDE]}
    wrong = [miditok.TokSequence(ids=ids, tokens=["x"]) for ids in ([4], [4, 4, n])]
    beyond = miditok.TokSequence(ids=[4, 99_999], are_ids_encoded=True)
    refused([
        (lambda: trained.train(size, **files, limit_alphabet=5), TypeError, "limit_alphabet: not an argument"),
        (lambda: trained.train(size), ValueError, "must give an iterator"),
        (lambda: trained.train_more(size), ValueError, "files_paths: expected"),
        (lambda: trained.train_more(10, **files), ValueError, f"vocab_size: expected at least {size} ids, got 10"),
        (lambda: trained.encode_token_ids(wrong), UnknownSymbolError, f"document 1, position 2: symbol {n} "),
        (lambda: trained.decode_token_ids(beyond), UnknownTokenError, "document 0, position 1: token id 99999"),
    ])  # fmt: skip
    assert len(trained) == size


def test_a_size_below_that_of_the_basic_tokens_is_refused_as_by_miditok() -> None:
    tokenizer = both()[1]
    for source in ({"files_paths": [PRELUDE]}, {"sequences": tokenizer(PRELUDE, encode_ids=False)}):
        with pytest.warns(UserWarning, match="higher than the number of base tokens"):
            tokenizer.train(len(tokenizer.vocab), **source)
    assert not tokenizer.is_trained


def test_several_vocabularies_are_refused_as_by_miditok() -> None:
    tokenizer = type("Octuple", (ours.BPEMixin, miditok.Octuple), {})()
    with pytest.warns(UserWarning, match="multiple vocabularies"):
        tokenizer.train(5000, files_paths=[PRELUDE])


def test_files_that_cannot_be_read_are_named(tmp_path: pathlib.Path) -> None:
    broken = tmp_path / "broken.mid"
    broken.write_bytes(b"MThd nothing")
    theirs, mine = both()
    size = len(mine.vocab) + 20
    theirs.train(size, files_paths=[broken, PRELUDE])
    with pytest.warns(UserWarning, match=r"files_paths: 1 of 2 files cannot be read .*broken[.]mid"):
        mine.train(size, files_paths=[broken, PRELUDE])
    assert mine.to_dict() == theirs.to_dict()
    with (
        pytest.warns(UserWarning, match="files_paths: 1 of 1 files"),
        pytest.raises(ValueError, match="files_paths: there is no basic token"),
    ):
        mine.train(size, files_paths=[broken])


def test_a_vocabulary_of_unigram_is_refused() -> None:
    tokenizer = both()[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer.train(len(tokenizer.vocab) + 50, "Unigram", files_paths=[PRELUDE])
    assert not hasattr(tokenizer, "bpe")
    with pytest.raises(ValueError, match="not as one character of its own, as after a training of Unigram"):
        tokenizer.train(len(tokenizer.vocab) + 50, "BPE", files_paths=[PRELUDE])


def test_another_build_of_miditok_is_refused(trained: Any) -> None:
    del trained._vocab_learned_bytes_to_tokens
    with pytest.raises(
        RuntimeError, match=r"miditok \d.*: its tokenizers lack _vocab_learned_bytes_to_tokens; tested with"
    ):
        trained.train(len(trained), files_paths=[PRELUDE])


def test_alphabets_with_characters_around_the_mark() -> None:
    """A vocabulary so large that characters stand behind the mark; ids whose character is the mark itself, or none."""
    models = importlib.import_module("ubpe_numba.integrations.miditok")
    behind = ord(models.MARK) - models.FIRST_CHARACTER + 1
    alphabet = models.MusicAlphabet.of([0, 1, 2, behind], [1], marked=True)
    assert alphabet.basic.tolist() == [1, 0, 2, -1, behind]
    assert (alphabet.mark, alphabet.alone.tolist()) == (3, [True, False, False, False, False])
    sequences = Ragged.from_lists([[0, behind], [2]])
    documents, starts = alphabet.documents_of(alphabet.symbols_of(sequences), sequences.offsets, apart=True)
    assert documents.to_lists() == [[3, 1, 4], [3, 2]] and starts.tolist() == [0, 2, 3]
    assert alphabet.basic_of(documents) == sequences
    for bad in (behind - 1, 0xD800):
        refuses(
            ValueError,
            f"no character for the basic token of id {bad}",
            models.MusicAlphabet.of,
            [0, bad],
            [],
            marked=True,
        )
    assert models.MusicAlphabet.of([behind - 1], [], marked=False).basic.tolist() == [behind - 1]


def test_docstrings_are_complete() -> None:
    every = {key: value for name in ours.__all__ for key, value in _members(name, ours).items()}
    assert {name: found for name, value in every.items() if (found := problems(value))} == {}
