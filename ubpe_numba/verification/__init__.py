"""A self-check of an installation by digests."""
