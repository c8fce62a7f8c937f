"""The work of the soak: tokenizers with what they have to find, computed beforehand by one thread, and jobs that check it.

A job draws what it does, and raises AssertionError if anything differs. Jobs share tokenizers and files, as
threads of a server do; what is small is held against the plain references too.
"""

from __future__ import annotations

import itertools
import pathlib
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np
from fuzz import encode_cases, fit_problems, fuzz_encode, fuzz_fit

from ubpe_numba import BPE, UBPE, Preprocessing, Ragged, UBPEClassic, count_documents

THREADS = (1, 2, 4)  # what shared tokenizers are set to
SLOTS = 3  # files of each class and suffix
SUFFIXES = (".npz", ".json")
CLASSES: tuple[Any, ...] = (BPE, UBPEClassic, UBPE)

Docs = list[Any]


class Known(NamedTuple):
    """A fitted tokenizer, once a number of threads, the documents it was fitted on, and what has to come out."""

    name: str
    make: Callable[[], Any]  # a new one, not fitted
    shared: tuple[Any, ...]
    docs: Docs
    ids: Ragged
    fingerprint: str  # that of one thread
    pickled: bytes
    refined: str | None  # the fingerprint of what is refined, of small ones


class Refitted(NamedTuple):
    """A tokenizer that jobs fit again, on one of two corpora of one alphabet, while others use it."""

    shared: Any
    corpora: tuple[Docs, Docs]
    docs: Docs  # that are encoded
    ids: tuple[Ragged, Ragged]  # of these after each
    fingerprints: tuple[str, str]


class Work(NamedTuple):
    """What jobs draw from."""

    known: list[Known]
    fingerprints: dict[str, frozenset[str]]  # of the models of each class
    n_small: int  # so many first ones are small
    refitted: list[Refitted]
    moving: tuple[np.ndarray, np.ndarray]  # values and offsets that jobs write to while others read them


def prepare(seed: int) -> Work:
    """Fit and encode everything once, with one thread."""
    rng = np.random.default_rng(seed)
    small = [np.minimum(rng.zipf(1.4, n), 40).astype(np.int64) for n in rng.integers(0, 400, 30)]
    walks = [np.cumsum(rng.integers(-1, 2, n)) % 16 for n in rng.integers(1, 300, 20)]
    words = ["".join(chr(97 + min(c, 11)) for c in rng.zipf(1.5, n) - 1) for n in rng.integers(1, 9, 60)]
    text = [" ".join(words[min(i, 59)] for i in rng.zipf(1.3, n) - 1) for n in rng.integers(0, 60, 40)]
    dna = [bytes(b"ACGT"[s] for s in rng.integers(0, 4, n)) for n in rng.integers(0, 500, 12)]
    # is shared among threads
    large = np.array_split(np.minimum(rng.zipf(1.3, 240_000), 200).astype(np.int64), 40)
    pauses = [
        np.concatenate([rng.integers(0, 9, 30), np.zeros(n, int), rng.integers(0, 9, 9)])
        for n in rng.integers(0, 3000, 9)
    ]
    as_text = Preprocessing("gpt2", encoding="utf-8")
    makers: list[tuple[str, Callable[[], Any], Docs]] = [
        ("bpe of integers", lambda: BPE(150, n_threads=1), small),
        ("ubpe of integers", lambda: UBPE(150, 20, n_threads=1), small),
        ("shortest of walks", lambda: UBPE(60, 10, objective="shortest", n_threads=1), walks),
        ("classic of walks", lambda: UBPEClassic(60, 10, n_threads=1), walks),
        ("bpe of text", lambda: BPE(400, n_threads=1, preprocessing=as_text), text),
        (
            "shortest of text",
            lambda: UBPE(350, 10, objective="shortest", n_threads=1, preprocessing=as_text),
            text,
        ),
        ("bpe of pauses", lambda: BPE(60, n_threads=1), pauses),
        ("bpe of bytes", lambda: BPE(300, n_threads=1), dna),
        # a file in whose arrays a limit of memory is felt
        ("bpe of many", lambda: BPE(3000, n_threads=1), large),
        ("classic of many", lambda: UBPEClassic(500, 50, n_threads=1), large),
        ("shortest of many", lambda: UBPE(400, 50, objective="shortest", n_threads=1), large),
    ]
    known = [_known(name, make, docs, docs is not large) for name, make, docs in makers]
    fingerprints = {
        cls.__name__: frozenset(k.fingerprint for k in known if type(k.shared[0]) is cls) for cls in CLASSES
    }
    dense = [np.minimum(doc, 40) for doc in small]
    toks = BPE(120, alphabet=41), UBPE(120, 20, alphabet=41), UBPE(120, 20, alphabet=41, objective="shortest")
    refitted = [_refitted(tok, (dense, [40 - doc for doc in dense]), dense[:9]) for tok in toks]
    moving = rng.integers(0, 41, 50_000).astype(np.int32), np.arange(0, 50_001, 500)
    return Work(known, fingerprints, sum(docs is not large for _, _, docs in makers), refitted, moving)


def _refitted(tok: Any, corpora: tuple[Docs, Docs], docs: Docs) -> Refitted:
    models = (tok.fit(corpus, progress=False) for corpus in corpora)
    ids, fingerprints = zip(*((model.encode_batch(docs), model.fingerprint) for model in models), strict=True)
    return Refitted(tok, corpora, docs, ids, fingerprints)


def _known(name: str, make: Callable[[], Any], docs: Docs, small: bool) -> Known:
    tok = make().fit(docs, progress=False)
    pickled = pickle.dumps(tok)
    shared = tuple(pickle.loads(pickled).set_params(n_threads=n) for n in THREADS)
    refined = tok.refine(docs, progress=False).fingerprint if small and isinstance(tok, UBPE) else None
    return Known(name, make, shared, docs, tok.encode_batch(docs), tok.fingerprint, pickled, refined)


def file_names() -> dict[str, Any]:
    """The name of every file that jobs save to, and the class of the tokenizers in it."""
    return {
        f"{cls.__name__}-{i}{suffix}": cls for cls in CLASSES for i in range(SLOTS) for suffix in SUFFIXES
    }


def fill(work: Work, folder: pathlib.Path) -> None:
    """Save every file once."""
    for i, (name, cls) in enumerate(file_names().items()):
        of_class = [k for k in work.known if type(k.shared[0]) is cls]
        of_class[i % len(of_class)].shared[0].save(folder / name)


def check_files(work: Work, folder: pathlib.Path) -> Iterator[str]:
    """What is wrong with the files of a folder: left behind, missing, unreadable, or of another model than was saved."""
    names = file_names()
    found = {path.name for path in folder.iterdir()}
    yield from (f"{folder.name}: {name} was left behind" for name in sorted(found - names.keys()))
    for name, cls in names.items():
        try:
            fingerprint = cls.load(folder / name, n_threads=1).fingerprint
        except Exception as error:
            yield f"{folder.name}: {name}: {type(error).__name__}: {error}"
        else:
            if fingerprint not in work.fingerprints[cls.__name__]:
                yield f"{folder.name}: {name} is of a model that was never saved"


# ---------------------------------------------------------------------------------------------- jobs


def fit(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """A new tokenizer, on any number of threads."""
    known = rng.choice(work.known)
    tok = known.make().set_params(n_threads=rng.choice(THREADS)).fit(known.docs, progress=False)
    assert tok.set_params(n_threads=1).fingerprint == known.fingerprint, f"fit: {known.name}"


def fit_fewer(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """A fitted tokenizer once more, for fewer tokens: the first ones are the same, and it is as it was if that fails."""
    known = rng.choice([k for k in work.known if type(k.shared[0]) is BPE])
    tok = pickle.loads(known.pickled)
    before = known.shared[0].vocabulary
    size = (before.n_alphabet + len(before)) // 2
    tok.n_tokens = size
    try:
        tok.fit(known.docs, progress=False)
    except BaseException:
        assert len(tok._model.vocabulary) == len(before), (
            f"fit_fewer: {known.name} is changed by a fit that failed"
        )
        raise
    after = tok._model.vocabulary
    assert len(after) == size, f"fit_fewer: {known.name}"
    assert np.array_equal(after.merges, before.merges[: size - before.n_alphabet]), f"fit_fewer: {known.name}"


def encode(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """All documents, by a tokenizer that other threads use too."""
    known = rng.choice(work.known)
    found = rng.choice(known.shared).encode_batch(known.docs)
    same = np.array_equal(found.values, known.ids.values) and np.array_equal(found.offsets, known.ids.offsets)
    assert same, f"encode: {known.name}"


def encode_one(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Documents one by one."""
    known = rng.choice(work.known)
    tok = rng.choice(known.shared)
    for _ in range(20):
        i = rng.randrange(len(known.docs))
        assert np.array_equal(tok.encode(known.docs[i]), known.ids[i]), (
            f"encode_one: {known.name}, document {i}"
        )


def decode(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """All documents back."""
    known = rng.choice(work.known)
    found = rng.choice(known.shared).decode_batch(known.ids)
    assert len(found) == len(known.docs), f"decode: {known.name}"
    assert all(map(_equal, found, known.docs)), f"decode: {known.name}"


def save(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Over a file that other threads read and write."""
    known = rng.choice(work.known)
    name = f"{type(known.shared[0]).__name__}-{rng.randrange(SLOTS)}{rng.choice(SUFFIXES)}"
    known.shared[0].save(folder / name)


def load(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """A file is whole at any time."""
    name, cls = rng.choice(list(file_names().items()))
    tok = cls.load(folder / name, n_threads=1)
    assert tok.fingerprint in work.fingerprints[cls.__name__], f"load: {name}"


def refine(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Of small documents, on any number of threads."""
    known = rng.choice([k for k in work.known if k.refined is not None])
    found = rng.choice(known.shared).refine(known.docs, progress=False)
    assert found.set_params(n_threads=1).fingerprint == known.refined, f"refine: {known.name}"


def stream(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """A document in parts."""
    known = rng.choice(
        [k for k in work.known if type(k.shared[0]) is BPE and k.shared[0].preprocessing is None]
    )
    i = rng.randrange(len(known.docs))
    doc, sizes = known.docs[i], [rng.choice([0, 1, 7, 100]) for _ in range(50)]
    cuts = sorted({0, len(doc), *(min(len(doc), at) for at in itertools.accumulate(sizes))})
    parts = list(rng.choice(known.shared).stream().over([doc[a:z] for a, z in itertools.pairwise(cuts)]))
    found = np.concatenate(parts) if parts else np.empty(0, np.int32)
    assert np.array_equal(found, known.ids[i]), f"stream: {known.name}, document {i}"


def push(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Documents pushed in parts and decoded as ids come, by streams that a pickle may have carried."""
    known = rng.choice(
        [k for k in work.known if type(k.shared[0]) is BPE and k.shared[0].preprocessing is None]
    )
    i, tok = rng.randrange(len(known.docs)), rng.choice(known.shared)
    doc, stream, decoder, parts = known.docs[i], tok.stream(), tok.decode_stream(), []
    at = 0
    while at < len(doc):
        size = rng.choice([1, 7, 100, 1000])
        parts.append(stream.push(doc[at : at + size]))
        at += size
        if rng.random() < 0.1:
            stream = pickle.loads(pickle.dumps(stream))
    ids = [*parts, stream.finish()]
    assert np.array_equal(np.concatenate(ids), known.ids[i]), f"push: {known.name}, document {i}"
    back = [decoder.push(part) for part in ids] + [decoder.finish()]
    whole = b"".join(back) if isinstance(doc, bytes) else np.concatenate(back)
    assert _equal(whole, doc), f"push: {known.name}, document {i} decoded"


def fit_again(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """A tokenizer that other threads use."""
    known = rng.choice(work.refitted)
    known.shared.fit(rng.choice(known.corpora), progress=False)


def use_refitted(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Results are of the one model or the other, never of both."""
    known = rng.choice(work.refitted)
    tok, name = known.shared, type(known.shared).__name__
    assert tok.fingerprint in known.fingerprints, f"use_refitted: {name}: fingerprint"
    assert pickle.loads(pickle.dumps(tok)).fingerprint in known.fingerprints, f"use_refitted: {name}: pickle"
    assert tok.encode_batch(known.docs) in known.ids, f"use_refitted: {name}: encode_batch"
    i = rng.randrange(len(known.docs))
    one = tok.encode(known.docs[i])
    assert any(np.array_equal(one, ids[i]) for ids in known.ids), f"use_refitted: {name}: encode"
    counts = tok.count(known.docs)
    assert any(np.array_equal(counts, ids.lengths) for ids in known.ids), f"use_refitted: {name}: count"


def write(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Into arrays that other threads read."""
    values, offsets = work.moving
    for _ in range(200):
        at = rng.randrange(values.size)
        values[at : at + 50] = rng.choice([rng.randrange(41), rng.randrange(41), -1, 41, 2**31 - 1])
        values[at : at + 50] = rng.randrange(41)
        i = rng.randrange(offsets.size)
        was = 500 * i
        offsets[i] = rng.choice([was, -5, was + 700, 2**40])
        offsets[i] = was


def read_written(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Of arrays that change any ids of the vocabulary may come, or an error that names a symbol or offsets; never a crash."""
    values, offsets = work.moving
    tok = rng.choice(work.refitted).shared
    calls: list[Callable[[], Any]] = [
        lambda: tok.encode(values), lambda: tok.encode_batch(values, offsets).values, lambda: tok.count(values, offsets),
        lambda: tok.encode_batch(Ragged(values, offsets)).values, lambda: tok.decode(tok.encode(values[:5000])),
        lambda: tok.decode_batch(values, offsets).values,
        lambda: np.array(len(type(tok)(60, alphabet=41).fit(values, offsets=offsets, progress=False).vocabulary)),
    ]  # fmt: skip
    try:
        found = rng.choice(calls)()
    except (ValueError, TypeError):
        return
    assert found.size == 0 or found.min() >= 0, "read_written: an id below 0"


def count(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Distinct documents, in order."""
    known = rng.choice(work.known[: work.n_small])
    docs = [known.docs[i] for i in (rng.randrange(len(known.docs)) for _ in range(60))]
    keys = [doc if isinstance(doc, (str, bytes)) else tuple(doc.tolist()) for doc in docs]
    found = count_documents(docs)
    of_found = [doc if isinstance(doc, (str, bytes)) else tuple(doc) for doc in found.to_lists()]
    assert list(zip(of_found, found.weights.tolist(), strict=True)) == list(Counter(keys).items()), (
        f"count: {known.name}"
    )


def copy(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Through a pickle, as to another process."""
    known = rng.choice(work.known)
    tok = pickle.loads(pickle.dumps(rng.choice(known.shared)))
    assert tok.set_params(n_threads=1).fingerprint == known.fingerprint, f"copy: {known.name}"


def references(work: Work, rng: Random, folder: pathlib.Path) -> None:
    """Small cases of the fuzzers, by plain Python; but for those that set a constant, which other threads would see."""
    i = rng.randrange(2**40)
    case = encode_cases.make(i)
    total = sum(map(len, case.docs))
    if total < 600 and not fuzz_encode.on_threads(case):
        for check in case.checks:
            fuzz_encode.compare(case, check, encode_cases.WANTED[check](case), f"make({i})")
    problem = fit_problems.make(i)
    if problem.docs and sum(map(len, problem.docs)) < 100:
        fuzz_fit.check(problem, fit_problems.learn(problem), fuzz_fit.plain, rng)


def _equal(found: Any, wanted: Any) -> bool:
    return found == wanted if isinstance(wanted, (str, bytes)) else np.array_equal(found, wanted)


Job = Callable[[Work, Random, pathlib.Path], None]
READING: list[Job] = [encode, encode_one, decode, load, stream, push, count, copy, use_refitted]
JOBS: list[Job] = [
    *(
        fit,
        fit_fewer,
        encode,
        encode,
        encode_one,
        decode,
        save,
        load,
        refine,
        stream,
        push,
        count,
        copy,
        references,
    ),
    *(fit_again, use_refitted, write, read_written),
]
