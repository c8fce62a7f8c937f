"""Plain references that only tests need; those that `ubpe_numba.verify` needs too are in `ubpe_numba/verification/reference`.

As those they are slow, easy to read, and share nothing with the fast code.

- `unique.py`: merging one text until no pair occurs twice.
- `token_pairs.py`: the pair that makes each token, of a table of ranks, or of several pairs for a token.
- `byte_strings.py`: a hash table of strings in which a search has a limit; strings that collide there.
"""
