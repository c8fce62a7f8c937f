"""Normalizers change text, pre-tokenizers split it into segments, and segments are counted.

The kernels for this are here too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ubpe_numba.documents.read import as_document

if TYPE_CHECKING:
    from ubpe_numba.text.normalizer import Normalizer as Normalizer
    from ubpe_numba.text.pretokenizer import Pretokenizer as Pretokenizer
    from ubpe_numba.text.splitter import Splitter as Splitter

__all__ = ["Normalizer", "Pretokenizer", "Splitter", "first_change"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{name.lower()}"), name)


def first_change(tok: Any, ids: Any) -> int:
    """Find the first place at which ids differ from those of their own text.

    There ``tok.encode(tok.decode(ids))`` begins to differ. Ids that a model generates need not be those that
    the tokenizer makes of their text. From this place on a conversation that is kept as text differs for the
    model: in reinforcement learning, training then uses other ids than those generated.

    Parameters
    ----------
    tok : Tokenizer
        A tokenizer of any class.
    ids
        Ids of a document, as for `Tokenizer.decode`. Errors are as there.

    Returns
    -------
    int
        An index of `ids`; their number if nothing changes. O(symbols).

    Notes
    -----
    All special tokens are found in the text. Invalid UTF-8, as of an incomplete character, is decoded to
    U+FFFD, which is a change.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> from ubpe_numba.text import first_change
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
    >>> first_change(tok, [2, 1, 0, 1, 2]), first_change(tok, [2, 1, 2])  # the first are "abbabab", which is 2, 1, 2, 2
    (2, 3)
    """
    values_of_ids = as_document(ids, name="ids").values
    again = tok.encode(tok.decode(values_of_ids), allowed_special="all")
    n = min(values_of_ids.size, again.size)
    changed = np.flatnonzero(values_of_ids[:n] != again[:n])
    return int(changed[0]) if changed.size else n
