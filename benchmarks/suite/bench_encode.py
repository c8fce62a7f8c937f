"""Encoding: batches, one long document by rank, and the n best."""

from typing import Any

from .common import CORPORA, THREADS, TOKENIZERS, Corpora, fitted, rate


class Encode(Corpora):
    """The documents that 1024 tokens were fitted on, in one batch."""

    params = (CORPORA, TOKENIZERS, THREADS)
    param_names = ("corpus", "tokenizer", "n_threads")

    def setup(self, corpus: str, tokenizer: str, n_threads: int) -> None:
        self.corpus = self.read(corpus)
        self.tokenizer = fitted(tokenizer, self.corpus, n_threads)
        self.encode()

    def encode(self) -> Any:
        return self.tokenizer.encode_batch(self.corpus.values, self.corpus.offsets)

    def time_encode(self, *_: object) -> None:
        self.encode()

    def peakmem_encode(self, *_: object) -> None:
        self.encode()

    def time_count(self, *_: object) -> None:
        self.tokenizer.count(self.corpus.values, self.corpus.offsets)

    def track_symbols_per_second(self, *_: object) -> float:
        return rate(self.corpus.values.size, self.encode)

    track_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]

    def track_tokens_per_1000_symbols(self, *_: object) -> float:
        return 1000 * self.encode().values.size / self.corpus.values.size

    track_tokens_per_1000_symbols.unit = "tokens"  # type: ignore[attr-defined]


class EncodeOneDocument(Encode):
    """All documents joined; tokenizers are fitted on the documents as they were, so that weights differ from 0."""

    def setup(self, corpus: str, tokenizer: str, n_threads: int) -> None:
        documents = self.read(corpus)
        self.corpus = documents.cut()
        self.tokenizer = fitted(tokenizer, documents, n_threads)
        self.encode()

    def time_first_100_ids(self, *_: object) -> None:
        self.tokenizer(self.corpus.values, truncation=True, max_length=100)


class NBest(Corpora):
    """The n best segmentations of 100 documents of 360 symbols, one call each."""

    params = (CORPORA, [1, 2, 5, 16])
    param_names = ("corpus", "n_best")

    def setup(self, corpus: str, n_best: int) -> None:
        documents = self.read(corpus)
        self.tokenizer = fitted("UBPE", documents, 1)
        self.documents = documents.cut(360).values[: 100 * 360].reshape(-1, 360)
        self.n_best = n_best
        self.encode()

    def encode(self) -> None:
        for document in self.documents:
            self.tokenizer.encode_nbest([document], self.n_best)[0]

    def time_encode(self, *_: object) -> None:
        self.encode()

    def track_symbols_per_second(self, *_: object) -> float:
        return rate(self.documents.size, self.encode)

    track_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]
