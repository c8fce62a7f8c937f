"""Fitting: documents as they come, and everything as one document."""

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

    track_symbols_per_second.unit = "symbols/s"


class FitOneDocument(Corpora):
    """BPE of 4096 tokens on one document: 20 million symbols of text or 5 of DNA where slow cases are wanted."""

    params = (["dna", "text"], [SHORT // 10, SHORT, *([20_000_000] if SLOW else [])], THREADS)
    param_names = ("corpus", "n_symbols", "n_threads")

    def setup(self, corpus: str, n_symbols: int, n_threads: int) -> None:
        whole = self.read(corpus).cut()
        if n_symbols > whole.values.size:
            repeats = -(-n_symbols // whole.values.size) if corpus == "text" else 1
            whole = whole._replace(values=whole.values.repeat(1) if repeats == 1 else _tile(whole, repeats)).cut()
        self.corpus = whole.head(n_symbols)
        self.tokenizer = unfitted("BPE", self.corpus, n_threads, 4096)
        _fit(self.tokenizer, self.corpus)

    def track_symbols_per_second(self, *_: object) -> float:
        return rate(self.corpus.values.size, lambda: _fit(self.tokenizer, self.corpus), 3)

    track_symbols_per_second.unit = "symbols/s"
