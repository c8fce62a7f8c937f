"""One small adapter for each package: `python peers.py job.json` runs a job with it and prints a line of JSON.

Each job has a process of its own, to measure its memory, and because a peer may need another Python, crash or
take too long.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import pathlib
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import text_peers
from adapters import Adapter, Arrays, Job, cut, lists, memory, ragged, reset_peak


def strings(first: int) -> Callable[[np.ndarray, np.ndarray], list[str]]:
    """Documents as str: symbol i is the character `first + i`."""

    def convert(values: np.ndarray, offsets: np.ndarray) -> list[str]:
        return list(cut((values.astype("<u4") + first).tobytes().decode("utf-32-le"), offsets))

    return convert


def ours(job: Job) -> Adapter:
    """ubpe-numba on one thread; documents as "arrays" (values, offsets), lists of "str" or "bytes"."""
    import ubpe_numba

    cls = getattr(ubpe_numba, job["tokenizer"])
    convert = {
        "arrays": lambda *arrays: arrays,
        "str": strings(32),
        "bytes": lambda values, ends: list(cut(values.tobytes(), ends)),
    }[job["form"]]

    def given(docs: Any) -> dict[str, Any]:
        return {"docs": docs[0], "offsets": docs[1]} if job["form"] == "arrays" else {"docs": docs}

    if job["action"] == "fit":
        params = {"n_candidates": job["n_candidates"]} if job["tokenizer"] != "BPE" else {}
        params["alphabet"] = job["alphabet_size"] if job["form"] == "arrays" else None

        def fit(docs: Any) -> Any:
            return cls(job["n_tokens"], n_threads=1, **params).fit(**given(docs), progress=False)

        def learned(tokenizer: Any) -> Arrays:
            table = tokenizer._model.vocabulary
            return table.arena[table.n_alphabet :], table.offsets[table.n_alphabet :] - table.n_alphabet

        return Adapter(convert, fit, learned)
    tokenizer = cls.load(job["model"] + ".npz", n_threads=1)
    if job["action"] == "nbest":
        return Adapter(
            lambda *arrays: arrays,
            lambda docs: tokenizer.encode_nbest(docs[0], job["top_n"], docs[1]),
            lambda result: ragged(paths[0] for paths, _ in result),
        )
    if job["action"] == "decode" and job["form"] == "bytes":  # a single document
        return Adapter(lambda values, _: values, tokenizer.decode, lambda text: ragged([text]))
    if job["action"] == "decode":
        return Adapter(ubpe_numba.Ragged, tokenizer.decode_batch, lambda out: (out.values, out.offsets))
    return Adapter(
        convert, lambda docs: tokenizer.encode_batch(**given(docs)), lambda out: (out.values, out.offsets)
    )


def ubpe_author(job: Job) -> Adapter:
    """ubpe_cython or ubpe_native, the packages of the articles' author: lists of integers."""
    if job["peer"] == "ubpe-cython":
        import ubpe_cython

        cls = ubpe_cython.UBPE[int]
    else:
        import ubpe_native

        cls = ubpe_native.UBPE
    if job["action"] == "fit":
        quiet = {"quiet": True} if job["peer"] == "ubpe-cython" and _version(job["peer"]) >= "0.3" else {}

        def fit(docs: Any) -> Any:
            new = cls(alphabet={i: i for i in range(job["alphabet_size"])}, n_tokens=job["n_tokens"])
            new.fit(docs, n_candidates=job["n_candidates"], rearrange_tokens=False, **quiet)
            return new

        return Adapter(lists, fit, lambda _: ragged([[]]))
    tokenizer = cls.loads(pathlib.Path(job["model"] + ".json").read_text())
    if job["action"] == "decode":
        return Adapter(lists, lambda docs: [tokenizer.decode(ids) for ids in docs], ragged)
    return Adapter(
        lists,
        lambda docs: [tokenizer.encode(doc, job["top_n"]) for doc in docs],
        lambda result: ragged(candidates[0][0] for candidates in result),
    )


def rustbpe(job: Job) -> Adapter:
    """Package rustbpe: symbols as characters, a pattern that never splits, as many merges as ours."""
    import rustbpe

    n_merges = job["n_tokens"] - job["alphabet_size"]

    def fit(docs: list[str]) -> Any:
        new = rustbpe.Tokenizer()
        new.train_from_iterator(iter(docs), 256 + n_merges, pattern="(?s).+")
        return new

    def learned(tokenizer: Any) -> Arrays:
        ranks = sorted(tokenizer.get_mergeable_ranks(), key=lambda entry: entry[1])
        tokens = [token for token, rank in ranks if rank > 255]
        values, offsets = ragged(tokens)
        return values - 65, offsets

    return Adapter(strings(65), fit, learned)


def tokenizers(job: Job) -> Adapter:
    """Hugging Face's BPE trainer: symbols as characters, without a pre-tokenizer."""
    from tokenizers import Tokenizer, models, trainers

    def fit(docs: list[str]) -> Any:
        n_tokens = job["n_tokens"] - job["alphabet_size"] + len(set().union(*docs))
        trainer = trainers.BpeTrainer(vocab_size=n_tokens, min_frequency=2, show_progress=False)
        new = Tokenizer(models.BPE())
        new.train_from_iterator(docs, trainer)
        return new

    return Adapter(strings(65), fit, lambda _: ragged([[]]))


def tiktoken(job: Job) -> Adapter:
    """Package tiktoken with our tokens over bytes as its ranks and a pattern that never splits."""
    import tiktoken

    arena = np.load(job["model"] + ".arena.npy").astype(np.uint8)
    ranks = {token: i for i, token in enumerate(cut(arena.tobytes(), np.load(job["model"] + ".ends.npy")))}
    encoding = tiktoken.Encoding("ours", pat_str="(?s).+", mergeable_ranks=ranks, special_tokens={})
    if job["action"] == "decode":
        return Adapter(lists, lambda docs: [encoding.decode_bytes(ids) for ids in docs], ragged)
    return Adapter(strings(0), lambda docs: [encoding.encode_ordinary(doc) for doc in docs], ragged)


def memcpy(job: Job) -> Adapter:
    """Not a tokenizer: a copy of the int32 symbols; its memory is allocated in the time measured, as a decoder's is."""
    return Adapter(lambda values, _: values.astype(np.int32), np.ndarray.copy, lambda copy: ragged([[]]))


ADAPTERS = {
    "ubpe-numba": ours,
    "ubpe-cython": ubpe_author,
    "ubpe-native": ubpe_author,
    "rustbpe": rustbpe,
    "tokenizers": tokenizers,
    "tiktoken": tiktoken,
    "memcpy": memcpy,
}


def _adapter(job: Job) -> Adapter:
    """The adapter of the peer, for jobs about text that of `text_peers.py`."""
    return (text_peers.ADAPTERS if job["text"] else ADAPTERS)[job["peer"]](job)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:  # a checkout, or no package at all
        return ""


def measure(job: Job) -> dict[str, Any]:
    """Run a job: once for its memory (the peak beyond what was held before), then up to `repeat` times in `budget` seconds.

    The time of the first run counts only where it is the only one, since it took more than a fifth of the
    budget. Runs of less than 20 ms are timed several at a time. Ours has run on the first twentieth of the
    data before, which loads its kernels, and runs again in any case: the first may have compiled one for
    large data.
    """
    values, offsets = (np.load(f"{job['data']}.{part}.npy") for part in ("values", "offsets"))
    try:
        adapter = _adapter(job)
    except (ImportError, SyntaxError):  # SyntaxError: ubpe-native below Python 3.12
        return {"error": "not installed"}
    docs = adapter.convert(values, offsets)
    ours = job["peer"] == "ubpe-numba"
    if ours:
        head = min(max(360, values.size // 20), values.size)
        adapter.run(adapter.convert(values[:head], np.array([0, head])))
    gc.collect()
    reset_peak()
    before = memory("VmRSS")
    result, first = _timed(adapter, docs)
    grown = memory("VmHWM") - before
    if job["out"]:
        for part, array in zip(("values", "offsets"), adapter.unpack(result), strict=True):
            np.save(f"{job['out']}.{part}.npy", array)
    del result
    number = int(0.02 / first) + 1
    seconds: list[float] = []
    repeat = job["repeat"] if ours or first < job["budget"] / 5 else 0
    while len(seconds) < repeat and sum(seconds) * number < job["budget"]:
        seconds.append(sum(_timed(adapter, docs)[1] for _ in range(number)) / number)
    return {"seconds": seconds or [first], "bytes": grown, "version": _version(job["peer"])}


def _timed(adapter: Adapter, docs: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    result = adapter.run(docs)
    return result, time.perf_counter() - began


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure(json.loads(pathlib.Path(sys.argv[1]).read_text()))))
