"""Documents of a user as flat arrays: one or many documents, corpora, counts, and batches of ids."""
