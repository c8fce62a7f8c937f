"""The results of a fit: alphabet, tokens, special tokens, how documents are split, and the rules of the fit."""
