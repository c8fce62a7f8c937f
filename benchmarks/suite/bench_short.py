"""Single short calls, each with values that were not given before: medians of microseconds."""

import itertools
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .common import fitted, load, stdlib_text, text_model

N_CALLS = 2000


def median_us(call: Callable[[Any], Any], arguments: Iterable[Any]) -> float:
    """The median of single calls, once the first fifth has run."""
    taken = []
    for argument in arguments:
        began = time.perf_counter_ns()
        call(argument)
        taken.append(time.perf_counter_ns() - began)
    return statistics.median(taken[len(taken) // 5 :]) / 1000


class Integers:
    """Encode and decode of 16 integers of the ECG."""

    params = (["BPE", "UBPE"], ["array", "list"])
    param_names = ("tokenizer", "form")

    def setup(self, tokenizer: str, form: str) -> None:
        ecg = load("ecg")
        self.tokenizer = fitted(tokenizer, ecg, 1)
        self.documents = list(ecg.values[: 16 * N_CALLS].astype(np.int32).reshape(-1, 16))
        self.ids = [self.tokenizer.encode(document) for document in self.documents]
        if form == "list":
            self.documents, self.ids = (
                [values.tolist() for values in given] for given in (self.documents, self.ids)
            )

    def track_encode(self, *_: object) -> float:
        return median_us(self.tokenizer.encode, self.documents)

    def track_decode(self, *_: object) -> float:
        return median_us(self.tokenizer.decode, self.ids)

    track_encode.unit = track_decode.unit = "microseconds"  # type: ignore[attr-defined]


class Text:
    """Encode of a str of `n` bytes of source code, and decode of its ids."""

    params = (20, 200)
    param_names = ("n",)
    timeout = 600

    def setup(self, n: int) -> None:
        text = stdlib_text(4_000_000)[: n * N_CALLS].decode()
        self.tokenizer = text_model()
        self.documents = [text[a:b] for a, b in itertools.pairwise(range(0, len(text) + 1, n))]
        self.ids = [self.tokenizer.encode(document) for document in self.documents[:100]] * (N_CALLS // 100)

    def track_encode(self, _: int) -> float:
        return median_us(self.tokenizer.encode, self.documents)

    def track_decode(self, _: int) -> float:
        return median_us(self.tokenizer.decode, self.ids)

    track_encode.unit = track_decode.unit = "microseconds"  # type: ignore[attr-defined]
