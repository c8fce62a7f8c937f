"""The n best segmentations of documents: how `UBPE` is asked for them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ubpe_numba.coding.k_cheapest import k_best
from ubpe_numba.coding.nbest import NBest
from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.coding.path_search import Options, PathSearch
from ubpe_numba.documents.normalise import Documents, as_document, as_documents
from ubpe_numba.documents.utf8 import utf8_document, utf8_documents
from ubpe_numba.runtime.arrays import positive
from ubpe_numba.tokenizers.base import Tokenizer


class Candidates(Tokenizer):
    """A tokenizer that ranks segmentations."""

    objective: str

    @property
    @abstractmethod
    def _encoder(self) -> PathEncoder: ...

    def _check_objective(self) -> None:
        if self.objective not in ("tfidf", "shortest", "additive"):
            raise ValueError(f"objective: expected 'tfidf', 'shortest' or 'additive', got {self.objective!r}")

    @property
    def _search(self) -> PathSearch:
        made: PathSearch | None = self.__dict__.get("_search_")
        encoder = self._encoder
        if made is None or made.encoder is not encoder:
            made = self._search_ = PathSearch(encoder)
        return made

    def encode_nbest(
        self,
        doc: Any,
        n: int,
        *,
        beam: int | None = None,
        distinct: str = "path",
        exact: bool = False,
        guided: bool = False,
        return_gap: bool = False,
        unknown: str | int = "raise",
    ) -> Any:
        """The `n` best segmentations of one document, best first, and their weights (float64).

        There may be fewer than `n`. An empty document has one, empty. By ``"tfidf"`` the `n` best tails are kept at every
        position; order: heavier, fewer tokens, then the better tail behind the first token, then the shorter first token. By
        ``"shortest"`` and ``"additive"`` they are exactly the n best, ties as for `encode`, then the better tail; the weights of
        ``"shortest"`` are minus the number of tokens; the options below are for tf-idf (ValueError).

        Parameters
        ----------
        doc, unknown
            As for `encode`. ValueError if the tokenizer cuts documents (a pretokenizer) or has special tokens: segmentations of
            the parts are not put together.
        n
            How many segmentations.
        beam
            How many tails to keep at every position, at least `n`; None for `n`, or 16 if that is more and the search is exact or
            guided. A wider beam loses less, and takes longer in proportion.
        distinct
            ``"path"``: any two segmentations differ. ``"bag"``: any two differ in how often they hold some token. In long
            documents the n best are else the same tokens in another order.
        exact
            Find the truly best, with ties broken by fewer tokens, then the shorter first token, then the shorter second one, and
            so on. For documents of up to about 120 symbols: the effort grows fast with their length, and a ValueError says when a
            document needs too much of it.
        guided
            Search a second time, by what tokens weigh beyond what they would fetch elsewhere in the document, and give the best
            of both. Nearer to the true best in long documents, at several times the cost.
        return_gap
            Give a third item: how much heavier than the first segmentation any other can be at most (float, 0 if exact). It holds
            for any length, and takes about as long as `guided`.

        Raises ValueError if `n` is less than 1 or too large for the length of the document, `beam` is less than `n`, or
        `distinct` is something else.

        >>> from ubpe_numba import UBPE
        >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
        >>> candidates, weights, gap = tok.encode_nbest([0, 1, 2, 0, 1], 2, exact=True, return_gap=True)
        >>> [tok.decode(ids).tolist() for ids in candidates], gap
        ([[0, 1, 2, 0, 1], [0, 1, 2, 0, 1]], 0.0)
        """
        self._check_fitted()
        options = self._search_options(n, beam, distinct, exact, guided, return_gap)
        ids = self.alphabet_.to_ids(self._whole(doc), unknown, name="doc")
        if self.objective != "tfidf":
            return k_best(self._encoder, ids.values, self.objective, options.n)
        found = self._search.n_best(ids, options, 1)
        return (*found[0], float(found.gaps[0])) if found.gaps is not None else found[0]

    def encode_nbest_batch(
        self,
        docs: Any,
        n: int,
        offsets: Any = None,
        *,
        beam: int | None = None,
        distinct: str = "path",
        exact: bool = False,
        guided: bool = False,
        return_gap: bool = False,
        unknown: str | int = "raise",
    ) -> NBest:
        """`encode_nbest` of documents, given as to `fit`, on `n_threads` threads: an `NBest` in flat arrays.

        The result does not depend on the number of threads. With `return_gap` it has `gaps`.

        >>> from ubpe_numba import UBPE
        >>> tok = UBPE(n_tokens=8, n_candidates=2).fit([[0, 1, 2, 0, 1], [2, 0, 1], [1, 1]])
        >>> found = tok.encode_nbest_batch([[0, 1, 2, 0, 1], [], [2, 2]], 3)
        >>> [len(candidates) for candidates, weights in found]
        [3, 1, 1]
        """
        self._check_fitted()
        options = self._search_options(n, beam, distinct, exact, guided, return_gap)
        ids = self.alphabet_.to_ids(self._whole(docs, offsets, many=True), unknown)
        if self.objective == "tfidf":
            return self._search.n_best(ids, options, self.n_threads)
        return NBest.of(k_best(self._encoder, document, self.objective, options.n) for document in ids)

    def _search_options(self, n: Any, beam: Any, distinct: Any, exact: Any, guided: Any, with_gap: Any) -> Options:
        self._check_objective()
        n = positive(n, "n")
        if self.objective != "tfidf" and (beam is not None or distinct != "path" or exact or guided or with_gap):
            options = "beam, distinct, exact, guided and return_gap"
            raise ValueError(f"objective: {options} are for 'tfidf'; by {self.objective!r} the search is exact")
        if beam is None:
            beam = max(n, 16) if exact or guided else n
        elif positive(beam, "beam") < n:
            raise ValueError(f"beam: expected at least n = {n}, got {beam}")
        if distinct not in ("path", "bag"):
            raise ValueError(f"distinct: expected 'path' or 'bag', got {distinct!r}")
        return Options(n, int(beam), distinct == "bag", bool(exact), bool(guided), bool(with_gap))

    def _whole(self, docs: Any, offsets: Any = None, many: bool = False) -> Documents:
        """Documents as they are searched; ValueError if this tokenizer cuts them first."""
        if not self.segmenter_.is_plain:
            raise ValueError("encode_nbest: the segmentations of a document that is cut, or has special tokens, are not ranked")
        if self.segmenter_.encoding is not None:
            return utf8_documents(docs, offsets) if many else utf8_document(docs)
        return as_documents(docs, offsets) if many else as_document(docs)
