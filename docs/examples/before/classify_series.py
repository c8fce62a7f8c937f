"""The same without ubpe-numba: levels become characters for a tokenizer of text; one view only."""

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

from ubpe_numba.cli.demo import load_ecg  # the record, which ships with the package


class LevelBag(TransformerMixin, BaseEstimator):
    def __init__(self, levels=8, n_tokens=128, window=1):
        self.levels = levels
        self.n_tokens = n_tokens
        self.window = window

    def _normalised(self, X):
        starts = np.arange(0, X.shape[1], self.window)
        values = np.add.reduceat(X, starts, axis=1) / np.diff(starts, append=X.shape[1])
        deviation = values.std(axis=1, keepdims=True)
        flat = deviation <= 1e-12 * np.abs(values).max(axis=1, keepdims=True)
        return np.where(flat, 0, (values - values.mean(axis=1, keepdims=True)) / np.where(flat, 1, deviation))

    def _texts(self, values):
        width = (self.high_ - self.low_) / self.levels
        levels = np.clip(np.floor((values - self.low_) / width), 0, self.levels - 1).astype(int)
        return ["".join(chr(ord("a") + level) for level in row) for row in levels]

    def fit(self, X, y=None):
        values = self._normalised(validate_data(self, X, dtype=np.float64))
        self.low_, self.high_ = values.min(), values.max()
        self.tokenizer_ = Tokenizer(BPE())
        alphabet = [chr(ord("a") + level) for level in range(self.levels)]
        trainer = BpeTrainer(
            vocab_size=self.n_tokens, initial_alphabet=alphabet, min_frequency=2, show_progress=False
        )
        self.tokenizer_.train_from_iterator(self._texts(values), trainer)
        return self

    def transform(self, X):
        check_is_fitted(self)
        values = self._normalised(validate_data(self, X, dtype=np.float64, reset=False))
        encodings = self.tokenizer_.encode_batch(self._texts(values))
        rows = np.repeat(np.arange(len(encodings)), [len(one.ids) for one in encodings])
        columns = np.concatenate([one.ids for one in encodings])
        shape = len(encodings), self.tokenizer_.get_vocab_size()
        return csr_matrix((np.ones(columns.size), (rows, columns)), shape=shape)

    def get_feature_names_out(self, input_features=None):
        check_is_fitted(self)
        tokens = (self.tokenizer_.id_to_token(i) for i in range(self.tokenizer_.get_vocab_size()))
        return np.array([" ".join(str(ord(c) - ord("a")) for c in token) for token in tokens], dtype=object)


samples, _ = load_ecg()
series = samples.reshape(300, 360).astype(float)
backwards = np.arange(300) % 2
series[backwards == 1] = series[backwards == 1, ::-1]

one_view = make_pipeline(LevelBag(window=4), RidgeClassifierCV())
search = GridSearchCV(one_view, {"levelbag__levels": [4, 8], "levelbag__n_tokens": [32, 128]}, cv=3)
search.fit(series, backwards)
print(f"one view, best of four: {search.best_score_:.3f}")
