"""Byte-pair encoding for anything that is a sequence of integers.

A public name is imported from its module when it is first used: `import ubpe_numba` itself takes some milliseconds, the import of
numba and numpy a quarter of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers; `X as X` says that the name is public
    from ubpe_numba.coding.model_inputs import ModelInputs as ModelInputs
    from ubpe_numba.coding.n_best import NBest as NBest
    from ubpe_numba.coding.occurrences import Occurrences as Occurrences
    from ubpe_numba.coding.occurrences import Spans as Spans
    from ubpe_numba.coding.occurrences import TokenIndex as TokenIndex
    from ubpe_numba.coding.occurrences import Usage as Usage
    from ubpe_numba.coding.streams import DecoderStream as DecoderStream
    from ubpe_numba.coding.streams import EncoderStream as EncoderStream
    from ubpe_numba.documents.counts import Counts as Counts
    from ubpe_numba.documents.counts import count_documents as count_documents
    from ubpe_numba.documents.counts import language_weights as language_weights
    from ubpe_numba.documents.quantization import Quantization as Quantization
    from ubpe_numba.documents.quantization import quantize as quantize
    from ubpe_numba.documents.ragged import Ragged as Ragged
    from ubpe_numba.errors import ModelFormatError as ModelFormatError
    from ubpe_numba.errors import NotFittedError as NotFittedError
    from ubpe_numba.errors import SpecialTokenError as SpecialTokenError
    from ubpe_numba.errors import UnknownSymbolError as UnknownSymbolError
    from ubpe_numba.errors import UnknownTokenError as UnknownTokenError
    from ubpe_numba.text.normalizer import Normalizer as Normalizer
    from ubpe_numba.text.pretokenizer import Pretokenizer as Pretokenizer
    from ubpe_numba.text.splitter import Splitter as Splitter
    from ubpe_numba.tokenizers.base import Tokenizer as Tokenizer
    from ubpe_numba.tokenizers.bpe import BPE as BPE
    from ubpe_numba.tokenizers.bpe import UBPEClassic as UBPEClassic
    from ubpe_numba.tokenizers.export import export as export
    from ubpe_numba.tokenizers.saving import load as load
    from ubpe_numba.tokenizers.ubpe import UBPE as UBPE
    from ubpe_numba.tokenizers.warmup import warmup as warmup
    from ubpe_numba.tokenizers.wordpiece import WordPiece as WordPiece
    from ubpe_numba.verification.verify import Verification as Verification
    from ubpe_numba.verification.verify import verify as verify
    from ubpe_numba.vocabulary.alphabet import Alphabet as Alphabet
    from ubpe_numba.vocabulary.preprocessing import Preprocessing as Preprocessing
    from ubpe_numba.vocabulary.rules import FitRules as FitRules
    from ubpe_numba.vocabulary.vocabulary import MergeTree as MergeTree
    from ubpe_numba.vocabulary.vocabulary import Vocabulary as Vocabulary

__version__ = "0.1.0"

_NAMES = {
    "coding.model_inputs": "ModelInputs",
    "coding.n_best": "NBest",
    "coding.occurrences": "Occurrences Spans TokenIndex Usage",
    "coding.streams": "DecoderStream EncoderStream",
    "documents.counts": "Counts count_documents language_weights",
    "documents.quantization": "Quantization quantize",
    "documents.ragged": "Ragged",
    "errors": "ModelFormatError NotFittedError SpecialTokenError UnknownSymbolError UnknownTokenError",
    "text.normalizer": "Normalizer",
    "text.pretokenizer": "Pretokenizer",
    "text.splitter": "Splitter",
    "tokenizers.base": "Tokenizer",
    "tokenizers.bpe": "BPE UBPEClassic",
    "tokenizers.export": "export",
    "tokenizers.saving": "load",
    "tokenizers.ubpe": "UBPE",
    "tokenizers.warmup": "warmup",
    "tokenizers.wordpiece": "WordPiece",
    "verification.verify": "Verification verify",
    "vocabulary.alphabet": "Alphabet",
    "vocabulary.preprocessing": "Preprocessing",
    "vocabulary.rules": "FitRules",
    "vocabulary.vocabulary": "MergeTree Vocabulary",
}
#: The module of every public name.
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
