"""The classes that users hold, `BPE`, `UBPEClassic` and `UBPE`, and what they share."""
