"""Fitting: documents as they come, and everything as one document."""

from typing import Any

import numpy as np

from .common import CORPORA, SHORT, SLOW, THREADS, TOKENIZERS, Corpora, Corpus, rate, unfitted


class Fit(Corpora):
    """1024 tokens on the documents of a corpus."""

    params = (CORPORA, TOKENIZERS, THREADS)
    param_names = ("corpus", "tokenizer", "n_threads")

    def setup(self, corpus: str, tokenizer: str, n_threads: int) -> None:
        self.corpus = self.read(corpus)
        self.tokenizer = unfitted(tokenizer, self.corpus, n_threads)
        _fit(self.tokenizer, self.corpus)  # compiles, or loads what is compiled

    def time_fit(self, *_: object) -> None:
        _fit(self.tokenizer, self.corpus)

    def peakmem_fit(self, *_: object) -> None:
        _fit(self.tokenizer, self.corpus)

    def track_symbols_per_second(self, *_: object) -> float:
        return rate(self.corpus.values.size, lambda: _fit(self.tokenizer, self.corpus))

    track_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]


class FitOneDocument(Corpora):
    """BPE of 4096 tokens on one document, the corpus repeated to fill it: shows growth."""

    params = (CORPORA[2:], [SHORT // 10, SHORT, *([20_000_000] if SLOW else [])], THREADS)
    param_names = ("corpus", "n_symbols", "n_threads")

    def setup(self, corpus: str, n_symbols: int, n_threads: int) -> None:
        whole = self.read(corpus)
        self.corpus = whole._replace(values=np.resize(whole.values, n_symbols)).cut()
        self.tokenizer = unfitted("BPE", self.corpus, n_threads, 4096)
        _fit(self.tokenizer, self.corpus)

    def peakmem_fit(self, *_: object) -> None:
        _fit(self.tokenizer, self.corpus)

    def track_symbols_per_second(self, *_: object) -> float:
        return rate(self.corpus.values.size, lambda: _fit(self.tokenizer, self.corpus), 3)

    track_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]


def _fit(tokenizer: Any, corpus: Corpus) -> None:
    tokenizer.fit(corpus.values, offsets=corpus.offsets, progress=False)
