"""Checkpoints of a fit whose symbols stay on the workers: the merges so far, in one file that is replaced whole.

A fit that is continued makes its hosts of the same ranges of partitions, encodes these with the merges, and begins an epoch. A
document that is cut between hosts has tokens across the cuts: so the file also says where the tokens of each host begin, and
which symbols after its part belong to it.
"""

from __future__ import annotations

import io
import json
import time
import warnings
from typing import Any

import numpy as np

from ubpe_numba.distributed.cluster import BUILD
from ubpe_numba.distributed.encoding import publish
from ubpe_numba.distributed.sources import store_of
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.runtime.files import npz_of

EVERY = 180.0  # seconds between two checkpoints, beside those at epochs
_FORMAT = 1
_FIELDS = ("left", "right", "count", "documents", "replaced")  # of a merge
_NAMES = {"head", "learned", "lengths", "symbols", "cuts", "starts", "tails", "tail_offsets"}


class Checkpoint:
    """The checkpoint at a path or URL: what is there, if it is of this build and these parameters, and what will be there.

    `cuts` are the first partition of each host and the number of partitions, once they are known; `found`: the arrays of the
    file, None if there is none. ValueError for a file that is no checkpoint, or of another fit.
    """

    def __init__(self, url: Any, parameters: dict[str, Any]) -> None:
        self.store, self.path = store_of(url, "checkpoint")
        self.head: dict[str, Any] = {}
        self.found: dict[str, np.ndarray] | None = None
        self.cuts: list[int] | None = None
        self.saved = time.monotonic()
        there: dict[str, Any] = {}
        if self.store.exists(self.path):
            data = self.store.cat_file(self.path)
            try:
                with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
                    self.found = {name: arrays[name] for name in _NAMES}
                there = json.loads(self.found["head"].tobytes())
            except Exception as error:  # of a damaged archive there are many
                raise ValueError(f"checkpoint: {self.path}: not a checkpoint: {error}") from error
            self.cuts = self.found["cuts"].tolist()
        self._there = there
        self.agree(format=_FORMAT, version=BUILD, **parameters)

    def agree(self, **about: Any) -> None:
        """Note facts of this fit, as JSON has them; ValueError, with the first that differs, if the file is of another fit."""
        for name, value in about.items():
            self.head[name] = value
            if self.found is not None and (old := self._there.get(name)) != value:
                if isinstance(value, list) and isinstance(old, list) and len(old) == len(value):
                    at = next(i for i, (a, b) in enumerate(zip(old, value, strict=True)) if a != b)
                    name, old, value = f"{name}, partition {at}", old[at], value[at]
                raise ValueError(
                    f"checkpoint: {self.path}: was made with another {name}: {old}, now {value}; give another file, or remove it"
                )

    def begins(self, text: Any) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
        """The merges, and for each host where its tokens begin and end, in symbols of its part, and what follows on the part."""
        found = self.found
        assert found is not None
        starts, ends = found["starts"], found["tail_offsets"]
        ranges = [starts[h : h + 2] - text.origins[h] for h in range(len(text.parts))]
        tails = [found["tails"][ends[h] : ends[h + 1]] for h in range(len(text.parts))]
        return np.ascontiguousarray(found["learned"][:2].T.astype(np.int32)), ranges, tails

    def restore(self, loop: Any) -> None:
        """Let a loop that has not begun go on where the file is."""
        if (found := self.found) is None:
            return
        n, m = loop.n_alphabet, found["learned"].shape[1]
        loop.state["next_id"] = loop.state["round_start"] = n + m
        loop._grow(0, 0)
        for name, row in zip(_FIELDS, found["learned"], strict=True):
            loop.driver.learned[name][n : n + m] = row
        loop.driver.lengths[: n + m] = found["lengths"]
        loop.task.width[: n + m] = 1
        loop.text.symbol_counts = found["symbols"]

    def save(self, text: Any) -> None:
        """Write the merges of all whole rounds; a UserWarning if that fails, as the fit itself can go on."""
        state, n = text.driver.state[0], text.setup.alphabet.size
        end = int(state["next_id"] if state["candidates"] == 1 else state["round_start"])
        learned = text.driver.learned[n:end]
        tails = [np.array(text.taken_over(h), np.int32) for h in range(len(text.parts))]
        arrays: dict[str, np.ndarray] = {
            "head": np.frombuffer(json.dumps(self.head).encode(), np.uint8),
            "learned": np.stack([learned[name].astype(np.int64) for name in _FIELDS]),
            "lengths": text.driver.lengths[:end],
            "symbols": text.symbol_counts,
            "cuts": np.array(self.cuts, np.int64),
            "starts": text.starts[text.first],
            "tails": np.concatenate(tails),
            "tail_offsets": offsets_of(np.array([tail.size for tail in tails])),
        }
        data = npz_of(arrays)
        try:
            publish(self.store, self.path, lambda file: file.write(data))
        except Exception as error:
            warnings.warn(f"checkpoint: {self.path}: not written: {error}", stacklevel=2)
        self.saved = time.monotonic()
