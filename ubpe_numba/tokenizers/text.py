"""Tokenizers of text: how the constructor's arguments for it come to a segmenter, and a corpus to segments."""

from __future__ import annotations

from typing import Any, TypeVar

from ubpe_numba.documents.corpus import Corpus, as_corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.normalise import Documents, as_documents
from ubpe_numba.documents.utf8 import as_utf8, utf8_documents
from ubpe_numba.tokenizers.files import Exchange
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.segmenter import Segmenter

Self = TypeVar("Self", bound="Text")


class Text(Exchange):
    """What a tokenizer knows of text."""

    @classmethod
    def for_text(
        cls: type[Self], n_tokens: int | None = 4096, *, pretokenizer: Any = "cl100k", special_tokens: Any = None, **params: Any
    ) -> Self:
        r"""A tokenizer of text as language models use them: over the 256 bytes of UTF-8, so that there are no unknown symbols.

        `fit` and `encode` take `str` and `bytes`, `decode` gives `str` and `decode_bytes` the bytes. Surrogates that stand alone
        in a `str` become three bytes each (``"surrogatepass"``). `params` are further constructor arguments.

        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(260, pretokenizer="gpt2").fit(["low lower lowest, 低い 低い"])
        >>> tok.decode(tok.encode("lowly 低")), tok.decode_bytes(tok.encode(b"low\xff"))
        ('lowly 低', b'low\xff')
        """
        make: Any = cls  # the constructors differ
        params = {"pretokenizer": pretokenizer, "special_tokens": special_tokens, "encoding": "utf-8", **params}
        tokenizer: Self = make(n_tokens, alphabet=bytes(range(256)), **params)
        return tokenizer

    @property
    def special_ids(self) -> dict[Any, int]:
        """The id of every special token and known word."""
        self._check_fitted()
        special = self.segmenter_.special
        return {} if special is None else dict(zip(special.words, special.ids.tolist(), strict=True))

    def _segmenter(self, kind: str, size: int | None) -> Segmenter:
        return Segmenter.make(self.pretokenizer, self.special_tokens, self.known_words, self.encoding, kind, size)

    def _corpus(self, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any) -> Corpus:
        """What `fit` is given, as the constructor's arguments have it: text as bytes, cut into segments."""
        plain = self.pretokenizer is self.special_tokens is self.known_words is self.encoding is None
        if plain:
            return as_corpus(docs, offsets, sample_weight, boundaries)
        if self.encoding is not None and isinstance(docs, Counts):
            docs = Counts(as_utf8(docs.flat), docs.weights)
        corpus = as_corpus(docs, offsets, sample_weight, boundaries, self._read)
        kind = corpus.given.kind
        if corpus.given.offsets[-1] == corpus.given.offsets[0]:  # no symbols: of any kind
            kind = "str" if self.alphabet is None and self.pretokenizer is not None else kind
            kind = kind if self.alphabet is None else Alphabet.from_user(self.alphabet).kind
            corpus = corpus._replace(given=corpus.given._replace(kind=kind))
        elif self.alphabet is not None:  # integers do for bytes, and bytes for integers
            kind = Alphabet.from_user(self.alphabet, kind).kind
        return self._segmenter(kind, None).corpus(corpus, self.n_threads)

    def _read(self, docs: Any, offsets: Any = None) -> Documents:
        return as_documents(docs, offsets) if self.encoding is None else utf8_documents(docs, offsets)
