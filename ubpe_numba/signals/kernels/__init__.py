"""Compiled search for tokens that match samples within a tolerance."""
