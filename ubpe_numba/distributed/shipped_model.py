"""A tokenizer in a worker process: it travels as bytes, and each process reads them once."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import NamedTuple

from ubpe_numba.distributed.opaque import opaque, opened, without
from ubpe_numba.tokenizers.base import Tokenizer

_MOST = 4  # models that a process keeps, the ones used last
_models: OrderedDict[str, Tokenizer] = OrderedDict()
_lock = threading.Lock()


class ShippedModel(NamedTuple):
    """A fitted tokenizer as bytes, and their hash."""

    key: str
    data: bytes

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> ShippedModel:
        """The tokenizer for tasks, each of which uses one thread; without the history of its fit."""
        lean = without(tokenizer, "history_")
        lean.n_threads = 1
        data = opaque(lean)
        return cls(hashlib.sha256(data).hexdigest(), data)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of this process: made of the bytes once, and shared by its threads, as its tables are.

        >>> from ubpe_numba import BPE
        >>> shipped = ShippedModel.of(BPE.from_merges([[0, 1]], alphabet="ab"))
        >>> shipped.tokenizer().encode("aab").tolist(), shipped.tokenizer() is shipped.tokenizer()
        ([0, 2], True)
        """
        with _lock:
            made = _models.get(self.key)
            if made is None:
                made = _models[self.key] = opened(self.data)
                if len(_models) > _MOST:
                    _models.popitem(last=False)
            _models.move_to_end(self.key)
            return made
