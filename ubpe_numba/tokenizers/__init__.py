"""The classes that users hold, `BPE`, `UBPEClassic` and `UBPE`, and their common parts."""
