"""A tokenizer keeps its promises in any order of calls: fits, encodings, copies, files; drawn by hypothesis."""

import argparse
import pathlib
import pickle
import tempfile
import warnings
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ubpe_numba import BPE, UBPE, FitRules, UBPEClassic

CLASSES: list[Any] = [BPE, UBPEClassic, UBPE]
SYMBOLS: dict[str, list[Any]] = {
    "dense": [0, 1, 2, 7],
    "sparse": [-3, 5, 2**40, -(2**63)],
    "str": ["a", "b", "ß", "\U0001f600"],
    "bytes": [97, 98, 0, 255],
}

INDICES = st.lists(
    st.sampled_from([(0,), (1,), (2,), (3,), (0, 1), (0, 1, 2), (2, 2), (0, 1, 0, 1)]), max_size=12
).map(lambda parts: [i for part in parts for i in part])
CORPORA = st.lists(INDICES, min_size=1, max_size=6)
RULES = st.builds(
    FitRules,
    ties=st.sampled_from(["smallest", "first_seen", "fewest_documents"]),
    min_count=st.sampled_from([2, 1]),
    overshoot=st.booleans(),
    order=st.sampled_from(["creation", "creation", "idf"]),
    encode=st.sampled_from(["rank", "batch"]),
)


def plain(doc: Any) -> Any:
    """A document that can be compared."""
    return doc.tolist() if isinstance(doc, np.ndarray) else doc


def deciding(tok: Any) -> tuple[Any, ...]:
    """All that decides encoding and decoding, which is what the fingerprint promises to stand for."""
    v, state = tok._model.vocabulary, tok._model.alphabet.state()
    return (
        type(tok).__name__, state["kind"], state["size"], plain(state["symbols"]), v.n_alphabet,
        # without a pair it is one whether pairs are known
        v.merges.tolist() if v.merges is not None and v.merges.size else None,
        v.arena.tolist(), v.offsets.tolist(), v.weights.tolist(),
        tok.objective if isinstance(tok, UBPE) else (tok.rules or FitRules()).encode,
    )  # fmt: skip


class TokenizerMachine(RuleBasedStateMachine):
    """One tokenizer through all its methods; `others` are earlier ones, which nothing may change any more."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.others: list[tuple[Any, str, Any, Any]] = []
        self.docs: list[Any] = []

    def teardown(self) -> None:
        """Remove the files."""
        self.folder.cleanup()

    # --- helpers

    def document(self, indices: list[int]) -> Any:
        """A document of the kind of this tokenizer, of symbols that its alphabet may have."""
        symbols = [SYMBOLS[self.kind][i] for i in indices]
        if self.kind == "str":
            return "".join(symbols)
        return bytes(symbols) if self.kind == "bytes" else symbols

    def known(self, indices: list[int]) -> Any:
        """Likewise, of symbols that the alphabet has."""
        have = set(self.tok._model.alphabet.symbols.tolist())
        symbols = [ord(s) if isinstance(s, str) else s for s in SYMBOLS[self.kind]]
        return self.document([i for i in indices if symbols[i] in have])

    def fitted(self, tok: Any, docs: list[Any]) -> Any:
        """Fit without warnings, of a vocabulary without weights and of documents without symbols."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return tok.fit(docs, progress=False)

    def note(self) -> None:
        """Remember the fingerprint and what it stands for."""
        self.print, self.state = self.tok.fingerprint, deciding(self.tok)

    def keep(self, tok: Any, indices: list[int]) -> None:
        """Remember a tokenizer that is not used any more, with an encoding that must stay."""
        doc = self.known(indices)
        self.others = [*self.others[-3:], (tok, tok.fingerprint, doc, tok.encode(doc).tolist())]

    def adopt(self, other: Any, indices: list[int]) -> None:
        """Go on with an equal tokenizer."""
        doc = self.known(indices)
        assert other is not self.tok and (other.fingerprint, deciding(other)) == (self.print, self.state)
        assert (
            other._model.vocabulary == self.tok._model.vocabulary
            and other._model.alphabet == self.tok._model.alphabet
        )
        assert other.encode(doc).tolist() == self.tok.encode(doc).tolist()
        self.keep(self.tok, indices)
        self.tok = other

    # --- fitting

    @initialize(
        cls=st.sampled_from(CLASSES), kind=st.sampled_from(sorted(SYMBOLS)), extra=st.none() | st.integers(0, 25),
        n_candidates=st.sampled_from([1, 2, 50]), rules=st.none() | RULES, given=st.booleans(),
        objective=st.sampled_from(["tfidf", "tfidf", "shortest", "additive"]), corpus=CORPORA,
    )  # fmt: skip
    def start(
        self,
        cls: Any,
        kind: str,
        extra: int | None,
        n_candidates: int,
        rules: Any,
        given: bool,
        objective: str,
        corpus: Any,
    ) -> None:
        """Construct and fit."""
        self.kind, self.given = kind, given and kind != "bytes"
        params: dict[str, Any] = {
            "n_tokens": None if extra is None else (256 if kind == "bytes" else 8) + extra,
            "rules": rules,
        }
        if self.given:
            params["alphabet"] = SYMBOLS[kind][::-1]
        params |= {} if cls is BPE else {"n_candidates": n_candidates}
        params |= {"objective": objective} if cls is UBPE else {}
        self.tok = cls(**params)
        self.docs = [self.document(indices) for indices in corpus]
        assert self.fitted(self.tok, self.docs) is self.tok
        self.as_fitted = True
        self.note()

    @rule(corpus=CORPORA, as_arrays=st.booleans())
    def fit_again(self, corpus: Any, as_arrays: bool) -> None:
        """Fit on other documents; the fingerprint changes if, and only if, what it stands for does."""
        self.docs = [self.document(indices) for indices in corpus]
        docs = (
            [np.array(doc, np.int64) for doc in self.docs]
            if as_arrays and self.kind in ("dense", "sparse")
            else self.docs
        )
        if self.tok.n_tokens is not None:  # cut to an alphabet that may have been smaller
            self.tok.set_params(n_tokens=max(self.tok.n_tokens, 256 if self.kind == "bytes" else 8))
        self.fitted(self.tok, docs)
        self.as_fitted = True
        assert (self.tok.fingerprint == self.print) == (deciding(self.tok) == self.state)
        self.note()

    # --- encoding

    @rule(indices=INDICES)
    def encode_and_decode(self, indices: list[int]) -> None:
        """Decoding gives back what was encoded."""
        doc = self.known(indices)
        ids = self.tok.encode(doc)
        assert ids.dtype == np.int32 and ids.size <= len(doc)
        back = self.tok.decode(ids)
        assert plain(back) == doc and plain(self.tok.decode(ids.tolist())) == doc

    @rule(corpus=CORPORA | st.just([]), n=st.sampled_from([None, 1, 3]))
    def batch(self, corpus: Any, n: int | None) -> None:
        """A batch is its documents one by one; the number of threads is no part of the model."""
        assert self.tok.set_params(n_threads=n) is self.tok
        docs = [self.known(indices) for indices in corpus]
        out = self.tok.encode_batch(docs)
        assert [ids.tolist() for ids in out] == [self.tok.encode(doc).tolist() for doc in docs]
        assert [plain(doc) for doc in self.tok.decode_batch(out)] == docs
        assert [ids.tolist() for ids in self.tok.transform(docs)] == [ids.tolist() for ids in out]

    # --- copies

    @rule(
        n_less=st.integers(-2, 12),
        by=st.sampled_from(["creation", "idf"]),
        indices=INDICES,
        go_on=st.booleans(),
    )
    def truncate(self, n_less: int, by: str, indices: list[int], go_on: bool) -> None:
        """A smaller vocabulary leaves the larger as it was, and by creation is what a shorter fit gives."""
        size, n_alphabet = len(self.tok._model.vocabulary), self.tok._model.vocabulary.n_alphabet
        n = size - n_less
        if n < n_alphabet:
            return
        rules, vocabulary = self.tok.rules or FitRules(), self.tok._model.vocabulary
        try:  # the lowest ids may not be closed
            short = self.tok.truncate(n, by)
        except ValueError as error:
            if (
                "not in order of creation" not in str(error)
                or by != "creation"
                or vocabulary.in_order_of_creation
            ):
                raise
            return
        assert type(short) is type(self.tok) and short.n_tokens == n
        assert n_alphabet <= len(short._model.vocabulary) <= min(n, size)
        if by == "creation" or isinstance(self.tok, UBPE):
            assert len(short._model.vocabulary) == min(n, size)
        doc = self.known(indices)
        assert plain(short.decode(short.encode(doc))) == doc
        exact = self.as_fitted and by == "creation" and rules.order == "creation" and not rules.overshoot
        if exact:
            again = self.fitted(type(self.tok)(**{**self.tok.get_params(), "n_tokens": n}), self.docs)
            if n <= size:
                assert again.fingerprint == short.fingerprint
        if go_on:
            self.keep(self.tok, indices)
            self.tok, self.as_fitted = short, exact and n <= size
            self.note()

    @rule(suffix=st.sampled_from([".json", ".npz"]), indices=INDICES)
    def save_and_load(self, suffix: str, indices: list[int]) -> None:
        """Through a file; the same bytes when saved again."""
        path, second = (pathlib.Path(self.folder.name, name + suffix) for name in ("model", "again"))
        self.tok.save(path)
        other = type(self.tok).load(path, n_threads=self.tok.n_threads)
        other.save(second)
        assert path.read_bytes() == second.read_bytes()
        want = {**self.tok.get_params(), "rules": self.tok.rules or FitRules(), "alphabet": None}
        assert other.get_params() == want
        self.adopt(other, indices)
        self.as_fitted = self.as_fitted and not self.given

    @rule(protocol=st.integers(2, pickle.HIGHEST_PROTOCOL), indices=INDICES)
    def pickled(self, protocol: int, indices: list[int]) -> None:
        """Through pickle."""
        other = pickle.loads(pickle.dumps(self.tok, protocol))
        assert other.get_params() == self.tok.get_params()
        self.adopt(other, indices)

    @rule(indices=INDICES)
    def clone(self, indices: list[int]) -> None:
        """As scikit-learn clones: the parameters only; fitted on the same documents it is the same."""
        other = type(self.tok)(**self.tok.get_params())
        assert other.get_params() == self.tok.get_params() and not hasattr(other, "_model")
        if self.as_fitted:
            self.adopt(self.fitted(other, self.docs), indices)

    # --- always

    @invariant()
    def nothing_changes_by_itself(self) -> None:
        """The fingerprint and what it stands for are those of the last change; earlier tokenizers are as they were."""
        if not self.docs:
            return
        assert (self.tok.fingerprint, deciding(self.tok)) == (self.print, self.state)
        for tok, fingerprint, doc, ids in self.others:
            assert (
                tok.fingerprint == fingerprint
                and tok.encode(doc).tolist() == ids
                and plain(tok.decode(ids)) == doc
            )


def fuzz(n: int) -> None:
    """So many random orders of calls; AssertionError with the steps of the shortest one that goes wrong."""
    chosen = settings(
        max_examples=n, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(TokenizerMachine, settings=chosen)  # type: ignore[no-untyped-call]


def main() -> None:
    """Fuzz as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000)
    fuzz(parser.parse_args().examples)


if __name__ == "__main__":
    main()
