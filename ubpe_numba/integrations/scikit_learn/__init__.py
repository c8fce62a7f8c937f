"""Estimators of scikit-learn; `ubpe_numba.sklearn` exports them."""
