"""`lower_bound`: what is read, what is claimed, and errors that name the argument."""

from typing import Any

import numpy as np
import pytest
from tables import each, refuses

from ubpe_numba import BPE, UBPE, UBPEClassic, count_documents
from ubpe_numba.bounds import LowerBound, lower_bound
from ubpe_numba.errors import NotFittedError, UnknownSymbolError

DOCS = ["low lower lowest low", "new newer newest", "low new low", "the lowest wing, the newest wing"]


@each("cls, options", [(BPE, {}), (UBPEClassic, {}), (UBPE, {"objective": "shortest"}), (UBPE, {})])
def test_a_bound_of_text_is_below_its_own_tokens(cls: Any, options: dict[str, Any]) -> None:
    tok = cls.for_text(262, pretokenizer="gpt2", **options).fit(DOCS, progress=False)
    found = lower_bound(tok, DOCS, seconds=None, progress=False)
    assert found.own == sum(map(len, tok.encode_batch(DOCS)))
    assert (found.n_tokens, found.max_token_length, found.min_count, found.converged) == (262, None, 1, True)
    assert found.gap == (found.own - found.tokens) / found.tokens >= 0
    assert f"tokens={found.tokens}, own={found.own}, gap=" in repr(found)
    all_words = lower_bound(tok, DOCS, 10_000, seconds=None)
    assert all_words.tokens == 17 < found.tokens and all_words.n_tokens == 10_000


@each("options", [{}, {"max_token_length": 4}, {"memory_limit": 3_000_000}])
@each("docs", [[[0, 1, 1] * 300, [0] * 600]])
def test_no_bound_is_above_the_long_tokens_of_the_tokenizer_itself(
    docs: Any, options: dict[str, Any]
) -> None:
    """They are candidates however short those are that there is memory for."""
    tok = UBPE(14, 1, alphabet=2, objective="shortest").fit(docs, progress=False)
    longest = max(len(tok.vocabulary[i]) for i in range(len(tok.vocabulary)))
    found = lower_bound(tok, docs, seconds=0.3, progress=False, **options)
    assert found.tokens <= found.own
    assert found.max_token_length is None or found.max_token_length < longest
    assert (found.max_token_length is None) == (options == {})


def test_memory_is_limited_where_a_length_is_given() -> None:
    tok = BPE(4, alphabet=2).fit([[0, 1, 0, 1]])
    with pytest.raises(MemoryError, match="memory_limit: tokens of up to 20000 symbols need up to"):
        lower_bound(tok, [np.zeros(20_000, np.int32)], max_token_length=20_000)
    docs = [np.random.default_rng(0).integers(0, 2, 400)]
    with pytest.raises(MemoryError, match="tokens of up to 2 symbols need up to 0.138 MB") as refused:
        lower_bound(tok, docs, memory_limit=137_000)
    least = 1e6 * float(str(refused.value).split(" MB")[0].split()[-1])  # what it says it needs is enough
    assert lower_bound(tok, docs, seconds=0.1, memory_limit=int(least)).max_token_length == 2
    runs = BPE.from_merges([[0, 0], *([i, 0] for i in range(2, 900))], alphabet=2)
    with pytest.raises(MemoryError, match="memory_limit: tokens have [0-9]+ places, there is room for"):
        lower_bound(runs, [[0] * 5000], max_token_length=2, memory_limit=3_000_000)


def test_documents_are_read_as_by_fit() -> None:
    docs = [[0, 1, 2, 0, 1], [0, 1], [2, 2, 0, 1]]
    tok = BPE(5, alphabet=3).fit(docs)
    options: dict[str, Any] = {"max_token_length": 3, "seconds": None}
    want = lower_bound(tok, docs, **options)

    def of(found: LowerBound) -> tuple[int, int, int]:
        return found.tokens, found.own, found.n_edges

    flat, offsets = np.concatenate(docs), [0, 5, 7, 11]
    assert (
        of(want)
        == of(lower_bound(tok, flat, offsets=offsets, **options))
        == of(lower_bound(tok, iter(docs), **options))
    )
    assert of(want) == of(lower_bound(tok, count_documents(docs), **options))
    weighted = lower_bound(tok, docs, sample_weight=[1, 0, 4], **options)
    assert of(weighted) == of(lower_bound(tok, [docs[0], *[docs[2]] * 4], **options))
    cut = lower_bound(tok, docs, boundaries=[[2], [], [1]], **options)
    apart = lower_bound(tok, [[0, 1], [2, 0, 1], [0, 1], [2], [2, 0, 1]], **options)
    assert of(cut) == of(apart)


@each("options, error, message", [
    ({"n_tokens": 1}, ValueError, "n_tokens: expected at least the 2 symbols"),
    ({"max_token_length": 0}, ValueError, "max_token_length"), ({"min_count": 0}, ValueError, "min_count"),
    ({"seconds": -1}, ValueError, "seconds"), ({"seconds": "1"}, TypeError, "seconds"),
    ({"progress": "yes"}, ValueError, "progress"), ({"memory_limit": 10}, MemoryError, "memory_limit"),
])  # fmt: skip
def test_errors_name_the_argument(options: dict[str, Any], error: type[Exception], message: str) -> None:
    tok = BPE(4, alphabet=2).fit([[0, 1, 0, 1]])
    refuses(error, message, lower_bound, tok, [[0, 1, 0, 1]], **options)


def test_errors_of_documents() -> None:
    refuses(NotFittedError, "", lambda: lower_bound(BPE(4), [[0, 1]]))
    refuses(
        UnknownSymbolError, "document 1", lambda: lower_bound(BPE(4, alphabet=2).fit([[0, 1]]), [[0], [0, 5]])
    )
