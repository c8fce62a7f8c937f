"""What a fit leaves: alphabet, tokens, special tokens, how documents are cut, the rules it was made by."""
