"""Models of sentencepiece, made by hand for tests, and what sentencepiece makes of them."""

from collections.abc import Iterable

import pytest
from hypothesis import strategies as st

from ubpe_numba.formats.protobuf import field
from ubpe_numba.tokenizers.base import Tokenizer

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
UNIGRAM, BPE, WORD, CHARACTER = 1, 2, 3, 4
SPECIAL = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL)]
BYTES = [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
Piece = tuple[str, float, int]
LETTERS = "ab▁é"
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("prefix", "suffix", "remove", "escape", "by_bytes")}
)
TEXTS = st.lists(st.text("ab é▁x😀z\n", max_size=30), min_size=1, max_size=8)
A_AND_B: list[Piece] = [("a", -1.0, NORMAL), ("b", -2.0, NORMAL), ("ab", -3.0, NORMAL)]


def model(
    pieces: Iterable[tuple[str, float, int]],
    kind: int = UNIGRAM,
    *,
    prefix: bool = False,
    suffix: bool = False,
    remove: bool = False,
    escape: bool = True,
    by_bytes: bool = False,
    charsmap: bytes = b"",
) -> bytes:
    """The content of a `.model` file."""
    rows = [
        field(1, field(1, name.encode()) + field(2, float(score)) + field(3, type_))
        for name, score, type_ in pieces
    ]
    trainer = field(3, kind) + field(24, int(suffix)) + field(35, int(by_bytes))
    text = field(2, charsmap) + field(3, int(prefix)) + field(4, int(remove)) + field(5, int(escape))
    return b"".join(rows) + field(2, trainer) + field(3, text)


def same_ids(data: bytes, tokenizer: Tokenizer, docs: list[str], decodes: bool = True) -> None:
    """Ids, and what they decode to unless it was said to differ, are those of sentencepiece."""
    peer = pytest.importorskip("sentencepiece").SentencePieceProcessor(model_proto=data)
    found = tokenizer.encode_batch(docs, disallowed_special="none").to_lists()
    for doc, ids in zip(docs, found, strict=True):
        assert ids == peer.encode(doc), doc
        assert tokenizer.encode(doc, disallowed_special="none").tolist() == ids
        assert not decodes or tokenizer.decode(ids) == peer.decode(ids), (doc, ids)


@st.composite
def unigrams(draw: st.DrawFn) -> list[Piece]:
    """Pieces with few different scores, some of the user, some unused, and characters that are in pieces but are none."""
    names = draw(st.lists(st.text(LETTERS, min_size=1, max_size=4), min_size=1, max_size=12, unique=True))
    score = st.sampled_from([-1.0, -2.0, -2.5, -3.25])
    return SPECIAL + [
        (name, draw(score), draw(st.sampled_from([NORMAL] * 6 + [USER, UNUSED]))) for name in names
    ]


@st.composite
def pairs(draw: st.DrawFn) -> list[Piece]:
    """Pieces made of others, of scores in any order, and words of the user."""
    names = list(LETTERS)
    for _ in range(draw(st.integers(0, 10))):
        new = draw(st.sampled_from(names)) + draw(st.sampled_from(names))
        names += [new] if new not in names and len(new) < 9 else []
    words = draw(st.lists(st.text(LETTERS, min_size=2, max_size=3), max_size=2, unique=True))
    scores = draw(st.permutations(range(len(names)))) if draw(st.booleans()) else range(len(names))
    rows = [
        (name, -float(score), NORMAL) for name, score in zip(names, scores, strict=True) if name not in words
    ]
    return SPECIAL + rows + [(word, 0.0, USER) for word in words]
