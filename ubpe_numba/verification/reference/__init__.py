"""Plain-Python oracle: algorithms of the library once more, slow and easy to read.

The fast code is compared with these files, by `ubpe_numba.verify` and by the tests, so they share nothing with it: they import
one another and Python's own library (`words.py` also `regex`, if it is there), and run on Python 3.9 and on other interpreters.
Symbols and tokens are ints; ids below `alphabet_size` are symbols, learned ids follow from `alphabet_size` on.

- `fit.py`: learning merges, all adjacent pairs recounted in every round; pair replacement; idf.
- `trim.py`: reordering a table by weight and cutting it, in four variants; closedness of a table.
- `encode_pairs.py`: encoding with a pair table, by rank and by the several-pairs-a-pass rule.
- `one_by_one.py`: the same by rank, one merge at a time, for tables in any order.
- `dropout.py`: by rank with occurrences left out; the draws.
- `encode_paths.py`: encoding with flat sequences, by tf-idf (exhaustive and top-n), by fewest tokens, by sums of weights.
- `search_paths.py`: the n best paths: a beam by path, by bag or with prices, and trying everything; bounds.
- `path_sums.py`: sums over all segmentations, as fractions.
- `words.py`: cutting text by the published patterns, counting and encoding the segments.
- `word_pieces.py`: the longest piece from the beginning of a word, then from where it ends.
- `atoms.py`: finding words that are kept whole.
- `decode.py`: flat sequences of a pair table, and decoding with them.
- `count_tokens.py`, `occurrences.py`: how often, and where, tokens occur in encoded documents.
"""
