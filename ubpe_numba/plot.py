"""Pictures of tokens, motifs and vocabularies, after scikit-learn's displays; they need the extra `plot` (matplotlib)."""
