"""Bad input never crashes the process and never returns something wrong; messages are in `test_ways_on.py`."""

import array
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from processes import python
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Ragged
from ubpe_numba.errors import NotFittedError, UnknownSymbolError, UnknownTokenError
from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.text.pretokenizer import PythonPattern

DOCS = [[0, 1, 2, 0, 1], [2, 0, 1, 2], [2, 2, 1, 1, 2, 2, 1, 1], []]
LOW, HIGH = -(2**63), 2**63 - 1


def fitted(cls: Any, docs: Any = None, n_tokens: int | None = None, **params: Any) -> Any:
    """A tokenizer with merges; with the default documents it weighs its tokens."""
    return cls(n_tokens, **params).fit(DOCS if docs is None else docs, progress=False)


@each("docs, n", [
    ([], 0), ([[]], 1), ([[], [], []], 3), ((), 0), ([""], 1), ("", 1), ([b"", b""], 2),
    (np.zeros((0, 5), int), 0), (np.zeros((3, 0), np.int8), 3), (np.array([]), 1),
    ([np.array([])] * 2, 2), ([np.array([]), [], np.array([], np.uint8)], 3),
    (Ragged.from_lists([]), 0), (Ragged.from_lists([[], []]), 2), (b"", 1), (array.array("i"), 1),
])  # fmt: skip
def test_a_corpus_without_symbols(docs: Any, n: int) -> None:
    tok = UBPE(256).fit(docs, progress=False)
    assert tok._model.vocabulary.n_learned == 0 and tok.encode_batch(docs).to_lists() == [[]] * n
    assert len(tok.decode_batch(Ragged.from_lists([[]] * n))) == n
    for empty in ([], "", b"", (), np.array([]), np.zeros(0, np.uint16)):
        assert tok.encode(empty).tolist() == [] and tok.encode(empty).dtype == np.int32
    assert len(tok.decode([])) == 0
    refuses(UnknownTokenError, r"document 0, position 0: token id 256 is outside", tok.decode, [256])
    match = r"position 0: symbol '\u1234'|expected the same, got str"
    refuses((UnknownSymbolError, TypeError), match, tok.encode, "\u1234")


def test_one_document() -> None:
    """UBPE has nothing to weigh: it warns, once, and encodes to the fewest tokens."""
    for docs in ([[0, 1, 2, 0, 1, 2, 0, 1]], "abcabcab", np.array([0, 1, 2, 0, 1, 2, 0, 1])):
        doc = docs[0] if isinstance(docs, list) else docs
        with pytest.warns(UserWarning, match="one document.*fewest tokens") as warned:
            tok = fitted(UBPE, docs)
        assert len(warned) == 1
        shortest = fitted(UBPE, docs, objective="shortest")
        assert tok.encode(doc).tolist() == shortest.encode(doc).tolist()
        assert (
            len(tok.encode(doc))
            == len(tok.encode_nbest([doc], 1)[0][0][0])
            <= len(fitted(BPE, docs).encode(doc))
        )


def few(weight: float) -> Any:
    """A tokenizer of three tokens of a weight."""
    return fitted(UBPE, [[0, 1] * 2], 3, n_candidates=1, alphabet=2, objective="shortest").with_objective(
        np.full(3, weight)
    )


@each("call, last, beyond", [
    (lambda x: few(1.0).encode([0, 1], sample=x), 66, np.nextafter(66, 67)),
    (lambda x: few(0.0).encode([0, 1], sample=x), 10_000, np.nextafter(10_000, 10_001)),
    (few, 1e6, np.nextafter(1e6, 2e6)), (few, -1e6, np.nextafter(-1e6, -2e6)),
    (lambda x: BPE(x).fit([]), 2**31 - 3, 2**31 - 2), (lambda x: SignalTokenizer(200, step=1, tolerance=x)._check(), 127, 128),
    (lambda x: PythonPattern("ab" * x), 5000, 5001), (lambda x: PythonPattern("(?i)" + "[a-é]" * x), 6, 7),
])  # fmt: skip
def test_the_last_that_is_allowed_is_taken_and_the_next_refused(call: Any, last: Any, beyond: Any) -> None:
    call(last)
    refuses(ValueError, "expected", call, beyond)


# ² is a digit to str.isdigit, but not to int
@each("text", ["0", "-1", "many", "1.5", "²", "8193", "1" * 30])
@each("name", ["UBPE_NUM_THREADS", "NUMBA_NUM_THREADS"])
def test_bad_environment(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tok = fitted(UBPE)
    monkeypatch.delenv("UBPE_NUM_THREADS", raising=False)
    monkeypatch.setenv(name, text)
    for call in (lambda: fitted(UBPE), lambda: tok.encode([0, 1])):
        refuses(
            ValueError, f"^environment variable {name}: expected an integer in 1..8192, got '{text}'", call
        )
    tok.set_params(n_threads=1).encode([0, 1])  # the argument goes first


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by way of /proc")
def test_more_candidates_than_pairs() -> None:
    """All pairs are candidates then, and no memory is taken for those that cannot exist: 512 MB suffice."""
    script = f"""
import resource
from ubpe_numba import UBPE
UBPE(8, 3).fit({DOCS}, progress=False)
with open("/proc/self/statm") as f:
    size = int(f.read().split()[0]) * resource.getpagesize() + 2**29
resource.setrlimit(resource.RLIMIT_AS, (size, size))
print(*(UBPE(8, n).fit({DOCS}, progress=False).fingerprint for n in (10**7, 10**15)))
"""
    assert python(script).split() == [fitted(UBPE, n_tokens=8, n_candidates=1000).fingerprint] * 2


def test_a_failing_iterator_leaves_the_tokenizer_as_it_was(cls: Any) -> None:
    def docs() -> Iterator[list[int]]:
        yield [0, 1, 0, 1]
        raise OSError("disk on fire")

    tok, unfitted = fitted(cls), cls()
    before = tok.fingerprint
    for call in (
        lambda: tok.fit(docs(), progress=False),
        lambda: tok.encode_batch(docs()),
        lambda: unfitted.fit(docs()),
    ):
        refuses(OSError, "disk on fire", call)
    assert tok.fingerprint == before
    refuses(NotFittedError, "no vocabulary yet", unfitted.encode, [0])


@each("n_threads", [1, 4])
def test_positions_in_large_batches(n_threads: int) -> None:
    """In batches larger than a block of the look-up, and than the share of one thread."""
    flat = np.tile(np.arange(4, dtype=np.uint8), 300_000)
    offsets = np.arange(0, flat.size + 1, 4000)
    tok = UBPE(6, alphabet=4, n_threads=n_threads, rules=FitRules(min_count=1))
    tok.fit([[0, 1, 2, 3], [2, 3], [0]], progress=False)
    before = tok.fingerprint
    bad = flat.copy()
    bad[[1_100_123, 1_100_124]] = 77, 78
    message = "document 275, position 123: symbol 77 is not in the alphabet, 0..3"
    refuses(UnknownSymbolError, message, tok.encode_batch, bad, offsets)
    refuses(UnknownSymbolError, message, tok.fit, bad, offsets=offsets, progress=False)
    assert tok.fingerprint == before


BAD_IDS = [
    ([0, 1, 8], 2, 8), ([-1], 0, -1), ([0, 2**31], 1, 2**31), ([2**40, 9], 0, 2**40), ([1, LOW], 1, LOW), ([HIGH], 0, HIGH),
    (np.array([1, 300], np.int16), 1, 300), (np.array([0, 2**32 + 1]), 1, 2**32 + 1), (np.array([0, 9], ">i4"), 1, 9),
    (np.array([-(2**31)], np.int32), 0, -(2**31)), (np.array([255], np.uint8), 0, 255),
    (np.array([2**32 - 1], np.uint32), 0, 2**32 - 1), (np.array([0, 2**63 - 1], ">u8"), 1, HIGH),
]  # fmt: skip


@each("ids, position, token", BAD_IDS)
def test_ids_out_of_range(ids: Any, position: int, token: int) -> None:
    tok = fitted(UBPE, n_tokens=8)
    assert len(tok._model.vocabulary) == 8
    message = f"position {position}: token id {token} is outside the vocabulary, 0..7"
    with pytest.raises(UnknownTokenError, match=f"document 0, {message}") as caught:
        tok.decode(ids)
    assert (caught.value.document, caught.value.position, caught.value.token) == (0, position, token)
    with pytest.raises(UnknownTokenError, match=f"document 2, {message}") as caught:
        tok.decode_batch([[0], [], ids])
    assert (caught.value.document, caught.value.position) == (2, position)


def test_sliced_batches_report_their_own_documents() -> None:
    tok = fitted(UBPE, n_tokens=8)
    batch = Ragged.from_lists([[99], [0, 1], [], [2, 8]])
    assert tok.decode_batch(batch[1:3]).to_lists() == [[0, 1], []]
    refuses(UnknownTokenError, "document 2, position 1: token id 8 ", tok.decode_batch, batch[1:])
