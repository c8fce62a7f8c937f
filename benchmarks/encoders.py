"""One adapter for each package that encodes text with given ranks: `python encoders.py job.json` prints a line of JSON.

A job has a process of its own, so that no package finds the caches of another one's tables, and none runs on
more threads than `n_threads`. The packages are loaded from a file of ranks, and do what is fastest there and
gives tiktoken's ids; toktok and quicktok have OpenAI's vocabularies only, which they carry. Of toktok the
public functions only count; measured is the class behind them.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import importlib.metadata
import itertools
import json
import os
import pathlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from adapters import Arrays, Job, memory, ragged

#: The spellings of patterns with which tiktoken is fastest, as it has them itself.
_FASTEST = {
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
}


class Encoder(NamedTuple):
    """How a package encodes and decodes."""

    batch: Callable[[list[str]], Any]
    arrays: Callable[[Any], Arrays]  # the result of `batch` as values and offsets, to compare it
    encode: Callable[[str], Any]
    decode: Callable[[Any], str]
    given: Callable[[np.ndarray], Any]  # ids in the form that `decode` takes fastest


def _ours(job: Job) -> Encoder:
    """ubpe-numba, from its own file (`source` is "model"), or from the ranks."""
    import ubpe_numba

    if job["source"] == "model":
        tok = ubpe_numba.BPE.load(job["model"], n_threads=job["n_threads"])
    else:
        tok = ubpe_numba.BPE.load(job["ranks"], pretokenizer=job["name"])
        tok.set_params(n_threads=job["n_threads"])
    return Encoder(tok.encode_batch, lambda out: (out.values, out.offsets), tok.encode, tok.decode, np.int32)


def _tiktoken(job: Job) -> Encoder:
    import tiktoken
    import tiktoken.load

    ranks = tiktoken.load.load_tiktoken_bpe(os.path.abspath(job["ranks"]))
    pattern = _FASTEST.get(job["name"], job["pattern"])
    known = tiktoken.Encoding(job["name"], pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return Encoder(
        lambda docs: known.encode_ordinary_batch(docs, num_threads=job["n_threads"]),
        ragged, known.encode_ordinary, known.decode, np.ndarray.tolist,
    )  # fmt: skip


def _fastokens(job: Job) -> Encoder:
    import fastokens

    known = fastokens.Tokenizer.from_tiktoken(job["ranks"], pattern=job["pattern"])
    return Encoder(
        known.encode_batch_flat,
        lambda out: (np.frombuffer(out[0], np.uint32), np.frombuffer(out[1], np.uint64)),
        lambda doc: known.encode(doc).ids, known.decode, np.ndarray.tolist,
    )  # fmt: skip


def _gigatoken(job: Job) -> Encoder:
    import gigatoken

    known = gigatoken.Tokenizer.from_tiktoken(job["ranks"], pretokenizer=job["name"])
    parallel = job["n_threads"] > 1
    return Encoder(
        lambda docs: known.encode_batch(docs, parallel=parallel),
        lambda out: ragged(out.to_list()),
        known.encode, lambda ids: known.decode(ids).decode(), np.uint32,
    )  # fmt: skip


def _toktok(job: Job) -> Encoder:
    import toktok

    known = toktok._encoding(job["name"] + "_base")
    return Encoder(
        lambda docs: known.encode_batch_to_numpy(docs, job["n_threads"]),
        lambda out: out, known.encode_ordinary, known.decode, np.ndarray.tolist,
    )  # fmt: skip


def _quicktok(job: Job) -> Encoder:
    import quicktok

    known = quicktok.get_encoding(job["name"] + "_base")
    return Encoder(
        lambda docs: known.encode_batch(docs, job["n_threads"]),
        lambda out: out, known.encode_ordinary, known.decode, np.ndarray.tolist,
    )  # fmt: skip


ENCODERS = {
    "ubpe-numba": _ours,
    "fastokens": _fastokens,
    "gigatoken": _gigatoken,
    "toktok-rs": _toktok,
    "quicktok-v1": _quicktok,
    "tiktoken": _tiktoken,
}
#: They carry OpenAI's vocabularies, and take no other.
OWN_RANKS = ("toktok-rs", "quicktok-v1")


def batches(job: Job) -> dict[str, Any]:
    """Encode parts of texts, each part once: for each text and length of documents, with a new encoder, the rates of all rounds.

    `clock` is a function of module `time`. With `process_time` rates are bytes a second of CPU time, of all
    threads of the process: equal to the time that passes on a machine that does nothing else, and no package
    gains by another thread.
    """
    clock = getattr(time, job["clock"])
    found = {}
    for text, length, n_rounds in job["cells"]:
        docs = _cut(
            pathlib.Path(f"{text}.txt").read_bytes(),
            length or -(-pathlib.Path(f"{text}.txt").stat().st_size // n_rounds),
        )
        encoder = ENCODERS[job["peer"]](job)
        each, rates, digest = len(docs) // n_rounds, [], hashlib.sha256()
        for i in range(n_rounds):
            part = docs[i * each : (i + 1) * each]
            began = clock()
            result = encoder.batch(part)
            taken = clock() - began
            rates.append(sum(len(doc.encode()) for doc in part) / taken)
            for array in encoder.arrays(result):
                digest.update(array.astype(np.int64).tobytes())
        found[f"{text} {length}"] = {"rates": rates, "ids": digest.hexdigest()}
    return found


def short(job: Job) -> dict[str, Any]:
    """Medians of microseconds of single calls: encode of texts and decode of ids that were not given before."""
    encoder = ENCODERS[job["peer"]](job)
    whole = pathlib.Path("English.txt").read_bytes()
    found = {}
    for length in (20, 200):
        taken, ids = calls(encoder.encode, _cut(whole[: length * job["n_calls"]], length))
        found[f"encode {length}"] = {
            "us": taken,
            "ids": _digest(np.concatenate([np.asarray(x, np.int64) for x in ids])),
        }
    ids = encoder.arrays(encoder.batch([whole[:1_000_000].decode()]))[0]
    for n in (5, 50, 100):
        pieces = [encoder.given(piece) for piece in ids[: ids.size // n * n].reshape(-1, n)[: job["n_calls"]]]
        taken, texts = calls(encoder.decode, pieces)
        found[f"decode {n}"] = {"us": taken, "ids": _digest(np.frombuffer("".join(texts).encode(), np.uint8))}
    return found


def loaded(job: Job) -> dict[str, Any]:
    """Seconds from the first import to the first ids, and of each step; the memory that it takes once a small model has run."""
    began = [time.perf_counter()]
    if job["peer"] == "ubpe-numba":
        import numba  # noqa: F401
    began.append(time.perf_counter())
    __import__(
        {"ubpe-numba": "ubpe_numba", "toktok-rs": "toktok", "quicktok-v1": "quicktok"}.get(
            job["peer"], job["peer"]
        )
    )
    began.append(time.perf_counter())
    if job["small"]:
        ENCODERS[job["peer"]](job | {"model": job["small"]}).encode("the first text")
    before = _resident()
    started = time.perf_counter()
    encoder = ENCODERS[job["peer"]](job)
    made = time.perf_counter()
    encoder.encode("In the beginning God created the heaven and the earth.")
    first = time.perf_counter() - made
    steps = {
        "numba": began[1] - began[0],
        "import": began[2] - began[1],
        "load": made - started,
        "encode": first,
    }
    return steps | {"bytes": _resident() - before}


def _resident() -> int:
    """Memory of this process, after what was freed has been given back."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
    return memory("VmRSS")


def _cut(text: bytes, length: int) -> list[str]:
    """Documents of `length` bytes, or up to three more, so that no character is cut."""
    at = [0]
    while at[-1] < len(text):
        end = min(at[-1] + length, len(text))
        while end < len(text) and text[end] & 0xC0 == 0x80:
            end += 1
        at.append(end)
    return [text[a:b].decode() for a, b in itertools.pairwise(at)]


def calls(call: Callable[[Any], Any], arguments: list[Any]) -> tuple[float, list[Any]]:
    """The median of the microseconds of single calls, the first fifth not counted, and all results.

    After these a method is looked up anew, as where it is called by its name.
    """
    taken, results = [], []
    for i, argument in enumerate(arguments):
        if i == len(arguments) // 5 and hasattr(call, "__self__"):
            call = getattr(call.__self__, call.__name__)
        began = time.perf_counter_ns()
        result = call(argument)
        taken.append(time.perf_counter_ns() - began)
        results.append(result)
    return statistics.median(taken[len(taken) // 5 :]) / 1000, results


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()


def run(job: Job) -> dict[str, Any]:
    """What the job's action gives, and the version of the package; or why there is nothing."""
    if job["peer"] in OWN_RANKS and not job["real"]:
        return {"error": "takes OpenAI's vocabularies only"}
    try:
        result = {"batches": batches, "short": short, "loaded": loaded}[job["action"]](job)
    except ImportError:
        return {"error": "not installed"}
    try:
        version = importlib.metadata.version(job["peer"])
    except importlib.metadata.PackageNotFoundError:
        version = ""  # a checkout
    return {"version": version, "found": result}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(run(json.loads(pathlib.Path(sys.argv[1]).read_text()))))
