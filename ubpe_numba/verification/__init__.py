"""The self-check of an installation: what is compiled here against plain references, which ship for it."""
