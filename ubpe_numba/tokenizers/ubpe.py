"""The universal tokenizer: flat sequences, best segmentations, tokens and weights by estimation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.n_best import NBest, k_best, n_best_paths
from ubpe_numba.coding.occurrences import usage_in
from ubpe_numba.coding.plan import LIKELIHOOD, Plan, checked_seed, plan_by_path
from ubpe_numba.documents.counts import Counts
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Corpus, read_document, read_documents
from ubpe_numba.errors import quoted
from ubpe_numba.fitting.fit import Settings
from ubpe_numba.runtime.arrays import positive, store
from ubpe_numba.runtime.messages import Progress, warn
from ubpe_numba.tokenizers.base import Tokenizer, seconds_of, segments_of
from ubpe_numba.tokenizers.fitted import BY_PROBABILITY, OBJECTIVES, is_number, objective_of
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.vocabulary import Vocabulary
from ubpe_numba.vocabulary.weights import log_probabilities, token_counts, token_weights

if TYPE_CHECKING:
    from ubpe_numba.coding.lattice import Lattice


_MOST_ALPHA = 10_000  # beyond it almost no weight is in range
# of EM in a fit: the bits per symbol of documents not seen fall by less than 0.001 in the next four
_ROUNDS = 4


class UBPE(Tokenizer):
    """Universal byte-pair encoding: many merges per round, then encoding by the best path.

    Parameters
    ----------
    n_candidates
        Number of most frequent pairs considered per round. Non-conflicting pairs are merged together: those
        that share no token, and whose border pairs are rarer.
    objective
        What the best segmentation is. ``"tfidf"``, as in the UBPE articles: the largest sum over distinct
        tokens of (1 + ln count) * idf. It is never the best by tokens, bits or a model: it prefers rare
        tokens, so it gives more, on text 40 to 130 % more than merging by rank. ``"shortest"``: the fewest
        tokens, at 4096 tokens 2 to 7 % fewer than by rank. Ties go to the larger sum of idf, then to the
        longest token first. ``"additive"``: the largest
        sum of idf over all tokens of the path, repeated tokens included (0 for the alphabet); exact. Ties go
        to fewer tokens, then to the longest token first. ``"longest"``: the longest token at each position
        from the start, as ECG-Byte and APE encode; it ranks no segmentations. ``"log_frequency"``: the
        largest sum of ln((1 + c) / (V + sum of c)), with c the occurrences of a token in the merged corpus.
        So the likeliest path under independent tokens wins. If only the count at its merge is known, that is
        c. Numbers in -1e6..1e6, one per id (those of special tokens are never read): the largest sum of
        these. Weights are compared in units of 2**-24; sums up to 5e8 are exact. ``"likelihood"``: the most
        probable path of independent tokens, as Unigram tokenizers encode. `fit` then estimates the
        probabilities by four rounds of EM (expectation-maximization) over all segmentations. A vocabulary
        without estimates, as of a different objective, uses the frequencies of its occurrences.
        ``"sentencepiece"``: the same with the ties of sentencepiece, for equal ids: sums in float32 from the
        beginning, and of equal sums the longest last token. ``"tokenizers"``: as tokenizers does (the same in
        float64).
    n_tokens, alphabet, rules, preprocessing, unknown, n_threads
        As for `BPE`.

    Notes
    -----
    The path is one through all segmentations. The search by tf-idf keeps the best partial path at every
    position, as in the UBPE article. Weights do not add up along a path, so this is not always the best path.
    For documents of 60 symbols, 1 in 3 (signals), 1 in 4 (text) or 1 in 60 (DNA) is below the true best, by
    0.5 % on average. At 3600 symbols the weight is certified to be within 1 to 4 % of it. `encode_nbest` can
    search wider, or exactly, and certify its result.

    Fitted on a single document every idf is 0, and the objective falls back to ``"shortest"`` with a
    UserWarning.

    Source: UBPE tokenizers, parts 1 and 2.

    Examples
    --------
    >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
    >>> ids = tok.encode([0, 1, 2, 0, 1])
    >>> tok.decode(ids).tolist()
    [0, 1, 2, 0, 1]
    >>> candidates, weights = tok.encode_nbest([[0, 1, 2, 0, 1]], 3)[0]
    >>> len(candidates), candidates[0].tolist() == ids.tolist()
    (3, True)
    """

    _needs_pairs = False
    objective: Any

    def __init__(
        self,
        n_tokens: int | None = 4096,
        n_candidates: int = 50,
        *,
        alphabet: Any = None,
        rules: FitRules | None = None,
        preprocessing: Preprocessing | None = None,
        unknown: Any = "raise",
        objective: Any = "tfidf",
        n_threads: int | None = None,
    ) -> None:
        store(self, locals())

    def _search(self) -> tuple[str, Any]:
        """The objective by which paths are searched, and the weights of tokens for the coder."""
        self._check_objective()
        objective, weights = objective_of(self.objective)
        if objective in BY_PROBABILITY:
            return "additive", LIKELIHOOD
        return objective, self._of_tokens(weights, self._fitted()) if objective == "additive" else None

    def _of_tokens(self, weights: Any, model: Model) -> Any:
        """The argument `token_weights` of the vocabulary, from weights by id.

        ValueError if they do not fit it.
        """
        special, ids, size = model.segmenter.special, model.segmenter.token_ids, len(model.vocabulary)
        if weights is None or isinstance(weights, str) or (special is None and ids is None):
            return weights
        values = np.asarray(weights)
        if values.shape != ((n := model.segmenter.n_ids(size)),):
            raise ValueError(f"objective: expected {n} numbers, one for each id, got shape {values.shape}")
        return values[:size] if ids is None else values[ids]

    def _check_model(self, model: Model) -> None:
        self._check_objective()
        token_weights(model.vocabulary, self._of_tokens(objective_of(self.objective)[1], model))
        super()._check_model(model)

    def _check_objective(self) -> None:
        if isinstance(self.objective, str) and self.objective not in OBJECTIVES:
            raise ValueError(
                f"objective: expected one of {', '.join(map(repr, OBJECTIVES))}, got {quoted(self.objective)}"
            )
        if self.objective is None:
            raise ValueError("objective: expected a name or weights of tokens, got None")

    def _encode_params(self) -> dict[str, Any]:
        objective, weights = objective_of(self.objective)
        params: dict[str, Any] = {"objective": objective}
        if weights is not None:
            params["token_weights"] = token_weights(self._fitted().vocabulary, self._search()[1]).tolist()
        if objective in BY_PROBABILITY and self._fitted().vocabulary.log_probabilities is None:
            params["token_weights"] = log_probabilities(self._fitted().vocabulary).tolist()
        return params

    def _settings(self, memory_limit: int | None = None) -> Settings:
        self._check_objective()
        return super()._settings(memory_limit)

    def _learned(self, *args: Any) -> Self:
        super()._learned(*args)
        objective, weights = self._search()
        by_idf = weights is None and objective in ("tfidf", "additive")
        if by_idf and self._model.vocabulary.n_learned and not self._model.vocabulary.weights.any():
            warn(
                "every idf is 0, as when there is one document or all hold the same pairs, so UBPE encodes "
                "to the fewest tokens (objective='shortest'); fit on several different documents for tf-idf"
            )
        return self

    @property
    def _weighs_by_text(self) -> bool:  # type: ignore[override]
        return isinstance(self.objective, str) and self.objective in BY_PROBABILITY

    def _weighed(
        self, corpus: Corpus, alphabet: Alphabet, vocabulary: Vocabulary, progress: Progress, frame: int
    ) -> Vocabulary:
        counts, ids = token_counts(vocabulary), segments_of(corpus, alphabet)
        return self._likeliest(ids, corpus, vocabulary, counts, _ROUNDS, progress, frame)

    def _likeliest(
        self, ids: Ragged, corpus: Corpus, vocabulary: Vocabulary, counts: NDArray[np.int64], n_rounds: int,
        progress: Progress,
        frame: int,
    ) -> Vocabulary:  # fmt: skip
        """A vocabulary with probabilities by EM for the objective.

        For ``"tokenizers"``, only probabilities that its reader of JSON reads exactly.
        """
        from ubpe_numba.fitting.reweight import likeliest  # here only: other objectives need not wait for it

        by = BY_PROBABILITY[self.objective]
        estimated = likeliest(ids, corpus, vocabulary, counts, n_rounds, self.n_threads, progress, by, frame)
        if self.objective != "tokenizers":
            return estimated
        from ubpe_numba.formats.unigram import read_number, write_numbers

        assert estimated.log_probabilities is not None  # which were estimated
        scores = np.array([*map(read_number, write_numbers(estimated.log_probabilities))])
        return estimated.with_statistics(log_probabilities=scores)

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
        """Make a tokenizer of the same alphabet with other tokens, for fewest tokens or likelihood.

        It has as many tokens as this tokenizer, or `n_tokens`. It has fewer if `docs` do not contain so many
        that occur twice, or once in text that a pre-tokenizer splits.

        Parameters
        ----------
        docs, offsets, sample_weight, boundaries, progress
            As for `fit`.
        objective
            The goal of the search, and the objective of the new tokenizer: ``"shortest"`` or
            ``"likelihood"``.
        robust
            True: ignore, for each token, the document in which it saves most. This keeps out tokens that a
            single document needs. False: count all documents, for the fewest tokens of `docs` themselves.
            ``"auto"`` chooses.
        min_count
            Least number of occurrences of a token, overlapping occurrences included, at least 2. It is lower
            if too few tokens save anything. ``"auto"`` chooses.
        max_token_length
            Length of the longest token, in symbols; None for the limit of the constructor.
        memory_limit
            Approximate number of bytes in addition to the documents; 1.4 GB if None, MemoryError below 134
            MB. Long candidates are left out first, then documents; the log reports it.
        seconds
            About how long to search; the best result so far is returned. None: until nothing better is found.
            The preparation takes some seconds per million symbols, and is not shortened. Only with a time the
            result depends on the machine.

        Returns
        -------
        Self
            The new tokenizer; the present tokenizer stays as it is.

        Notes
        -----
        Candidates are all substrings that occur twice, long ones as far as memory allows, and twice as many
        merges as tokens. The shortest paths through all segmentations give the saving of each. Candidates
        that save most enter, tokens that cost least leave, and the change is kept if fewer tokens are needed.
        ``"auto"`` chooses the setting with the fewest tokens on an eighth of the documents, which is held
        out. Several eighths of small corpora are held out in turn, none of tiny ones. The search with all
        documents follows. Documents of more than 8192 symbols and a 32nd of all are divided into pieces, and
        no token is longer than a piece.

        If a pre-tokenizer splits the text, tokens that save nothing given the others give way. If all words
        are tokens, the rest are parts of words, for new words. By ``"likelihood"``, 1.15 times as many tokens
        are searched in this way, and four times as many merges are added if the text is split. Then the
        quarter of the tokens whose absence lowers the likelihood least is dropped repeatedly, after two
        rounds of EM each.

        On held-out halves of whole texts and signals, with 4096 tokens, it needs 5 to 20 % fewer tokens than
        `BPE`. Text that is split into words gains 1 to 5 %. The bits of a language model over the tokens do
        not follow (benchmarks/segmentations.py). `ubpe_numba.bounds.lower_bound` bounds the tokens of any
        vocabulary. With `robust` False `docs` need at most as many tokens as the shortest segmentation by a
        fit of the same size.

        The refined vocabulary does not consist of pairs: parts of a token may be gone, and others never were
        merged. So it cannot be used by rank, nor continued. Its ids are not in order of creation. Its counts
        and idf are those of the shortest segmentation of `docs` (ties: the longest token first), its
        occurrences those of the objective.

        Examples
        --------
        >>> docs = [[0, 1, 2, 0, 1, 2, 2] * 3, [2, 0, 1, 1, 2] * 4]
        >>> tok = UBPE(6, 1, objective="shortest").fit(docs)
        >>> fewer = tok.refine(docs)
        >>> len(fewer.vocabulary), sum(map(len, tok.encode_batch(docs))), sum(map(len, fewer.encode_batch(docs)))
        (6, 17, 4)
        """
        from ubpe_numba.fitting import refine  # here only: other calls need not wait for it

        alphabet, vocabulary, segmenter = self._fitted()
        self._refuse_mirror("refine")
        if segmenter.frame:
            raise ValueError(
                "refine: the search knows no frames; fit with frame= and objective='shortest' or 'likelihood'"
            )
        if segmenter.runs is not None:
            raise ValueError(
                "refine: the search would put symbols of runs into other tokens; refine a fit without runs"
            )
        n = max(len(vocabulary), self.n_tokens or 0) - vocabulary.n_alphabet
        if not isinstance(objective, str) or objective not in refine.SPARE:
            raise ValueError(
                f"objective: expected {' or '.join(map(repr, refine.SPARE))}, got {quoted(objective)}"
            )
        goal = refine.goal_of(robust, min_count)
        time = seconds_of(seconds)
        most_edges, settings, bar = (
            refine.edges_of(memory_limit),
            self._settings(),
            Progress(progress, "refine"),
        )
        longest = (
            settings.longest if max_token_length is None else positive(max_token_length, "max_token_length")
        )
        uncut, segmenter = self._uncut_corpus(docs, offsets, sample_weight, boundaries)
        corpus = segmenter.corpus(uncut, self.n_threads)
        arguments = (
            corpus,
            uncut,
            segments_of(corpus, alphabet),
            alphabet,
            segmenter,
            n,
            objective,
            goal,
            longest,
            most_edges,
        )
        refined = refine.refined(*arguments, isinstance(docs, Counts), time, settings, bar)
        other = self._now()
        other.objective = objective
        other._adopt(Model(alphabet, refined, other._segmenter(alphabet.kind, len(refined))))
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
            ``"likelihood"``: probabilities of independent tokens, by rounds of EM over all segmentations; the
            new tokenizer has the objective ``"likelihood"``. ``"idf"``: idf of the documents in whose
            encoding a token occurs; the objective stays. If text is split, the segments are the documents, as
            in a fit.
        n_rounds
            Number of rounds of EM. For ``"idf"``: how often documents are encoded with the weights of the
            previous round, unless nothing changes any more.

        Returns
        -------
        Self
            The new tokenizer; the present tokenizer stays as it is. `vocabulary.occurrences` are those in its
            encodings of `docs`; `counts` and `document_frequencies` stay those of the fit.

        Notes
        -----
        The idf of a fit tells in how many documents a pair occurred when it was merged, not how the encoder
        uses the token. A pair merged from two occurrences keeps their idf, though the best path may use the
        token 263 times, in 250 of 300 documents.

        For bags of tokens weighted by idf, the encoding matters more than the source of the idf. Reweighted
        by ``"tfidf"``, rarely used tokens weigh more and are preferred, and fewer halves of documents find
        each other. By ``"shortest"`` nothing changes (benchmarks/bags.py).

        More rounds of EM are not always better. On text and audio the first round gains most, up to 0.02 bits
        per symbol of unseen documents. On DNA the frequencies of merges take 0.02 to 0.03 bits less than any
        rounds.

        Examples
        --------
        >>> docs = [[0, 1, 2, 0, 1, 2, 2] * 3, [2, 0, 1, 1, 2] * 4]
        >>> likely = UBPE(6, 1, objective="shortest").fit(docs).reweight(docs)
        >>> likely.objective, likely.vocabulary.occurrences.tolist()
        ('likelihood', [0, 4, 3, 1, 4, 5])
        """
        alphabet, vocabulary, segmenter = self._fitted()
        self._refuse_mirror("reweight")
        n_rounds = positive(n_rounds, "n_rounds")
        if weights not in ("idf", "likelihood"):
            raise ValueError(f"weights: expected 'idf' or 'likelihood', got {quoted(weights)}")
        bar = Progress(progress, "reweight")
        corpus = self._corpus(docs, offsets, sample_weight, boundaries)
        ids = segments_of(corpus, alphabet)
        other = self._now()
        if weights == "likelihood":
            other.objective = self.objective if self._weighs_by_text else "likelihood"
            usage = usage_in(self._plan().encode(ids), corpus, len(vocabulary), self.n_threads)
            estimated = other._likeliest(
                ids, corpus, vocabulary, usage.counts, n_rounds, bar, segmenter.frame
            )
        else:
            from ubpe_numba.fitting.reweight import by_own_idf  # here only, as in `_likeliest`

            def encode(vocabulary: Vocabulary) -> Ragged:
                other._adopt(Model(alphabet, vocabulary, segmenter))
                return other._plan().encode(ids)

            estimated = by_own_idf(ids, corpus, vocabulary, encode, n_rounds, self.n_threads, bar)
        other._adopt(Model(alphabet, estimated, segmenter))
        return other

    def _refuse_mirror(self, what: str) -> None:
        """ValueError for what leaves tokens without mirrors, or weighs them apart."""
        if self._fitted().segmenter.mirror is not None:
            raise ValueError(
                f"{what}: a token and its mirror would be told apart; fit without a mirror for it"
            )

    def _new_plan(self) -> Plan:
        now = self._now()
        objective, weights = now._search()
        objective = BY_PROBABILITY[now.objective] if now._weighs_by_text else objective
        return plan_by_path(now._tables, weights, objective, now.unknown, now.n_threads)

    def _drawn_plan(self, options: Mapping[str, Any]) -> Plan:
        now = self._now()
        lattice, seed = now._lattice(options["sample"], "sample"), checked_seed(options.get("seed", 0))
        return Plan(
            now._tables, lambda ids: lattice.sample(ids, seed, now.n_threads), now.unknown, now.n_threads
        )

    def _lattice(self, alpha: float, name: str = "alpha") -> Lattice:
        """All segmentations, with weights to the power of the argument `alpha`, which has this name."""
        if not is_number(alpha):
            raise TypeError(f"{name}: expected a number, got {quoted(alpha)}")
        if not 0.0 <= alpha <= _MOST_ALPHA:
            raise ValueError(f"{name}: expected a number from 0 to {_MOST_ALPHA}, got {alpha}")
        objective, weights = self._search()
        return self._tables.lattice(weights if objective == "additive" else LIKELIHOOD, float(alpha))

    def encode_nbest(
        self,
        docs: Any,
        n: int,
        offsets: Any = None,
        *,
        beam: int | None = None,
        distinct: str = "path",
        unknown: Any = None,
    ) -> NBest:
        """The `n` best segmentations of documents, best first, and their weights, on `n_threads` threads.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`; put a single document in a list.
        n
            How many segmentations. ValueError if it is too large for the length of the document.
        beam
            How many tails to keep at every position, at least `n`; None for `n`. A wider beam loses less, and
            takes longer in proportion.
        distinct
            ``"path"``: any two segmentations differ. ``"bag"``: any two differ in how often they hold some
            token. In long documents the n best are else the same tokens in another order. `beam` and
            `distinct` are for tf-idf: ValueError by another objective.
        unknown
            As for `encode`.

        Returns
        -------
        found
            An `NBest`: ``candidates, weights = found[i]`` of document i, a `Ragged` of the segmentations and
            as many float64 weights. Candidates are compared in units of 2**-24, rounded token by token, so
            one may weigh a few units more than its predecessor. With the same tokens in a different order it
            weighs the same. There may be fewer than `n`. An empty document has one segmentation, which is
            empty.

        Notes
        -----
        By ``"tfidf"`` the `n` best partial paths are kept at every position. Their order: heavier, fewer
        tokens, then the better rest after the first token, then the shorter first token. By ``"shortest"``
        and ``"additive"`` the results are exactly the n best, with ties as for `encode`, then the better
        rest. The weights of ``"shortest"`` are minus the number of tokens. By ``"tfidf"`` with every idf 0,
        candidates are those of ``"shortest"`` and weigh 0. `ubpe_numba.bounds.encode_nbest` finds the true
        best, and a bound on the difference.

        Examples
        --------
        >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
        >>> candidates, weights = tok.encode_nbest([[0, 1, 2, 0, 1]], 2)[0]
        >>> [tok.decode(ids).tolist() for ids in candidates]
        [[0, 1, 2, 0, 1], [0, 1, 2, 0, 1]]
        """
        objective, weights = self._search()
        n, by_idf = positive(n, "n"), objective == "tfidf"
        if not by_idf and (beam is not None or distinct != "path"):
            raise ValueError(
                f"objective: beam and distinct are for 'tfidf'; by {quoted(self.objective)} the search is "
                "exact"
            )
        if objective == "longest":
            raise ValueError("objective: 'longest' ranks no segmentations; with_objective('shortest') does")
        if beam is None:
            beam = n
        elif positive(beam, "beam") < n:
            raise ValueError(f"beam: expected at least n = {n}, got {beam}")
        if distinct not in ("path", "bag"):
            raise ValueError(f"distinct: expected 'path' or 'bag', got {quoted(distinct)}")
        ids = self._whole(docs, offsets, not by_idf, unknown, "docs")
        encoder = self._tables.paths(weights)
        if not by_idf:
            return NBest.of(k_best(encoder, document, objective, n) for document in ids)
        nbest = n_best_paths(encoder, ids, n, int(beam), distinct == "bag", self.n_threads)
        if encoder.weighs:  # without fixed point
            return dataclasses.replace(nbest, weights=encoder.weigh(nbest.candidates, "tfidf"))
        parts = []  # every idf is 0: the first is the path of `encode`
        for document, (candidates, _) in zip(ids, nbest, strict=True):
            if distinct == "bag":
                first = encoder.encode(Ragged.from_lists([document]), "shortest", 1)
                bag = np.sort(first.values).tolist()
                others = [path for path in candidates if np.sort(path).tolist() != bag]
                candidates = Ragged.from_lists([first.values, *others[: n - 1]])
            else:
                candidates, _ = k_best(encoder, document, "shortest", n)
            parts.append((candidates, np.zeros(len(candidates))))
        return NBest.of(parts)

    def _whole(
        self,
        docs: Any,
        offsets: Any,
        by_sums: bool,
        unknown: Any,
        name: str = "doc",
        what: str = "encode_nbest",
    ) -> Ragged:
        """Alphabet ids of documents that are searched whole, by sums of weights or by tf-idf.

        ValueError if they are split.
        """
        if (
            not self._tables.is_plain
            or self._tables.isolated(by_sums) is not None
            or self._tables.mirror is not None
        ):
            way = "fit one without, as by for_text(pretokenizer=None)"
            with_one = "a pattern, a normalizer, special tokens or a mirror"
            raise ValueError(f"{what}: a tokenizer with {with_one} ranks no segmentations; {way}")
        alphabet, _, segmenter = self._fitted()
        if segmenter.frame:
            raise ValueError(
                f"{what}: segmentations into tokens of frames are not ranked. Fit without frame=, or use "
                "encode."
            )
        how = segmenter.encoding, alphabet.names is not None
        read = read_documents(docs, offsets, *how) if name == "docs" else read_document(docs, *how)
        choice = self._unknown(unknown)
        if isinstance(choice, tuple):
            raise ValueError(
                f"unknown: {what} takes 'raise', 'skip' or a symbol, got the special token "
                f"{quoted(choice[1])}"
            )
        return alphabet.to_ids(read, choice, name=name)
