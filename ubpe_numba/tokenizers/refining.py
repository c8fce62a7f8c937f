"""Objectives of `UBPE`, and tokens and weights that are estimated on documents for them."""

from __future__ import annotations

from typing import Any, Self

from ubpe_numba.coding.occurrences import usage_in
from ubpe_numba.documents.corpus import Corpus
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.errors import quoted
from ubpe_numba.fitting.loop import Settings
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.runtime.messages import Progress, warn
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.parameters import seconds_of, segments_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.vocabulary import Vocabulary
from ubpe_numba.vocabulary.weights import log_probabilities, token_counts, token_weights

OBJECTIVES = ("tfidf", "shortest", "additive", "likelihood", "sentencepiece", "tokenizers")
BY_PROBABILITY = ("likelihood", "sentencepiece", "tokenizers")
_ROUNDS = 4  # of EM in a fit: the bits per symbol of documents not seen fall by less than 0.001 in the next four


class Refining(Tokenizer):
    """Checked objectives; `refine` and `reweight`."""

    _needs_pairs = False
    objective: str
    token_weights: Any

    def _adopt(self, model: Model) -> None:
        self._check_objective()
        if self.token_weights is not None:
            token_weights(model.vocabulary, self.token_weights)  # raises if they do not go with the vocabulary
        super()._adopt(model)

    def _check_objective(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective: expected one of {', '.join(map(repr, OBJECTIVES))}, got {quoted(self.objective)}")

    def _encode_params(self) -> dict[str, Any]:
        weights = self.token_weights
        params: dict[str, Any] = {"objective": self.objective}
        if self.objective == "additive" and weights is not None and not (isinstance(weights, str) and weights == "idf"):
            params["token_weights"] = token_weights(self.vocabulary_, weights).tolist()
        if self.objective in BY_PROBABILITY and self.vocabulary_.log_probabilities is None:
            params["token_weights"] = log_probabilities(self.vocabulary_).tolist()
        return params

    def _settings(self, memory_limit: int | None = None) -> Settings:
        self._check_objective()
        return super()._settings(memory_limit)

    def _learned(self, *args: Any) -> Self:
        super()._learned(*args)
        by_idf = self.objective == "tfidf" or (self.objective == "additive" and self.token_weights is None)
        if by_idf and self.model_.vocabulary.n_learned and not self.model_.vocabulary.weights.any():
            warn(
                "every idf is 0, as when there is one document or all hold the same pairs, so UBPE encodes to the fewest tokens "
                "(objective='shortest'); fit on several different documents for tf-idf"
            )
        return self

    @property
    def _weighs_by_text(self) -> bool:
        return self.objective in BY_PROBABILITY

    def _weighed(self, corpus: Corpus, alphabet: Alphabet, vocabulary: Vocabulary, progress: Progress) -> Vocabulary:
        if not self._weighs_by_text:
            return vocabulary
        from ubpe_numba.fitting.reweight import likeliest  # here only: other objectives need not wait for it

        counts, ids = token_counts(vocabulary), segments_of(corpus, alphabet)
        found = likeliest(ids, corpus, vocabulary, counts, _ROUNDS, self.n_threads, progress, by_path(self.objective))
        return _writable(found) if self.objective == "tokenizers" else found

    def refine(
        self,
        docs: Any,
        *,
        objective: str = "shortest",
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        robust: bool | str = "auto",
        min_count: int | str = "auto",
        max_token_length: int | None = None,
        memory_limit: int | None = None,
        seconds: float | None = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Make a new tokenizer of other tokens, for fewest tokens or for the largest likelihood, of the same alphabet and size.

        It has as many tokens as this one, or as `n_tokens` asks for; fewer if `docs` do not hold that many that occur twice, or
        once in text that a pre-tokenizer cuts.

        Parameters
        ----------
        docs, offsets, sample_weight, boundaries, progress
            As for `fit`.
        objective
            What tokens are chosen for, and the objective of the new tokenizer: ``"shortest"`` or ``"likelihood"``.
        robust
            True: what a token saves is counted without the document in which it saves most, so that tokens which one document
            alone needs stay away. False: what it saves in all, for the fewest tokens of `docs` themselves. ``"auto"`` chooses.
        min_count
            How often a token occurs at least, occurrences that overlap counted, unless too few of these save anything; 2 or
            more. ``"auto"`` chooses.
        max_token_length
            Symbols of the longest token; None for that of the constructor.
        memory_limit
            Bytes beside the documents, about; 1.4 GB if None. What does not fit is left out, which the log says: first long
            candidates, then documents.
        seconds
            After about how long to end with the best that was found; None for when nothing better is found. What comes before
            the search takes some seconds for a million symbols and is not cut short. With a time the result depends on the
            machine, without one on nothing but the arguments.

        Returns
        -------
        Self
            The new tokenizer; this one stays as it is.

        Raises
        ------
        UnknownSymbolError, TypeError, ValueError
            As `fit`; ValueError and TypeError also for an argument of another kind, naming it.
        MemoryError
            For a `memory_limit` below 134 MB.

        Notes
        -----
        Candidates are all substrings that occur twice, the longer ones as far as there is memory for them, and twice as many
        merges as tokens are wanted. The shortest paths through all segmentations say at once what each would save. Those that
        save most come in, those that cost least leave, and that is kept if fewer tokens are needed. What ``"auto"`` chooses needs
        the fewest tokens on an eighth of the documents that the others are tried without; of small corpora several eighths are
        held out in turn, of tiny ones none. Then follows the search with all documents. Documents of more than 8192 symbols and a
        32nd of all are looked at in pieces, and no token is longer than a piece.
        Of text that is cut, tokens that save nothing beside the others give room; where all words that occur are tokens, the
        rest are parts of them, for words that do not.

        On held-out halves of whole texts and signals it gives, at 4096 tokens, 5 to 20 % fewer tokens than `BPE` of the same
        size. Text that is cut into words hardly can gain: 1 to 5 %. What a model of bigrams, or a larger one, takes in bits
        does not follow: on some corpora and sizes it is less than by `BPE`, on others more (benchmarks/segmentations.py).
        `ubpe_numba.bounds.lower_bound` says how much fewer tokens any vocabulary could need. With `robust` False `docs` need
        no more tokens than in the shortest segmentation by a fit of the same size.

        By ``"likelihood"`` 1.15 times as many tokens as are wanted are searched that way, and of text that is cut four times as
        many merges are added, as a fit learns them. Of all these the quarter whose absence would lower the likelihood least is
        dropped again and again, after two rounds of EM each.

        The refined vocabulary is flat: there are no pairs, since parts of a token may be gone and others never were merged. So
        it cannot be encoded with by rank, nor continued. It is in no order of creation; its counts and idf are those of the
        shortest segmentation of `docs` (of several as short, with the longest token first), its occurrences those of the
        objective.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> docs = [[0, 1, 2, 0, 1, 2, 2] * 3, [2, 0, 1, 1, 2] * 4]
        >>> tok = UBPE(6, 1, objective="shortest").fit(docs)
        >>> fewer = tok.refine(docs)
        >>> len(fewer.vocabulary), sum(map(len, tok.encode_batch(docs))), sum(map(len, fewer.encode_batch(docs)))
        (6, 17, 4)
        """
        from ubpe_numba.fitting import refine  # here only: other calls need not wait for it

        alphabet, vocabulary, _ = self._fitted()
        self._check_objective()
        n = max(len(vocabulary), self.n_tokens or 0) - vocabulary.n_alphabet
        if not isinstance(objective, str) or objective not in refine.SPARE:
            raise ValueError(f"objective: expected {' or '.join(map(repr, refine.SPARE))}, got {quoted(objective)}")
        goal = refine.goal_of(robust, min_count)
        time = seconds_of(seconds)
        longest = self.max_token_length if max_token_length is None else positive(max_token_length, "max_token_length")
        most_edges, settings, bar = refine.edges_of(memory_limit), self._settings(), Progress(progress, "refine")
        uncut, segmenter = self._uncut_corpus(docs, offsets, sample_weight, boundaries)
        corpus = segmenter.corpus(uncut, self.n_threads)
        given = corpus, uncut, segments_of(corpus, alphabet), alphabet, segmenter, n, objective, *goal, longest, most_edges
        made = refine.refined(*given, isinstance(docs, Counts), time, settings, bar)
        other = type(self)(**{**self.get_params(), "objective": objective, "token_weights": None})
        other._adopt(Model(alphabet, made, other._segmenter(alphabet.kind, len(made))))
        return other

    def reweight(
        self,
        docs: Any,
        weights: str = "likelihood",
        n_rounds: int = 4,
        *,
        offsets: Any = None,
        sample_weight: Any = None,
        boundaries: Any = None,
        progress: bool | str = "auto",
    ) -> Self:
        """Make a new tokenizer of the same tokens, whose weights come from the documents' own encodings.

        Parameters
        ----------
        docs, offsets, sample_weight, boundaries, progress
            As for `fit`.
        weights
            ``"likelihood"``: probabilities of independent tokens, by rounds of EM over all segmentations; the new tokenizer has
            the objective ``"likelihood"``. ``"idf"``: idf of the documents in whose encoding a token occurs; the objective stays.
            Of text that is cut, segments are the documents, as in a fit.
        n_rounds
            How many rounds of EM; of ``"idf"``, how often documents are encoded with the weights of the round before, unless
            nothing changes any more.

        Returns
        -------
        Self
            The new tokenizer; this one stays as it is.

        Raises
        ------
        ValueError
            For other `weights`, or fewer rounds than 1.

        Notes
        -----
        The idf of a fit says in how many documents a pair occurred when it was merged. That is not what the encoder does with
        the token: one that was merged from two occurrences keeps the idf of two, though the best path may hold it 263 times, in
        250 of 300 documents. `vocabulary_.occurrences` of the new tokenizer are those in its encodings of `docs`; `counts` and
        `document_frequencies` stay those of the fit.

        For bags of tokens weighted by idf the encoding matters more than where the idf comes from. Of 200 documents the first
        half finds the second as the nearest of all (1024 / 4096 tokens; benchmarks/bags.py): by ``"tfidf"`` in 42 / 53 %
        (King James Bible), 68 / 74 % (Python sources) and 38 / 46 % (Chinese manuals), reweighted in 21 / 42, 60 / 70 and 28 /
        45 %, since tokens that are rarely used then weigh more, and are sought; by ``"shortest"`` in 45 / 55, 73 / 79 and 38 /
        53 %, where reweighting changes less than the standard error of 3.5, and merging by rank is as good.

        More rounds of EM are not always better: they raise the likelihood of all segmentations together. On text and audio
        the first round gains most of what there is, up to 0.02 bits per symbol of documents not seen; on DNA, where many
        segmentations are nearly as good as the best, the frequencies of the merges that a fit made take 0.02 to 0.03 bits less
        than any number of rounds.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> docs = [[0, 1, 2, 0, 1, 2, 2] * 3, [2, 0, 1, 1, 2] * 4]
        >>> tok = UBPE(6, 1, objective="shortest").fit(docs)
        >>> likely = tok.reweight(docs)
        >>> likely.objective, likely.vocabulary.occurrences.tolist()
        ('likelihood', [0, 4, 3, 1, 4, 5])
        """
        alphabet, vocabulary, segmenter = self._fitted()
        n_rounds = positive(n_rounds, "n_rounds")
        if weights not in ("idf", "likelihood"):
            raise ValueError(f"weights: expected 'idf' or 'likelihood', got {quoted(weights)}")
        from ubpe_numba.fitting.reweight import by_own_idf, likeliest  # here only, as in `_weighed`

        bar = Progress(progress, "reweight")
        corpus = self._corpus(docs, offsets, sample_weight, boundaries)
        ids = segments_of(corpus, alphabet)
        other = type(self)(**self.get_params())
        if weights == "likelihood":
            objective = self.objective if self.objective in BY_PROBABILITY else "likelihood"
            other.set_params(objective=objective, token_weights=None)
            usage = usage_in(self._plan().encode(ids), corpus, len(vocabulary), self.n_threads)
            found = likeliest(ids, corpus, vocabulary, usage.counts, n_rounds, self.n_threads, bar, by_path(objective))
            found = _writable(found) if objective == "tokenizers" else found
        else:

            def encode(vocabulary: Vocabulary) -> Ragged:
                other._adopt(Model(alphabet, vocabulary, segmenter))
                return other._plan().encode(ids)

            found = by_own_idf(ids, corpus, vocabulary, encode, n_rounds, self.n_threads, bar)
        other._adopt(Model(alphabet, found, segmenter))
        return other


def _writable(vocabulary: Vocabulary) -> Vocabulary:
    """A vocabulary whose log-probabilities, or neighbours of them, can be written so that tokenizers reads them."""
    from ubpe_numba.formats.json_floats import read_numbers, write_numbers  # here only: other objectives need not wait for it

    assert vocabulary.log_probabilities is not None  # which were estimated
    return vocabulary.with_statistics(log_probabilities=read_numbers(write_numbers(vocabulary.log_probabilities)))


def by_path(objective: str) -> str:
    """How paths are searched by an objective of probabilities."""
    return "additive" if objective == "likelihood" else objective
