"""Ctrl-C in every public call that may take long: KeyboardInterrupt comes, and tokenizers and streams are as they were.

The calls run in a process of their own, this file. Each gets more symbols until it is interrupted before it
ends; delays are printed. A public name that may take long has a call here, the others are in `QUICK`, with
the reason by group.
"""

import copy
import functools
import inspect
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import numpy as np

import ubpe_numba
from ubpe_numba import (
    BPE,
    UBPE,
    Preprocessing,
    Ragged,
    Scale,
    UBPEClassic,
    WordPiece,
    compare,
    count_documents,
)
from ubpe_numba.bounds import boundary_probabilities, encode_nbest, lower_bound

AFTER = 0.15  # seconds from the beginning of a call to the Ctrl-C
SIZES = tuple(1 << k for k in (16, 18, 20, 22, 24))  # symbols
LATE = 5.0  # seconds: a call that needs more is deaf, on the slowest machine; printed are some hundredths
QUIET: Any = {"progress": False}

#: Public names that no amount of documents makes slow: constructors, views of what is there, and calls of one
#: token.
QUICK = {
    "one token or parameter": {
        *(
            "from_merges",
            "for_text",
            "get_params",
            "set_params",
            "with_objective",
            "truncate",
            "stream",
            "decode_stream",
        ),
        *(
            "get_vocab",
            "token_to_id",
            "id_to_token",
            "vocab_size",
            "vocabulary",
            "kernels",
            "is_lossless",
            "history_",
        ),
    },
    "as long as a model, not as documents": {
        "save",
        "load",
        "export",
        "warmup",
        "verify",
        "fingerprint",
        "followers",
    },
    "another name of a call that is here": {"transform", "inverse_transform", "fit_transform"},
    "made of pages": {"explore"},
}


@functools.cache
def text_of(n: int) -> np.ndarray:
    """So many symbols below 256, of some structure; for all calls the same."""
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 200, k).astype(np.int32) for k in rng.integers(2, 9, 500)]
    return np.resize(np.concatenate([words[i] for i in np.minimum(rng.zipf(1.3, 100_000), 500) - 1]), n)


def split(text: np.ndarray) -> list[np.ndarray]:
    return np.array_split(text, max(1, text.size // 1000))


@functools.cache
def words_of(n: int) -> list[str]:
    letters = np.random.default_rng(0).integers(97, 123, n, np.uint8).tobytes().decode()
    return [letters[i : i + 8] for i in range(0, n, 8)]


class Subjects:
    """Tokenizers that calls are made of, and their states."""

    def __init__(self) -> None:
        some = split(text_of(50_000))
        self.bpe = BPE(1000, alphabet=256).fit(some, **QUIET)
        self.ubpe = UBPE(1000, 20, alphabet=256).fit(some, **QUIET)
        self.short = self.ubpe.refine(some, **QUIET)
        self.likely = self.ubpe.refine(some, objective="likelihood", **QUIET)
        self.classic = UBPEClassic(1000, 20, alphabet=256).fit(some, **QUIET)
        self.text = BPE.for_text(500).fit([" ".join(words_of(10_000))], **QUIET)
        self.pieces = WordPiece(
            ["[UNK]", *map(chr, range(97, 123))], preprocessing=Preprocessing("BertPreTokenizer")
        )
        self.streams = [self.bpe.stream(), self.bpe.stream(frame=1000), self.bpe.decode_stream()]
        self.streams[0].push(text_of(1000))
        self.again = copy.deepcopy((self.bpe, self.ubpe, self.classic, self.text))  # that are fitted again

    def state(self) -> list[Any]:
        """Models with parameters, and what streams hold."""
        found: list[Any] = []
        for tok in (
            self.bpe,
            self.ubpe,
            self.short,
            self.likely,
            self.classic,
            self.text,
            self.pieces,
            *self.again,
        ):
            found += tok.fingerprint, pickle.dumps(tok.get_params())
        return found + [(s._n_chunks, pickle.dumps(s._waiting), s.rest) for s in self.streams[:2]]


def calls(s: Subjects) -> dict[str, Callable[[int], Callable[[], object]]]:
    """By name: what makes a call of a number of symbols. The part before a blank is the public name."""

    def of_ids(call: Callable[[Any], object]) -> Callable[[int], Callable[[], object]]:
        return lambda n: (lambda ids: lambda: call(ids))(s.bpe.encode_batch(split(text_of(n))))

    def of_docs(call: Callable[[Any], object]) -> Callable[[int], Callable[[], object]]:
        return lambda n: (lambda docs: lambda: call(docs))(split(text_of(n)))

    def of_one(call: Callable[[Any], object]) -> Callable[[int], Callable[[], object]]:
        return lambda n: (lambda doc: lambda: call(doc))(text_of(n))

    def of_words(call: Callable[[Any], object]) -> Callable[[int], Callable[[], object]]:
        return lambda n: (lambda words: lambda: call(words))(words_of(n))

    return {
        "fit": of_docs(lambda docs: s.again[0].fit(docs, **QUIET)),
        "fit by sweeps": lambda n: (lambda doc: lambda: BPE(400, alphabet=9).fit(doc, **QUIET))(
            [np.uint8(text_of(max(n, 1 << 22)) % 9)]
        ),
        "fit UBPE": of_docs(lambda docs: s.again[1].fit(docs, **QUIET)),
        "fit UBPEClassic": of_docs(lambda docs: s.again[2].fit(docs, **QUIET)),
        "fit of lists": lambda n: (lambda docs: lambda: s.again[0].fit(docs, **QUIET))([d.tolist() for d in split(text_of(n))]),
        "fit of text": of_words(lambda words: s.again[3].fit([" ".join(words)], **QUIET)),
        "fit_more": of_docs(lambda docs: s.again[0].fit_more(docs, 3000, **QUIET)),
        "refine": of_docs(lambda docs: s.ubpe.refine(docs, **QUIET)),
        "refine likelihood": of_docs(lambda docs: s.ubpe.refine(docs, objective="likelihood", **QUIET)),
        "reweight": of_docs(lambda docs: s.likely.reweight(docs, **QUIET)), "encode": of_one(s.bpe.encode),
        "encode tfidf": of_one(s.ubpe.encode),
        "encode of a list": lambda n: (lambda doc: lambda: s.bpe.encode(doc))(text_of(n).tolist()),
        "encode sample": of_one(lambda doc: s.bpe.encode(doc, sample=0.3)),
        "encode likelihood, sample": of_one(lambda doc: s.likely.encode(doc, sample=1.0)),
        "encode text": of_words(lambda words: s.text.encode(" ".join(words))),
        "encode WordPiece": of_words(lambda words: s.pieces.encode(" ".join(words))),
        "encode_batch": of_docs(s.short.encode_batch), "encode_iter": of_docs(lambda docs: list(s.bpe.encode_iter(docs))),
        "encode_nbest": of_docs(lambda docs: s.ubpe.encode_nbest(docs, 3)),
        "encode_nbest of bounds": of_docs(lambda docs: encode_nbest(s.ubpe, docs[:300], 3, guided=True)),
        "boundary_probabilities": of_one(lambda doc: boundary_probabilities(s.likely, doc)), "count": of_one(s.bpe.count),
        "spans": of_docs(s.bpe.spans), "EncoderStream.push": of_one(s.streams[0].push),
        "EncoderStream.push frames": of_one(s.streams[1].push),
        "EncoderStream.over": of_docs(lambda docs: list(s.bpe.stream().over(docs))),
        "DecoderStream.push": of_ids(lambda ids: s.streams[2].push(ids.values)),
        "decode": of_ids(lambda ids: s.bpe.decode(ids.values)),
        "decode text": of_words(lambda words: s.text.decode(s.text.encode(" ".join(words)))),
        "decode_batch": of_ids(s.bpe.decode_batch), "decode_iter": of_ids(lambda ids: list(s.bpe.decode_iter(ids))),
        "usage": of_docs(s.bpe.usage),
        "compare": of_docs(lambda docs: compare(docs, {"bpe": s.bpe}, held_out=docs[:9])), "index": of_ids(s.bpe.index),
        "train": of_words(lambda words: WordPiece.train(words, 5000)), "count_documents": of_docs(count_documents),
        "Scale": lambda n: functools.partial(Scale().fit_transform, np.random.default_rng(0).normal(size=n)),
        "Ragged.from_lists": of_docs(lambda docs: Ragged.from_lists([d.tolist() for d in docs])),
        "lower_bound": of_docs(lambda docs: lower_bound(s.ubpe, docs, max_token_length=6, seconds=None, **QUIET)),
    }  # fmt: skip


def interrupted(call: Callable[[], object]) -> tuple[float, str]:
    """How long after the Ctrl-C the call ended, and how: "interrupted", "ended", or "" before it."""
    sent: list[float] = []
    ended = False

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(AFTER, send)
    try:
        timer.start()
        call()
        ended = True
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        timer.join()
        return time.monotonic() - sent[0], "ended" if ended else "interrupted"
    return (time.monotonic() - sent[0], "ended") if sent else (0.0, "")


def main() -> None:
    """Each call, a line of output for each."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(tempfile.mkdtemp())
    ubpe_numba.warmup()
    subjects = Subjects()
    wanted = sys.argv[1:]
    for name, make in calls(subjects).items():
        if wanted and name not in wanted:
            continue
        for n in SIZES:
            call, before = make(n), subjects.state()
            delay, how = interrupted(call)
            if how == "interrupted":
                break
        if how == "interrupted":
            state = "as it was" if subjects.state() == before else "CHANGED"
            how = f"{'interrupted' if delay < LATE else 'LATE'} after {delay:.2f} s, state {state}"
        print(f"{name}: {how or 'quick'}, of {n} symbols", flush=True)


def test_every_public_name_is_interrupted_or_quick() -> None:
    names = {name for name in ubpe_numba.__all__ if not inspect.isclass(getattr(ubpe_numba, name))}
    for cls in (BPE, UBPE, UBPEClassic, WordPiece):
        names |= {name for name in dir(cls) if not name.startswith("_")}
    here = {name.split()[0] for name in calls(MagicMock())}.union(*QUICK.values())
    assert not names - here, "give it a call here, or say why it is quick"


def test_ctrl_c_is_heard_and_changes_nothing() -> None:
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(ubpe_numba.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) > 30 and not [line for line in lines if "CHANGED" in line]
    assert not [line for line in lines if ": interrupted" not in line and ": quick" not in line]


if __name__ == "__main__":
    main()
