"""Peers of `fewest.py`: what each learns from the same units, as sequences of symbols.

Packages that take words get whole texts in lines of 90 symbols, as in `segmentations.py`. All learn as many
tokens of two symbols or more as ours do; what a package counts besides (special pieces, symbols that occur)
is asked for on top.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import pathlib
import sys
import tempfile
from collections import Counter

import numpy as np
import segmentations
from fewest_corpora import Units

from ubpe_numba import Ragged

# GreedTok keeps every substring that occurs, about 200 bytes each
_LONGEST_OF_WORDS, _LONGEST_OF_LINES = 64, 16
_THRESHOLD = 0.9  # of PickyBPE, its default


def greedtok(units: Units, n_alphabet: int, n: int) -> Ragged:
    """Package greedtok (module pcatt) 0.14: greedy partition cover; J.

    P. Lim et al., A partition cover approach, 2025.
    """
    with contextlib.suppress(OSError):  # the package tbb puts it where the loader does not look
        ctypes.CDLL(str(pathlib.Path(sys.prefix, "lib", "libtbb.so.12")), mode=ctypes.RTLD_GLOBAL)
    from pcatt import pco_tokenizer

    if n_alphabet > 256:
        raise ValueError("symbols are bytes")
    counts: Counter[bytes] = Counter()
    parts, weights = _words(units)
    for part, weight in zip(parts, weights.tolist(), strict=True):
        counts[part.astype(np.uint8).tobytes()] += weight
    solver = pco_tokenizer.build(word_counts=counts, candidate_tokens=set(), verbose=False)
    longest = _LONGEST_OF_LINES if parts is not units.documents else _LONGEST_OF_WORDS
    solver.initialize_graph(longest + 1, 1)  # it stops before that length
    ranks, _ = solver.solve_to_step(n)
    return Ragged.from_lists([list(token) for token in ranks if len(token) > 1][:n])


def pickybpe(units: Units, n_alphabet: int, n: int) -> Ragged:
    """Package pickybpe-bauwenst (module pickybpe) 1.3: BPE that drops parts; P.

    Chizhov et al., BPE gets picky, 2024.
    """
    from pickybpe import vocabularisation

    class Trainer(vocabularisation.PickyBPETrainer):
        def _string_to_atoms(self, word: str) -> str:
            return word  # without a mark before it

    counts: Counter[str] = Counter()
    parts, weights = _words(units)
    for word, weight in zip(segmentations.characters(parts), weights.tolist(), strict=True):
        counts[word] += weight
    options = {"character_coverage": 1.0, "include_specials": False, "max_type_length": 1 << 30}
    trainer = Trainer(n + np.unique(parts.values).size, picky_threshold=_THRESHOLD, **options)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.json")
        trainer._fit_from_counts(counts, path, 1 << 30)
        tokens = json.loads(path.read_text())["tokens"]
    return segmentations.sequences(
        t["str"] for t in tokens if t["present"] and not t["special"] and len(t["str"]) > 1
    )


def sentencepiece(units: Units, n_alphabet: int, n: int) -> Ragged:
    """Package sentencepiece, model type unigram, tokens of at most 32 symbols."""
    counts = None if (units.weights == 1).all() else units.weights
    size = n + np.unique(units.documents.values).size
    model = segmentations.sentencepiece_model(units.documents, size, counts)
    pieces = (model.id_to_piece(i) for i in range(3, model.vocab_size()))
    return segmentations.sequences(piece for piece in pieces if len(piece) > 1)


def _words(units: Units) -> tuple[Ragged, np.ndarray]:
    """Words and weights; of whole documents, their lines."""
    if (units.weights != 1).any():
        return units
    lines = segmentations.cut_in_lines(units.documents)
    return lines, np.ones(len(lines), np.int64)


#: The module that has to be there, and what learns.
PEERS = {
    "GreedTok": ("pcatt", greedtok),
    "PickyBPE": ("pickybpe", pickybpe),
    "sentencepiece": ("sentencepiece", sentencepiece),
}
