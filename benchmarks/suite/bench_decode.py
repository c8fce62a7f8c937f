"""Decoding a batch to int32."""

from .common import CORPORA, THREADS, TOKENIZERS, Corpora, fitted, rate


class Decode(Corpora):
    """The ids of the documents that 1024 tokens were fitted on; the rate counts decoded symbols."""

    params = (CORPORA, TOKENIZERS, THREADS)
    param_names = ("corpus", "tokenizer", "n_threads")

    def setup(self, corpus: str, tokenizer: str, n_threads: int) -> None:
        documents = self.read(corpus)
        self.n_symbols = documents.values.size
        self.tokenizer = fitted(tokenizer, documents, n_threads)
        self.ids = self.tokenizer.encode_batch(documents.values, documents.offsets)
        self.decode()

    def decode(self) -> None:
        self.tokenizer.decode_batch(self.ids)

    def time_decode(self, *_: object) -> None:
        self.decode()

    def peakmem_decode(self, *_: object) -> None:
        self.decode()

    def track_symbols_per_second(self, *_: object) -> float:
        return rate(self.n_symbols, self.decode, 15)

    track_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]
