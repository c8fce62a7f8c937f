"""The objective likelihood: encoding, samples, expected counts over all segmentations, and estimating probabilities."""

from typing import Any

from ubpe_numba import Ragged

from .common import CORPORA, THREADS, Corpora, fitted, rate


class Likelihood(Corpora):
    """The documents that 1024 tokens were fitted on, in one batch."""

    params = (CORPORA, THREADS)
    param_names = ("corpus", "n_threads")

    def setup(self, corpus: str, n_threads: int) -> None:
        documents = self.read(corpus)
        self.size, self.docs = (
            documents.values.size,
            Ragged(documents.values.astype("int32"), documents.offsets),
        )
        self.tokenizer = fitted("UBPE", documents, n_threads).set_params(objective="likelihood")
        self.encode(), self.sample(), self.reweight()

    def encode(self) -> Any:
        return self.tokenizer.encode_batch(self.docs)

    def sample(self) -> Any:
        return self.tokenizer.encode_batch(self.docs, sample=0.2)

    def reweight(self) -> Any:
        return self.tokenizer.reweight(self.docs, n_rounds=1)

    def time_reweight(self, *_: object) -> None:
        self.reweight()

    def track_encoded_symbols_per_second(self, *_: object) -> float:
        return rate(self.size, self.encode)

    track_encoded_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]

    def track_sampled_symbols_per_second(self, *_: object) -> float:
        return rate(self.size, self.sample)

    track_sampled_symbols_per_second.unit = "symbols/s"  # type: ignore[attr-defined]
