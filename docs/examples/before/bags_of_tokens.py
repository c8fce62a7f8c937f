"""The same without ubpe-numba: a transformer around `tokenizers`."""

import gzip
import pathlib

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer


class BagOfTokens(TransformerMixin, BaseEstimator):
    def __init__(self, n_tokens=2000):
        self.n_tokens = n_tokens

    def fit(self, X, y=None):
        self.tokenizer_ = Tokenizer(BPE())
        self.tokenizer_.pre_tokenizer = ByteLevel(add_prefix_space=False)
        self.tokenizer_.decoder = decoders.ByteLevel()
        trainer = BpeTrainer(vocab_size=self.n_tokens, min_frequency=2, show_progress=False)
        self.tokenizer_.train_from_iterator(X, trainer)
        self.weights_ = TfidfTransformer(sublinear_tf=True).fit(self._counts(X))
        return self

    def _counts(self, X):
        encodings = self.tokenizer_.encode_batch(list(X))
        rows = np.repeat(np.arange(len(encodings)), [len(one.ids) for one in encodings])
        columns = np.concatenate([one.ids for one in encodings])
        shape = len(encodings), self.tokenizer_.get_vocab_size()
        return csr_matrix((np.ones(columns.size), (rows, columns)), shape=shape)

    def transform(self, X):
        check_is_fitted(self)
        return self.weights_.transform(self._counts(X))

    def get_feature_names_out(self, input_features=None):
        check_is_fitted(self)
        return np.array(
            [self.tokenizer_.decode([i]) for i in range(self.tokenizer_.get_vocab_size())], dtype=object
        )


path = pathlib.Path(__file__).parents[2] / "data" / "kjv_genesis_exodus.txt.gz"
with gzip.open(path, "rt", encoding="ascii") as file:
    verses = file.read().splitlines()
books = np.repeat([0, 1], [1533, 1213])

model = make_pipeline(BagOfTokens(), LogisticRegression())
search = GridSearchCV(model, {"bagoftokens__n_tokens": [500, 2000]}, cv=3).fit(verses, books)
best = search.best_estimator_
names, weights = best[0].get_feature_names_out(), best[-1].coef_[0]
print("Exodus:", *(repr(str(names[i])) for i in np.argsort(-weights)[:8]))
print(f"{search.best_params_['bagoftokens__n_tokens']} tokens: {search.best_score_:.3f}")
