"""Types of results, for annotations: `from ubpe_numba.types import Usage`."""

from ubpe_numba.coding.model_inputs import ModelInputs
from ubpe_numba.coding.n_best import NBest
from ubpe_numba.coding.occurrences import Occurrences, Spans, TokenIndex, Usage
from ubpe_numba.coding.streams import DecoderStream, EncoderStream
from ubpe_numba.fitting.history import History
from ubpe_numba.tokenizers.token_table import MergeTree, TokenTable
from ubpe_numba.verification.verify import Verification
from ubpe_numba.views.comparison import Comparison

__all__ = [
    "Comparison", "DecoderStream", "EncoderStream", "History", "MergeTree", "ModelInputs", "NBest",
    "Occurrences", "Spans",
    "TokenIndex", "TokenTable", "Usage", "Verification",
]  # fmt: skip
