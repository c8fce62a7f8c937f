"""The tokens of a tokenizer by id: their symbols, the merges that build them, and their statistics."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.decode import Decoder
from ubpe_numba.documents.read import code_points, text_of
from ubpe_numba.runtime.arrays import checked_token, freeze, integer, offsets_of
from ubpe_numba.runtime.lazy import view
from ubpe_numba.vocabulary.mirror import tokens_of
from ubpe_numba.vocabulary.model import Model


class MergeTree(NamedTuple):
    """The k nodes of the merges of a token: each before its parts, the left part first.

    Attributes
    ----------
    tokens : int32[k]
        The id of each node; the first is that of the token itself.
    above : int64[k]
        The index of the node that it is a part of, -1 for the first.
    depths : int64[k]
        How many merges are above it, 0 for the first.
    starts : int64[k]
        The position of its first symbol in the token.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tree = BPE.from_merges([[0, 1], [2, 0]], alphabet="ab").vocabulary.tree(3)  # 3 is 2 0, and 2 is 0 1
    >>> tree.tokens.tolist(), tree.above.tolist(), tree.depths.tolist(), tree.starts.tolist()
    ([3, 2, 0, 1, 0], [-1, 0, 1, 1, 0], [0, 1, 2, 2, 1], [0, 0, 0, 1, 2])
    """

    tokens: np.ndarray
    above: np.ndarray
    depths: np.ndarray
    starts: np.ndarray


class TokenTable:
    """The tokens of a tokenizer by id, as `encode` and `decode` use them.

    `Tokenizer.vocabulary` makes it. ``v[i]`` is the decoded token of id i, special tokens included: an
    integer array, a list of words, `str` over characters, `bytes` over bytes. A special token without symbols
    gives its name. IndexError for an unused id, for which iteration gives None.

    Attributes
    ----------
    arena, offsets : ndarray[s], int64[V + 1]
        The symbols of all V ids, as in documents (uint8 for bytes, uint32 code points for `str`). Those of id
        i are ``arena[offsets[i]:offsets[i + 1]]``, empty for unused ids.
    lengths : int64[V]
        Symbols of each id.
    symbols, symbol_ids : ndarray[n_alphabet], int32[n_alphabet]
        The symbols of the alphabet, and their ids; -1 for a symbol without an id. In a foreign tokenizer they
        are symbols of the text as it is encoded, which may have other white space than documents, and private
        characters for unknown symbols.
    merges, merged : int32[m, 2], int32[m], or None
        The two ids of each merge, in the order of the merges, and the id that they make; None if only flat
        sequences are known.
    special : dict
        The id of every special token and known word.
    weights, log_probabilities : float64[V], float64[V] or None
        The idf of each token, 0 for symbols and special tokens. The natural logarithm of its probability, by
        which the objective ``"likelihood"`` encodes, nan for special tokens; None if none were estimated.
    counts, document_frequencies : int64[V]
        Occurrences of the pair, and documents that held it, when it was merged; 0 for symbols, special tokens
        and if not known.
    occurrences : int64[V] or None
        How often each token occurs after all merges, or in the encoding counted by `refine`, `reweight` or a
        fit with probabilities; 0 for special tokens, None if not known. A pair that is part of many others
        may have a large count and no occurrence.
    mirror : int32[V] or None
        The mirror of each token, if documents count together with their mirrors. Special tokens are their own
        mirror.
    n_alphabet, n_learned : int
        Number of symbols of the alphabet, and of learned tokens.
    n_documents, n_symbols : int
        Size of the corpus, 0 if not known.

    Notes
    -----
    All arrays are read-only. In a foreign tokenizer several merges may make one id: the first of them is in
    its `tree`. A token is shown as in the middle of a text, even if `decode` drops its beginning at the start
    of a text. Merges of bytes without ids are missing.

    Examples
    --------
    >>> from ubpe_numba import BPE, Preprocessing
    >>> words = Preprocessing(special_tokens=["<end>"], special_first=True)
    >>> v = BPE.from_merges([[0, 1], [2, 0]], alphabet="ab", preprocessing=words).vocabulary
    >>> v, len(v), v[0], v[4], list(v)
    (TokenTable(5 ids: 2 symbols, 2 pairs, 1 special), 5, '<end>', 'aba', ['<end>', 'a', 'b', 'ab', 'aba'])
    >>> v.merges.tolist(), v.merged.tolist(), v.special, v.lengths.tolist()
    ([[1, 2], [3, 1]], [3, 4], {'<end>': 0}, [5, 1, 1, 2, 3])
    """

    def __init__(self, model: Model, decoder: Decoder) -> None:
        """Number the tables of a model by id; `decoder` has the symbols of each."""
        alphabet, vocabulary, segmenter = model
        n, size = vocabulary.n_alphabet, decoder.sizes.size
        ids = segmenter.ids(len(vocabulary))
        self._alphabet, self._gaps = decoder.alphabet, decoder.gaps
        self.offsets = offsets_of(decoder.lengths)
        self.arena: NDArray[Any] = decoder.arena[: decoder.starts[-1]].view(decoder.dtype)
        if (
            alphabet.kind == "str"
            and (normalizer := segmenter.normalizer) is not None
            and normalizer.restores
        ):
            # every token as after another, since the beginning of a text is changed
            text = text_of(self.arena)
            texts = [
                normalizer.restore(f"x{text[a:b]}")[1:] for a, b in itertools.pairwise(self.offsets.tolist())
            ]
            self.arena, self.offsets = code_points("".join(texts)), offsets_of(np.array([*map(len, texts)]))
        self.lengths: NDArray[np.int64] = np.diff(self.offsets)
        self.symbols, self.symbol_ids = alphabet.symbols, ids[:n].copy()
        if (unknown := segmenter.unknown) is not None and unknown.byte_ids is not None:
            bytewise = unknown.byte_ids[self.symbols]
            self.symbol_ids = np.where(self.symbol_ids < 0, bytewise, self.symbol_ids).astype(np.int32)
        words = segmenter.special
        self.special: dict[Any, int] = (
            {} if words is None else dict(zip(words.words, words.ids.tolist(), strict=True))
        )
        self._names = {i: name for name, i in self.special.items()}
        self.merges: NDArray[np.int32] | None = None
        self.merged: NDArray[np.int32] | None = None
        self._row = np.full(size, -1, np.int64)  # the merge of each id
        if vocabulary.merges is not None:
            pairs, merged = ids[vocabulary.merges], ids[n:]
            # a character without an id may be held as merged bytes
            known = (pairs >= 0).all(axis=1) & (merged >= 0)
            self.merges, self.merged = pairs[known], merged[known]
            self._row[self.merged[::-1]] = np.arange(self.merged.size)[::-1]
        has_id = np.flatnonzero(ids >= 0)[::-1]  # if several tokens share an id, the first is written last
        at = ids[has_id]

        def by_id(values: NDArray[Any], missing: float = 0) -> NDArray[Any]:
            out = np.full(size, missing, values.dtype)
            out[at] = values[has_id]
            return out

        learned = np.arange(len(vocabulary)) >= n
        self._learned = by_id(learned)
        self.weights, self.counts = by_id(vocabulary.weights), by_id(vocabulary.counts)
        self.document_frequencies = by_id(vocabulary.document_frequencies)
        self.occurrences: NDArray[np.int64] | None = None
        self.log_probabilities: NDArray[np.float64] | None = None
        if vocabulary.occurrences is not None:
            self.occurrences = np.zeros(size, np.int64)
            np.add.at(self.occurrences, at, vocabulary.occurrences[has_id])
        if vocabulary.log_probabilities is not None:
            self.log_probabilities = by_id(vocabulary.log_probabilities, np.nan)
        self.n_alphabet, self.n_learned = n, int(self._learned.sum())
        self.n_documents, self.n_symbols = vocabulary.n_documents, vocabulary.n_symbols
        self.mirror: NDArray[np.int32] | None = None
        if segmenter.mirror is not None:
            self.mirror = np.arange(size, dtype=np.int32)
            self.mirror[ids] = ids[tokens_of(model)]
        freeze(vars(self).values())

    def __len__(self) -> int:
        """The number V of ids, one more than the largest: the rows of an embedding."""
        return self.lengths.size

    def __getitem__(self, token_id: int) -> NDArray[Any] | str | bytes | list[Any]:
        """Decode the token of an id; IndexError if no token has it."""
        i = checked_token(token_id, len(self))
        if self._alphabet.kind == "int" and isinstance(name := self._names.get(i), str):
            return name
        if self._gaps is not None and self._gaps[i]:
            raise IndexError(f"token {i}: no token has this id")
        return self._alphabet.output(self.arena[self.offsets[i] : self.offsets[i + 1]])

    def __iter__(self) -> Iterator[NDArray[Any] | str | bytes | list[Any] | None]:
        """Yield the decoded token of every id in order; None for an id that no token has."""
        has = np.ones(len(self), bool) if self._gaps is None else ~self._gaps
        has[[*self.special.values()]] = True
        return (self[i] if has[i] else None for i in range(len(self)))

    __contains__ = None  # `in` would compare arrays

    def parents(self, token_id: int) -> tuple[int, int] | None:
        """The two ids that a token was merged from, left and right.

        Parameters
        ----------
        token_id
            An id.

        Returns
        -------
        tuple of int or None
            None for symbols and special tokens; errors as of `tree`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> v = BPE.from_merges([[0, 1], [3, 2]], alphabet="abc").vocabulary
        >>> v.parents(4), v.parents(0)
        ((3, 2), None)
        """
        _, *parts = self.tree(token_id, 1).tokens.tolist()
        return (parts[0], parts[1]) if parts else None

    def tree(self, token_id: int, depth: int | None = None) -> MergeTree:
        """The nodes of the merges that make a token, down to the symbols, as flat arrays.

        Parameters
        ----------
        token_id
            An id.
        depth
            Maximal depth of the tree; by default all, with up to twice as many nodes as the token has
            symbols.

        Returns
        -------
        MergeTree
            One node for symbols and special tokens. IndexError for an id that is not in 0..V - 1, ValueError
            if only flat sequences are known.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1], [3, 2]], alphabet="abc").vocabulary.tree(4).tokens.tolist()
        [4, 3, 0, 1, 2]
        """
        t = checked_token(token_id, len(self))
        if depth is not None and integer(depth, "depth") < 0:
            raise ValueError(f"depth: expected at least 0, got {depth}")
        pairs = self.merges
        if pairs is None and self._learned[t]:
            raise ValueError(
                "token: this vocabulary knows flat sequences only, not the pairs that they were merged of"
            )
        rows: list[tuple[int, int, int, int]] = []
        waiting = [(t, -1, 0, 0)]
        while waiting:
            node = waiting.pop()
            t, _, level, start = node
            here = len(rows)
            rows.append(node)
            if pairs is not None and (row := self._row[t]) >= 0 and (depth is None or level < depth):
                left, right = pairs[row].tolist()
                waiting += [
                    (right, here, level + 1, start + int(self.lengths[left])),
                    (left, here, level + 1, start),
                ]
        tokens, above, depths, starts = np.array(rows, np.int64).T.copy()
        return MergeTree(tokens.astype(np.int32), above, depths, starts)

    def __repr__(self) -> str:
        kind = "flat sequences" if self.merges is None else "pairs"
        special = f", {len(self.special)} special" if self.special else ""
        return f"TokenTable({len(self)} ids: {self.n_alphabet} symbols, {self.n_learned} {kind}{special})"

    def _repr_html_(self) -> str:
        """Sizes and some tokens for a notebook."""
        return str(view("notebook", "vocabulary_html")(self))
