"""Is a verse from Genesis or from Exodus? Tokens of text in a pipeline of scikit-learn."""

import gzip
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from ubpe_numba import BPE, Preprocessing
from ubpe_numba.sklearn import BagOfTokens

path = pathlib.Path(__file__).parents[1] / "data" / "kjv_genesis_exodus.txt.gz"
with gzip.open(path, "rt", encoding="ascii") as file:
    verses = file.read().splitlines()
books = np.repeat([0, 1], [1533, 1213])

model = make_pipeline(
    BagOfTokens(BPE(preprocessing=Preprocessing(pretokenizer="gpt2")), tf_idf=True), LogisticRegression()
)
search = GridSearchCV(model, {"bagoftokens__tokenizer__n_tokens": [500, 2000]}, cv=3).fit(verses, books)
best = search.best_estimator_
names, weights = best[0].get_feature_names_out(), best[-1].coef_[0]
print("Exodus:", *(repr(str(names[i])) for i in np.argsort(-weights)[:8]))
print(f"{search.best_params_['bagoftokens__tokenizer__n_tokens']} tokens: {search.best_score_:.3f}")
