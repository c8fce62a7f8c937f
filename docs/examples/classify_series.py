"""Find the seconds of an electrocardiogram that are played backwards.

A classifier of series as a pipeline of scikit-learn.
"""

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ubpe_numba import BPE, Scale
from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.sklearn import BagOfTokens

samples, _ = load_ecg()
series = samples.reshape(300, 360).astype(float)  # a second each
backwards = np.arange(300) % 2
series[backwards == 1] = series[backwards == 1, ::-1]

means = series.reshape(300, 90, 4).mean(axis=2)
shapes = StandardScaler().fit_transform(means.T).T  # each second with mean 0 and deviation 1
one_view = make_pipeline(Scale(channels="one", clip=True), BagOfTokens(BPE()), RidgeClassifierCV())
grid = {"scale__levels": [4, 8], "bagoftokens__tokenizer__n_tokens": [32, 128]}
search = GridSearchCV(one_view, grid, cv=3).fit(shapes, backwards)
print(f"one view, best of four: {search.best_score_:.3f}")
