"""Estimators of scikit-learn over tokens; they need the extra `sklearn` (scikit-learn and scipy)."""
