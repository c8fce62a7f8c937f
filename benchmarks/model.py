"""Do tokens help a model? A small causal transformer over the ids of each tokenizer, trained for equal seconds of a processor.

    pip install '.[torch]'                                        # torch on the CPU is enough
    UBPE_BENCH_DATA=data python benchmarks/model.py               # the whole grid: an hour and more a corpus
    UBPE_BENCH_DATA=data python benchmarks/model.py English:1024:4096 dna:32:256 --seconds 20 --seeds 0,1
    python benchmarks/tables.py                                   # the tables of the pages, from the results

A row is a corpus and sizes of vocabularies; results go to `results/model.json`, row by row, and replace those
of the same corpus, way, size, seconds and seed there. Protocol:

- Split by documents: a tenth to test, a tenth to validate, at random, the same for all. Signals are split in
  time, the last tenths, since neighbouring documents are alike. A tokenizer learns from the first 600,000
  symbols of the others, the model from all of them.
- Ways: `raw` (the symbols), `rank` (BPE), `masked` (the same, ids that `followers` forbids left out in training
  and in the test; of `rank` it is also tried in the test alone), `shortest`, `fewest` (`refine`), `likelihood` (`refine` by
  likelihood), `tfidf`. Of signals also `coarse` (levels with a largest error of 3) and `tolerant`
  (`SignalTokenizer`, the same error): they lose something, so their bits are compared with each other only.
- The model reads 128 ids: the last four joined by a matrix, then two layers of attention of width 64, AdamW,
  a cosine from 0.004, batches of 4. One thread; only the processor's seconds in steps count. It is validated
  four times on the way, and the best of these is tested.
- Bits: all ids of the one encoding of a document, its end included, each with at least 64 ids before it
  where there are; divided by the symbols of the document.
- The n-grams of `ubpe_numba.compare` learn from as many symbols as the model saw, at most all there are.
- Generation: 16 sequences of 64 ids, one id at a time, the whole context anew for each (no cache of keys).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import json
import multiprocessing
import os
import pathlib
import platform
import time
from typing import Any

import corpora
import numpy as np
from suite import common

from ubpe_numba import BPE, UBPE, Ragged, compare
from ubpe_numba.signals import SignalTokenizer

RESULTS = pathlib.Path(__file__).parent / "results" / "model.json"
SIGNALS = ("ecg", "wav")
CORPORA = ("English", "Chinese", "Russian", "Python", "dna", *SIGNALS)
SIZES = (64, 256, 1024, 4096, 16384)
WAYS = ("raw", "rank", "masked", "shortest", "fewest", "likelihood", "tfidf", "coarse", "tolerant")
ERROR = 3  # levels, of `coarse` and `tolerant`
LEARN, VALIDATE, TEST, MOST = 600_000, 15_000, 60_000, 4_000_000  # symbols
CONTEXT, BATCH, WIDTH, LAYERS, HEADS, RATE = 128, 4, 64, 2, 2, 4e-3


def main() -> None:
    """Run the rows that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    whole = [":".join([name, *map(str, SIZES)]) for name in CORPORA]
    parser.add_argument("rows", nargs="*", default=whole, help="corpus:size:size..., of %(default)s")
    parser.add_argument("--ways", default=",".join(WAYS), help="some of %(default)s")
    parser.add_argument("--seconds", default="10,30,90", help="budgets: %(default)s")
    parser.add_argument("--seeds", default="0,1", help="%(default)s")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="%(default)s")
    parser.add_argument("--out", type=pathlib.Path, default=RESULTS, help="%(default)s")
    options = parser.parse_args()
    budgets = [float(s) for s in options.seconds.split(",")]
    seeds = [int(s) for s in options.seeds.split(",")]
    jobs = []
    for row in options.rows:
        name, *sizes = row.split(":")
        for way in options.ways.split(","):
            if way in ("coarse", "tolerant") and name not in SIGNALS:
                continue
            for size in ["0"] if way in ("raw", "coarse") else sizes:
                jobs.append((name, way, int(size), budgets, seeds))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "UBPE_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"  # of the processes that work
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.processes, context) as pool:
        for done in concurrent.futures.as_completed([pool.submit(job, *arguments) for arguments in jobs]):
            keep(options.out, done.result())


def keep(path: pathlib.Path, rows: list[dict[str, Any]]) -> None:
    """Put rows into the results, in the place of earlier ones of the same settings."""
    key = ("corpus", "way", "size", "seconds", "seed")
    known = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    merged = {tuple(row[name] for name in key): row for row in [*known, *rows]}
    head = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{os.cpu_count()} CPUs, {platform.machine()}, Python {platform.python_version()}",
    }
    ordered = [merged[at] for at in sorted(merged)]
    lines = ",\n".join("  " + json.dumps(row) for row in ordered)
    path.write_text(json.dumps(head)[:-1] + f', "rows": [\n{lines}\n]}}\n', encoding="utf-8")


def job(name: str, way: str, size: int, budgets: list[float], seeds: list[int]) -> list[dict[str, Any]]:
    """The rows of one tokenizer."""
    parts, source = split(name)
    wide = 2 * ERROR + 1 if way == "coarse" else 1
    raw = [Ragged(part.values // wide, part.offsets) for part in parts]
    n_alphabet = 1 + max(int(part.values.max()) for part in raw)
    learn = raw[0][: until(raw[0], LEARN)].compact()
    began = time.process_time()
    tok = tokenizer(way, size, n_alphabet, learn)
    fit_seconds = time.process_time() - began
    documents = [part.to_lists() for part in raw] if way == "tolerant" else raw
    encoded = [tok.encode_batch(part).compact() for part in documents]
    symbols = [part.total for part in raw]
    mask = None
    if way in ("rank", "masked"):
        mask = np.ones((tok.vocab_size + 1,) * 2, bool)  # the end may stand anywhere
        mask[:-1, :-1] = tok.followers(np.arange(tok.vocab_size))
    rows = []
    for seconds in budgets:
        for seed in seeds:
            row: dict[str, Any] = {
                "corpus": name, "source": source, "way": way, "size": size, "seconds": seconds, "seed": seed,
                "ids": tok.vocab_size, "fit_seconds": round(fit_seconds, 1),
            }  # fmt: skip
            row |= trained(encoded, symbols, tok.vocab_size, seconds, seed, mask, way == "masked")
            budget = max(1, min(row["symbols_seen"], symbols[0]))
            table = compare(documents[0], {way: tok}, held_out=documents[2], symbols=budget)
            row |= {
                column: round(float(getattr(table, column)[1]), 4)
                for column in ("tokens_per_1000", "unigram", "order_3", "best", "order", "unused")
            }
            print(json.dumps(row), flush=True)
            rows.append(row)
    return rows


def split(name: str) -> tuple[list[Ragged], str]:
    """Documents to train on, to validate on and to test on, symbols numbered from 0, and where they come from."""
    if name in corpora.TEXTS:
        text, source = corpora.text(name, MOST)
        data = text.encode()
        pieces = [part for part in data.split(b"\0") if part] if b"\0" in data else pages(data)
        values = np.frombuffer(b"".join(pieces), np.uint8)
        offsets = np.cumsum([0, *map(len, pieces)])
    else:
        corpus = common.load(name)
        source = corpus.source
        if name == "ecg":  # of a heartbeat each
            corpus = corpus.cut(3600)
        values, offsets = corpus.values, np.asarray(corpus.offsets, np.int64)
    if name not in SIGNALS:
        values = np.unique(values, return_inverse=True)[1]
    whole = Ragged(values.astype(np.int32), offsets.astype(np.int64))
    n, tenth = len(whole), len(whole) // 10
    order = np.arange(n) if name in SIGNALS else np.random.default_rng(0).permutation(n)
    cuts = (order[: n - 2 * tenth], order[n - 2 * tenth : n - tenth], order[n - tenth :])
    most = (MOST, VALIDATE, TEST)
    parts = [whole.take(part) for part in cuts]
    return [part[: until(part, m)].compact() for part, m in zip(parts, most, strict=True)], source


def pages(text: bytes) -> list[bytes]:
    """Lines of a text, joined to documents of 2000 bytes or more."""
    found, size = [[]], 0
    for line in text.splitlines(keepends=True):
        found[-1].append(line)
        size += len(line)
        if size >= 2000:
            found.append([])
            size = 0
    return [b"".join(lines) for lines in found if lines]


def until(documents: Ragged, symbols: int) -> int:
    """How many of the first documents have so many symbols."""
    return int(np.searchsorted(np.cumsum(documents.lengths), symbols)) + 1


def tokenizer(way: str, size: int, n_alphabet: int, learn: Ragged) -> Any:
    """A tokenizer of a way, fitted; of raw symbols one without merges."""
    options: dict[str, Any] = {"alphabet": n_alphabet, "n_threads": 1}
    if way in ("raw", "coarse"):
        return BPE.from_merges(np.zeros((0, 2), np.int64), **options)
    if way in ("rank", "masked"):
        return BPE(size, **options).fit(learn, progress=False)
    if way == "tolerant":
        tok = SignalTokenizer(size, step=1, tolerance=ERROR, objective="bits", n_threads=1)
        return tok.fit(learn.to_lists(), low=0, high=n_alphabet - 1, progress=False)
    if way == "tfidf":
        return UBPE(size, 1, **options).fit(learn, progress=False)
    plain = UBPE(size, 1, objective="shortest", **options).fit(learn, progress=False)
    if way == "shortest":
        return plain
    return plain.refine(learn, objective={"fewest": "shortest"}.get(way, way), progress=False)


def stream(documents: Ragged, end: int, order: np.ndarray | None = None) -> np.ndarray:
    """Ids of documents, in an order, with an end before the first and after each: int64."""
    documents = documents if order is None else documents.take(order).compact()
    return np.insert(documents.values.astype(np.int64), documents.offsets, end)


def trained(
    encoded: list[Ragged],
    symbols: list[int],
    n_ids: int,
    seconds: float,
    seed: int,
    mask: np.ndarray | None,
    always: bool,
) -> dict[str, Any]:
    """Train, test and sample from a model; `always`: with the mask, otherwise it is tried in the test."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    train = stream(encoded[0], n_ids, rng.permutation(len(encoded[0])))
    validate, test = (stream(part, n_ids) for part in encoded[1:])
    model = transformer(n_ids + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.03)
    allowed = None if mask is None else torch.from_numpy(mask)
    usual = allowed if always else None
    tail = np.full(max(0, CONTEXT + 2 - train.size), n_ids)
    train = np.concatenate([train, tail])

    def step(rate: float) -> None:
        starts = rng.integers(0, train.size - CONTEXT, BATCH)
        rows = torch.from_numpy(np.stack([train[i : i + CONTEXT + 1] for i in starts]))
        optimizer.param_groups[0]["lr"] = rate
        logits = model(rows[:, :-1], usual)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    step(0.0)  # warm
    used, n_steps, best, checks = 0.0, 0, (np.inf, {}, 0.0), [0.25, 0.5, 0.75, 1.0]
    while checks:
        share = min(1.0, used / seconds)
        rate = RATE * min(1.0, (n_steps + 1) / 40) * (0.05 + 0.475 * (1 + np.cos(np.pi * share)))
        began = time.process_time()
        step(rate)
        used += time.process_time() - began
        n_steps += 1
        if used >= checks[0] * seconds:
            checks.pop(0)
            now = total_bits(model, validate, usual) / symbols[1]
            if now < best[0]:
                best = now, {key: value.clone() for key, value in model.state_dict().items()}, used
    model.load_state_dict(best[1])
    n_tokens = n_steps * BATCH * CONTEXT
    per_token = symbols[0] / encoded[0].total
    rate_of_ids = generation(model, n_ids)
    more = {} if mask is None else {"bits_masked": round(total_bits(model, test, allowed) / symbols[2], 4)}
    return more | {
        "bits": round(total_bits(model, test, usual) / symbols[2], 4), "validation": round(best[0], 4),
        "best_at": round(best[2], 1), "parameters": sum(p.numel() for p in model.parameters()), "steps": n_steps,
        "tokens_seen": n_tokens, "symbols_seen": int(n_tokens * per_token), "symbols_per_token": round(per_token, 3),
        "training_tokens_per_second": round(n_tokens / used), "generated_tokens_per_second": round(rate_of_ids),
        "context_symbols": round(CONTEXT * per_token),
    }  # fmt: skip


def transformer(n_ids: int) -> Any:
    """The model: logits float32[b, t, n_ids] of the next id, for ids int64[b, t]."""
    import torch
    from torch import nn

    def norm(x: Any) -> Any:
        return nn.functional.rms_norm(x, x.shape[-1:])

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
            self.up, self.down = (
                nn.Linear(WIDTH, 4 * WIDTH, bias=False),
                nn.Linear(4 * WIDTH, WIDTH, bias=False),
            )
            for last in (self.out, self.down):
                nn.init.normal_(last.weight, std=(2 * LAYERS * last.in_features) ** -0.5)

        def forward(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = (part.view(b, t, HEADS, -1).transpose(1, 2) for part in self.qkv(norm(x)).chunk(3, -1))
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(b, t, WIDTH))
            return x + self.down(nn.functional.relu(self.up(norm(x))).square())

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ids = nn.Parameter(torch.randn(n_ids, WIDTH) * 0.05)
            self.near = nn.Linear(4 * WIDTH, WIDTH, bias=False)
            self.places = nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
            self.bias = nn.Parameter(torch.zeros(n_ids))
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])

        def forward(self, ids: Any, mask: Any = None) -> Any:
            t = ids.shape[1]
            e = norm(self.ids[ids])
            near = torch.cat([nn.functional.pad(e, (0, 0, k, 0))[:, :t] for k in range(4)], -1)
            x = e + self.places[:t] + self.near(near)
            for block in self.blocks:
                x = block(x)
            logits = norm(x) @ self.ids.T + self.bias
            return logits if mask is None else logits.masked_fill(~mask[ids], -1e9)

    return Model()


def total_bits(model: Any, ids: np.ndarray, mask: Any) -> float:
    """The bits of all ids but the first, each with half a context before it where there is."""
    import torch

    half = CONTEXT // 2
    n = ids.size - 1
    starts = np.arange(0, max(n - half, 1), half)
    padded = np.concatenate([ids, np.zeros(CONTEXT, np.int64)])
    rows = np.stack([padded[a : a + CONTEXT + 1] for a in starts])
    total = 0.0
    with torch.no_grad():
        for i in range(0, len(rows), 16):
            part = torch.from_numpy(rows[i : i + 16])
            logits = model(part[:, :-1], mask).transpose(1, 2)
            losses = torch.nn.functional.cross_entropy(logits, part[:, 1:], reduction="none").double().numpy()
            for start, loss in zip(starts[i : i + 16], losses, strict=True):
                total += loss[0 if start == 0 else half : n - start].sum()
    return float(total / np.log(2))


def generation(model: Any, end: int) -> float:
    """Ids a second of the processor."""
    import torch

    ids = torch.full((16, 1), end)
    began = time.process_time()
    with torch.no_grad():
        for _ in range(64):
            logits = model(ids)[:, -1]
            logits[:, end] = -torch.inf
            ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1)], 1)
    return 16 * 64 / (time.process_time() - began)


if __name__ == "__main__":
    main()
