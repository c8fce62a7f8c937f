"""Merges are learned: the loop of a fit, its working text, and vocabularies refined for fewest tokens."""
