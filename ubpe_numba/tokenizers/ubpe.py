"""The universal tokenizer: flat sequences, and the best of all segmentations."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.n_best import NBest, k_best, n_best_paths
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.plan import LIKELIHOOD, Plan, checked_seed, plan_by_path
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import read_document, read_documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.tokenizers.exchange import UnigramFiles
from ubpe_numba.tokenizers.refining import BY_PROBABILITY, by_path
from ubpe_numba.vocabulary.rules import FitRules
from ubpe_numba.vocabulary.unknown import Stand
from ubpe_numba.vocabulary.weights import token_weights

if TYPE_CHECKING:
    from ubpe_numba.coding.lattice import Lattice

__all__ = ["UBPE"]

_MOST_ALPHA = 10_000  # beyond it hardly a weight is in range


class UBPE(UnigramFiles):
    """Universal BPE: many merges a round, then encoding by the best path through all segmentations of a document.

    Parameters
    ----------
    n_candidates
        Of how many most frequent pairs a round keeps those that do not conflict: no shared token, both border pairs rarer.
    objective
        ``"tfidf"``, the articles': the sum over distinct tokens of (1 + ln count) * idf is largest. It prefers rare tokens, not
        few: on text it gives 40 to 130 % more tokens than merging by rank. ``"shortest"``: fewest tokens, at 4096 tokens 2 to
        7 % fewer than by rank (ties: the larger sum of idf, then the longest token first). ``"additive"``: the sum of
        `token_weights` over all tokens of the path, repeated ones too, is largest; exact (ties: fewer tokens, then the longest
        token first). Weights are compared in units of 2**-24; sums up to 5e8 are exact. ``"likelihood"``: the most probable path
        of independent tokens, as Unigram tokenizers encode; `fit` then estimates the probabilities by four rounds of EM over all
        segmentations. A vocabulary without estimates, as of another objective, takes the frequencies of its occurrences.
        ``"sentencepiece"``: the same, with ties as sentencepiece breaks them (sums in float32 from the beginning, of equal ones
        the longest last token), for ids that are equal to its ids; ``"tokenizers"``: as tokenizers does (the same in float64).
    token_weights
        Of the objective ``"additive"``: ``"idf"``, the default (0 for the alphabet); ``"log_frequency"``,
        ln((1 + c) / (V + sum of c)) of the occurrences c of a token in the merged corpus (of the count that it had when it was
        merged, where only that is known), so that the likeliest path under independent tokens wins (all are negative, rare
        ones far below 0); or V numbers in -1e6..1e6, one for each id, larger ones preferred. Other objectives ignore them.
    n_tokens, alphabet, rules, max_token_length, pretokenizer, special_tokens, special_first
        As for `BPE`.
    known_words, encoding, break_tokens, stop_tokens, unknown, n_threads
        As for `BPE`.
    normalizer
        As for `BPE`.

    Notes
    -----
    The search by tf-idf keeps the best tail at every position, as the article has it. Since weights do not add up along a path
    that is not always the best path: of documents of 60 symbols one in three (signals), four (text) or sixty (DNA) is below the
    true best, by half a per cent on average; at 3600 symbols the weight is certified to be within 1 to 4 % of it. `encode_nbest`
    can search wider, or exactly, and certify the distance.

    Fitted on a single document every idf is 0, and the objective falls back to ``"shortest"`` with a UserWarning.

    Source: UBPE tokenizers, parts 1 and 2.

    Examples
    --------
    >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
    >>> ids = tok.encode([0, 1, 2, 0, 1])
    >>> tok.decode(ids).tolist()
    [0, 1, 2, 0, 1]
    >>> candidates, weights = tok.encode_nbest([0, 1, 2, 0, 1], 3)
    >>> len(candidates), candidates[0].tolist() == ids.tolist()
    (3, True)
    """

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
        special_first: bool = False,
        known_words: Any = None,
        normalizer: Any = None,
        encoding: str | None = None,
        break_tokens: Any = None,
        stop_tokens: Any = None,
        unknown: Any = "raise",
        objective: str = "tfidf",
        token_weights: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self._store(locals())

    # ---------------------------------------------------------------------------------------------- the model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; see `Tokenizer.save`.

        Parameters
        ----------
        path
            As for `Tokenizer.save`.

        Raises
        ------
        NotFittedError, ValueError, OSError
            As `Tokenizer.save`; ValueError also for an objective or `token_weights` that could not be read again.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
        >>> UBPE(6, 1, objective="shortest").fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]]).save(path)
        >>> UBPE.load(path).objective
        'shortest'
        """
        if "model_" in self.__dict__:
            self._check_objective()
            token_weights(self.model_.vocabulary, self.token_weights)  # what could not be read is not written
        super().save(path)

    def _search(self) -> tuple[str, Any]:
        """The objective by which paths are searched, and the weights of tokens for the coder."""
        self._check_objective()
        return ("additive", LIKELIHOOD) if self.objective in BY_PROBABILITY else (self.objective, self.token_weights)

    # ---------------------------------------------------------------------------------------------- encoding

    def boundary_probabilities(self, doc: Any, *, alpha: float = 1.0, unknown: Any = None) -> NDArray[np.float64]:
        """The probability that a token begins at each position of a document, over all of its segmentations.

        Parameters
        ----------
        doc, unknown
            As for `encode`. ValueError if the tokenizer changes or cuts documents, or has special tokens.
        alpha
            As for `encode`, which draws from the same distribution.

        Returns
        -------
        probabilities
            float64[n], 0 to 1; the first is 1.

        Examples
        --------
        >>> tok = UBPE(5, 1, objective="likelihood").fit(["abab", "ab", "ba", "abba", "a", "b"])
        >>> tok.boundary_probabilities("abab", alpha=0.2).round(2).tolist()
        [1.0, 0.48, 0.83, 0.48]
        """
        ids = self._whole(doc, None, True, unknown, what="boundary_probabilities")
        return self._lattice(alpha).boundaries(ids.values)

    _options = (*UnigramFiles._options, "sample", "alpha", "seed")

    def _new_plan(self) -> Plan:
        objective, weights = self._search()
        if self.objective in BY_PROBABILITY:
            objective = by_path(self.objective)
        return plan_by_path(self._tables, weights, objective, self.unknown, self.n_threads)

    def _drawn_plan(self, options: Mapping[str, Any]) -> Plan | None:
        if (sample := options.get("sample", False)) is False:
            return None
        if sample is not True:
            raise TypeError(f"sample: expected a bool, got {quoted(sample)}")
        lattice, seed = self._lattice(options.get("alpha", 1.0)), checked_seed(options.get("seed", 0))
        return Plan(self._tables, lambda ids: lattice.sample(ids, seed, self.n_threads), self.unknown, self.n_threads)

    def _lattice(self, alpha: float) -> Lattice:
        """All segmentations, with weights to the power of `alpha`."""
        if isinstance(alpha, bool) or not isinstance(alpha, (int, float, np.integer, np.floating)):
            raise TypeError(f"alpha: expected a number, got {quoted(alpha)}")
        if not 0.0 <= alpha <= _MOST_ALPHA:
            raise ValueError(f"alpha: expected a number from 0 to {_MOST_ALPHA}, got {alpha}")
        self._check_objective()
        return self._tables.lattice(self.token_weights if self.objective == "additive" else LIKELIHOOD, float(alpha))

    def encode_nbest(
        self,
        doc: Any,
        n: int,
        *,
        beam: int | None = None,
        distinct: str = "path",
        unknown: Any = None,
    ) -> tuple[Ragged, NDArray[np.float64]]:
        """The `n` best segmentations of one document, best first, and their weights.

        Parameters
        ----------
        doc, unknown
            As for `encode`. ValueError if the tokenizer changes or cuts documents (a normalizer, a pretokenizer) or has special
            tokens: segmentations of the parts are not put together.
        n
            How many segmentations.
        beam
            How many tails to keep at every position, at least `n`; None for `n`. A wider beam loses less, and takes longer in
            proportion.
        distinct
            ``"path"``: any two segmentations differ. ``"bag"``: any two differ in how often they hold some token. In long
            documents the n best are else the same tokens in another order.

        Returns
        -------
        candidates, weights
            A `Ragged` of the segmentations and float64 of as many: the formula in float64. Candidates are compared in units of
            2**-24, rounded token by token, so one may weigh more than the one before it by some such units; with the same tokens
            in another order it weighs the same. There may be fewer than `n`. An empty document has one, empty.

        Raises
        ------
        ValueError
            If `n` is less than 1 or too large for the length of the document, `beam` is less than `n`, `distinct` is something
            else, or an option for tf-idf is given with another objective.

        Notes
        -----
        By ``"tfidf"`` the `n` best tails are kept at every position; order: heavier, fewer tokens, then the better tail behind
        the first token, then the shorter first token. By ``"shortest"`` and ``"additive"`` they are exactly the n best, ties as
        for `encode`, then the better tail; the weights of ``"shortest"`` are minus the number of tokens. By ``"tfidf"`` where
        every idf is 0, candidates are those of ``"shortest"`` and weigh 0. `beam` and `distinct`
        are for tf-idf. `ubpe_numba.bounds.encode_nbest` finds the truly best, and how much heavier the best can be.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
        >>> candidates, weights = tok.encode_nbest([0, 1, 2, 0, 1], 2)
        >>> [tok.decode(ids).tolist() for ids in candidates]
        [[0, 1, 2, 0, 1], [0, 1, 2, 0, 1]]
        """
        n, beam, by_bag = self._search_options(n, beam, distinct)
        ids = self._whole(doc, None, self.objective != "tfidf", unknown)
        objective, weights_of = self._search()
        encoder = self._tables.paths(weights_of)
        if objective != "tfidf":
            return k_best(encoder, ids.values, objective, n)
        found = self._by_tfidf(encoder, ids, n, beam, by_bag, 1)
        return found.candidates, found.weights

    def encode_nbest_batch(
        self,
        docs: Any,
        n: int,
        offsets: Any = None,
        *,
        beam: int | None = None,
        distinct: str = "path",
        unknown: Any = None,
    ) -> NBest:
        """`encode_nbest` of documents on `n_threads` threads; the result does not depend on how many.

        Parameters
        ----------
        docs, offsets
            Documents, given as to `fit`.
        n, beam, distinct, unknown
            As for `encode_nbest`.

        Returns
        -------
        found
            An `NBest` of flat arrays.

        Examples
        --------
        >>> from ubpe_numba import UBPE
        >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
        >>> found = tok.encode_nbest_batch([[0, 1, 2, 0, 1], [], [2, 2]], 3)
        >>> [len(candidates) for candidates, weights in found]
        [3, 1, 1]
        """
        n, beam, by_bag = self._search_options(n, beam, distinct)
        ids = self._whole(docs, offsets, self.objective != "tfidf", unknown, "docs")
        objective, weights = self._search()
        encoder = self._tables.paths(weights)
        if objective == "tfidf":
            return self._by_tfidf(encoder, ids, n, beam, by_bag, self.n_threads)
        return NBest.of(k_best(encoder, document, objective, n) for document in ids)

    def _by_tfidf(self, encoder: PathEncoder, ids: Ragged, n: int, beam: int, by_bag: bool, n_threads: int | None) -> NBest:
        """The n best by tf-idf, weighed without fixed point; where every idf is 0 the first is the path of `encode`."""
        found = n_best_paths(encoder, ids, n, beam, by_bag, n_threads)
        if encoder.weighs:
            return dataclasses.replace(found, weights=encoder.weigh(found.candidates, "tfidf"))
        parts = []
        for document, (candidates, _) in zip(ids, found, strict=True):
            if by_bag:
                first = encoder.encode(Ragged.from_lists([document]), "shortest", 1)
                bag = np.sort(first.values).tolist()
                others = [path for path in candidates if np.sort(path).tolist() != bag]
                candidates = Ragged.from_lists([first.values, *others[: n - 1]])
            else:
                candidates, _ = k_best(encoder, document, "shortest", n)
            parts.append((candidates, np.zeros(len(candidates))))
        return NBest.of(parts)

    def _search_options(self, n: Any, beam: Any, distinct: Any) -> tuple[int, int, bool]:
        """The checked arguments: how many paths, tails at a position, and whether one path of a bag is enough."""
        self._check_objective()
        n = positive(n, "n")
        if self.objective != "tfidf" and (beam is not None or distinct != "path"):
            raise ValueError(f"objective: beam and distinct are for 'tfidf'; by {quoted(self.objective)} the search is exact")
        if beam is None:
            beam = n
        elif positive(beam, "beam") < n:
            raise ValueError(f"beam: expected at least n = {n}, got {beam}")
        if distinct not in ("path", "bag"):
            raise ValueError(f"distinct: expected 'path' or 'bag', got {quoted(distinct)}")
        return n, int(beam), distinct == "bag"

    def _whole(
        self, docs: Any, offsets: Any, by_sums: bool, unknown: Any, name: str = "doc", what: str = "encode_nbest"
    ) -> Ragged:
        """Alphabet ids of documents that are searched whole, by sums of weights or by tf-idf; ValueError if they would be cut."""
        if not self._tables.is_plain or self._tables.isolated(by_sums) is not None:
            raise ValueError(f"{what}: the segmentations of a document that is cut, or has special tokens, are not ranked")
        alphabet, _, segmenter = self._fitted()
        read = read_documents(docs, offsets, segmenter.encoding) if name == "docs" else read_document(docs, segmenter.encoding)
        choice = self._unknown(unknown)
        assert not isinstance(choice, Stand)  # there are no special tokens
        return alphabet.to_ids(read, choice, name=name)
