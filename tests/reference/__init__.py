"""Plain-Python oracle: algorithms of the library once more, slow and easy to read.

The fast code is compared with these files, so they share nothing with it: they import one another and
Python's own library (`words.py` also `regex`, if it is there), and run on Python 3.9 and on other
interpreters. Symbols and tokens are ints; ids below `alphabet_size` are symbols, learned ids follow from
`alphabet_size` on.
"""
