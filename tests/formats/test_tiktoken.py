"""Ranks of tiktoken and tekken: ids equal those of the libraries; files that are not valid are refused."""

import base64
import hashlib
import itertools
import json
import pathlib
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from foreign import line
from hypothesis import given, reject, strategies as st
from reference.files import of_one_hash, of_one_home
from tables import refuses

import ubpe_numba
from ubpe_numba import BPE
from ubpe_numba.errors import ModelFormatError
from ubpe_numba.formats import tiktoken
from ubpe_numba.formats.kernels.rank_lines import read_lines
from ubpe_numba.formats.readers import of_ranks
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.text.pretokenizer import NAMED

peer = pytest.importorskip("tiktoken")


BYTES = b"".join(line(bytes([b]), b) for b in range(256))
RANKS: list[tuple[bytes, str]] = [
    (b"", "expected at least one token"), (b"###  1\n", "line 1: not base64"),
    (line(b"a", "x"), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 10**12), "line 1: expected a token in base64 and its rank"), (b" 0\n", "line 1"),
    (line(b"a", 0) + line(b"a", 1), "the token b'a' is there twice"),
    (line(b"a", 0) + b"\n" + line(b"a", 0), "line 3: the token b.a. is there twice"),
    (line(b"a", 0) + line(b"b", 0), "the tokens b'a' and b'b' have one rank, 0"),
    (BYTES + line(b"abc", 256), "the token b'abc' of rank 256 is not made of others"),
    (BYTES + line(b"bc", 256) + line(b"ab", 257) + line(b"abc", 258) + line(b"abcd", 400_000), "not made of|expected 0"),
    (line(b"a", 0) + line(b"ab", 1), "the token b'ab' of rank 1 is not made of others"),
    (BYTES + line(b"a" * 20_000, 256), "tokens are too long"), (line(b"ab", 0), "expected 1..256 symbols|is not made of others"),
    *((text, "line 1") for text in (b"YQ==\n0 YWI= 1\n", b"Y=Q= 0\n", b"Y=== 0\n", b"YQ=A 0\n", b"=YQ= 0\n", b"YQ 0\n")),
]  # fmt: skip


@st.composite
def tokens_of_ranks(draw: st.DrawFn) -> dict[bytes, int]:
    """Tokens with ranks: alphabets in any order with bytes left out, and tokens of which some are not made of others."""
    letters = draw(st.permutations(b"abcd"))[: draw(st.integers(1, 4))]
    names = [bytes([letter]) for letter in letters]
    for _ in range(draw(st.integers(0, 14))):
        new = draw(st.sampled_from(names)) + draw(st.sampled_from(names))
        names += [new] if new not in names and len(new) < 60 else []
    if draw(st.booleans()):
        names = draw(st.permutations(names))
    names += [
        name
        for name in draw(st.lists(st.sampled_from([b"zz", b"abc", b"az", b"bb"]), max_size=1))
        if name not in names
    ]
    ranks = sorted(draw(st.lists(st.integers(0, 99), min_size=len(names), max_size=len(names), unique=True)))
    return dict(draw(st.permutations(list(zip(names, ranks, strict=True)))))


def are_those_of_tiktoken(
    ranks: dict[bytes, int], docs: Iterable[str] = (), pattern: str | None = None
) -> None:
    """The ids of documents and of the tokens themselves, as a tokenizer of these ranks and of all other bytes gives them."""
    ranks = ranks | {
        token: 1000 + i for i, token in enumerate(bytes([b]) for b in range(256)) if token not in ranks
    }
    twins = {"<1>": 90000, "<2>": 90000}  # as o200k_harmony has two
    data = b"".join(map(line, ranks, ranks.values()))
    tokenizer = BPE.load(data, pretokenizer=pattern, special_tokens=twins)
    other = peer.Encoding(
        "t", pat_str=tiktoken.covering(NAMED.get(pattern)), mergeable_ranks=ranks, special_tokens=twins
    )
    assert tokenizer.encode("<1>b<2>", allowed_special="all").tolist() == other.encode(
        "<1>b<2>", allowed_special="all"
    )
    assert tokenizer.token_to_id("<1>") == 90000
    docs = [*docs, *(token.decode() for token in ranks if token.isascii())]
    assert tokenizer.encode_batch(docs).to_lists() == [other.encode(doc) for doc in docs]


@given(
    tokens_of_ranks(), st.lists(st.text("abcd ", max_size=12), max_size=20), st.sampled_from([None, "gpt2"])
)
def test_ids_equal_those_of_tiktoken(ranks: dict[bytes, int], docs: list[str], pattern: str | None) -> None:
    """Also of tokens that merging does not make, which whole segments become, and of ranks not in the order of parts."""
    try:
        are_those_of_tiktoken(ranks, docs, pattern)
    except ModelFormatError:
        reject()


def test_ids_of_special_tables() -> None:
    """Prefixes, periods, tokens of two bytes, a first part that is no token, a second one, and unstable tokens."""
    for tokens in (
        [b"a", *(b"a" * n for n in range(2, 60))], [b"a", b"b", *(b"ab" * n for n in range(1, 20)), b"bab", b"baba"],
        [bytes([i]) for i in range(255, -1, -1)] + [bytes([i, j]) for i in range(0, 256, 9) for j in range(256)],
        [b"b", b"c", b"ab", b"abc"], [b"a", b"c", b"abc", b"ab"],
        [b"a", b"b", b"c", b"ab", b"bc", b"abc", b"abcabc", b"abcabcab"],
    ):  # fmt: skip
        docs = ["".join(random.Random(i).choices("aaabbc", k=60)) for i in range(20)]
        are_those_of_tiktoken({token: rank for rank, token in enumerate(tokens)}, docs)
        are_those_of_tiktoken({token: 3 * rank for rank, token in enumerate(reversed(tokens))}, docs)


@pytest.mark.parametrize("strings, few, many", [(of_one_home, 100, 300), (of_one_hash, 3, 5)])
def test_tokens_that_collide_in_a_hash_table(
    strings: Callable[[], Iterator[bytes]], few: int, many: int
) -> None:
    for n in (few, many):
        starts = {token[:i] for token in itertools.islice(strings(), n) for i in range(2, len(token) + 1)}
        ranks = {
            token: i for i, token in enumerate([*(bytes([i]) for i in range(256)), *sorted(starts, key=len)])
        }
        if n == few:
            are_those_of_tiktoken(ranks)
        else:
            refuses(ModelFormatError, "the tokens collide in a hash table", tiktoken.read, ranks, {}, None)


@given(st.dictionaries(st.binary(min_size=1, max_size=9), st.integers(0, 10**9)))
def test_lines_that_are_written_are_read(ranks: dict[bytes, int]) -> None:
    for end in (b"\n", b"\r\n"):
        data, *both = tiktoken.parse_lines(tiktoken.write(ranks).replace(b"\n", end))
        lengths, numbers = (part.tolist() for part in both)
        parts = itertools.pairwise(itertools.accumulate(lengths, initial=0))
        assert dict(zip((data[a:b] for a, b in parts), numbers, strict=True)) == ranks
    assert by_kernel(tiktoken.write(ranks))[0] == sum(map(len, ranks))


def by_kernel(data: bytes) -> tuple[int, np.ndarray, np.ndarray]:
    tokens, both = np.empty(len(data), np.uint8), np.empty((2, data.count(b"\n")), np.int64)
    return read_lines(writable(np.frombuffer(data, np.uint8)), tokens, *both), tokens, both


PARTS = (
    b"YQ==",
    b"YWI=",
    b"YWJj",
    b"=",
    b"Y",
    b" ",
    b"\n",
    b"YWIx 2\n",
    b"YQ== 07\n",
    b"0",
    b"1234567890",
    b"\xff",
)


@given(st.lists(st.sampled_from(PARTS)))
def test_lines_are_read_by_the_kernel_as_by_python(parts: list[bytes]) -> None:
    data = b"".join(parts)
    size, tokens, both = by_kernel(data)
    if size > 0:
        try:
            expected = tiktoken.parse_lines(data.replace(b"\n", b"\r\n"))
        except ModelFormatError as error:
            if "is there twice" not in str(error):
                raise
        else:
            assert tokens[:size].tobytes() == expected[0] and np.array_equal(both, expected[1:])


@pytest.mark.parametrize("data, match", RANKS, ids=range(len(RANKS)))
def test_hostile_ranks(data: bytes, match: str) -> None:
    refuses(ModelFormatError, match, of_ranks, data, None, {})


def test_a_token_of_no_bytes_is_no_token() -> None:
    """As the last line of Whisper's `multilingual.tiktoken`."""
    tok = BPE.load(BYTES + line(b"ab", 256) + b"= 257\n", pretokenizer=None, special_tokens={"<e>": 258})
    assert tok.encode("abc<e>", allowed_special="all").tolist() == [256, 99, 258]
    refuses(
        ModelFormatError,
        "line 258: the token b'' is there twice",
        BPE.load,
        BYTES + b"= 257\n= 258\n",
        pretokenizer=None,
    )


TOKENS = [*(bytes([b]) for b in range(256)), b"ab", b"abc", b" ab", b"zz"]


def file_of(
    tokens: list[bytes] = TOKENS, size: int = 262, n_special: int = 3, special: Any = None, **fields: Any
) -> str:
    """The content of a file."""
    vocab = [
        {"rank": i, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for i, token in enumerate(tokens)
    ]
    config = {
        "pattern": " ?[a-z]+|[^a-z]", "num_vocab_tokens": len(vocab), "default_vocab_size": size,
        "default_num_special_tokens": n_special, "version": "v3",
    }  # fmt: skip
    return json.dumps({"config": config | fields, "vocab": vocab, "special_tokens": special})


def test_ids_stand_behind_the_special_tokens() -> None:
    tokenizer = BPE.load(file_of())
    assert tokenizer.vocabulary.special == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert tokenizer.encode("ab abc").tolist() == [3 + 256, 3 + ord(" "), 3 + 257]
    assert tokenizer.encode("zz").tolist() == [3 + ord("z")] * 2  # the last token is beyond the size
    special = [{"rank": 0, "token_str": "<a>", "is_control": True}]
    assert BPE.load(file_of(special=special)).vocabulary.special == {
        "<a>": 0,
        "<SPECIAL_1>": 1,
        "<SPECIAL_2>": 2,
    }


@pytest.mark.parametrize("text, message", [
    (file_of(size=264), "260 tokens, but 264 ids of which 3 are special"),
    (file_of([b"a"], n_special=2**22 - 1, size=2**22), "config: 1 tokens, but 4194304 ids of which 4194303 are special"),
    (file_of(n_special=2**14 + 261, size=2**14 + 262), "config: 260 tokens, but 16646 ids of which 16645 are special"),
    (file_of(pattern=""), "expected a regular expression"), (file_of(pattern=7), "expected a regular expression"),
    (file_of(special=[{"rank": 1, "token_str": "a"}]), "special_tokens[0]: expected an object with the rank 0"),
    (file_of(special=[{"rank": i, "token_str": "a"} for i in range(2)]), "one is there twice"),
    (file_of([*TOKENS[:5], b"", *TOKENS[6:]]), "vocab[5]: the token b'' is empty"),
    (file_of().replace("AA==", "?"), "vocab[0]: token_bytes: expected base64"),
    (file_of().replace('"rank": 7,', '"rank": -7,'), "vocab[7]: expected an object with a rank"),
    (file_of().replace('"rank": 7,', '"rank": 8,'), "have one rank, 11"),
])  # fmt: skip
def test_what_is_not_valid_is_refused(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError) as error:
        BPE.load(text.encode())
    assert message in str(error.value)


def test_special_tokens_of_published_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    published = BYTES + line(b"ab", 256)
    monkeypatch.setitem(tiktoken._KNOWN, hashlib.sha256(published).hexdigest(), ("cl100k", "gpt2"))
    for words, want in ((None, tiktoken.published_special("gpt2")), ({"<x>": 300}, {"<x>": 300}), ({}, {})):
        tok = ubpe_numba.load(published, special_tokens=words)
        assert (tok.vocabulary.special, tok._model.segmenter.pretokenizer.name) == (want, "cl100k")
    assert tiktoken.published(b"YQ== 0\n") is None


def test_a_file_that_serves_several_models_asks_which(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whisper's: from large-v3 on there is one more language, and what follows it is one higher."""
    ranks = BYTES + line(b"ab", 256)
    row = ("gpt2", "whisper whisper_v3")
    monkeypatch.setitem(tiktoken._KNOWN, hashlib.sha256(ranks).hexdigest(), row)
    with pytest.warns(UserWarning, match="serves 'whisper', 'whisper_v3', and 'whisper' is taken"):
        first = ubpe_numba.load(ranks)
    old, new = (ubpe_numba.load(ranks, special_tokens=name).vocabulary.special for name in row[1].split())
    assert first.vocabulary.special == old and [*old] == [word for word in new if word != "<|yue|>"]
    for word, i in (
        ("su", 50357),
        ("yue", 50358),
        ("translate", 50359),
        ("notimestamps", 50364),
        ("30.00", 51865),
    ):
        assert new[f"<|{word}|>"] == i and old.get(f"<|{word}|>", i - 1) == i - (word != "su")
    refuses(
        ValueError,
        "special_tokens: expected words with ids, got 'whisper_v4'",
        ubpe_numba.load,
        ranks,
        special_tokens="whisper_v4",
    )


def test_ids_equal_those_of_the_package_of_llama() -> None:
    """Special tokens and a sample of text, for the file in `llama_models`."""
    pytest.importorskip("llama_models")
    import llama_models.llama3.tokenizer as theirs

    path = pathlib.Path(theirs.__file__).parent / "tokenizer.model"
    tok, other = ubpe_numba.load(path), theirs.Tokenizer(path)
    assert tok.vocabulary.special == other.special_tokens
    for text in ("Hello, world 12345", " it's\n\n  über 低い\t", "<|eot_id|>a"):
        assert tok.encode(text, allowed_special="all").tolist() == other.encode(
            text, bos=False, eos=False, allowed_special="all"
        )
