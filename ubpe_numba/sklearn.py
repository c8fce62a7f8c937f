"""Estimators of scikit-learn over tokens; they need the extra `sklearn` (scikit-learn and scipy).

`Quantizer` makes symbols of numbers, `BagOfTokens` counts the tokens of documents, `SeriesBag` those of series of numbers. They
go into pipelines and searches as scikit-learn's own estimators do.
"""

from ubpe_numba.runtime.lazy import require

require("scipy", "ubpe_numba.sklearn", "sklearn")
require("sklearn", "ubpe_numba.sklearn", "sklearn", "scikit-learn")

from ubpe_numba.integrations.scikit_learn.bag_of_tokens import BagOfTokens  # noqa: E402
from ubpe_numba.integrations.scikit_learn.quantizer import Quantizer  # noqa: E402
from ubpe_numba.integrations.scikit_learn.series_bag import SeriesBag  # noqa: E402

__all__ = ["BagOfTokens", "Quantizer", "SeriesBag"]
