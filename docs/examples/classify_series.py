"""Which seconds of an electrocardiogram are played backwards? A classifier of series as a pipeline of scikit-learn."""

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from ubpe_numba.cli.demo import load_ecg
from ubpe_numba.sklearn import SeriesBag

samples, _ = load_ecg()
series = samples.reshape(300, 360).astype(float)  # a second each
backwards = np.arange(300) % 2
series[backwards == 1] = series[backwards == 1, ::-1]

model = make_pipeline(SeriesBag(), RidgeClassifierCV())
print(f"all views: {cross_val_score(model, series, backwards, cv=3).mean():.3f}")

bag = SeriesBag(windows=4, differences=False, segments=1, parts=False, log=False)
one_view = make_pipeline(bag, RidgeClassifierCV())
search = GridSearchCV(one_view, {"seriesbag__levels": [4, 8], "seriesbag__n_tokens": [32, 128]}, cv=3)
search.fit(series, backwards)
print(f"one view, best of four: {search.best_score_:.3f}")
