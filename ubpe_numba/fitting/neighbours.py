"""A vocabulary for the objective of fewest tokens by pairs: learn more tokens than are wanted, and drop those that save least.

What a merge is worth is known only when all later ones are: many serve as parts of longer tokens and are hardly used by
themselves. So about twice as many tokens as wanted are learned. The corpus is encoded to the fewest tokens, a tenth of the tokens
is dropped, those without which the encoding would grow least (kernels/token_losses.py), and so on until the size is reached. Then
follow a few rounds of exchange: joined neighbours of that encoding become tokens, and as many tokens are dropped again. The best
vocabulary of all rounds is kept.

Source of the loss: C. Schmidt et al., "Tokenization is more than compression" (PathPiece), 2024.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.coding.path_encoder import PathEncoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.fitting.kernels import token_losses
from ubpe_numba.runtime import thread_pool
from ubpe_numba.runtime.arrays import writable
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.runtime.tables import trie
from ubpe_numba.vocabulary.vocabulary import Vocabulary

_ROUNDS = 8  # of exchange
_DROPPED = 0.1  # of the tokens, in a step
_DROPPED_AGAIN = 0.05  # and in a round: two new ones that can replace each other should not leave together
_EXCHANGED, _FADING = 0.1, 0.8  # of the tokens, in the first round, and how much of that in the next


def worth_of(
    documents: Ragged, weights: np.ndarray, tokens: Ragged, n_alphabet: int, n_threads: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """How often the paths of fewest tokens hold each learned token, and how many more tokens they would have without it.

    Parameters
    ----------
    documents, weights
        Of alphabet ids, and how often each occurs, int64[d].
    tokens
        All tokens of a vocabulary, symbols first.
    n_alphabet, n_threads
        How many of them are symbols, and threads to use.

    Returns
    -------
    Counts and losses of the m learned tokens, int64[m] each.

    Examples
    --------
    >>> worth_of(Ragged.from_lists([[0, 1], [0]]), np.ones(2, np.int64), Ragged.from_lists([[0], [1], [0, 1]]), 2, 1)
    (array([1]), array([1]))
    """
    table = trie.trie_of(n_alphabet, writable(tokens.values), tokens.lengths)
    symbols, offsets = writable(documents.values), documents.offsets

    def one(begin: int, end: int) -> np.ndarray:
        found = np.zeros((2, len(tokens)), np.int64)
        part = offsets[begin : end + 1]
        scratch = np.empty((4, int(np.diff(part).max(initial=0)) + 1), np.int32)
        token_losses.token_losses(symbols, part, weights[begin:end], table, scratch, found[0], found[1])
        return found

    parts = thread_pool.run(one, thread_pool.chunks_of(offsets, n_threads), n_threads)
    found = sum(parts[1:], parts[0])
    return found[0, n_alphabet:], found[1, n_alphabet:]


def sizes_down(size: int, n: int, share: float) -> list[int]:
    """How many of `size` tokens are left after each step, if a share of them stays, until there are `n`.

    >>> sizes_down(10, 5, 0.75), sizes_down(5, 5, 0.75)
    ([7, 5], [])
    """
    sizes = [size]
    while sizes[-1] > n:
        sizes.append(max(n, int(sizes[-1] * share)))
    return sizes[1:]


def worthiest(
    documents: Ragged,
    weights: np.ndarray,
    tokens: Ragged,
    n_alphabet: int,
    n: int,
    n_threads: int | None,
    progress: Progress,
    dropped: float = _DROPPED,
) -> np.ndarray:
    """The `n` learned tokens that stay, when a share `dropped` of them leaves at a time.

    Those of the smallest loss leave first, among equals those of the smallest count, then those learned last. `progress` shows
    the steps; other parameters as of `worth_of`.

    Returns
    -------
    Their indices, int64, ascending, 0 for the first learned token.
    """
    stay = np.arange(len(tokens) - n_alphabet)
    for left in progress.rounds(sizes_down(stay.size, n, 1 - dropped), "refine, choose"):
        chosen = np.concatenate([np.arange(n_alphabet), n_alphabet + stay])
        counts, lost = worth_of(documents, weights, tokens.take(chosen), n_alphabet, n_threads)
        order = np.lexsort((stay, -counts, -lost))
        stay = np.sort(stay[order[:left]])
    return stay


def joined(encoded: Ragged, weights: np.ndarray, tokens: Ragged, n: int, longest: int = 2**62) -> list[np.ndarray]:
    """The `n` most frequent joined neighbours of an encoding that are no tokens yet, if they occur twice.

    `weights` int64[d]: how often each document occurs; `longest`: symbols of the longest token. Among equals the smaller pair.
    Overlapping occurrences count, as everywhere: aaa holds (a, a) twice.

    Examples
    --------
    >>> encoded, tokens = Ragged.from_lists([[0, 1, 0, 1]]), Ragged.from_lists([[0], [1]])
    >>> joined(encoded, np.ones(1, np.int64), tokens, 5)
    [array([0, 1], dtype=int32)]
    """
    ids = encoded.compact()
    inside = np.ones(max(ids.total - 1, 0), bool)  # of one document
    ends = ids.offsets[1:-1]
    inside[ends[(ends > 0) & (ends < ids.total)] - 1] = False
    keys = ids.values[:-1].astype(np.int64) * len(tokens) + ids.values[1:]
    pairs, of = np.unique(keys[inside], return_inverse=True)
    counts = np.zeros(pairs.size, np.int64)
    np.add.at(counts, of, np.repeat(weights, ids.lengths)[:-1][inside])
    order = np.argsort(-counts, kind="stable")
    known = {token.tobytes() for token in tokens}
    found: list[np.ndarray] = []
    for i in order[counts[order] >= 2].tolist():
        if len(found) == n:
            break
        left, right = divmod(int(pairs[i]), len(tokens))
        token = np.concatenate([tokens[left], tokens[right]])
        if token.size <= longest and (name := token.tobytes()) not in known:
            known.add(name)
            found.append(token)
    return found


def exchanged(
    documents: Ragged,
    weights: np.ndarray,
    tokens: Ragged,
    n_alphabet: int,
    n: int,
    n_threads: int | None,
    progress: Progress,
    longest: int = 2**62,
) -> Ragged:
    """The tokens that are left, and found, by steps of dropping and rounds of exchange.

    Parameters
    ----------
    documents, weights
        Of alphabet ids, and how often each occurs, int64[d].
    tokens
        Learned tokens to begin with, as flat sequences.
    n_alphabet, n
        How many symbols there are, and how many learned tokens are wanted.
    n_threads
        As of `thread_pool.resolve`.
    progress
        Where rounds are shown.
    longest
        Symbols of the longest token.

    Returns
    -------
    `n` learned tokens, or fewer where no more pairs occur twice.
    """
    symbols = np.arange(n_alphabet)
    tokens = Ragged.concat([Ragged(symbols.astype(np.int32), np.arange(n_alphabet + 1)), tokens])

    def chosen(tokens: Ragged, dropped: float, progress: Progress) -> Ragged:
        stay = worthiest(documents, weights, tokens, n_alphabet, n, n_threads, progress, dropped)
        return tokens.take(np.concatenate([symbols, n_alphabet + stay]))

    tokens = chosen(tokens, _DROPPED, progress)
    best, fewest = tokens, int(documents.lengths @ weights) + 1
    share = _EXCHANGED
    for i in progress.rounds(range(_ROUNDS + 1), "refine, exchange neighbours"):
        learned = tokens[n_alphabet:].compact()
        vocabulary = Vocabulary.from_sequences(n_alphabet, learned.values, learned.lengths)
        encoded = PathEncoder(vocabulary).encode(documents, "shortest", n_threads)
        if (total := int(encoded.lengths @ weights)) < fewest:
            best, fewest = tokens, total
        room = n - (len(tokens) - n_alphabet)
        new = joined(encoded, weights, tokens, room + max(8, int(share * n)), longest) if i < _ROUNDS else []
        if not new:
            break
        tokens = chosen(Ragged.from_lists([*tokens, *new]), _DROPPED_AGAIN, Progress(False))
        share *= _FADING
    return best[n_alphabet:].compact()
