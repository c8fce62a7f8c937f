"""Documents divided at positions that no token may cross: the parts are encoded as documents, and put together again.

document  a b a b a,  boundaries 1, 3      parts  a | b a | b a      ids of the document: those of its parts
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.token_places import Places
from ubpe_numba.documents.corpus import as_corpus
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import LocatedError


class Parts(NamedTuple):
    """The p parts of d documents: `documents`, which they are, `first` int64[d + 1], which of them begin documents."""

    documents: Documents
    first: NDArray[np.int64]

    @classmethod
    def of(cls, given: Documents, docs: Any, offsets: Any, boundaries: Any) -> Parts:
        """Divide documents that were read from `docs` and `offsets`; TypeError or ValueError as `fit` raises it.

        >>> given = Documents(np.arange(5), np.array([0, 3, 5]), "int")
        >>> parts = Parts.of(given, [[0, 1, 2], [3, 4]], None, [[1], []])
        >>> parts.documents.offsets.tolist(), parts.first.tolist()
        ([0, 1, 3, 5], [0, 2, 3])
        """
        corpus = as_corpus(docs, offsets, None, boundaries, lambda *_: given)
        assert corpus.document_of is not None  # there are boundaries
        first = np.searchsorted(corpus.document_of, np.arange(given.offsets.size))
        return cls(Documents(corpus.values, corpus.offsets, given.kind), first)

    def joined(self, encoded: Ragged, places: Places | None) -> tuple[Ragged, Places | None]:
        """The ids of the documents from those of the parts, and where the tokens stand in the documents."""
        if places is not None:
            starts = self.documents.offsets
            of = np.searchsorted(self.first, np.arange(starts.size - 1), side="right") - 1
            places = places.moved(np.repeat(starts[:-1] - starts[self.first[of]], encoded.lengths))
        return Ragged._trusted(encoded.values, encoded.offsets[self.first]), places

    def located(self, error: LocatedError) -> LocatedError:
        """An error of a part with its document and the position in that."""
        starts = self.documents.offsets
        of = int(np.searchsorted(self.first, error.document, side="right")) - 1
        position = error.position + int(starts[error.document] - starts[self.first[of]])
        _, arguments, *_ = cast(tuple[Any, ...], error.__reduce__())
        return type(error)(of, position, *arguments[2:])
