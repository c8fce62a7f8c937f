"""Every public name, from where it is written."""

from ubpe_numba._warmup import warmup
from ubpe_numba.alphabet import Alphabet
from ubpe_numba.bpe import BPE, UBPEClassic
from ubpe_numba.counts import Counts, count_documents
from ubpe_numba.errors import ModelFormatError, NotFittedError, SpecialTokenError, UnknownSymbolError, UnknownTokenError
from ubpe_numba.pretokenize import Pretokenizer
from ubpe_numba.ragged import Ragged
from ubpe_numba.rules import ARTICLE, PUBLISHED_0_2, PUBLISHED_0_3, FitRules
from ubpe_numba.search import NBest
from ubpe_numba.tokenizer import Tokenizer
from ubpe_numba.ubpe import UBPE
from ubpe_numba.vocabulary import Vocabulary

__all__ = [
    "ARTICLE",
    "BPE",
    "PUBLISHED_0_2",
    "PUBLISHED_0_3",
    "UBPE",
    "Alphabet",
    "Counts",
    "FitRules",
    "ModelFormatError",
    "NBest",
    "NotFittedError",
    "Pretokenizer",
    "Ragged",
    "SpecialTokenError",
    "Tokenizer",
    "UBPEClassic",
    "UnknownSymbolError",
    "UnknownTokenError",
    "Vocabulary",
    "count_documents",
    "warmup",
]
