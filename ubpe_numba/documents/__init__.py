"""What a user gives, as flat arrays: documents, corpora, counts, results in rows."""
