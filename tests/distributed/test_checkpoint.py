"""Fits that are continued from a checkpoint, whenever they ended, give the merges of one that did not end."""

from pathlib import Path
from typing import Any

import dask.array
import numpy as np
import pytest
from remote_fits import InProcess, Losing, Place, Sizes, chaos, cut, endless, here, same, settings_of
from tables import refuses

from ubpe_numba import BPE, UBPE
from ubpe_numba.distributed import fit, remote_text
from ubpe_numba.distributed.host import Host
from ubpe_numba.distributed.remote_text import Checkpoint, fit_remotely
from ubpe_numba.documents.read import as_corpus
from ubpe_numba.runtime.messages import Progress
from ubpe_numba.vocabulary.alphabet import Alphabet


def at(end: int) -> Any:
    """A fate for which the client ends at a message."""

    def fate(number: int, method: str, host: int) -> None:
        if number == end:
            raise KeyboardInterrupt

    return fate


def run(engine: Any, goes_on: Any, size: int, plan: Any, path: Path) -> Any:
    saved = Checkpoint(path, {"parameters": "p"})
    saved.cuts = [0]
    parts = engine.ask("part")
    saved.agree(corpus=[check for part in parts for check in part.checks])
    return fit_remotely(engine, parts, Alphabet.dense(size), plan, Progress(False), goes_on, saved)


@pytest.mark.parametrize("seed", range(4))
def test_a_fit_that_ends_anywhere_is_continued(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    weights, n_candidates = bool(seed % 2), (1, 3)[seed // 2 % 2]
    docs = [
        [0] * 19,
        [*rng.integers(0, 3, 40).tolist(), *[1, 2] * 6],
        [2, 1, 1, 2],
        [],
        rng.integers(0, 3, 60).tolist(),
    ]
    places = [Place(0, True, 9), Place(0, True, 10), Place(1, True, 15), Place(4, True, 31)]
    given = [3, 2**33, 1, 5, 1] if weights else None
    plan = settings_of(14, n_candidates, 1, 2, min_count=1)
    want = here(as_corpus(docs, sample_weight=given), 3, plan)
    parts, goes_on = cut(docs, places, given)
    monkeypatch.setattr(remote_text, "EVERY", 0.0)
    endless(monkeypatch)
    Sizes(positions=1.03, batch=0, most=4, moves=True, room=1, one_epoch=False).patch(monkeypatch)
    n = Losing(parts, at(-1))
    same(run(n, goes_on, 3, plan, tmp_path / "whole")[0], want)
    for number, end in enumerate(range(int(rng.integers(len(parts), 20)), n.n_messages, 31)):
        path = tmp_path / str(number)
        with pytest.raises(KeyboardInterrupt):
            run(Losing(parts, at(end)), goes_on, 3, plan, path)
        same(run(Losing(parts, chaos(rng, 0.05, len(parts))), goes_on, 3, plan, path)[0], want)
        same(run(Losing(parts, at(-1)), goes_on, 3, plan, path)[0], want)  # and from the end


def test_a_long_token_lies_over_the_cut_of_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host of one shard is continued as one of three, whose cuts are in tokens."""
    docs, path = [[0, 1, 2, 3] * 60, [0, 1] * 31], tmp_path / "saved"
    monkeypatch.setattr(remote_text, "EVERY", 0.0)
    for end in (4, 7, 9, 11):
        path.unlink(missing_ok=True)
        with pytest.raises(KeyboardInterrupt):
            run(Losing([as_corpus(docs)], at(end)), [(False, False)], 4, settings_of(12), path)
        found = run(
            Losing([as_corpus(docs)], at(-1)), [(False, False)], 4, settings_of(12, n_shards=3), path
        )[0]
        same(found, here(as_corpus(docs), 4, settings_of(12)))


def test_another_fit_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, plan = tmp_path / "saved", settings_of(6)
    parts = [as_corpus([[0, 1, 0, 1, 2, 0, 1]]), as_corpus([[1, 2]])]
    run(InProcess([Host(part) for part in parts]), [(False, False)] * 2, 3, plan, path)
    other = [parts[0], as_corpus([[2, 1]])]
    with pytest.raises(
        ValueError,
        match=r"^checkpoint: .*saved: was made with another corpus, partition 1: \d+, now \d+\. Remove",
    ):
        run(InProcess([Host(part) for part in other]), [(False, False)] * 2, 3, plan, path)
    refuses(
        ValueError,
        r"^checkpoint: .*: was made with another parameters: p, now q",
        Checkpoint,
        path,
        {"parameters": "q"},
    )
    monkeypatch.setattr(remote_text, "BUILD", "ubpe-numba 9")
    with pytest.raises(
        ValueError, match=r"^checkpoint: .*: was made with another version: ubpe-numba .*, now ubpe-numba 9"
    ):
        Checkpoint(path, {"parameters": "p"})
    for data in (b"", b"PK", path.read_bytes()[:-30]):
        path.write_bytes(data)
        refuses(ValueError, r"^checkpoint: .*saved: not a checkpoint", Checkpoint, path, {"parameters": "p"})


def test_a_checkpoint_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    engine = InProcess([Host(as_corpus([[0, 1, 0, 1]]))])
    with pytest.warns(UserWarning, match="^checkpoint: .*nowhere/saved: not written"):
        found, _ = run(engine, [(False, False)], 2, settings_of(3), tmp_path / "nowhere" / "saved")
    assert found.pairs.tolist() == [[0, 1]]


@pytest.mark.filterwarnings("ignore:every idf is 0:UserWarning")
def test_on_a_cluster(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).integers(0, 4, 6000)
    parts, want = dask.array.from_array(values, 1500), UBPE(60, n_candidates=4).fit([values], progress=False)
    monkeypatch.setattr(remote_text, "EVERY", 0.0)
    saves: list[int] = []
    save = Checkpoint.save

    def ending(self: Checkpoint, text: Any) -> None:
        save(self, text)
        saves.append(1)
        if len(saves) == 9:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "save", ending)
    refuses(
        KeyboardInterrupt,
        "",
        lambda: fit(UBPE(60, n_candidates=4), parts, client, checkpoint=tmp_path / "saved"),
    )
    tok = fit(UBPE(60, n_candidates=4), parts, client, checkpoint=tmp_path / "saved")
    assert tok.fingerprint == want.fingerprint and np.array_equal(tok.history_.counts, want.history_.counts)
    for other, message in ((BPE(60), "class"), (UBPE(61, n_candidates=4), "parameters")):
        with pytest.raises(ValueError, match=f"^checkpoint: .*: was made with another {message}"):
            fit(other, parts, client, checkpoint=tmp_path / "saved")
    with pytest.raises(ValueError, match="^checkpoint: with pretokenizer the fit runs here on counts. Save"):
        fit(BPE.for_text(300, pretokenizer="gpt2"), [["a"]], client, checkpoint=tmp_path / "saved")
