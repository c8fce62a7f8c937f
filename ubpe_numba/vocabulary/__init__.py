"""Results of a fit: alphabet, tokens, special tokens, splitting of documents, rules of the fit."""
