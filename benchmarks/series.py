"""Classification of series: bags of tokens beside BOSS, WEASEL 2 and MiniRocket of aeon, as a table in Markdown.

Data sets are those that aeon ships, and the files `<name>_TRAIN.tsv` and `<name>_TEST.tsv` of the UCR archive in the folder
`UBPE_BENCH_UCR`, where that is set: all of series of one length, without missing values, up to `--values` values. Resample 0 is
the archive's split; others keep the number of series of each class in both halves, drawn with the number as seed. Settings are
the same for all data sets; those of this library were chosen on `CHOSEN_ON` only, which the averages leave out.

Every result is a line of the file `--results`; what stands there is not run again. A method that does not finish all resamples of
a data set within `--limit` seconds has no result for it. Seconds count fits and predictions, of all resamples.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pathlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from ubpe_numba.signals import SignalTokenizer
from ubpe_numba.sklearn import SeriesBag

#: Whose results decided the settings of bags of tokens.
CHOSEN_ON = (
    *("ArrowHead", "GunPoint", "ItalyPowerDemand", "OSULeaf", "CBF", "ECG200", "SwedishLeaf", "ToeSegmentation1", "Trace"),
    "SyntheticControl",
)
#: Data sets of the archive whose series have several lengths or gaps; copies of it hold versions that were filled.
ADJUSTED = ("AllGesture", "DodgerLoop", "GestureMidAir", "GesturePebble", "MelbournePedestrian", "PLAID", "Pickup", "Shake")
OURS = "SeriesBag"
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def normalised(X: np.ndarray) -> np.ndarray:
    """Every series with mean 0 and deviation 1."""
    return (X - X.mean(axis=1, keepdims=True)) / np.maximum(X.std(axis=1, keepdims=True), 1e-12)


def nearest(_seed: int) -> Any:
    return make_pipeline(FunctionTransformer(normalised), KNeighborsClassifier(1))


def bag(_seed: int) -> Any:
    return make_pipeline(SeriesBag(), RidgeClassifierCV(alphas=np.logspace(-3, 4, 12)))


def levels_only(_seed: int) -> Any:
    """The same without a merge: how often each level occurs, in the same views."""
    return make_pipeline(SeriesBag(n_tokens=1), RidgeClassifierCV(alphas=np.logspace(-3, 4, 12)))


class ToleranceBag:
    """Counts, as those of `SeriesBag`, of tokens that match within a tolerance: of means over 1, 2, 4 and 8 samples."""

    def fit(self, X: np.ndarray, _y: Any = None) -> ToleranceBag:
        self.made = []
        for window in (1, 2, 4, 8):
            values = self.means(X, window)
            low, high = float(values.min()), float(values.max())
            tok = SignalTokenizer(128, step=(high - low) / 16, tolerance=1, representation="both", n_threads=1)
            self.made.append((window, tok.fit(values, low=low, high=high)))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        blocks = []
        for window, tok in self.made:
            counts = np.zeros((len(X), 5, tok.n_tokens))  # of the whole, and of quarters
            for row, ids in zip(counts, tok.encode_batch(self.means(X, window), clip=True), strict=True):
                spans = tok.spans(ids)
                np.add.at(row, (1 + 2 * spans.sum(axis=1) // spans[-1, 1], ids), 1)  # by the middle of the token
                row[0] = row[1:].sum(axis=0)
            blocks.append(counts.reshape(len(X), -1))
        return np.log1p(np.hstack(blocks))

    @staticmethod
    def means(X: np.ndarray, window: int) -> np.ndarray:
        starts = np.arange(0, X.shape[1], window)
        return normalised(np.add.reduceat(X, starts, axis=1) / np.diff(starts, append=X.shape[1]))


def tolerance_bag(_seed: int) -> Any:
    return make_pipeline(ToleranceBag(), RidgeClassifierCV(alphas=np.logspace(-3, 4, 12)))


def minirocket(seed: int) -> Any:
    from aeon.classification.convolution_based import MiniRocketClassifier

    return MiniRocketClassifier(random_state=seed)


def weasel(seed: int) -> Any:
    from aeon.classification.dictionary_based import WEASEL_V2

    return WEASEL_V2(random_state=seed)


def boss(seed: int) -> Any:
    from aeon.classification.dictionary_based import BOSSEnsemble

    return BOSSEnsemble(random_state=seed)


METHODS: dict[str, Callable[[int], Any]] = {
    "nearest": nearest,
    "levels only": levels_only,
    OURS: bag,
    "within a tolerance": tolerance_bag,
    "MiniRocket": minirocket,
    "WEASEL 2": weasel,
    "BOSS": boss,
}


def data_sets(most: int) -> dict[str, Split]:
    """What there is, the smallest first."""
    found: dict[str, Split] = {}
    folder = os.environ.get("UBPE_BENCH_UCR")
    for path in sorted(pathlib.Path(folder).glob("*_TRAIN.tsv")) if folder else ():
        name = path.name.removesuffix("_TRAIN.tsv")
        other = path.with_name(f"{name}_TEST.tsv")
        if not name.startswith(ADJUSTED) and other.exists():
            train, test = np.loadtxt(path), np.loadtxt(other)
            found[name] = train[:, 1:], train[:, 0].astype(int), test[:, 1:], test[:, 0].astype(int)
    for name in ("ACSF1", "ArrowHead", "GunPoint", "ItalyPowerDemand", "OSULeaf"):
        from aeon.datasets import load_classification

        (train, of_train), (test, of_test) = (load_classification(name, split=part) for part in ("train", "test"))
        labels = [np.unique(of, return_inverse=True)[1] for of in (of_train, of_test)]
        there = found.get(name)
        if there and not all(np.allclose(x, y[:, 0], atol=1e-4) for x, y in ((there[0], train), (there[2], test))):
            raise SystemExit(f"{name}: the file in {folder} is not the one that aeon has")
        found[name] = train[:, 0], labels[0], test[:, 0], labels[1]
    sizes = {name: (len(split[0]) + len(split[2])) * split[0].shape[1] for name, split in found.items()}
    whole = {name for name, split in found.items() if np.isfinite(split[0]).all() and np.isfinite(split[2]).all()}
    return {name: found[name] for name in sorted(whole, key=lambda name: (sizes[name], name)) if sizes[name] <= most}


def resample(split: Split, seed: int) -> Split:
    """The same number of series of each class in both halves, others; of seed 0 the split as it is."""
    if seed == 0:
        return split
    series, classes = np.concatenate(split[::2]), np.concatenate(split[1::2])
    rng = np.random.default_rng(seed)
    train = np.zeros(len(classes), bool)
    for label in np.unique(classes):
        members = np.flatnonzero(classes == label)
        train[rng.permutation(members)[: np.count_nonzero(split[1] == label)]] = True
    return series[train], classes[train], series[~train], classes[~train]


def _run(make: Callable[[int], Any], split: Split, n_resamples: int, out: Any) -> None:
    """Send the share of series whose class is found, of every resample, and seconds."""
    start, found = time.perf_counter(), []
    try:
        for seed in range(n_resamples):
            train, of_train, test, of_test = resample(split, seed)
            found.append(float(np.mean(make(seed).fit(train, of_train).predict(test) == of_test)))
    except Exception as error:  # of a peer that does not take the data
        out.send({"error": f"{type(error).__name__}: {error}"[:200]})
    else:
        out.send({"accuracy": found, "seconds": time.perf_counter() - start})


def accuracies(make: Callable[[int], Any], split: Split, n_resamples: int, limit: float) -> dict[str, Any]:
    """What `_run` sends from a process of its own, or why there is nothing."""
    context = multiprocessing.get_context("fork")  # what is imported and compiled is there
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(make, split, n_resamples, send))
    process.start()
    send.close()
    try:
        return receive.recv() if receive.poll(limit) else {"error": f"limit of {limit} s"}
    except EOFError:
        process.join()
        return {"error": f"the process ended with {process.exitcode}"}
    finally:
        process.kill()
        process.join()


def read(path: pathlib.Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The results that there are, by data set and method; the last line counts."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {(row["data"], row["method"]): row for row in map(json.loads, lines)}


def table(rows: dict[tuple[str, str], dict[str, Any]], methods: list[str]) -> Iterator[str]:
    """Markdown: a line a data set, averages over those that all methods have finished, and how often `OURS` is ahead."""
    names = list(dict.fromkeys(data for data, _ in rows))
    yield "| data set | " + " | ".join(methods) + " |\n|" + " --- |" * (len(methods) + 1)
    means: dict[str, list[float]] = {}
    for name in names:
        found = [rows.get((name, method), {}).get("accuracy") for method in methods]
        means[name] = [float(np.mean(one)) if one else np.nan for one in found]
        best = np.nanmax(means[name])
        cells = ["-" if np.isnan(x) else f"**{100 * x:.1f}**" if x == best else f"{100 * x:.1f}" for x in means[name]]
        yield f"| {name}{' *' if name in CHOSEN_ON else ''} | " + " | ".join(cells) + " |"
    judged = np.array([means[name] for name in names if name not in CHOSEN_ON])
    whole = judged[~np.isnan(judged).any(axis=1)]
    ranks = np.array([[np.sum(row > x) + (np.sum(row == x) + 1) / 2 for x in row] for row in whole])
    yield f"| mean of {len(whole)} without * | " + " | ".join(f"{100 * x:.1f}" for x in whole.mean(axis=0)) + " |"
    yield f"| mean rank of {len(whole)} without * | " + " | ".join(f"{x:.2f}" for x in ranks.mean(axis=0)) + " |"
    if OURS in methods:
        ours = judged[:, methods.index(OURS)]
        cells = [f"{(ours > x).sum()} / {(ours == x).sum()} / {(ours < x).sum()}" for x in judged.T]
        yield f"| {OURS} is better / equal / worse | " + " | ".join(cells) + " |"
    seconds = [sum(row.get("seconds", 0) for (_, one), row in rows.items() if one == method) for method in methods]
    yield "| seconds of what finished | " + " | ".join(f"{x:.0f}" for x in seconds) + " |"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    usual = ",".join(name for name in METHODS if name != "within a tolerance")
    parser.add_argument("--methods", default=usual, help="in the order of the table: %(default)s")
    parser.add_argument("--values", type=int, default=130_000, help="of a data set, at most: %(default)s")
    parser.add_argument("--resamples", type=int, default=3, help="%(default)s")
    parser.add_argument("--limit", type=float, default=90, help="seconds for a method and a data set: %(default)s")
    parser.add_argument("--minutes", type=float, default=40, help="nothing is begun after that: %(default)s")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("series.jsonl"), help="%(default)s")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of peers
    methods, end = options.methods.split(","), time.monotonic() + 60 * options.minutes
    for name, split in data_sets(options.values).items():
        for method in methods:
            if (name, method) in read(options.results) or time.monotonic() > end:
                continue
            row = {"data": name, "method": method} | accuracies(METHODS[method], split, options.resamples, options.limit)
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    print("\n".join(table(read(options.results), methods)))


if __name__ == "__main__":
    main()
