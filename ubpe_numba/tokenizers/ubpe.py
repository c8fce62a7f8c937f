"""The universal tokenizer: flat sequences, and the best of all segmentations."""

from __future__ import annotations

import os
import warnings
from typing import Any

from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.documents.corpus import as_corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.learn import learn
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.fitting.refine import MORE, refined
from ubpe_numba.runtime.progress import Progress
from ubpe_numba.tokenizers.nbest import Candidates
from ubpe_numba.vocabulary.alphabet import MAX_SIZE, Alphabet
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.segmenter import Segmenter
from ubpe_numba.vocabulary.token_weights import token_weights
from ubpe_numba.vocabulary.vocabulary import Vocabulary

__all__ = ["UBPE"]


class UBPE(Candidates):
    """Universal BPE: many merges a round, then encoding by the best path through all segmentations of a document.

    Parameters
    ----------
    n_tokens
        Size of the vocabulary, alphabet included; fewer where no pair is left that occurs twice. None: as many as there are.
    n_candidates
        Of how many most frequent pairs a round keeps those that do not get in each other's way.
    alphabet
        None to learn it, the number of symbols, a sequence of symbols, or a mapping of symbols onto 0..A-1. Learned of integers,
        it is 0..largest where none is negative and the largest is below 65536, and those that occur otherwise.
    rules
        A `FitRules`; None for the defaults.
    max_token_length
        No token of more symbols is made; None for no limit.
    pretokenizer
        Cuts text before anything is learned or encoded: ``"gpt2"``, ``"cl100k"``, ``"o200k"``, ``"whitespace"``, ``"digits"``,
        ``"digits1"``, ``"digits3"``, a regular expression, a `Pretokenizer`, or None. Each segment counts as a document, for
        document frequencies too; ``rules=FitRules(min_count=...)`` leaves out pairs that are rarer. Needs the extra ``text``.
    special_tokens
        Words with ids of their own, never cut and never merged: a list (ids behind the vocabulary, beyond `n_tokens`), or a
        mapping of words to ids: with ids beyond the final size where there is to be a `fit_more`. `str`, `bytes` or sequences of
        integers, as the documents. See `encode`. The parts of a document between them count as documents.
    known_words
        The same for words that are found in every document without being asked for.
    encoding
        ``"utf-8"``: `str` is encoded as UTF-8 bytes, and decoded to `str`; see `for_text`, and `boundaries` count bytes.
        None: documents are as they are.
    objective
        ``"tfidf"``, the articles': the sum over distinct tokens of (1 + ln count) * idf is largest. It prefers rare tokens, not
        few: on text it gives 40 to 100 % more tokens than merging by rank. ``"shortest"``: fewest tokens, at 4096 tokens 2 to
        7 % fewer than by rank (ties: the larger sum of idf, then the longest token first). ``"additive"``: the sum of
        `token_weights` over all tokens of the path, repeated ones too, is largest; exact (ties: fewer tokens, then the longest
        token first). Weights are compared in units of 2**-24; sums up to 5e8 are exact.
    token_weights
        Of the objective ``"additive"``: ``"idf"``, the default (0 for the alphabet); ``"log_frequency"``,
        ln((1 + c) / (V + sum of c)) of the count c that a token had when it was merged, so that the likeliest path under
        independent tokens wins (all are negative, rare ones far below 0); or V numbers in -1e6..1e6, one for each id, larger
        ones preferred. Other objectives ignore them.
    n_threads
        Threads for fits and batches; None for UBPE_NUM_THREADS, NUMBA_NUM_THREADS or all CPUs.

    Notes
    -----
    The search by tf-idf keeps the best tail at every position, as the article has it. Since weights do not add up along a path
    that is not always the best path: of documents of 60 symbols one in three (signals), four (text) or sixty (DNA) is below the
    true best, by half a per cent on average; at 3600 symbols the weight is certified to be within 1 to 4 % of it. `encode_nbest`
    can search wider, or exactly, and certify the distance.
    Fitted on a single document every idf is 0, and the objective falls back to ``"shortest"`` with a UserWarning.

    Examples
    --------
    >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
    >>> ids = tok.encode([0, 1, 2, 0, 1])
    >>> tok.decode(ids).tolist()
    [0, 1, 2, 0, 1]
    >>> candidates, weights = tok.encode_nbest([0, 1, 2, 0, 1], 3)
    >>> len(candidates), candidates[0].tolist() == ids.tolist()
    (3, True)

    Source: UBPE tokenizers, parts 1 and 2.
    """

    _pairs = False

    def __init__(
        self,
        n_tokens: int | None = 4096,
        n_candidates: int = 50,
        *,
        alphabet: Any = None,
        rules: FitRules | None = None,
        max_token_length: int | None = None,
        pretokenizer: Any = None,
        special_tokens: Any = None,
        known_words: Any = None,
        encoding: str | None = None,
        objective: str = "tfidf",
        token_weights: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_tokens = n_tokens
        self.n_candidates = n_candidates
        self.alphabet = alphabet
        self.rules = rules
        self.max_token_length = max_token_length
        self.pretokenizer = pretokenizer
        self.special_tokens = special_tokens
        self.known_words = known_words
        self.encoding = encoding
        self.objective = objective
        self.token_weights = token_weights
        self.n_threads = n_threads

    def _settings(self, memory_limit: int | None = None) -> Settings:
        self._check_objective()
        return super()._settings(memory_limit)

    def fit(
        self,
        docs: Any,
        y: None = None,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        memory_limit: int | None = None,
        progress: bool | str = "auto",
    ) -> UBPE:
        """Learn a vocabulary from documents; see `Tokenizer.fit`. Warns if there is a single document."""
        given = {"offsets": offsets, "sample_weight": sample_weight, "boundaries": boundaries}
        super().fit(docs, y, **given, memory_limit=memory_limit, progress=progress)
        by_idf = self.objective == "tfidf" or (self.objective == "additive" and self.token_weights is None)
        if self.vocabulary_.n_learned and by_idf and not self.vocabulary_.weights.any():
            warnings.warn(
                "every idf is 0, as when there is one document or all hold the same pairs, so UBPE encodes to the fewest tokens "
                "(objective='shortest'); fit on several different documents for tf-idf",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _set(self, alphabet: Alphabet, vocabulary: Vocabulary, segmenter: Segmenter | None = None) -> None:
        token_weights(vocabulary, self.token_weights)  # complains
        super()._set(alphabet, vocabulary, segmenter)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to `path`; see `Tokenizer.save`."""
        if hasattr(self, "vocabulary_"):
            token_weights(self.vocabulary_, self.token_weights)  # what could not be read is not written
        super().save(path)

    @property
    def _encoder(self) -> PathEncoder:
        made: PathEncoder | None = self.__dict__.get("_encoder_")
        if made is None or made.vocabulary is not self.vocabulary_ or made.given is not self.token_weights:
            made = PathEncoder(self.vocabulary_, token_weights(self.vocabulary_, self.token_weights))
            made.given = self.token_weights
            self._encoder_ = made
        return made

    def _encode_ids(self, documents: Ragged) -> Ragged:
        self._check_objective()
        encoder = self._encoder
        objective = self.objective if encoder.weighs or self.objective == "additive" else "shortest"
        return encoder.encode(documents, objective, self.n_threads)

    def refine(self, docs: Any, *, offsets: Any = None, progress: bool | str = "auto") -> UBPE:
        """A new tokenizer for fewest tokens, of the same alphabet and size.

        It has as many tokens as this one, or as `n_tokens` asks for; fewer if `docs` do not hold that many that occur twice.

        About twice as many tokens are learned on `docs`, given as to `fit`, as this vocabulary has; the tenth of them whose
        absence would cost the fewest extra tokens is dropped again and again until the size is reached; then, in a few rounds,
        frequent neighbours of the segmentation of `docs` take the place of tokens that save less. Takes about 100 times as long
        as a fit. On held-out halves of ECG, audio, DNA and text it gives, at 4096 tokens, 4 to 10 % fewer tokens than
        `BPE` of the same size (at 1024 tokens 2 % on ECG and audio).

        The refined vocabulary is flat: there are no pairs, since parts of a token may be gone and others never were merged. So
        it cannot be encoded with by rank, nor continued. It is by ``objective="shortest"``, in no order of creation; its counts
        and idf are those of the segmentation of `docs` (of several as short, with the longest token first).

        NotFittedError without a vocabulary; for documents as `fit`.

        >>> docs = [[0, 1, 2, 0, 1, 2, 2] * 3, [2, 0, 1, 1, 2] * 4]
        >>> tok = UBPE(6, 1, objective="shortest").fit(docs)
        >>> fewer = tok.refine(docs)
        >>> len(fewer.vocabulary), sum(map(len, tok.encode_batch(docs))), sum(map(len, fewer.encode_batch(docs)))
        (6, 17, 13)
        """
        self._check_fitted()
        n = max(len(self.vocabulary_), self.n_tokens or 0) - self.vocabulary_.n_alphabet
        n_alphabet = self.vocabulary_.n_alphabet
        settings = self._settings()._replace(n_tokens=min(MAX_SIZE, n_alphabet + MORE * n))
        bar = Progress(progress, "refine")
        if not self.segmenter_.is_plain:
            raise ValueError("refine: a vocabulary for documents that are cut, or have special tokens, cannot be refined")
        corpus = as_corpus(docs, offsets, None, None, self._read)
        ids = self.alphabet_.to_ids(corpus.given)
        larger, _ = learn(corpus, self.alphabet_, settings, bar)
        tokens = Ragged(larger.arena, larger.offsets)
        other = UBPE(**{**self.get_params(), "objective": "shortest", "token_weights": None})
        other._set(self.alphabet_, refined(ids, tokens, n_alphabet, n, self.n_threads))
        return other

    def _encode_params(self) -> dict[str, Any]:
        weights = self.token_weights
        if self.objective != "additive" or weights is None or (isinstance(weights, str) and weights == "idf"):
            return {"objective": self.objective}
        return {"objective": self.objective, "token_weights": token_weights(self.vocabulary_, weights).tolist()}
