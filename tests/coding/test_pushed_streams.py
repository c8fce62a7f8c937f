"""Streams that are pushed: equal to those of iterators, and to the whole."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_tables import Table, documents, tables

from ubpe_numba import BPE, UBPE, export
from ubpe_numba.errors import UnknownSymbolError, UnknownTokenError


@given(st.data(), tables())
def test_pushed_chunks_are_the_whole(data: st.DataObject, table: Table) -> None:
    size, pairs, _ = table
    tok = BPE.from_merges(pairs, alphabet=size)
    text = [i for d in data.draw(documents(size, 150)) for i in d]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    for frame in (None, data.draw(st.integers(1, 20))):
        with tok.stream(frame=frame) as stream:
            parts = [stream.push(chunk) for chunk in chunks]
        assert stream.rest is not None and all(part.dtype == np.int32 for part in parts)
        parts.append(stream.rest)
        by_iterator = list(tok.stream(frame=frame).over(chunks))
        assert [p.tolist() for p in parts if p.size] == [p.tolist() for p in by_iterator]
        if frame is None:
            assert np.concatenate(parts).tolist() == tok.encode(text).tolist()


def test_a_buffer_may_be_used_again() -> None:
    rng = np.random.default_rng(0)
    text = rng.integers(0, 3, 2000).astype(np.int32)
    tok = BPE(40, alphabet=3).fit([text], progress=False)
    buffer, stream, parts = np.empty(7, np.int32), tok.stream(), []
    for at in range(0, text.size, 7):
        chunk = text[at : at + 7]
        buffer[: chunk.size] = chunk
        parts.append(stream.push(buffer[: chunk.size]))
        buffer[:] = -9
    assert np.array_equal(np.concatenate([*parts, stream.finish()]), tok.encode(text))


def test_errors_leave_the_stream_as_it_was() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    stream = tok.stream()
    first = stream.push("a")
    with pytest.raises(UnknownSymbolError, match="document 1, position 1: symbol 'x'"):
        stream.push("bx")
    with pytest.raises(TypeError, match="chunks: chunk 1"):
        stream.push(3.5)
    rest = [stream.push("b"), stream.finish()]
    assert np.concatenate([first, *rest]).tolist() == [2] == stream.rest.tolist() and not stream.finish().size
    with pytest.raises(ValueError, match="chunk: the stream is finished"):
        stream.push("a")
    with pytest.raises(ValueError, match="frame: expected a number of symbols"):
        UBPE(4, alphabet="ab").fit(["ab", "ba"], progress=False).stream()
    with pytest.raises(ZeroDivisionError), tok.stream() as left:
        left.push(["a", "b"][1 // 0])
    assert left.rest is None
    assert tok.stream(unknown="skip").push("axb").tolist() == [] and BPE.from_merges([[0, 1]], alphabet="ab", unknown="a").stream(
        frame=2
    ).push("xb").tolist() == [2]


@given(st.text(st.sampled_from("aé日𝄞"), max_size=12), st.lists(st.integers(1, 4), max_size=12), st.binary(max_size=3))
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


def test_decoded_streams_of_other_kinds_and_their_errors() -> None:
    numbers = BPE.from_merges([[0, 1]], alphabet=[7, 8]).decode_stream(skip=-1)
    assert numbers.push([2, -1]).tolist() == [7, 8] and numbers.push(0).tolist() == [7] and numbers.finish().size == 0
    with pytest.raises(ValueError, match="ids: the stream is finished"):
        numbers.push(0)
    with pytest.raises(UnknownTokenError, match="position 1: token id 9 "):
        BPE.from_merges([[0, 1]], alphabet="ab").decode_stream().push([0, 9])
    strict = BPE.for_text(256).fit(["a"]).decode_stream(errors="strict")
    strict.push([0xE6])
    with pytest.raises(UnicodeDecodeError):
        strict.finish()


def test_text_that_is_changed_back_as_a_whole() -> None:
    made: Any = BPE.load(export(BPE.from_merges([[0, 1]], alphabet="ab"), "sentencepiece"))
    assert made._model.segmenter.restores
    ids, stream = made.encode("abba"), made.decode_stream()
    assert "".join(map(stream.push, ids.tolist())) + stream.finish() == made.decode(ids) == "abba"


def test_a_fit_or_another_parameter_does_not_reach_streams_that_were_begun() -> None:
    docs = ["abab", "abab"]
    for frame, want in ((None, [3, 2]), (4, [3, 2])):
        tok = BPE(4, alphabet="ab").fit(docs, progress=False)
        stream, decoder = tok.stream(frame=frame), tok.decode_stream()
        parts = [stream.push("aba")]
        tok.set_params(n_tokens=2).fit(["bbbb"], progress=False)
        assert tok.vocab_size == 2
        parts += [stream.push("bab"), stream.finish()]
        assert np.concatenate(parts).tolist() == want
        assert decoder.push([3, 2]) == decoder.push(np.array([3, 2])) == "ababab"


def test_an_error_while_ids_are_encoded_leaves_the_stream_as_it_was() -> None:
    """As the key of an interrupt does."""
    tok = BPE.from_merges([[0, 1], [2, 2]], alphabet=2)
    for frame in (None, 3):
        stream, parts, whole = tok.stream(frame=frame), [], []
        encode = stream._encode

        def interrupted(ids: Any) -> Any:
            raise KeyboardInterrupt

        for i in range(40):
            chunk = [0, 1, 0] if i % 3 else [1, 1]
            before = pickle.dumps((stream._n_chunks, stream._waiting))
            stream._encode = interrupted
            try:
                parts.append(stream.push(chunk))  # where nothing is encoded yet
            except KeyboardInterrupt:
                assert pickle.dumps((stream._n_chunks, stream._waiting)) == before
                stream._encode = encode
                parts.append(stream.push(chunk))
            whole += chunk
        stream._encode = interrupted
        with pytest.raises(KeyboardInterrupt):
            stream.finish()
        stream._encode = encode
        want = tok.stream(frame=frame)
        assert np.concatenate([*parts, stream.finish()]).tolist() == [*want.push(whole).tolist(), *want.finish().tolist()]


def test_streams_can_be_sent_to_another_process() -> None:
    tok = BPE.for_text(258, pretokenizer=None).fit(["abab"], progress=False)
    stream, decoder = tok.stream(), tok.decode_stream(skip=-1)
    first, text = stream.push("aba"), decoder.push([*"né".encode()[:2], -1])
    stream, decoder = pickle.loads(pickle.dumps((stream, decoder)))
    assert np.concatenate([first, stream.push("b"), stream.finish()]).tolist() == tok.encode("abab").tolist()
    assert text + decoder.push([-1, 0xA9]) + decoder.finish() == "né"


def test_one_id_as_a_model_draws_it() -> None:
    tok = BPE.from_merges([[0, 1]], alphabet="ab")
    assert [tok.decode_stream().push(i) for i in (2, np.int32(2), np.array(2), np.array([2]))] == ["ab"] * 4
    with pytest.raises(TypeError):
        tok.decode_stream().push(np.array(2.0))


def test_what_is_no_utf8_is_an_error_each_time() -> None:
    stream = BPE.for_text(256, pretokenizer=None).fit([""], progress=False).decode_stream(errors="strict")
    assert stream.push("é".encode()[:1]) == ""
    for call in (stream.finish, lambda: stream.push(b"a"), stream.finish):
        with pytest.raises(UnicodeDecodeError):
            call()
    assert stream.push("é".encode()[1:]) == "é" and stream.finish() == ""
