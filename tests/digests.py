"""The net under changes of structure: hashes of what fits, encodings, decodings and files give on drawn inputs.

Only public calls are used, but for the sizes that force small shards, sweeps and sorted counting. `python
tests/digests.py` compares them with the table that `digests.json` holds; with `--write` it replaces the file,
which is right only where results are meant to change. It takes some seconds with a warm cache of kernels.
"""

import contextlib
import gzip
import hashlib
import json
import pathlib
import string
import sys
import warnings
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic, WordPiece
from ubpe_numba.bounds import boundary_probabilities, encode_nbest, lower_bound
from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.text import Normalizer
from ubpe_numba.text.cut import PATTERNS

TABLE = pathlib.Path(__file__).with_name("digests.json")
SIZES = (2, 5, 40, 300)  # of alphabets, one a seed
TEXT = pathlib.Path(__file__).parent.parent / "docs" / "data" / "kjv_genesis_exodus.txt.gz"


def digest(*values: Any) -> str:
    """A hash of arrays, batches of ids and whatever has a `repr`; floats are rounded to nine decimals."""
    found = hashlib.sha256()
    for value in values:
        if isinstance(value, Ragged):
            whole = value.compact()
            found.update(whole.values.tobytes() + whole.offsets.tobytes())
        elif isinstance(value, np.ndarray):
            found.update(
                np.ascontiguousarray(np.round(value, 9) if value.dtype.kind == "f" else value).tobytes()
            )
        elif isinstance(value, (tuple, list)) and any(isinstance(part, np.ndarray) for part in value):
            found.update(digest(*value).encode())
        else:
            found.update(repr(value).encode())
    return found.hexdigest()[:12]


def drawn(rng: Random, size: int, n: int, longest: int) -> list[list[int]]:
    """Documents of symbols below `size`: evenly drawn, of one symbol, periodic, of few frequent ones."""
    docs = []
    for _ in range(n):
        length, kind = rng.randrange(longest), rng.randrange(4)
        period = [rng.randrange(size) for _ in range(rng.randrange(1, 6))]
        docs.append(
            [rng.randrange(size) for _ in range(length)] if kind == 0
            else [rng.randrange(size)] * length if kind == 1
            else (period * length)[:length] if kind == 2
            else [min(int(rng.expovariate(1.0)), size - 1) for _ in range(length)]
        )  # fmt: skip
    return docs


def corpus(seed: int) -> tuple[int, list[list[int]]]:
    """The size of the alphabet and the documents of a seed."""
    size = SIZES[seed]
    return size, drawn(Random(seed), size, 40, (60, 200, 120, 90)[seed])


def others(seed: int) -> list[list[int]]:
    """Documents to encode."""
    return drawn(Random(seed + 99), SIZES[seed], 60, 150)


def text() -> bytes:
    """The first verses of Genesis."""
    return gzip.decompress(TEXT.read_bytes())[:120_000]


@contextlib.contextmanager
def sizes(n_shards: int, dense: int, swept: int) -> Iterator[None]:
    """Fits on two threads with so many shards, dense tables of pairs up to so many tokens, sweeps from so many symbols on."""
    from ubpe_numba.fitting import fit as loop
    from ubpe_numba.fitting.kernels import text_cells as cells

    kept = loop.plan, cells.DENSE, loop.SWEPT
    loop.plan, cells.DENSE, loop.SWEPT = lambda *_: (2, n_shards), dense, swept
    try:
        yield
    finally:
        loop.plan, cells.DENSE, loop.SWEPT = kept


def learned(tok: Any) -> str:
    """A hash of what a fit leaves."""
    found = tok._model.vocabulary
    history = getattr(tok, "history_", None)
    lengths = () if history is None else (history.lengths,)
    return digest(
        tok.fingerprint, found.merges, found.counts, found.document_frequencies, found.weights, *lengths
    )


def fits(seed: int, ties: str, classic: bool, marked: bool) -> str:
    """Fits with 1 to 64 shards; `marked`: with weights, boundaries and a longest token."""
    size, docs = corpus(seed)
    rng = Random(seed + 7)
    weights = [rng.choice([0, 1, 2, 7, 2**33]) for _ in docs]
    cuts = [sorted(rng.sample(range(len(doc) + 1), min(2, len(doc)))) for doc in docs]
    cls: Any = UBPEClassic if classic else BPE
    options: dict[str, Any] = {"n_candidates": 7} if classic else {}
    if marked:
        rules = FitRules(ties=ties, max_token_length=(None, 4, 3, 9)[seed])  # type: ignore[arg-type]
        options["n_tokens"] = size + 40
    else:
        rules = FitRules(ties=ties, min_count=1 + seed % 2)  # type: ignore[arg-type]
        options["n_tokens"] = size + 60
    found = []
    for way in ((1, 1024, 10**9), (5, 0, 1500), (64, 1024, 10**9)):
        with sizes(*way):
            tok = cls(alphabet=size, rules=rules, **options)
            given = {"sample_weight": weights, "boundaries": cuts} if marked else {}
            found.append(learned(tok.fit(docs, progress=False, **given)))
    assert len(set(found)) == 1, "the number of shards changes nothing"
    return found[0]


def rules(seed: int, preset: str) -> str:
    """Fits of the universal classes by the rules of the author's own packages."""
    size, docs = corpus(seed)
    found = []
    for cls in (UBPEClassic, UBPE):
        tok: Any = cls(size + 50, alphabet=size, n_candidates=5, rules=getattr(FitRules, preset))
        try:
            tok.fit(docs, progress=False)
        except ValueError as error:  # trimming as in the original leaves pairs that point nowhere
            found.append(type(error).__name__)
        else:
            found += [learned(tok), tok.encode_batch(others(seed))]
    return digest(*found)


def streamed(tok: Any, doc: list[int]) -> list[np.ndarray]:
    """The ids of a document that comes in chunks of five."""
    stream = tok.stream()
    return [*(stream.push(doc[at : at + 5]) for at in range(0, len(doc), 5)), stream.finish()]


def ranked(seed: int) -> str:
    """Encoding by merge rank: batches, single documents twice, dropout, batch rule, spans, decoding."""
    size, docs = corpus(seed)
    tok = BPE(size + 60, alphabet=size).fit(docs, progress=False)
    batch = UBPEClassic(size + 60, alphabet=size, n_candidates=7, rules=FitRules(encode="batch")).fit(
        docs, progress=False
    )
    given = others(seed)
    ids = tok.encode_batch(given)
    spans = tok.spans(given)
    used = tok.usage(given)
    return digest(
        ids, batch.encode_batch(given), *[tok.encode(doc) for doc in given[:20]], *[tok.encode(doc) for doc in given[:20]],
        tok.encode_batch(given, sample=0.3, seed=3), tok.decode_batch(ids), spans.starts, used.counts, used.document_frequencies,
        *tok.encode(given[1], return_offsets=True), tok.truncate(size + 20).encode_batch(given),
        tok.encode_batch(given, boundaries=[[len(doc) // 2] for doc in given]), *streamed(tok, given[2]),
        *tok.encode_iter(given[:9]),
    )  # fmt: skip


def paths(seed: int) -> str:
    """Encoding by the best path, the n best, sampling, by all objectives."""
    size, docs = corpus(seed)
    given = others(seed)
    found: list[Any] = []
    for objective in ("tfidf", "shortest", "additive", "likelihood"):
        tok: Any = UBPE(size + 60, alphabet=size, objective=objective).fit(docs, progress=False)
        ids = tok.encode_batch(given)
        best = tok.encode_nbest([given[3][:60]], 4)[0]
        found += [ids, tok.decode_batch(ids), best, *[tok.encode(doc) for doc in given[:9]]]
        if objective in ("additive", "likelihood"):
            found.append(tok.encode_batch(given, sample=0.3, seed=5))
    more = BPE(size + 20, alphabet=size).fit(docs, progress=False).fit_more(given, size + 50, progress=False)
    found += [
        learned(more),
        learned(UBPE(size + 30, alphabet=size, rules=FitRules(order="idf")).fit(docs, progress=False)),
    ]
    return digest(*found)


def refined(seed: int) -> str:
    """The vocabularies of fewest tokens and of the likeliest."""
    size, docs = corpus(seed)
    tok = UBPE(size + 40, alphabet=size, objective="shortest").fit(docs, progress=False)
    made = [tok.refine(docs, objective=objective, progress=False) for objective in ("shortest", "likelihood")]
    made.append(tok.reweight(docs, progress=False))
    return digest(*map(learned, made), *(one.encode_batch(others(seed)) for one in made))


def whole(seed: int) -> str:
    """Documents with mirrors, in frames, and with runs: fits with small shards and with large ones, and all that encodes."""
    size, docs = corpus(seed)
    given, found = others(seed), []
    symbols = Preprocessing(mirror={0: 1}), Preprocessing(mirror={}), Preprocessing(runs=[0])
    options: dict[Any, dict[str, Any]] = {
        BPE: {},
        UBPEClassic: {"n_candidates": 4},
        UBPE: {"objective": "shortest"},
    }
    ways = [(cls, way, None) for cls in options for way in symbols]
    for cls, preprocessing, frame in [*ways, (BPE, None, 4), (UBPE, None, 4)]:
        for way in ((1, 1024, 10**9), (7, 1024, 1000)):
            with sizes(*way):
                tok = cls(size + 40, alphabet=size, preprocessing=preprocessing, n_threads=2, **options[cls])
                tok.fit(docs, progress=False, **({"frame": frame} if frame else {}))
            ids = tok.encode_batch(given)
            found += [
                learned(tok),
                ids,
                tok.decode_batch(ids),
                *[tok.encode(doc) for doc in given[:9]],
                tok.spans(given).starts,
            ]
            found += [tok.count(given), *(streamed(tok, given[2]) if frame and cls is BPE else ())]
    return digest(*found)


def signals(representation: str) -> str:
    """Recordings within a tolerance, with a gap; their ids, what they decode to, and streams."""
    rng = np.random.default_rng(3)
    walks = [np.cumsum(rng.integers(-3, 4, n)).astype(float) for n in (700, 401, 35, 900)]
    walks[1][30:40] = np.nan
    tok = SignalTokenizer(120, max_error=2, representation=representation, n_threads=2).fit(
        walks, low=-120, high=120
    )
    ids = tok.encode_batch(walks)
    return digest(ids, *tok.decode_batch(ids), *[tok.encode(walk) for walk in walks])


def bounded(seed: int) -> str:
    """Bounds of fewest tokens, segmentations by probability, and the heaviest ones."""
    size, docs = corpus(seed)
    tok = UBPE(size + 30, alphabet=size).fit(docs, progress=False)
    best = encode_nbest(tok, [doc[:25] for doc in docs[:5]], 3)
    chances = [boundary_probabilities(tok.reweight(docs, progress=False), doc) for doc in docs[:9]]
    return digest(lower_bound(tok, docs[:8], seconds=None, progress=False).tokens, best[0], *chances)


def words(pattern: str) -> str:
    """Text in words: a fit, and encodings of `str` and `bytes`, short, repeated and long, with special tokens."""
    whole = text()
    lines = whole.decode().split("\n")
    tok = BPE.for_text(600, pretokenizer=pattern, special_tokens=["<end>"]).fit(lines, progress=False)
    odd = ["", "a<end>b", "\u00e9\u4e2d\U0001f600  x", "ill \ud800", "a" * 300, "12 345.67\r\n\t"]
    ends = [
        part.encode()
        for part in ("\u56fd", "\u3042", "\U0001f600", "\u0301", "'LL", " ", "\n", "\t\r", "9", "Az", "!?")
    ]
    rng, parts = Random(pattern), [*ends, *(part[:n] for part in ends[:4] for n in (1, 2)), b"\x80", b"\xff"]
    hostile = [b"".join(rng.choices(parts, k=n)) for n in (3, 20, 70, 300) for _ in range(60)]
    ids = tok.encode_batch(odd, allowed_special="all", return_offsets=True)
    return digest(
        learned(tok), tok.encode_batch(lines[::3]), tok.encode(lines[5]), tok.encode(lines[5]), *ids, tok.decode(ids[0][1]),
        tok.decode(tok.encode(whole[:3000].decode())), tok.encode_batch([b"\xff\xfe", b"a\xc3", *hostile]),
        *tok.encode_iter(lines[:40]),
    )  # fmt: skip


def pieces() -> str:
    """Text by the longest piece, by characters, with a normalizer, with break tokens and symbols that are not known."""
    lines = text().decode().split("\n")
    letters = string.ascii_lowercase
    vocab = ["[UNK]", "[CLS]", "[SEP]", *letters, *("##" + letter for letter in letters), "the", "##ing"]
    piece = WordPiece(vocab)
    lower = BPE.for_text(400, normalizer=Normalizer(["NFKC", "Lowercase"])).fit(lines, progress=False)
    broken = BPE(300, preprocessing=Preprocessing(break_tokens=[0, 7], special_tokens={(9,): 299})).fit(
        [[0, 1, 2, 7, 1, 2, 7, 1, 2]], progress=False
    )
    universal = UBPE(200).fit(lines[:200], progress=False)
    return digest(
        piece.encode_batch([line.lower().split() for line in lines[:50]]), learned(lower), lower.encode_batch(lines[:50]),
        learned(broken), broken.encode([1, 2, 7, 1, 2, 0]),
        learned(universal), universal.encode_batch(lines[:50]), universal.encode("\u4e2dthe", unknown="skip"),
    )  # fmt: skip


def one_document() -> str:
    """One long document of bytes, which is swept."""
    given = np.frombuffer(text(), np.uint8)
    made = []
    for n_shards in (1, 2, 13, 64):
        with sizes(n_shards, 1024, 1000):
            made.append(BPE(6000).fit([given], progress=False))
    assert len({tok.fingerprint for tok in made}) == 1
    return digest(learned(made[0]), made[0].encode(given), made[0].decode(made[0].encode(given)))


def cases() -> dict[str, Callable[[], str]]:
    """All computations of the table, by name."""
    made: dict[str, Callable[[], str]] = {}
    for seed in range(len(SIZES)):
        for ties in ("smallest", "first_seen", "fewest_documents"):
            for classic, marked in ((False, False), (False, True), (True, False), (True, True)):
                name = f"fits {seed} {ties} {'classic' if classic else 'BPE'}{' marked' if marked else ''}"
                made[name] = lambda s=seed, t=ties, c=classic, m=marked: fits(s, t, c, m)  # type: ignore[misc]
        for preset in ("ARTICLE", "PUBLISHED_0_2", "PUBLISHED_0_3"):
            made[f"rules {seed} {preset}"] = lambda s=seed, p=preset: rules(s, p)  # type: ignore[misc]
        made[f"ranked {seed}"] = lambda s=seed: ranked(s)  # type: ignore[misc]
        made[f"paths {seed}"] = lambda s=seed: paths(s)  # type: ignore[misc]
        made[f"refined {seed}"] = lambda s=seed: refined(s)  # type: ignore[misc]
        made[f"whole {seed}"] = lambda s=seed: whole(s)  # type: ignore[misc]
        made[f"bounded {seed}"] = lambda s=seed: bounded(s)  # type: ignore[misc]
    for kind in ("levels", "differences", "both", "auto"):
        made[f"signals {kind}"] = lambda k=kind: signals(k)  # type: ignore[misc]
    for pattern in PATTERNS:
        made[f"words {pattern}"] = lambda p=pattern: words(p)  # type: ignore[misc]
    made |= {"pieces": pieces, "one document": one_document}
    return made


def main(*arguments: str) -> None:
    """Print the table, or what differs from the stored one, of all or of these names; write it where that is asked for."""
    warnings.simplefilter("ignore")
    names = {name for name in arguments if name != "--write"} or cases().keys()
    found = {name: cases()[name]() for name in cases() if name in names}
    known = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    differ = [name for name in names if known.get(name) != found.get(name)]
    print(f"{len(found)} hashes, {len(differ)} differ from {TABLE.name}", *differ, sep="\n  ")
    if "--write" in arguments:
        TABLE.write_text(json.dumps(found, indent=1) + "\n")
    elif differ:
        sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
