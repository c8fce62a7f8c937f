"""Plain-Python oracle: every algorithm of the library once more, slow and easy to read.

The fast code is tested against these files, so they share nothing with it. Symbols and tokens are ints;
ids below `alphabet_size` are symbols, learned ids follow from `alphabet_size` on.

- `fit.py`: learning merges, all adjacent pairs recounted in every round; pair replacement; idf.
- `unique.py`: merging one text until no pair occurs twice.
- `trim.py`: reordering a table by weight and cutting it, in four variants; closedness of a table.
- `encode_pairs.py`: encoding with a pair table, by rank and by the several-pairs-a-pass rule.
- `encode_paths.py`: encoding with flat sequences, by tf-idf (exhaustive and top-n) and by fewest tokens.
- `search_paths.py`: the n best paths: a beam by path, by bag or with prices, and trying everything; bounds.
- `words.py`: cutting text by the published patterns, counting and encoding the segments; needs the package `regex`.
- `atoms.py`: finding words that are kept whole.
- `token_pairs.py`: the pair that makes each token, of a table of ranks, or of several pairs for a token.
- `byte_strings.py`: a hash table of strings in which a search has a limit; strings that collide there.
- `decode.py`: flat sequences of a pair table, and decoding with them.
"""
