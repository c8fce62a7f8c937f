"""How often documents of several languages count, so that small languages get tokens too."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ubpe_numba.errors import quoted

__all__ = ["language_weights"]

_MOST = 2**62
_UNIT = 16  # the weight of the largest language: others are rounded to a sixteenth of it


def language_weights(sizes: Iterable[int], alpha: float = 0.3) -> list[int]:
    """Integer weights for `sample_weight`, by which language i takes a share of the corpus in proportion to its size ** alpha.

    Parameters
    ----------
    sizes
        How many symbols, or documents, there are of each language.
    alpha
        0 to 1. 1 leaves shares as they are, 0 makes them equal.

    Returns
    -------
    weights
        For every document of a language the same weight; the least is 16, so that rounding changes shares by 3 % at most.

    Raises
    ------
    ValueError
        For a size below 1, or `alpha` outside 0..1.
    TypeError
        For anything but numbers.

    Notes
    -----
    Counts of pairs grow by these weights, and with them what ``FitRules(min_count=)`` is compared with: 32 asks for two
    occurrences in the largest language. Shares by powers of sizes are those of multilingual BERT (0.7) and XLM (0.5; 0.3 in
    XLM-R). Tokens per 1000 bytes of lines not seen, 8192 tokens with GPT-2's pattern, of 1.9 MB of English (King James Bible) and
    of manual pages, 0.4 MB Chinese, 0.1 MB Russian and 0.04 MB Japanese (benchmarks/mixing.py):

    =====  =======  =======  =======  ========
    alpha  English  Chinese  Russian  Japanese
    =====  =======  =======  =======  ========
    1      254.4    257.2    247.5    307.4
    0.7    259.3    251.9    221.8    277.0
    0.5    264.7    251.8    205.6    259.8
    0.3    272.8    254.3    196.9    250.4
    0      284.9    257.3    187.5    242.0
    =====  =======  =======  =======  ========

    By 0.3 English takes 7 % more tokens, and Russian and Japanese, a twenty-fourth of the corpus and less, take a fifth fewer.

    Rare words are not put together in buckets by a hash, as some models of many languages do: what shares a bucket cannot be told
    apart again by `decode`. Over bytes nothing is unknown; over other alphabets ``encode(unknown=)`` says what becomes of it.

    Examples
    --------
    >>> language_weights([1_870_000, 390_000, 100_000, 40_000])
    [16, 48, 124, 236]
    """
    sizes = list(sizes)
    for name, value in (("alpha", alpha), *((f"sizes[{i}]", size) for i, size in enumerate(sizes))):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"{name}: expected a number, got {quoted(value)}")
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha: expected 0..1, got {alpha}")
    for i, size in enumerate(sizes):
        if not 1 <= size < _MOST:
            raise ValueError(f"sizes[{i}]: expected at least 1 and less than 2**62, got {size}")
    largest = max(sizes, default=1)
    return [round(_UNIT * (largest / size) ** (1.0 - alpha)) for size in sizes]
