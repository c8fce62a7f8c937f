"""The seam: all that wings need of tokenizers and their tables in addition to public names.

A wing that needs more adds a function here. Everything else of a tokenizer may change without a look at the
wings.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.lattice import Lattice
from ubpe_numba.coding.plan import Plan, Tables
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Corpus
from ubpe_numba.fitting.fit import Settings
from ubpe_numba.tokenizers.base import Tokenizer
from ubpe_numba.tokenizers.token_table import TokenTable
from ubpe_numba.tokenizers.ubpe import UBPE
from ubpe_numba.tokenizers.wordpiece import WordPiece
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.preprocessing import Preprocessing

T = TypeVar("T", bound=Tokenizer)


def model_of(tokenizer: Tokenizer | WordPiece) -> Model:
    """The alphabet, vocabulary and segmenter of a fitted tokenizer; NotFittedError before a fit."""
    return tokenizer._fitted()


def preprocessing_of(tokenizer: Tokenizer | WordPiece) -> Preprocessing:
    """The constructor's argument; one that does nothing if there is none. TypeError for another value."""
    return tokenizer._prepared


def way_of_encoding(tokenizer: Tokenizer) -> str:
    """``"rank"``, ``"batch"``, or an objective of `UBPE`."""
    return tokenizer._encodes_by


def plan_of(tokenizer: Tokenizer) -> Plan:
    """The plan of a call of `encode` without options."""
    return tokenizer._plan()


def tables_of(tokenizer: Tokenizer) -> Tables:
    """The encoders and the decoder."""
    return tokenizer._tables


def whole_ids(tokenizer: UBPE, doc: Any, unknown: Any, caller: str) -> Ragged:
    """Alphabet ids of a document for `caller`, which sums weights; ValueError if it would be split."""
    return tokenizer._whole(doc, None, True, unknown, what=caller)


def lattice_of(tokenizer: UBPE, alpha: float) -> Lattice:
    """All segmentations, with weights to the power `alpha`."""
    return tokenizer._lattice(alpha)


def settings_of(tokenizer: Tokenizer) -> Settings:
    """The constructor's arguments that decide a fit, validated."""
    return tokenizer._settings()


def corpus_of_fit(
    tokenizer: Tokenizer, docs: Any, offsets: Any, sample_weight: Any, boundaries: Any
) -> Corpus:
    """The documents of a fit, as the tokenizer cuts them."""
    return tokenizer._corpus(docs, offsets, sample_weight, boundaries)


def check_alphabet(tokenizer: Tokenizer, alphabet: Alphabet, settings: Settings) -> None:
    """ValueError, before a long fit, if the arguments do not suit the alphabet."""
    tokenizer._check_alphabet(alphabet, settings)


def weighs_by_text(tokenizer: Tokenizer) -> bool:
    """Whether a fit needs its corpus again, for weights by which documents are encoded."""
    return tokenizer._weighs_by_text


def with_fit(tokenizer: T, *result: Any) -> T:
    """The tokenizer, fitted with alphabet, settings, vocabulary, history, and corpus and progress.

    The last two are optional.
    """
    return tokenizer._learned(*result)


def is_learned(table: TokenTable) -> NDArray[np.bool_]:
    """Which ids are learned tokens."""
    return table._learned


def gaps_of(table: TokenTable) -> NDArray[np.bool_] | None:
    """Which ids are of no token; None if all are."""
    return table._gaps


def merge_rows(table: TokenTable) -> NDArray[np.int64]:
    """The row in `merges` of each id, or -1."""
    return table._row


def alphabet_of_table(table: TokenTable) -> Alphabet:
    """The alphabet of the tokens."""
    return table._alphabet
