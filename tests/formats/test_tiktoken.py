"""To and from tiktoken: merges are found again from ranks; hostile files are refused."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from foreign import line
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from reference.byte_strings import of_one_hash, of_one_home
from reference.one_by_one import one_by_one
from reference.token_pairs import pairs_of_ranks

from ubpe_numba import BPE, ModelFormatError
from ubpe_numba.formats import tiktoken
from ubpe_numba.formats.pair_table import Table
from ubpe_numba.text.pretokenizer import NAMED


@settings(max_examples=60)
@given(st.lists(st.text("abc", max_size=30), max_size=4), st.integers(0, 20), st.data())
def test_pairs_of_tokens_from_ranks(docs: list[str], more: int, data: st.DataObject) -> None:
    tok = BPE(256 + more, alphabet=bytes(range(256)), encoding="utf-8").fit(docs, progress=False)
    again = BPE.from_tiktoken(tok.to_tiktoken())
    assert np.array_equal(again.vocabulary.merges, tok.vocabulary.merges)
    text = data.draw(st.text("abc", max_size=40))
    assert tok.to_tiktoken_encoding().encode(text) == tok.encode(text).tolist()


pytest.importorskip("tiktoken")

BYTES = b"".join(line(bytes([b]), b) for b in range(256))
RANKS: list[tuple[bytes, str]] = [
    (b"", "expected at least one token"),
    (b"###  1\n", "line 1: not base64"),
    (line(b"a", "x"), "line 1: expected a token in base64 and its rank"),
    (line(b"a", -1), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 10**12), "line 1: expected a token in base64 and its rank"),
    (line(b"a", 0) * 2, "line 2: the token b'a' is there twice"),
    (line(b"a", 0) + line(b"b", 0), "the tokens b'a' and b'b' have the same rank 0"),
    (b"YQ==\n", "line 1: expected a token"),
    (b" 0\n", "line 1"),
    (BYTES + line(b"abc", 256), "the token b'abc' of rank 256 is not made of others"),
    (BYTES + line(b"bc", 256) + line(b"ab", 257) + line(b"abc", 258) + line(b"abcd", 400_000), "not made of|expected 0"),
    (BYTES + line(b"abc", 256) + line(b"bcd", 257), "the token b'abc' of rank 256 is not made of others"),
    (line(b"a", 0) + line(b"ab", 1), "the token b'ab' of rank 1 is not made of others"),
    (BYTES + line(b"a" * 20_000, 256), "tokens are too long"),
    (line(b"ab", 0), "expected 1..256 symbols|is not made of others"),
    (b"\x00\xff\n", "line 1"),
]


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
    names += [name for name in draw(st.lists(st.sampled_from([b"zz", b"abc", b"az", b"bb"]), max_size=1)) if name not in names]
    ranks = sorted(draw(st.lists(st.integers(0, 99), min_size=len(names), max_size=len(names), unique=True)))
    return dict(draw(st.permutations(list(zip(names, ranks, strict=True)))))


def encode_alike(table: Table, tokens: list[bytes], by_rank: list[bytes], pairs: list[tuple[bytes, bytes]]) -> None:
    """A table in another order gives the tokens that one merge at a time gives by rank."""
    rng, n, number = random.Random(4), len(table.symbols), {token: i for i, token in enumerate(by_rank)}
    merges = [(number[a], number[b]) for a, b in pairs]
    again = [tuple(pair) for pair in table.merges.tolist()]
    for _ in range(20):
        text = rng.choices(range(n), k=rng.randrange(30))
        mine = [tokens[i] for i in one_by_one(text, again, n)]
        assert mine == [by_rank[i] for i in one_by_one(text, merges, n)], (by_rank, pairs, text)


def check(ranks: dict[bytes, int]) -> None:
    """The pairs found, or the error, are those of the reference."""
    found: tuple[list[bytes], list[tuple[bytes, bytes]]] | str
    try:
        table = tiktoken.read(tiktoken.ranks_of(ranks), {}, None)
    except ModelFormatError as error:
        found = re.sub("the token .* of rank", "the token of rank", str(error).partition(": no two")[0])
    else:
        by_rank = {rank: token for token, rank in ranks.items()}
        tokens = [by_rank[rank] for rank in table.token_ids.tolist()]
        assert bytes(table.symbols) == b"".join(tokens[: len(table.symbols)])
        n = len(table.symbols)
        pairs = {tokens[n + i]: (tokens[a], tokens[b]) for i, (a, b) in enumerate(table.merges.tolist())}
        in_rank = sorted(tokens[n:], key=ranks.__getitem__)
        found = tokens[:n] + in_rank, [pairs[token] for token in in_rank]
        if not table.one_by_one:
            assert (table.merges.max(axis=1, initial=-1) < np.arange(n, len(tokens))).all()
        if tokens[n:] != in_rank:
            encode_alike(table, tokens, *found)
    try:
        want: object = pairs_of_ranks(ranks)
    except ValueError as error:
        want = re.sub("the token .* of rank", "the token of rank", str(error))  # the whole of a long one, there
    assert found == want


@settings(max_examples=400)
@given(tokens_of_ranks())
def test_pairs_of_ranks_are_those_of_the_reference(ranks: dict[bytes, int]) -> None:
    check(ranks)


@pytest.mark.parametrize(
    "tokens",
    [
        [b"a", *(b"a" * n for n in range(2, 60))],
        [b"a", *(b"a" * 2**n for n in range(1, 10)), b"a" * 200],
        [b"a", b"b", *(b"ab" * n for n in range(1, 20)), b"bab", b"baba"],
        [bytes([i]) for i in range(255, -1, -1)] + [bytes([i, j]) for i in range(0, 256, 9) for j in range(256)],
        [b"b", b"a", b"bc", b"ab", b"abc", b"c"],
        [b"b", b"c", b"ab", b"abc"],  # of a, which is no token
        [b"a", b"c", b"abc", b"ab"],  # of b, which is no token, the first part of another is made
        [b"a", b"b", b"c", b"ab", b"bc", b"abc", b"abcabcab", b"abcabc", b"ababab"],
        [b"x"],
    ],
    ids=[
        "prefixes",
        "powers",
        "periods",
        "two bytes",
        "symbols late",
        "without the first part",
        "without a part",
        "unstable",
        "one",
    ],
)
def test_pairs_of_special_tables(tokens: list[bytes]) -> None:
    check({token: rank for rank, token in enumerate(tokens)})
    check({token: 3 * rank for rank, token in enumerate(reversed(tokens))})


@pytest.mark.parametrize("strings, few, many", [(of_one_home, 100, 300), (of_one_hash, 3, 5)])
def test_tokens_that_collide_in_a_hash_table(strings: Callable[[], Iterator[bytes]], few: int, many: int) -> None:
    chosen = [*itertools.islice(strings(), many)]
    for n in (few, many):
        starts = [token[:i] for token in chosen[:n] for i in range(2, len(token) + 1)]
        ranks = {token: i for i, token in enumerate([*(bytes([i]) for i in range(256)), *sorted(set(starts), key=len)])}
        if n == few:
            check(ranks)
        else:
            with pytest.raises(ModelFormatError, match="the tokens collide in a hash table"):
                tiktoken.read(tiktoken.ranks_of(ranks), {}, None)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.binary(min_size=1, max_size=9), st.integers(0, 10**9)), unique_by=lambda item: item[0]), st.data())
def test_lines_read_at_once_are_those_read_one_by_one(tokens: list[tuple[bytes, int]], data: st.DataObject) -> None:
    text = tiktoken.write(dict(tokens))
    whole = tiktoken.read_lines(text)
    assert (whole is None) == (not tokens)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.binary(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    for lines in (text, broken, text.replace(b"\n", b"\r\n"), text.replace(b"=", b"A", 1)):
        found = tiktoken.read_lines(lines)
        if found is not None and len({line.split()[0] for line in lines.split(b"\n") if line}) == found[2].size:
            for a, b in zip(found, tiktoken.ranks_of(tiktoken._parse_lines(lines)), strict=True):
                assert a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize(
    "text", [b"YQ==\n0 YWI= 1\n", b"YQ== 0\n\nYWI= 1\n", b"Y=Q= 0\n", b"Y=== 0\n", b"YQ=A 0\n", b"=YQ= 0\n", b"YQ 0\n"]
)
def test_lines_that_are_written_in_another_way(text: bytes) -> None:
    assert tiktoken.read_lines(text) is None


@pytest.mark.parametrize("data, match", RANKS, ids=range(len(RANKS)))
def test_hostile_ranks(data: bytes, match: str) -> None:
    with pytest.raises(ModelFormatError, match=match):
        BPE.from_tiktoken(data)


def test_a_token_of_no_bytes_is_no_token() -> None:
    """As the last line of Whisper's `multilingual.tiktoken`."""
    tok = BPE.from_tiktoken(BYTES + line(b"ab", 256) + b"= 257\n", pretokenizer=None, special_tokens={"<e>": 258})
    assert tok.encode("abc<e>", allowed_special="all").tolist() == [256, 99, 258]
    with pytest.raises(ModelFormatError, match="line 258: the token b'' is there twice"):
        BPE.from_tiktoken(BYTES + b"= 257\n= 258\n")


def test_a_file_that_fails_is_read_again_only_to_find_a_token_that_is_there_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = BYTES + line(b"abab", 256)
    with pytest.raises(ModelFormatError, match="is there twice"):
        BPE.from_tiktoken(wrong + line(b"abab", 257))
    monkeypatch.setattr(tiktoken, "_parse_lines", lambda data: pytest.fail("read again"))
    with pytest.raises(ModelFormatError, match="is not made of others"):
        BPE.from_tiktoken(wrong)


@settings(max_examples=60)
@given(tokens_of_ranks(), st.lists(st.text("abcd ", max_size=12), max_size=20), st.sampled_from([None, "gpt2"]))
def test_ids_equal_those_of_tiktoken(ranks: dict[bytes, int], docs: list[str], pattern: str | None) -> None:
    """Also of tokens that merging does not make, which whole segments become, and of ranks not in the order of parts."""
    bytes_left = (bytes([b]) for b in range(256) if bytes([b]) not in ranks)
    ranks |= {token: 1000 + i for i, token in enumerate(bytes_left)}
    try:
        tokenizer = BPE.from_tiktoken(b"".join(line(token, rank) for token, rank in ranks.items()), pretokenizer=pattern)
    except ModelFormatError:
        reject()
    import tiktoken as peer

    other = peer.Encoding("t", pat_str=tiktoken.covering(NAMED.get(pattern)), mergeable_ranks=ranks, special_tokens={})
    docs += [token.decode() for token in ranks if token.isascii()]
    assert tokenizer.encode_batch(docs).to_lists() == [other.encode(doc) for doc in docs]
