"""The results of a fit: alphabet, tokens, special tokens, how documents are cut, the rules it was made by."""
