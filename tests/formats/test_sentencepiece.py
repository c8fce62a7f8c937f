"""Models of sentencepiece: the same ids, read and written; what cannot be encoded exactly is refused."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
from double_arrays import charsmap
from hypothesis import assume, given, strategies as st
from reference.files import last_merge
from sentencepiece_models import (
    A_AND_B,
    BPE as PAIRS,
    BYTE,
    BYTES,
    CHARACTER,
    FLAGS,
    NORMAL,
    SPECIAL,
    TEXTS,
    UNIGRAM,
    UNKNOWN,
    UNUSED,
    USER,
    WORD,
    model,
    pairs,
    same_ids,
    unigrams,
)
from tables import refuses

from ubpe_numba import BPE, UBPE, Preprocessing, export, load
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats.pair_table import pairs_by_rank
from ubpe_numba.formats.protobuf import field
from ubpe_numba.formats.sentencepiece import model_of, read
from ubpe_numba.runtime.arrays import offsets_of

HOSTILE: list[tuple[bytes, str]] = [
    (b"", "it has no pieces"), (b"\x0a\xff", "not a message of protobuf: byte 0"),
    (model([*SPECIAL, ("", 0.0, NORMAL)]), "piece 2: it is empty"),
    (model([*SPECIAL, ("a" * 8000, 0.0, NORMAL)]), "piece 2: it has 8000 bytes or more"),
    (model([*SPECIAL, ("a", float("nan"), NORMAL)]), "piece 2: its score is no finite number"),
    (model([*SPECIAL, ("a", 0.0, 7)]), "piece 2: it is of an unknown type"),
    (model([*SPECIAL, ("a\0", 0.0, NORMAL)]), "U+0000"), (model(SPECIAL) + field(1, field(1, b"\xff")), "piece 2: not UTF-8"),
    (model(SPECIAL) + field(1, field(1, b"\xc3")) + field(1, field(1, b"\xa9")), "begins within a character"),
    (model([*SPECIAL, ("a", 0.0, NORMAL), ("a", 0.0, USER)]), "the piece 'a' is there twice"),
    (model([*SPECIAL, ("<u>", 0.0, UNKNOWN)]), "expected one unknown piece, got 2"),
    (model([("a", 0.0, NORMAL)]), "expected one unknown piece, got 0"),
    (model([*SPECIAL, ("a", 0.0, NORMAL), ("<0x00>", 0.0, BYTE)]), "byte_fallback: expected the 256 pieces"),
    (model([*SPECIAL, ("aé", 0.0, NORMAL), ("a", 0.0, NORMAL), *BYTES], by_bytes=True), "'é' is in pieces, but is none"),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], WORD), "a model of words"),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], 9), "an unknown kind, 9"),
    (model(SPECIAL) + field(5, field(2, charsmap({"b": "c"}))), "denormalizer_spec: a map of characters"),
    (model([*SPECIAL, ("\U0010ff00", 0.0, NORMAL)]), "U+10FF00 of a piece is reserved"),
    (
        model([*SPECIAL, ("\U00100000", 0.0, NORMAL), ("x", 0.0, USER)], PAIRS),
        "U+100000 of a piece is reserved for something else",
    ),
    (model([*SPECIAL, ("a", 0.0, NORMAL)], charsmap=b"abc"), "precompiled_charsmap: not a map"),
    (model([*SPECIAL, ("ab", 0.0, NORMAL), ("a", -1.0, NORMAL)], PAIRS), "'b' is in pieces, but is none"),
    (model(SPECIAL + A_AND_B + [("abb", -4.0, UNUSED), ("ba", -5.0, NORMAL)], PAIRS), "piece 5: 'abb' is unused"),
    (model(SPECIAL + A_AND_B + [("ba", -3.0, NORMAL)], PAIRS), "'ba' and 'ab' have the same score"),
]  # fmt: skip


@pytest.mark.parametrize("data, message", HOSTILE)
def test_what_is_not_valid_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        model_of(read(data))
    assert message in str(error.value)


def test_a_file_of_ten_million_pieces_costs_little() -> None:
    """More fields than any model has: refused when they are counted, not when they are read."""
    data = field(1, field(1, b"ab")) * 10_000_000
    refuses(ModelFormatError, "more than 1048576 fields", read, data)


@given(st.data(), FLAGS, TEXTS, st.sampled_from([UNIGRAM, PAIRS]))
def test_ids_equal_sentencepiece_as_read_and_as_written(
    data: st.DataObject, flags: Any, docs: list[str], kind: int
) -> None:
    """Unused pieces, which are taken apart, are read where it makes no difference that they are left out."""
    pieces = data.draw(unigrams() if kind == UNIGRAM else pairs())
    if kind == PAIRS and data.draw(st.booleans()):
        types = st.sampled_from([NORMAL, NORMAL, UNUSED])
        pieces = [(n, s, data.draw(types) if t == NORMAL else t) for n, s, t in pieces]
    if flags["by_bytes"] and kind == UNIGRAM:  # every letter is a piece
        letters, have = {*"".join(n for n, *_ in pieces[2:])}, {name for name, *_ in pieces}
        pieces = [(n, s, NORMAL if t == UNUSED else t) for n, s, t in pieces]
        pieces += [(c, -4.0, NORMAL) for c in sorted(letters - have)]
    assume(any(type_ in (NORMAL, USER) for _, _, type_ in pieces))
    blob = model(pieces + (BYTES if flags["by_bytes"] else []), kind, **flags)
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings(
            "always", "the piece '.*' at the beginning of ids: spaces before it are not those"
        )
        try:
            tokenizer: Any = load(blob)
        except ModelFormatError as error:
            if kind == UNIGRAM or not re.search(
                "is unused, so it is taken apart again|but is none", str(error)
            ):
                raise
            return
        same_ids(blob, tokenizer, docs, not told)
        if not flags["by_bytes"]:
            again: Any = load(written := export(tokenizer, "sentencepiece"))
            same_ids(written, again, docs, not told)
            assert again.encode_batch(docs, disallowed_special="none") == tokenizer.encode_batch(
                docs, disallowed_special="none"
            )


def test_own_models_are_written(tmp_path: Any) -> None:
    docs = ["low lower lowest", "slow newer wider", "low low new"]
    for tokenizer in (
        BPE(40, preprocessing=Preprocessing(special_tokens=["<s>"])).fit(docs, progress=False),
        UBPE(40, 4, objective="sentencepiece").fit(docs, progress=False),
        UBPE(40, 4, objective="shortest").fit(docs, progress=False).set_params(objective="sentencepiece"),
    ):
        data = export(tokenizer, "sentencepiece", tmp_path / "m.model")
        again = type(tokenizer).load(tmp_path / "m.model")
        for doc in docs:
            assert again.encode(doc).tolist() == tokenizer.encode(doc).tolist()
            assert again.decode(again.encode(doc)) == doc
        same_ids(data, again, docs)


@pytest.mark.parametrize("kind", [UNIGRAM, PAIRS])
def test_characters_of_private_use(kind: int) -> None:
    """Those that would stand for words, of which this model has fewer, may be its own; so has a real one."""
    own = "\U0010fc03"
    pieces = [
        *SPECIAL,
        *BYTES,
        (own, -1.0, NORMAL),
        ("a", -2.0, NORMAL),
        (f"a{own}", -0.5, NORMAL),
        ("xy", 0.0, USER),
    ]
    pieces += [("x", -1.0, NORMAL), ("y", -1.0, NORMAL)]
    data = model(pieces, kind, by_bytes=True)
    tokenizer: Any = load(data)
    docs = [f"a{own}{own}xy a", f"\U00100000{own}", f"\U0010fe00\U0010fc04 {own}a"]
    same_ids(data, tokenizer, docs)
    same_ids(written := export(tokenizer, "sentencepiece"), load(written), docs)
    with pytest.raises(ModelFormatError, match=r"U\+10FE83 of a piece is reserved"):
        load(model([*pieces, ("\U0010fe83", -1.0, NORMAL)], kind, by_bytes=True))


def test_characters_equal_sentencepiece() -> None:
    data = model(
        [*SPECIAL, ("a", -1.0, NORMAL), ("ab", -1.0, NORMAL), ("▁", -1.0, NORMAL), ("xy", 0.0, USER)],
        CHARACTER,
    )
    same_ids(data, BPE.load(data), ["ab axyx", "", "zzza"])


def test_a_map_of_characters_and_positions() -> None:
    data = model(
        [*SPECIAL, ("a", -1.0, NORMAL), ("▁", -2.0, NORMAL)],
        prefix=True,
        charsmap=charsmap({"é": "aa", "x": ""}),
    )
    tokenizer = UBPE.load(data)
    same_ids(data, tokenizer, ["éxa b", "x", "bbb a"])
    ids, starts = tokenizer.encode("éxa bbx", return_offsets=True)
    assert ids.tolist() == [3, 2, 2, 2, 3, 0] and starts.tolist() == [0, 0, 0, 2, 3, 4]
    assert tokenizer.vocabulary.special == {"<s>": 1}


@given(st.lists(st.text("abc", min_size=2, max_size=9), max_size=12, unique=True), st.randoms())
def test_pairs_of_pieces_equal_the_reference(names: list[str], random: Any) -> None:
    tokens = [*"abc", *names]
    rank = {name: i for i, name in enumerate(tokens)}
    lengths = np.array([len(name) for name in tokens])
    arena = np.array(["abc".index(c) for name in tokens for c in name], np.int32)
    found = pairs_by_rank(
        np.append(arena.view(np.uint8), np.zeros(8, np.uint8)), arena, 4 * offsets_of(lengths), 3
    )
    for name, (left, right) in zip(names, found.tolist(), strict=True):
        want = last_merge(name, lambda x, y: rank.get(x + y, 99), 99)
        assert (tokens[left], tokens[right]) == want if want else left == right == -1


def test_pieces_that_are_in_no_text() -> None:
    """One that nothing merges to, and unused ones: of merges, and of a single character, which is unknown then."""
    pieces = [
        *SPECIAL,
        *A_AND_B,
        ("bbb", -4.0, NORMAL),
        ("abb", -5.0, UNUSED),
        ("c", 0.0, UNUSED),
        ("a" * 7999, -7.0, NORMAL),
    ]
    data = model(pieces, PAIRS)
    tokenizer = BPE.load(data)
    same_ids(data, tokenizer, ["abbb bbbb", "abab ab" * 3, "abbabb", "acb", "a" * 7999])
    assert len(tokenizer._model.vocabulary.merges) == 1 and tokenizer.encode("abb").tolist() == [4, 3]


@pytest.mark.parametrize("sizes", [(2,), (4, 2), (8, 4, 2), (2, 3), (2, 3, 4), tuple(range(2, 13))], ids=str)
def test_runs_of_equal_score(sizes: tuple[int, ...]) -> None:
    """Pieces of several spaces that have the same score, as Llama has them: merged from the left."""
    pieces = [*SPECIAL, ("▁", -1e9, NORMAL), ("a", -3.0, NORMAL), ("▁a", -1.0, NORMAL)]
    data = model(pieces + [("▁" * n, -1e9, NORMAL) for n in sizes], PAIRS)
    if sizes in ((2, 3), tuple(range(2, 13))):
        refuses(ModelFormatError, "have the same score", BPE.load, data)
    else:
        same_ids(data, BPE.load(data), [" " * n + "a" * (n % 3) for n in range(100)])
