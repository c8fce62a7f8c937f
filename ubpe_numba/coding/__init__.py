"""Documents to ids and back: by merge rank, by the best path, the n best, streams, decoding."""
