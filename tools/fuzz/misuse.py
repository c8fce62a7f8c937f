"""Calls that people make by mistake: every public call, and in the place of each of its arguments every kind of wrong one.

The calls come from the public names and their signatures (`targets`), the arguments from `KINDS` by the role
that the name of a parameter has (`ROLES`). Each call is run in a process of its own kind, and its outcome is
one of

    right       the result is that of the valid argument, of which this one is another form
    refused     an error of this library with the argument and the expected value or advice, or a warning
    unclear     another error
    silent      a result for an invalid argument, or a result that differs from that of the valid one
    crashed     the process is gone, or hangs

    python tools/fuzz/misuse.py --seed 1 --calls 400          # without --calls all of them, some minutes
"""

from __future__ import annotations

import argparse
import collections
import copy
import dataclasses
import functools
import gc
import inspect
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[2])]

import ubpe_numba
from ubpe_numba import (
    BPE,
    UBPE,
    Counts,
    FitRules,
    Preprocessing,
    Ragged,
    Scale,
    UBPEClassic,
    WordPiece,
    bounds,
)

DOCS = [[0, 1, 2, 0, 1, 2, 1, 0], [1, 2, 0, 1], [2, 2, 0, 1, 2, 0]]
TEXTS = ["low lower lowest", "newer low", "low"]
LENGTH, CUTS = 18, [0, 8, 12, 18]
OUTCOMES = "right", "refused", "unclear", "silent", "crashed"


class Sparse:
    """A sparse matrix as of scipy."""

    shape, ndim = (3, 4), 2

    def toarray(self) -> Any:
        """The dense one."""
        return np.eye(3, 4, dtype=np.int64)


class Answer(dict):  # type: ignore[type-arg]
    """A result as of a tokenizer of transformers: a mapping whose fields are attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def used(docs: Any) -> Any:
    """An iterator of documents that was read to its end."""
    found = iter(list(docs))
    collections.deque(found, 0)
    return found


def one_by_one(docs: Any) -> Iterator[Any]:
    """The documents from a generator."""
    yield from docs


def closed(docs: Any) -> Any:
    """A file that was closed."""
    f = io.BytesIO(b"x")
    f.close()
    return f


def arrays(docs: Any) -> Any:
    return [np.array(doc) if isinstance(doc, (list, np.ndarray)) else doc for doc in docs]


def big(doc: Any) -> Any:
    return np.array(doc, ">i8")


def spread(doc: Any) -> Any:
    """Every second item of an array."""
    return np.repeat(np.array(doc), 2)[::2]


def frozen(doc: Any) -> Any:
    found = np.array(doc)
    found.flags.writeable = False
    return found


#: Kinds of arguments by role: name -> what makes one of the valid argument. Those whose name begins with "="
#: are another form of it, of which the same result is right; of all others none is.
MANY_INTS: dict[str, Callable[[Any], Any]] = {
    "=generator": one_by_one,
    "=iterator": iter,
    "=tuple": tuple,
    "=arrays": arrays,
    "=big endian": lambda docs: [*map(big, docs)],
    "=Ragged": Ragged.from_lists,
    "=strided": lambda docs: [*map(spread, docs)],
    "=read-only": lambda docs: [*map(frozen, docs)],
    "=array of objects": lambda docs: np.array([*map(np.array, docs)], object),
    "=map": lambda docs: map(list, docs),
    "=slice": lambda docs: Ragged.from_lists([[9], *docs, [9]])[1:-1],
    "list of Ragged": lambda docs: [Ragged.from_lists(docs)],
    "texts": lambda _: TEXTS,
    "text": lambda _: "low",
    "floats": lambda docs: [[float(v) for v in doc] for doc in docs],
    "array of floats": lambda docs: np.ones((3, 4)),
    "NaN": lambda docs: [*docs, [float("nan")]],
    "array with NaN": lambda docs: np.array([0, np.nan]),
    "padded with None": lambda docs: [[*doc, None] for doc in docs],
    "None inside": lambda docs: [*docs, None],
    "bools": lambda docs: [[True, False]],
    "complex": lambda docs: np.ones(3, complex),
    "flat list": lambda docs: [0, 1, 2],
    "matrices": lambda docs: [np.zeros((2, 2), int)],
    "padded": lambda docs: Ragged.from_lists(docs).to_padded(),
    "masked": lambda docs: np.ma.masked_array([[0, 1], [1, 2]], [[0, 1], [0, 0]]),
    "words": lambda docs: [["low", "lower"]],
}
MANY_TEXTS: dict[str, Callable[[Any], Any]] = {
    "=generator": one_by_one,
    "=iterator": iter,
    "=tuple": tuple,
    "=map": lambda docs: map(str, docs),
    "=array of objects": lambda docs: np.array(docs, object),
    "=array of text": np.array,
    "integers": lambda _: DOCS,
    "array": lambda _: np.arange(4),
    "None inside": lambda docs: [*docs, None],
    "NaN": lambda docs: [*docs, float("nan")],
    "words": lambda docs: [doc.split() for doc in docs],
    "Ragged": lambda _: Ragged.from_lists(DOCS),
}
ANY: dict[str, Callable[[Any], Any]] = {
    "used up": used,
    "None": lambda _: None,
    "number": lambda _: 5,
    "float": lambda _: 0.5,
    "bool": lambda _: True,
    "path": lambda _: pathlib.Path("corpus.txt"),
    "paths": lambda _: [pathlib.Path("corpus.txt")],
    "dict": lambda docs: {"a": docs},
    "set": lambda _: {1, 2},
    "BytesIO": lambda _: io.BytesIO(b"ab"),
    "closed file": closed,
    "sparse": lambda _: Sparse(),
    "answer": lambda docs: Answer(input_ids=docs, attention_mask=docs),
    "type": lambda _: int,
    "function": lambda _: len,
    "tokenizer": lambda _: BPE(5),
    "memory of floats": lambda _: memoryview(np.ones(3)),
    "datetime": lambda _: np.array(["2020"], "M8[D]"),
}
ONE_INTS: dict[str, Callable[[Any], Any]] = {
    "=tuple": tuple,
    "=array": np.array,
    "=big endian": big,
    "=strided": spread,
    "=read-only": frozen,
    "=int8": lambda d: np.array(d, np.int8),
    "several": lambda doc: [doc, doc],
    "matrix": lambda doc: np.array([doc, doc]),
    "Ragged": lambda doc: Ragged.from_lists([doc]),
    "text": lambda _: "low",
    "floats": lambda doc: [float(v) for v in doc],
    "NaN": lambda doc: [*doc, float("nan")],
    "None inside": lambda doc: [*doc, None],
    "iterator": iter,
    "generator": one_by_one,
    "bools": lambda _: [True],
    "huge": lambda _: [2**70],
    "array of floats": lambda doc: np.array(doc, float),
    "array of objects": lambda doc: np.array(doc, object),
}
ONE_TEXT: dict[str, Callable[[Any], Any]] = {
    "several": lambda doc: [doc, doc],
    "integers": lambda _: [1, 2],
    "array": lambda _: np.arange(3),
    "array of text": lambda d: np.array([d]),
    "generator": one_by_one,
}
IDS = {
    "padded": lambda ids: Ragged.from_lists(ids).to_padded(),
    "too large": lambda ids: [*ids, [10**6]],
    "negative": lambda ids: [[-1]],
    "texts": lambda _: TEXTS,
    "answer": lambda ids: Answer(input_ids=ids, attention_mask=ids),
    "huge": lambda _: [[2**70]],
}
OFFSETS = {
    "=list": list,
    "=tuple": tuple,
    "=int32": lambda cuts: np.array(cuts, np.int32),
    "=big endian": big,
    "=read-only": frozen,
    "starts": lambda cuts: cuts[:-1],
    "ends": lambda cuts: cuts[1:],
    "lengths": lambda cuts: np.diff(cuts),
    "floats": lambda cuts: np.array(cuts, float),
    "falling": lambda cuts: cuts[::-1],
    "beyond": lambda cuts: [*cuts, 10**6],
    "negative": lambda cuts: [-1, *cuts],
    "none at all": lambda _: [],
    "pairs": lambda cuts: np.stack([cuts[:-1], cuts[1:]], axis=1),
    "number": lambda _: 3,
    "text": lambda _: "0 8",
    "used up": used,
    "mask": lambda _: np.ones(LENGTH, bool),
    "path": lambda _: pathlib.Path("cuts"),
    "huge": lambda _: [0, 2**70],
}
NUMBER = {
    "=NumPy": np.int64,
    "zero": lambda _: 0,
    "negative": lambda _: -3,
    "float": float,
    "text": str,
    "bool": lambda _: True,
    "NaN": lambda _: float("nan"),
    "infinity": lambda _: float("inf"),
    "list": lambda n: [n],
    "huge": lambda _: 2**70,
    "array": lambda n: np.array([n, n]),
}
WEIGHTS = {
    "=array": np.array,
    "=tuple": tuple,
    "one": lambda _: 1,
    "floats": lambda _: [0.5, 1.0, 2.0],
    "negative": lambda _: [1, -1, 1],
    "few": lambda _: [1],
    "many": lambda _: [1] * 9,
    "NaN": lambda _: [1, float("nan"), 1],
    "text": lambda _: "111",
    "used up": used,
    "bools": lambda _: [True, False, True],
    "huge": lambda _: [2**62] * 3,
    "pairs": lambda _: [[1], [1], [1]],
}
LABELS = {
    "a size": lambda _: 258,
    "offsets": lambda _: CUTS,
    "array of offsets": lambda _: np.array(CUTS),
    "boundaries": lambda _: [[1], [], [2]],
    "text": lambda _: "low",
    "documents": lambda _: DOCS,
    "float": lambda _: 0.5,
    "dict": lambda _: {"n_tokens": 5},
    "path": lambda _: pathlib.Path("x"),
}
CUT = {
    "flat": lambda _: [2],
    "float": lambda _: [[0.5], [], []],
    "beyond": lambda _: [[99], [], []],
    "negative": lambda _: [[-1], [], []],
    "few": lambda _: [[1]],
    "texts": lambda _: ["a", "b", "c"],
    "number": lambda _: 2,
    "used up": used,
    "=generator": one_by_one,
    "=tuple": tuple,
}
WORDS = {
    "=generator": one_by_one,
    "=iterator": iter,
    "=tuple": tuple,
    "used up": used,
    "set": set,
    "text": lambda _: "<end>",
    "number": lambda _: 5,
    "doubled": lambda words: [*words, *words],
    "empty": lambda words: [*words, ""],
    "None inside": lambda words: [*words, None],
}
SYMBOLS = {
    "=generator": one_by_one,
    "=iterator": iter,
    "=tuple": tuple,
    "=array": np.array,
    "used up": used,
    "float": lambda _: [0.5],
    "unknown": lambda _: [99],
    "text": lambda _: "xyz",
    "number": lambda _: 5,
    "None inside": lambda _: [None],
}
MERGES = {
    "=array": np.array,
    "=tuples": lambda m: tuple(map(tuple, m)),
    "=generator": one_by_one,
    "floats": lambda m: np.array(m, float),
    "flat": lambda m: m[0],
    "beyond": lambda m: [[0, 99]],
    "negative": lambda m: [[0, -1]],
    "text": lambda _: "ab",
    "triples": lambda m: [[0, 1, 2]],
    "doubled": lambda m: [*m, *m],
    "used up": used,
    "None": lambda _: None,
    "cycle": lambda _: [[0, 3]],
}
SOURCE = {
    "=Path": pathlib.Path,
    "=bytes": lambda path: pathlib.Path(path).read_bytes(),
    "=file": lambda path: io.BytesIO(pathlib.Path(path).read_bytes()),
    "missing": lambda _: "missing.json",
    "folder": lambda _: "empty",
    "text file": lambda _: "corpus.txt",
    "number": lambda _: 3,
    "None": lambda _: None,
    "list": lambda path: [path],
    "empty": lambda _: "",
    "no content": lambda _: b"",
    "closed file": closed,
    "tokenizer": lambda _: BPE(5),
    "dict": lambda _: {"a": 1},
    "null": lambda _: "a\0b",
    "array": lambda _: np.arange(3),
}
TARGET = {
    "=Path": pathlib.Path,
    "number": lambda _: 3,
    "None": lambda _: None,
    "folder": lambda _: "empty",
    "no such folder": lambda path: f"no/{path}",
    "empty": lambda _: "",
    "list": lambda path: [path],
    "file": lambda _: io.BytesIO(),
    "null": lambda _: "a\0b.json",
    "read-only": lambda _: "sealed.json",
    "tokenizer": lambda _: BPE(5),
}
CHOICE = {
    "another": lambda _: "xyz",
    "number": lambda _: 5,
    "list": lambda _: ["a"],
    "bytes": lambda _: b"x",
    "NaN": lambda _: float("nan"),
    "type": lambda _: int,
}
SIGNAL = {
    "=array": np.array,
    "=strided": spread,
    "=big endian": lambda x: np.array(x, ">f8"),
    "NaN": lambda x: [*x, float("nan")],
    "text": lambda _: "0.1",
    "infinity": lambda x: [*x, float("inf")],
    "None inside": lambda x: [*x, None],
    "complex": lambda x: np.array(x, complex),
    "words": lambda _: ["a"],
    "number": lambda _: 0.5,
    "bools": lambda x: np.ones(4, bool),
    "used up": used,
}
OUT = {
    "list": lambda _: [0] * 40,
    "int64": lambda _: np.zeros(40, np.int64),
    "small": lambda _: np.zeros(1, np.int32),
    "read-only": lambda _: frozen(np.zeros(40, np.int32)),
    "matrix": lambda _: np.zeros((4, 10), np.int32),
    "strided": lambda _: np.zeros(80, np.int32)[::2],
    "number": lambda _: 5,
    "text": lambda _: "x",
}

#: Roles of parameters by name: the kinds of arguments.
ROLES: dict[str, dict[str, Callable[[Any], Any]]] = {
    "offsets": OFFSETS,
    "sample_weight": WEIGHTS,
    "boundaries": CUT,
    "y": LABELS,
    "merges": MERGES,
    "source": SOURCE,
    "path": TARGET,
    "special_tokens": WORDS,
    "known_words": WORDS,
    "break_tokens": SYMBOLS,
    "stop_tokens": SYMBOLS,
    "alphabet": SYMBOLS,
    "signal": SIGNAL,
    "out": OUT,
    "values": {**SIGNAL},
    "lengths": WEIGHTS,
    "weights": WEIGHTS,
    "token_weights": WEIGHTS,
    **dict.fromkeys(
        (
            "n_tokens",
            "n_threads",
            "n",
            "n_candidates",
            "batch_size",
            "memory_limit",
            "max_length",
            "length",
            "fill",
            "seed",
            "frame",
            "beam",
            "token_id",
            "min_count",
        ),
        NUMBER,
    ),
    **dict.fromkeys(
        (
            "unknown",
            "by",
            "objective",
            "errors",
            "side",
            "truncate",
            "format",
            "return_offsets",
            "units",
            "distinct",
            "padding",
            "return_tensors",
            "progress",
            "nulls",
            "pretokenizer",
            "rules",
            "preprocessing",
        ),
        CHOICE,
    ),
}
#: Of the kinds of numbers and choices those that some parameters take.
TAKEN = {
    ("fill", "zero"),
    ("fill", "negative"),
    ("length", "zero"),
    ("seed", "zero"),
    ("token_id", "zero"),
    ("max_length", "zero"),
    ("token_id", "negative"),
    ("token_id", "huge"),
    ("unknown", "number"),
    ("memory_limit", "huge"),
    ("beam", "huge"),
    ("n", "huge"),
    ("frame", "huge"),
    ("length", "huge"),
    ("max_length", "huge"),
    ("min_count", "huge"),
    ("n_candidates", "huge"),
    ("lengths", "used up"),
    ("out", "matrix"),
    # booleans by another name
    ("progress", "bool"),
}


class Target(NamedTuple):
    """A call: a name, the parameter that is wrong in it, and what makes the call with an argument in its place."""

    name: str
    parameter: str
    kinds: dict[str, Callable[[Any], Any]]
    valid: Any
    call: Callable[[Any], Any]


class Subject(NamedTuple):
    """A tokenizer whose methods are called, and valid arguments by the names of parameters."""

    name: str
    make: Callable[[], Any]
    values: dict[str, Any]
    is_text: bool = False


@functools.cache
def subjects() -> list[Subject]:
    """Fitted tokenizers of every class."""
    flat = np.array([v for doc in DOCS for v in doc])
    quiet = {"progress": False}
    ints = BPE(8).fit(DOCS, **quiet)
    paths = UBPE(8, objective="shortest").fit(DOCS, **quiet)
    text = BPE.for_text(262, special_tokens=["<end>"]).fit(TEXTS, **quiet)
    pieces = WordPiece(
        ["[UNK]", "low", "##er", "##est", "new", "##e", "##r"],
        preprocessing=Preprocessing("BertPreTokenizer"),
    )
    for tok in (ints, paths, text, pieces):
        tok.save(f"{type(tok).__name__}-{tok._model.alphabet.kind}.json")
    common = {"n_tokens": 6, "objective": "shortest", "tok": ints, "path": "new.json"}
    shared = {
        **common,
        "docs": DOCS,
        "doc": DOCS[0],
        "flat": flat,
        "merges": [[0, 1], [3, 2]],
        "alphabet": [0, 1, 2],
        "n": 2,
    }
    wide = {
        **shared,
        "values": np.arange(LENGTH, dtype=np.int32),
        "token": [0, 1],
        "token_id": 4,
        "format": "ubpe",
        "chunks": DOCS,
    }
    of_text = {
        **common,
        "docs": TEXTS,
        "doc": TEXTS[0],
        "n_tokens": 263,
        "token": "low",
        "token_id": 97,
        "format": "tokenizer.json",
        "chunks": TEXTS,
    }
    for values, tok in ((wide, ints), (of_text, text)):
        ids = tok.encode_batch(values["docs"])
        values |= {
            "batch": ids.to_lists(),
            "batches": ids.to_lists(),
            "ids": ids.to_lists(),
            "source": f"BPE-{tok._model.alphabet.kind}.json",
        }
    of_words = {
        **of_text,
        "batch": [[1, 2]],
        "batches": [[1, 2]],
        "ids": [[1, 2]],
        "source": "WordPiece-str.json",
        "words": TEXTS,
        "n_tokens": 30,
    }
    return [
        Subject("BPE", lambda: copy.deepcopy(ints), {**wide, "tok": ints}),
        Subject("UBPE", lambda: copy.deepcopy(paths), {**wide, "source": "UBPE-int.json", "tok": paths}),
        Subject(
            "UBPEClassic",
            lambda: ints.with_objective("rank") and UBPEClassic(8).fit(DOCS, **quiet),
            {**wide, "source": None, "tok": ints},
        ),
        Subject("text", lambda: copy.deepcopy(text), {**of_text, "tok": text}, True),
        Subject("WordPiece", lambda: copy.deepcopy(pieces), {**of_words, "tok": pieces}, True),
    ]


def kinds_of(parameter: str, subject: Subject, method: str) -> dict[str, Callable[[Any], Any]] | None:
    """The kinds of arguments of a parameter; None if it has no role."""
    if parameter in ROLES:
        return ROLES[parameter]
    one, many = (ONE_TEXT, MANY_TEXTS) if subject.is_text else (ONE_INTS, MANY_INTS)
    if parameter == "docs" and method == "__call__":  # one or many, text or tables
        return None
    if parameter == "docs":
        return {**ANY, **many}
    if parameter == "doc" or (parameter == "ids" and method in ("decode",)):
        return {**ANY, **(ONE_INTS if parameter == "ids" else one)}
    if parameter in ("batch", "batches", "ids"):
        return {**ANY, **MANY_INTS, **IDS}
    return None


def targets() -> Iterator[Target]:
    """Every public call with every parameter that has a role."""
    for subject in subjects():
        tok = subject.make()
        for name in sorted(dir(type(tok))):
            if name.startswith("_") and name != "__call__":
                continue
            found = inspect.getattr_static(type(tok), name)
            if isinstance(found, property) or not callable(
                getattr(tok, name, found.__get__(None, type(tok)))
            ):
                continue
            yield from _of_callable(
                f"{subject.name}.{name}", name, subject, functools.partial(_method, subject, name)
            )
    first = subjects()[0]
    for cls in (BPE, UBPE, UBPEClassic):
        yield from _of_callable(f"{cls.__name__}().fit", "fit", first, functools.partial(_fitting, cls))
    functions = {name: getattr(ubpe_numba, name) for name in ubpe_numba.__all__}
    functions |= {f"bounds.{name}": getattr(bounds, name) for name in bounds.__all__}
    for name, function in functions.items():
        if name in ("warmup", "verify") or (inspect.isclass(function) and issubclass(function, Exception)):
            continue
        if inspect.isfunction(function):
            subject = subjects()[1] if name.endswith(("encode_nbest", "boundary_probabilities")) else first
            yield from _of_callable(name, name, subject, functools.partial(_itself, function))
    for name, function in (
        ("Ragged", Ragged),
        ("Preprocessing", _fitted(Preprocessing, _prepares)),
        ("Counts.load", Counts.load),
        ("FitRules", FitRules),
    ):
        yield from _of_callable(name, name, first, functools.partial(_itself, function))
    yield from _of_ragged()


def _method(subject: Subject, name: str) -> Callable[..., Any]:
    tok = subject.make()
    method = getattr(tok, name, None) or getattr(type(tok), name)
    return _fitted(method, lambda made: made.fit(TEXTS, progress=False)) if name == "for_text" else method  # type: ignore[no-any-return]


def _fitted(make: Callable[..., Any], fit: Callable[[Any], Any]) -> Callable[..., Any]:
    """A constructor that keeps arguments which a fit checks, and the fit, as one call."""

    def call(*args: Any, **options: Any) -> Any:
        return fit(make(*args, **options))

    call.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
    return call


def _prepares(parts: Preprocessing) -> BPE:
    docs = DOCS if parts.pretokenizer is parts.normalizer is parts.encoding is None else TEXTS
    return BPE(300, preprocessing=parts).fit(docs, progress=False)


def _fitting(cls: Any) -> Callable[..., Any]:
    """A constructor and a fit in one call."""

    def fit(
        docs: Any = DOCS,
        n_tokens: Any = 8,
        *,
        alphabet: Any = None,
        unknown: Any = "raise",
        n_threads: Any = None,
        rules: Any = None,
        preprocessing: Any = None,
        break_tokens: Any = None,
        special_tokens: Any = None,
        known_words: Any = None,
    ) -> Any:
        if not (break_tokens is None and special_tokens is None and known_words is None):
            preprocessing = Preprocessing(
                break_tokens=break_tokens, special_tokens=special_tokens, known_words=known_words
            )
        made = cls(
            n_tokens,
            alphabet=alphabet,
            unknown=unknown,
            n_threads=n_threads,
            rules=rules,
            preprocessing=preprocessing,
        )
        return made.fit(docs, progress=False)

    return fit


#: Arguments that are optional, and valid ones of them.
GIVEN = {
    "sample_weight": [1, 2, 1],
    "boundaries": [[2], [], [1]],
    "y": [0, 1, 0],
    "n_threads": 1,
    "unknown": "raise",
    "by": "creation",
    "errors": "replace",
    "special_tokens": [[7, 8], [8, 7]],
    "known_words": [[7, 8], [8, 7]],
    "break_tokens": [1],
    "stop_tokens": [1],
    "seed": 1,
    "units": None,
    "return_offsets": False,
    "progress": False,
    "signal": [0.0, 0.5, 1.0],
    "step": 0.5,
    "out": np.zeros(40, np.int32),
    "memory_limit": None,
    "beam": 4,
    "distinct": "paths",
    "rules": None,
    "preprocessing": None,
    "lengths": [8, 4, 6],
    "min_count": 2,
    "frame": 4,
    "n_candidates": 2,
    "format": "ubpe",
    "objective": "shortest",
    "max_length": None,
    "padding": False,
    "return_tensors": None,
    "batch": 100,
    "pretokenizer": None,
}


def _of_callable(label: str, method: str, subject: Subject, get: Callable[[], Any]) -> Iterator[Target]:
    """The calls of one function: all its required arguments are valid but for one, or one optional argument is wrong."""
    parameters = {
        p.name: p
        for p in inspect.signature(get()).parameters.values()
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    }
    values = {
        **subject.values,
        "n_tokens": 9 if method == "fit_more" and not subject.is_text else subject.values["n_tokens"],
    }
    if method == "decode":
        values["ids"] = [0, 1]
    if method == "index" or (method == "usage" and "ids" in parameters):
        values["ids"] = subject.values["batch"]
    if method == "Ragged":
        values["offsets"] = np.array(CUTS)
    required = {
        name: values.get(name, GIVEN.get(name)) for name, p in parameters.items() if p.default is p.empty
    }
    if any(value is None for value in required.values()):
        return
    if "progress" in parameters:
        required["progress"] = False
    for name, parameter in parameters.items():
        kinds = kinds_of(name, subject, method)
        if kinds is None or (name == "batch" and parameter.default is not parameter.empty):
            continue
        valid = required.get(name, GIVEN.get(name, values.get(name)))
        others = {**required}
        if name == "ids" and method == "usage":
            others.pop("docs", None)
            valid = values["ids"]
        if name == "offsets" and parameter.default is not parameter.empty:
            if subject.is_text or "doc" in required:
                continue
            valid = CUTS
            first = next(n for n in ("docs", "batch", "ids") if n in parameters)
            others[first] = np.array([v for doc in values[first] for v in doc])
            valid = np.cumsum([0, *map(len, values[first])]).tolist()
        if subject.is_text and name in (
            "boundaries",
            "break_tokens",
            "special_tokens",
            "known_words",
            "merges",
            "alphabet",
            "out",
        ):
            continue
        if name == "out" and "decode" in method:
            continue

        def call(argument: Any, name: str = name, others: dict[str, Any] = others) -> Any:
            return get()(**{**copy.deepcopy(others), name: argument})

        if name == "offsets" and method == "Ragged":  # positions of Arrow, of which some may be left out
            kinds = {
                k: make
                for k, make in kinds.items()
                if not k.startswith("=") and k not in ("starts", "ends", "lengths")
            }
        yield Target(label, name, kinds, valid, call)


def _itself(function: Any) -> Any:
    return function


def _of_ragged() -> Iterator[Target]:
    """`Ragged` as people use it who know NumPy, with lengths that are equal, and that are not."""
    for label, rows in (("equal", [[1, 2], [3, 4], [5, 6]]), ("ragged", [[1, 2], [3], [4, 5, 6]])):
        ids = Ragged.from_lists(rows)
        uses: dict[str, tuple[Callable[[Any], Any], Any]] = {
            "array_equal": (lambda r: np.array_equal(r, r), True),
            "==": (lambda r: r == Ragged.from_lists(r.to_lists()), True),
            "mask": (lambda r: r[np.array([True, False, True])].to_lists(), [rows[0], rows[2]]),
            "list mask": (lambda r: r[[True, False, True]].to_lists(), [rows[0], rows[2]]),
            "fancy": (lambda r: r[np.array([2, 0])].to_lists(), [rows[2], rows[0]]),
            "list": (lambda r: r[[2, 0]].to_lists(), [rows[2], rows[0]]),
            "negative": (lambda r: r[-1].tolist(), rows[-1]),
            "step": (lambda r: r[::-1].to_lists(), rows[::-1]),
            "len": (len, 3),
            "asarray": (np.asarray, None),
            "array": (np.array, None),
            "+": (lambda r: r + 1, None),
            "+ itself": (lambda r: r + r, None),
            "*": (lambda r: 2 * r, None),
            "<": (lambda r: r < 3, None),
            "== list": (lambda r, rows=rows: r == rows, None),
            "json": (json.dumps, None),
            "concatenate": (lambda r: np.concatenate([r, r]), None),
            "two indices": (lambda r: r[0, 1], None),
            "float index": (lambda r: r[1.0], None),
            "text index": (lambda r: r["input_ids"], None),
            "beyond": (lambda r: r[3], None),
            "short mask": (lambda r: r[[True]], None),
            "None": (lambda r: r[None], None),
            "tuple": (lambda r: r[(2, 0)], None),
            "set item": (lambda r: r.__setitem__(0, [9]), None),
            "shape": (lambda r: r.shape, None),
            "sum": (np.sum, None),
            "mean": (np.mean, None),
            "unique": (np.unique, None),
            "max": (max, None),
            "sorted": (sorted, None),
            "sum of rows": (lambda r: [int(row.sum()) for row in r], [*map(sum, rows)]),
            "in": (lambda r: 3 in r, None),
            "tolist": (lambda r, rows=rows: r.tolist(), rows),
            "bool": (bool, True),
            "hash": (hash, None),
            "float mask": (lambda r: r[np.array([1.0, 0.0, 1.0])], None),
            "attribute": (lambda r: setattr(r, "values", 1), None),
            "copy": (lambda r: copy.deepcopy(r).to_lists(), rows),
            "iter": (lambda r: [row.tolist() for row in r], rows),
            "array of it": (lambda r: np.array([r, r]), None),
        }
        for use, (function, right) in uses.items():
            kinds = {("=" if right is not None else "") + use: lambda _, ids=ids: ids}
            yield Target(f"Ragged of {label} lengths", "use", kinds, None, _use(function, right))


def _use(function: Callable[[Any], Any], right: Any) -> Callable[[Any], Any]:
    def call(ids: Any) -> Any:
        return right if ids is None else function(ids)

    return call


def digest(result: Any) -> Any:
    """A result as plain data, equal for equal ones."""
    if isinstance(result, Ragged):
        return result.to_lists()
    if isinstance(result, np.ndarray):
        return result.tolist()
    if isinstance(result, np.generic):
        return result.item()
    if hasattr(result, "get_vocab") and hasattr(result, "get_params"):
        return result.fingerprint if "_model" in vars(result) else repr(result)
    if isinstance(result, Counts):
        return [result.to_lists(), result.weights.tolist()]
    if isinstance(result, Scale):
        return repr(result)
    if isinstance(result, dict):
        return {str(k): digest(v) for k, v in result.items()}
    if isinstance(result, (tuple, list)):
        return [*map(digest, result)]
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return [digest(getattr(result, f.name)) for f in dataclasses.fields(result) if f.name != "seconds"]
    if hasattr(result, "__next__"):
        return [*map(digest, result)]
    return re.sub(r"0x[0-9a-f]+|seconds=[0-9.e-]+", "", repr(result))


ROOT = str(pathlib.Path(ubpe_numba.__file__).parent)
_WAYS = re.compile(
    r"expected|;|: it |\bsay\b|\btakes?\b|\buse\b|here:|give|No such file|no such folder|not a regular|Permission|Is a directory"
    r"|read-only|frozen|once|only|is outside|installed|there (is|are) no",
    re.IGNORECASE,
)


def outcome(target: Target, kind: str) -> tuple[str, str]:
    """What comes of one call, and its message."""
    make, right = target.kinds[kind], kind.startswith("=")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        expected: Any = None
        if right:
            try:
                expected = digest(target.call(copy.deepcopy(target.valid)))
            except Exception as error:
                return "skipped", f"the valid call: {error!r:.200}"
        if target.parameter == "path":
            _clean()
        told.clear()
        try:
            result = target.call(make(copy.deepcopy(target.valid)))
            found = digest(result)
        except Exception as error:
            return _refusal(error, target)
        warned = [str(w.message) for w in told if issubclass(w.category, UserWarning)]
        if right:
            return (
                ("right", "")
                if found == expected
                else ("silent", f"{found!r:.150} instead of {expected!r:.150}")
            )
        if warned:
            return "refused", f"warning: {warned[0]}"
        return "silent", f"{found!r:.200}"


def _refusal(error: Exception, target: Target) -> tuple[str, str]:
    message = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f.filename.startswith(ROOT)]
    is_ours = bool(ours) and frames[-1].filename.startswith(ROOT)
    text = str(error)
    system = isinstance(error, OSError) and error.filename is not None
    names = re.search(
        rf"\b{target.parameter}\b|document \d|argument|^{target.name}|Ragged", text
    ) or target.parameter in ("path", "source")
    if system or (is_ours and names and _WAYS.search(text)):
        return "refused", message
    return "unclear", message


def _clean() -> None:
    pathlib.Path("new.json").unlink(missing_ok=True)


def all_calls() -> list[tuple[Target, str]]:
    """Every target with every kind of argument, in a fixed order."""
    return [
        (target, kind)
        for target in targets()
        for kind in target.kinds
        if (target.parameter, kind) not in TAKEN and not (kind == "None" and target.valid is None)
    ]


def work(numbers: Iterable[int]) -> None:
    """Run the calls of these numbers, and print a line of JSON of each."""
    files()
    calls = all_calls()
    for number in numbers:
        target, kind = calls[number]
        print(json.dumps(["begin", number]), flush=True)
        found = outcome(target, kind)
        gc.collect()
        print(json.dumps([number, f"{target.name}({target.parameter}: {kind})", *found]), flush=True)


def files() -> None:
    """The files that paths are of, in the working directory."""
    pathlib.Path("corpus.txt").write_text("low lower lowest\n" * 3)
    pathlib.Path("empty").mkdir(exist_ok=True)
    sealed = pathlib.Path("sealed.json")
    if not sealed.exists():
        sealed.write_text("{}")
        sealed.chmod(0o444)


def survey(
    n_calls: int | None, seed: int, only: str = "", timeout: float = 120
) -> list[tuple[str, str, str]]:
    """Run a part, drawn by `seed`, of all calls that `only` is found in: (call, outcome, message) of each."""
    with tempfile.TemporaryDirectory() as folder:
        run = functools.partial(subprocess.run, cwd=folder, capture_output=True, text=True, check=False)
        me = [sys.executable, "-P", str(pathlib.Path(__file__).resolve())]
        counted = run([*me, "--count"])
        assert counted.returncode == 0, counted.stderr[-2000:]
        names = json.loads(counted.stdout)
        chosen = [i for i, name in enumerate(names) if re.search(only, name)]
        order = random.Random(seed).sample(chosen, min(n_calls or len(chosen), len(chosen)))
        found: list[tuple[str, str, str]] = []
        while order:
            try:
                done = run([*me, "--work"], input=json.dumps(order), timeout=timeout + len(order))
                lines = done.stdout
            except subprocess.TimeoutExpired as error:
                lines = (error.stdout or b"").decode()
            rows = [json.loads(line) for line in lines.splitlines() if line.startswith("[")]
            finished = [row for row in rows if row[0] != "begin"]
            found += [(name, result, message) for _, name, result, message in finished]
            begun = [row[1] for row in rows if row[0] == "begin"]
            if len(begun) > len(finished):
                found.append(
                    (names[begun[-1]], "crashed", f"the process ended, or was stopped: {done.returncode}")
                )
            elif len(finished) < len(order) and not begun:
                raise RuntimeError(done.stderr[-2000:])
            order = order[len(begun) :]
    return found


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, help="how many calls; without it all")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    parser.add_argument(
        "--show",
        default="unclear,silent,crashed",
        help="outcomes whose calls are listed (default %(default)s)",
    )
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="calls in whose names this is found, as 'docs: used up'"
    )
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.count:
        files()
        print(json.dumps([f"{target.name}({target.parameter}: {kind})" for target, kind in all_calls()]))
    elif options.work:
        work(json.loads(sys.stdin.read()))
    else:
        rows = survey(options.calls, options.seed, options.only)
        for name, result, message in sorted(rows, key=lambda row: row[1]):
            if result in options.show.split(","):
                print(f"{result:8} {name}: {message:.300}")
        counted = collections.Counter(result for _, result, _ in rows)
        print(
            f"{len(rows)} calls:",
            ", ".join(f"{counted[result]} {result}" for result in (*OUTCOMES, "skipped")),
        )
        sys.exit(bool(counted["silent"] + counted["crashed"]))


if __name__ == "__main__":
    os.environ.setdefault("TQDM_DISABLE", "1")
    main()
