"""Model files: reading and writing, validating before allocating. Knows vocabularies and alphabets, never the tokenizers."""
