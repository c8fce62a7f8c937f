"""How long a new process takes to import the package, and to fit, encode and decode, with and without cached kernels."""

import statistics
import tempfile

from .common import TOKENIZERS, fresh_process, write_ecg


class Startup:
    """Seconds of wall clock, including the start of the interpreter."""

    params = TOKENIZERS
    param_names = ("tokenizer",)
    timeout = 600

    def setup_cache(self) -> None:
        write_ecg()
        for tokenizer in TOKENIZERS:
            fresh_process("warm", tokenizer)

    def track_cached(self, tokenizer: str) -> float:
        return statistics.median(fresh_process("warm", tokenizer)[0] for _ in range(3))

    def track_cold(self, tokenizer: str) -> float:
        with tempfile.TemporaryDirectory() as cache:
            return fresh_process(cache, tokenizer)[0]

    track_cached.unit = track_cold.unit = "seconds"  # type: ignore[attr-defined]


def track_import() -> float:
    return statistics.median(fresh_process("warm")[1] for _ in range(5))


track_import.unit = "seconds"  # type: ignore[attr-defined]
