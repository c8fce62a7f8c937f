"""Iterators of documents, and one text in chunks."""

import itertools
import pickle
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from pair_tables import Table, documents, tables
from reference import encode_pairs
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Ragged
from ubpe_numba.coding import streams
from ubpe_numba.coding.kernels import incremental
from ubpe_numba.coding.streams import final_ids
from ubpe_numba.errors import UnknownSymbolError, UnknownTokenError

DOCS = ["abab", "", "b", "aab" * 7, "", "babb"]


@each("batch", [1, 2, 5, 10**6])
def test_iterators_give_what_a_batch_gives(batch: int) -> None:
    tok = BPE(9, n_threads=2).fit([*DOCS, "ba"], progress=False)
    want = tok.encode_batch(DOCS)
    got = list(tok.encode_iter(iter(DOCS), batch=batch))
    assert [ids.tolist() for ids in got] == want.to_lists() and all(ids.dtype == np.int32 for ids in got)
    assert list(tok.decode_iter(iter(want), batch=batch)) == DOCS
    out = np.full(want.total + 3, -7, np.int32)
    offsets = tok.encode_batch(iter(DOCS), out=out).offsets
    assert Ragged(out, offsets) == want and (out[want.total :] == -7).all()
    assert list(tok.encode_iter([], batch=batch)) == [] and tok.encode_batch(
        [], out=out
    ).offsets.tolist() == [0]


def test_reading_is_lazy() -> None:
    tok, read = BPE.from_merges([[0, 1]], alphabet=2), []
    ids = tok.encode_iter(
        (read.append(i) or np.zeros(1000, np.int32) for i in itertools.count()), batch=10_000
    )
    assert not read  # nothing is read before it is asked for
    assert all(one.size == 1000 for one in itertools.islice(ids, 300)) and len(read) <= 315


def test_errors_count_from_the_first_document() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    found = tok.encode_iter(["ab", "b", "a", "bxa"], batch=2)
    assert [ids.tolist() for ids in itertools.islice(found, 3)] == [[2], [1], [0]]
    refuses(UnknownSymbolError, "document 3, position 1: symbol 'x'", next, found)
    refuses(
        UnknownTokenError,
        "document 2, position 1: token id 9 ",
        lambda: list(tok.decode_iter([[2], [1], [0, 9]], batch=1)),
    )
    refuses(
        UnknownSymbolError,
        "document 1, position 0: symbol 'x'",
        lambda: list(tok.stream().over(["ab", "xb"])),
    )
    for call in (
        tok.encode_iter, tok.decode_iter, tok.stream().over, lambda d: tok.encode_batch(d, out=np.zeros(3, np.int32)).offsets,
    ):  # fmt: skip
        for one in ("ab", np.zeros(3, int), None):
            refuses(TypeError, "expected an iterable of several", call, one)
    for batch, error in ((0, ValueError), (True, TypeError), (1.5, TypeError)):
        refuses(error, "batch: expected", tok.encode_iter, ["ab"], batch=batch)
    refuses(TypeError, "docs: document 1: expected one document", lambda: list(tok.encode_iter(["ab", 3])))


def test_a_document_that_does_not_fit() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    for n in range(6):
        out = np.full(7, -1, np.int32)
        docs, room = ["ab", "", "baab", "", "b"], out[:n]
        if n == 5:
            assert tok.encode_batch(docs, out=room).offsets.tolist() == [0, 1, 1, 4, 4, 5]
            continue
        document, start, size = (0, 0, 1) if n < 1 else (2, 1, 3) if n < 4 else (4, 4, 1)
        match = (
            f"out: {n} ids are too few: document {document}, of {size} ids, has no place from position {n - start} on; "
            f"the {document} documents before it are whole, in out.:{start}."
        )
        refuses(ValueError, match, tok.encode_batch, docs, out=room)
        assert out[:start].tolist() == [2, 1, 0, 2][:start] and (out[start:] == -1).all()
    for bad, error in ((np.zeros(3), TypeError), (np.zeros((3, 3), np.int32), ValueError), ([0], TypeError)):
        refuses(error, "out: expected", tok.encode_batch, ["ab"], out=bad)


def test_a_push_costs_a_try_for_every_length_however_long_tokens_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a run of one symbol, of which tokens have 2, 4, ...

    65,536; Ctrl-C between slices leaves the stream as it was.
    """
    n, longest = 2, 1 << 16
    tok = BPE.from_merges([[0, 0], *([i, i] for i in range(n, n + 15))], alphabet=n)
    text = np.zeros(3 * longest, np.int32)
    made = []
    kernel = incremental.last_tokens

    def counted(*args: Any) -> int:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(kernel(*args))
        return made[-1]

    monkeypatch.setattr(incremental, "last_tokens", counted)
    monkeypatch.setattr(streams, "_TRIES", 1 << 17)
    stream = tok.stream()
    before = pickle.dumps((stream._n_chunks, stream._waiting))
    refuses(KeyboardInterrupt, "", stream.push, text)
    assert pickle.dumps((stream._n_chunks, stream._waiting)) == before
    made[:] = [0] * 3
    ids = [stream.push(text), stream.finish()]
    assert (
        max(made) <= (1 << 17) + 17
        and sum(made) <= 17 * text.size
        and np.array_equal(np.concatenate(ids), tok.encode(text))
    )


def test_a_long_stream_holds_little_back() -> None:
    rng = np.random.default_rng(3)
    text = np.concatenate([rng.integers(0, 4, 60_000), np.tile([0, 1], 20_000), np.zeros(20_000, int)])
    tok = BPE(200, alphabet=4).fit([text[:30_000]], progress=False)
    longest = int(np.diff(tok._model.vocabulary.offsets).max())
    stream, parts, came_out = tok.stream(), [], 0
    for at in range(0, text.size, 1000):
        parts.append(stream.push(text[at : at + 1000]))
        came_out += len(tok.decode(parts[-1]))
        assert at + 1000 - came_out <= 8 * longest
    assert np.array_equal(np.concatenate([*parts, stream.finish()]), tok.encode(text))


def test_only_encoding_by_rank_needs_no_frames() -> None:
    batch = BPE(6, alphabet="ab", rules=FitRules(encode="batch")).fit(DOCS, progress=False)
    for tok in (UBPE(6, alphabet="ab").fit(DOCS, progress=False), batch):
        with pytest.raises(
            ValueError, match="frame: expected a number of symbols, got None: only encoding by rank"
        ):
            tok.stream().over(["ab"])
        text = "abbab" * 9
        framed = np.concatenate(list(tok.stream(frame=10).over([text[:11], "", text[11:]])))
        assert framed.tolist() == [
            i for at in range(0, 45, 10) for i in tok.encode(text[at : at + 10]).tolist()
        ]
        for frame, error in ((0, ValueError), (True, TypeError), ("a", TypeError)):
            with pytest.raises(error, match="frame: expected"):
                tok.stream(frame=frame).over(["ab"])


def test_stream_phases_that_never_meet() -> None:
    """The encoding of some prefix has no token that starts where the last stretch starts, so a longer stretch is needed."""
    n = 200
    # the last pair of a run goes first: phases depend on the end
    merges = [[i, i + 1] for i in range(n - 2, -1, -1)]
    tok = BPE.from_merges(merges, alphabet=n)
    rng = np.random.default_rng(1)
    for text in (
        np.arange(n),
        np.concatenate([np.arange(n)] * 3),
        np.concatenate([np.arange(a, b) for a, b in np.sort(rng.integers(0, n, (20, 2)), 1)]),
    ):
        for step in (1, 7, 50):
            parts = list(tok.stream().over([text[i : i + step] for i in range(0, text.size, step)]))
            assert np.concatenate(parts).tolist() == tok.encode(text).tolist()


@given(st.data(), tables())
def test_pushed_chunks_are_the_whole(data: st.DataObject, table: Table) -> None:
    """In chunks of any size, pushed or of an iterator, whose buffer is used again; what is final is so in every continuation."""
    size, pairs, _ = table
    tok = BPE.from_merges(pairs, alphabet=size)
    text = [i for d in data.draw(documents(size, 150)) for i in d]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]
    want = encode_pairs.encode_rank(text, {tuple(p): (i, size + i) for i, p in enumerate(pairs)})
    for frame in (None, data.draw(st.integers(1, 50))):
        buffer = np.empty(len(text), np.int32)
        with tok.stream(frame=frame) as stream:
            parts = []
            for chunk in chunks:
                buffer[: len(chunk)] = chunk
                parts.append(stream.push(buffer[: len(chunk)]))
                buffer[:] = -9
        assert stream.rest is not None and all(part.dtype == np.int32 for part in parts)
        parts.append(stream.rest)
        assert [p.tolist() for p in parts if p.size] == [
            p.tolist() for p in tok.stream(frame=frame).over(chunks)
        ]
        if frame is not None:
            want = [
                i for at in range(0, len(text), frame) for i in tok.encode(text[at : at + frame]).tolist()
            ]
        assert np.concatenate(parts).tolist() == want
    encoder, prefix = tok._tables.pairs(), text[: data.draw(st.integers(0, len(text)))]
    ids = tok.encode(prefix)
    n = final_ids(encoder, np.array(prefix, np.int32), ids, -1)
    for more in data.draw(st.lists(st.lists(st.integers(0, size - 1), max_size=30), max_size=8)):
        assert tok.encode([*prefix, *more])[:n].tolist() == ids[:n].tolist()


def test_errors_leave_the_stream_as_it_was_and_it_can_be_sent_to_another_process() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    stream = tok.stream()
    first = stream.push("a")
    refuses(UnknownSymbolError, "document 1, position 1: symbol 'x'", stream.push, "bx")
    refuses(TypeError, "chunks: chunk 1", stream.push, 3.5)
    stream = pickle.loads(pickle.dumps(stream))
    rest = [stream.push("b"), stream.finish()]
    assert np.concatenate([first, *rest]).tolist() == [2] == stream.rest.tolist() and not stream.finish().size
    refuses(ValueError, "chunk: the stream is finished", stream.push, "a")
    with pytest.raises(ZeroDivisionError), tok.stream() as left:
        left.push(["a", "b"][1 // 0])
    assert left.rest is None and tok.stream(unknown="skip").push("axb").tolist() == []
    replacing = BPE.from_merges([[0, 1]], alphabet="ab", unknown="a")
    assert replacing.stream(frame=2).push("xb").tolist() == [2]


@each("frame", [None, 3])
def test_ctrl_c_while_ids_are_encoded_leaves_the_stream_as_it_was(frame: int | None) -> None:
    tok = BPE.from_merges([[0, 1], [2, 2]], alphabet=2)
    stream, parts, chunks = tok.stream(frame=frame), [], [[0, 1, 0], [0, 1, 0], [1, 1]] * 9

    def interrupted(ids: Any) -> Any:
        raise KeyboardInterrupt

    for push in (*(partial(stream.push, chunk) for chunk in chunks), stream.finish):
        before, encode = pickle.dumps((stream._n_chunks, stream._waiting)), stream._encode
        stream._encode = interrupted
        try:
            parts.append(push())  # where nothing is encoded yet
        except KeyboardInterrupt:
            assert pickle.dumps((stream._n_chunks, stream._waiting)) == before
            stream._encode = encode
            parts.append(push())
        stream._encode = encode
    assert (
        np.concatenate(parts).tolist() == np.concatenate(list(tok.stream(frame=frame).over(chunks))).tolist()
    )


@given(
    st.text(st.sampled_from("aé日𝄞"), max_size=12),
    st.lists(st.integers(1, 4), max_size=12),
    st.binary(max_size=3),
)
def test_ids_one_after_the_other(text: str, sizes: list[int], more: bytes) -> None:
    tok = BPE.for_text(258, pretokenizer=None).fit(["aé日𝄞"], progress=False)
    data = text.encode() + more
    ids = tok.encode(data)
    with tok.decode_stream() as stream:
        parts, at = [], 0
        for size in [*sizes, len(ids)]:
            parts.append(stream.push(ids[at : at + size]))
            at += size
    assert "".join(parts) + stream.rest == tok.decode(ids)
    assert "\ufffd" not in "".join(parts) or "\ufffd" in tok.decode(ids)
    raw = BPE.from_merges([[0, 1]], alphabet=bytes(range(256)))
    plain = raw.decode_stream()
    assert b"".join([*(plain.push([i]) for i in raw.encode(data)), plain.finish()]) == data


def test_a_fit_or_another_parameter_does_not_reach_streams_that_were_begun() -> None:
    docs = ["abab", "abab"]
    for frame, want in ((None, [3, 2]), (4, [3, 2])):
        tok = BPE(4, alphabet="ab").fit(docs, progress=False)
        stream, decoder = tok.stream(frame=frame), tok.decode_stream()
        parts = [stream.push("aba")]
        tok.set_params(n_tokens=2).fit(["bbbb"], progress=False)
        assert tok.vocab_size == 2
        parts += [stream.push("bab"), stream.finish()]
        assert (
            np.concatenate(parts).tolist() == want
            and decoder.push([3, 2]) == decoder.push(np.array([3, 2])) == "ababab"
        )


def test_decoded_streams_of_other_kinds_and_their_errors() -> None:
    numbers = BPE.from_merges([[0, 1]], alphabet=[7, 8]).decode_stream(skip=-1)
    assert (
        numbers.push([2, -1]).tolist() == [7, 8]
        and numbers.push(0).tolist() == [7]
        and numbers.finish().size == 0
    )
    refuses(ValueError, "ids: the stream is finished", numbers.push, 0)
    text = BPE.from_merges([[0, 1]], alphabet="ab")
    assert [text.decode_stream().push(i) for i in (2, np.int32(2), np.array(2), np.array([2]))] == ["ab"] * 4
    refuses(TypeError, "", lambda: text.decode_stream().push(np.array(2.0)))
    refuses(UnknownTokenError, "position 1: token id 9 ", lambda: text.decode_stream().push([0, 9]))
    strict = (
        BPE.for_text(256, pretokenizer=None).fit([""], progress=False).decode_stream(errors="strict", skip=-1)
    )
    assert strict.push([0xC3, -1]) == ""
    for call in (strict.finish, lambda: strict.push(b"a"), strict.finish):  # each time
        refuses(UnicodeDecodeError, "", call)
    strict = pickle.loads(pickle.dumps(strict))
    assert strict.push([-1, 0xA9]) == "é" and strict.finish() == ""
