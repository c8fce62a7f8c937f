"""Estimators of scikit-learn over tokens; they need the extra `sklearn` (scikit-learn and scipy).

`BagOfTokens` counts the tokens of documents. It goes into pipelines and searches as scikit-learn's own
estimators do, and so do tokenizers, and `Scale`, which makes symbols of numbers.
"""

from ubpe_numba.runtime.lazy import require

require("scipy", "ubpe_numba.sklearn", "sklearn")
require("sklearn", "ubpe_numba.sklearn", "sklearn", "scikit-learn")

from ubpe_numba.integrations.scikit_learn.bag_of_tokens import BagOfTokens  # noqa: E402

__all__ = ["BagOfTokens"]
