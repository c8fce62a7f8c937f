"""What the three tokenizers share: containers, sizes, threads, parameters; equal input gives equal models."""

import pathlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sample_corpora import SIGNAL, TEXT, fitted
from tables import refuses

from ubpe_numba import UBPE, FitRules, Preprocessing
from ubpe_numba.vocabulary.preprocessing import SHORT


def test_eight_threads_share_a_tokenizer(cls: Any) -> None:
    """From the first use on, when all threads make the encoder at once."""
    tok, want, start = (
        fitted(cls, TEXT, None),
        fitted(cls, TEXT, None).encode_batch(TEXT).to_lists(),
        threading.Barrier(8),
    )

    def work(_: int) -> None:
        start.wait(60)
        for _ in range(5):
            ids = [tok.encode(doc) for doc in TEXT]
            assert [one.tolist() for one in ids] == tok.encode_batch(TEXT).to_lists() == want
            assert [tok.decode(one) for one in ids] == tok.decode_batch(ids) == TEXT

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


PARAMS: dict[str, Any] = {
    "n_tokens": 30, "n_candidates": 7, "alphabet": {i: 11 - i for i in range(12)}, "rules": FitRules.ARTICLE,
    "preprocessing": Preprocessing(special_tokens=[[3, 1, 4]], special_first=True, stop_tokens=[11]),
    "unknown": (3, 1, 4), "objective": "log_frequency", "n_threads": 2,
}  # fmt: skip


def test_parameters_are_stored_and_set_unchanged(cls: Any) -> None:
    default = cls().get_params()
    assert list(default) == [name for name in PARAMS if name in default]
    for odd in ("x", -1, 2.5, object(), [], None):  # constructors only store
        for name in default:
            tok = cls(**{name: odd})
            assert tok.get_params() == {**default, name: odd} and tok.get_params(deep=False)[name] is odd
    params = {name: PARAMS[name] for name in default}
    tok = cls()
    assert (
        tok.set_params(**params) is tok
        and tok.get_params() == params
        and tok.set_params().get_params() == params
    )
    message = rf"luck: not a parameter of {cls.__name__}; there are n_tokens"
    refuses(ValueError, message, tok.set_params, n_tokens=5, luck=7)
    assert tok.get_params() == params  # of several none is set, as of a fitted one
    tok = cls(4).fit([[0, 1]], progress=False)
    refuses(ValueError, "^alphabet: a fitted tokenizer", tok.set_params, n_tokens=5, alphabet=7)
    assert tok.n_tokens == 4


def test_repr_shows_parameters_and_size(cls: Any, tmp_path: pathlib.Path) -> None:
    """Long arguments are shortened; of a file all but what is as by default is left out, such as rules."""
    text = f"{cls.__name__}(n_tokens=30, n_threads=2)"
    assert repr(tok := cls(30, n_threads=2)) == text and "n_tokens=None" in repr(cls(None))
    assert repr(tok.fit(SIGNAL, progress=False)) == f"{text}: 30 tokens"
    assert "FitRules(ties='first_seen'" in repr(cls(rules=FitRules.ARTICLE))
    words = {"special_tokens": [f"<{i}>" for i in range(500)], "pretokenizer": "a|" * 500 + "a"}
    long: list[dict[str, Any]] = [{"alphabet": list(range(10**5))}, {"preprocessing": Preprocessing(**words)}]
    for params in long + ([{"objective": np.zeros(10**5)}] if cls is UBPE else []):
        assert len(repr(cls(**params))) < 350
    shown = [["a" * 99], np.zeros(99), [0] * 9, (0,) * 9, dict.fromkeys(range(7)), [[[[[1]]]]]]
    assert [len(SHORT.repr(value)) for value in shown] == [62, 80, 29, 29, 59, 13]
    cut = Preprocessing(pretokenizer="gpt2", encoding="utf-8")
    tok = cls(300, preprocessing=cut, alphabet=bytes(range(256))).fit(
        ["low lower lowest"] * 2, progress=False
    )
    tok.save(tmp_path / "model.npz")
    text = (
        f"{cls.__name__}(n_tokens=300, preprocessing=Preprocessing(pretokenizer='gpt2', encoding='utf-8')): "
    )
    assert repr(tok) == repr(cls.load(tmp_path / "model.npz")) == f"{text}{len(tok._model.vocabulary)} tokens"
