"""Byte-pair encoding for anything that is a sequence of integers.

A public name is imported from its module when it is first used: `import ubpe_numba` itself takes some milliseconds, the import of
numba and numpy a quarter of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ubpe_numba.coding.model_inputs import ModelInputs
    from ubpe_numba.coding.n_best import NBest
    from ubpe_numba.coding.occurrences import Occurrences, Spans, TokenIndex, Usage
    from ubpe_numba.coding.streams import DecoderStream, EncoderStream
    from ubpe_numba.documents.counts import Counts, count_documents
    from ubpe_numba.documents.mixing import language_weights
    from ubpe_numba.documents.quantization import Quantization, quantize
    from ubpe_numba.documents.ragged import Ragged
    from ubpe_numba.errors import ModelFormatError, NotFittedError, SpecialTokenError, UnknownSymbolError, UnknownTokenError
    from ubpe_numba.text.normalizer import Normalizer
    from ubpe_numba.text.pretokenizer import Pretokenizer
    from ubpe_numba.text.splitter import Splitter
    from ubpe_numba.tokenizers.base import Tokenizer
    from ubpe_numba.tokenizers.bpe import BPE, UBPEClassic
    from ubpe_numba.tokenizers.load import load
    from ubpe_numba.tokenizers.ubpe import UBPE
    from ubpe_numba.tokenizers.warmup import warmup
    from ubpe_numba.tokenizers.wordpiece import WordPiece
    from ubpe_numba.verification.verify import Verification, verify
    from ubpe_numba.vocabulary.alphabet import Alphabet
    from ubpe_numba.vocabulary.rules import ARTICLE, PUBLISHED_0_2, PUBLISHED_0_3, FitRules
    from ubpe_numba.vocabulary.vocabulary import MergeTree, Vocabulary

__version__ = "0.1.0"

#: The module of every public name.
_HOMES = {
    "ARTICLE": "vocabulary.rules",
    "BPE": "tokenizers.bpe",
    "PUBLISHED_0_2": "vocabulary.rules",
    "PUBLISHED_0_3": "vocabulary.rules",
    "UBPE": "tokenizers.ubpe",
    "Alphabet": "vocabulary.alphabet",
    "Counts": "documents.counts",
    "DecoderStream": "coding.streams",
    "EncoderStream": "coding.streams",
    "FitRules": "vocabulary.rules",
    "MergeTree": "vocabulary.vocabulary",
    "ModelFormatError": "errors",
    "ModelInputs": "coding.model_inputs",
    "NBest": "coding.n_best",
    "Normalizer": "text.normalizer",
    "NotFittedError": "errors",
    "Occurrences": "coding.occurrences",
    "Pretokenizer": "text.pretokenizer",
    "Quantization": "documents.quantization",
    "Ragged": "documents.ragged",
    "Spans": "coding.occurrences",
    "SpecialTokenError": "errors",
    "Splitter": "text.splitter",
    "TokenIndex": "coding.occurrences",
    "Tokenizer": "tokenizers.base",
    "UBPEClassic": "tokenizers.bpe",
    "UnknownSymbolError": "errors",
    "UnknownTokenError": "errors",
    "Usage": "coding.occurrences",
    "Verification": "verification.verify",
    "Vocabulary": "vocabulary.vocabulary",
    "WordPiece": "tokenizers.wordpiece",
    "count_documents": "documents.counts",
    "language_weights": "documents.mixing",
    "load": "tokenizers.load",
    "quantize": "documents.quantization",
    "verify": "verification.verify",
    "warmup": "tokenizers.warmup",
}

__all__ = [
    "ARTICLE",
    "BPE",
    "PUBLISHED_0_2",
    "PUBLISHED_0_3",
    "UBPE",
    "Alphabet",
    "Counts",
    "DecoderStream",
    "EncoderStream",
    "FitRules",
    "MergeTree",
    "ModelFormatError",
    "ModelInputs",
    "NBest",
    "Normalizer",
    "NotFittedError",
    "Occurrences",
    "Pretokenizer",
    "Quantization",
    "Ragged",
    "Spans",
    "SpecialTokenError",
    "Splitter",
    "TokenIndex",
    "Tokenizer",
    "UBPEClassic",
    "UnknownSymbolError",
    "UnknownTokenError",
    "Usage",
    "Verification",
    "Vocabulary",
    "WordPiece",
    "count_documents",
    "language_weights",
    "load",
    "quantize",
    "verify",
    "warmup",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
