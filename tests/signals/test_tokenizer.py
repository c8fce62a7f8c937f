"""`SignalTokenizer`: every sample within the bound, recordings in every form, gaps, streams, channels, files."""

import functools
import io
import itertools
import json
import pathlib
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from digests import digest
from hypothesis import given, settings, strategies as st
from tables import refuses

import ubpe_numba
from ubpe_numba import Ragged
from ubpe_numba.errors import ModelFormatError, NotFittedError
from ubpe_numba.runtime.files import npz_of
from ubpe_numba.signals import SignalTokenizer, learn

WAVE = np.round(20 * np.sin(np.arange(1200) / 7) + np.random.default_rng(0).normal(0, 0.8, 1200), 3)
NAMES = ("floats", "integers", "exact", "bits")


@functools.cache
def fitted(name: str) -> SignalTokenizer:
    """Tokenizers that several tests use."""
    options: dict[str, Any] = {"low": -40, "high": 40}
    whole = np.rint(WAVE).astype(np.int16)
    if name == "floats":
        return SignalTokenizer(60, max_error=1.0).fit(WAVE, unit="mV", sampling_rate=360, **options)
    if name == "integers":
        return SignalTokenizer(60, step=1, tolerance=2).fit(whole, **options)
    if name == "exact":
        return SignalTokenizer(120, step=1, tolerance=0, representation="levels").fit(whole, **options)
    tok = SignalTokenizer(60, max_error=2.0, tolerance=3, objective="bits", representation="differences")
    return tok.fit([WAVE, np.where(np.arange(1200) % 100 < 30, np.nan, WAVE)], **options)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=25)
def test_every_sample_is_within_the_bound_and_a_stream_gives_the_same_ids(name: str, data: Any) -> None:
    tok = fitted(name)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    n = data.draw(st.integers(0, 400))
    kind = data.draw(st.sampled_from(["walk", "wave", "noise", "flat"]))
    made = {"walk": np.cumsum(rng.normal(0, 2, n)), "wave": WAVE[:n], "noise": rng.uniform(-40, 40, n), "flat": np.full(n, 3.3)}
    x = np.clip(made[kind], -40, 40)
    x = np.rint(x).astype(np.int64) if name in ("integers", "exact") else x
    if data.draw(st.booleans()) and n:
        gone = np.repeat(rng.random(n // 20 + 1) < 0.3, 20)[:n]
        x = np.ma.masked_array(x, gone) if x.dtype.kind == "i" else np.where(gone, np.nan, x)
    ids = tok.encode(x)
    back = tok.decode(ids)
    given_ = np.ma.filled(np.ma.asarray(x).astype(float), np.nan)
    assert np.array_equal(np.isnan(back), np.isnan(given_))
    assert name != "integers" or np.isnan(given_).any() or back.dtype == np.int64
    assert np.nanmax(np.abs(back - given_), initial=0) <= tok.error_bound()
    assert ids.max(initial=0) < tok.n_tokens and tok.spans(ids)[-1:, 1].tolist() in ([], [n])
    stream, cuts = tok.stream(), np.sort(rng.integers(0, n + 1, data.draw(st.integers(0, 9)))).repeat(2)
    edges = [0, *cuts.tolist(), n]
    parts = [stream.push(x[a:z]) for a, z in zip(edges, edges[1:], strict=False)]
    assert np.array_equal(np.concatenate([*parts, stream.finish()]), ids)


def test_bounds_are_those_of_the_parameters() -> None:
    assert {name: fitted(name).error_bound() for name in NAMES[1:]} == {
        "integers": 2.0, "exact": 0.0, "bits": pytest.approx(2.0, abs=1e-5)
    }  # fmt: skip
    assert 0.9999 < fitted("floats").error_bound() <= 1.0 and fitted("bits").error_bound() <= 2.0


def test_a_search_needs_fewer_tokens_than_exact_levels_and_differences() -> None:
    """Of noisy waves, held out, and by what is chosen of all too."""
    rng = np.random.default_rng(1)
    waves = [40 * np.sin((np.arange(1200) + shift) / 9) ** 9 + rng.normal(0, 1, 1200) for shift in (0, 5, 11, 2)]
    sizes = {}
    for representation in ("levels", "differences", "both", "auto"):
        tok = SignalTokenizer(64, max_error=3, representation=representation).fit(waves[:3], low=-60, high=60)
        sizes[representation] = tok.encode(waves[3]).size
    assert max(sizes["both"], sizes["auto"]) * 1.3 < min(sizes["levels"], sizes["differences"]), sizes


@pytest.mark.parametrize("again, searched, hashes", [  # samples up to which a fit does more; where others are meant, those shown
    (60_000, 120_000, "3e0925 b35984 663638 1801ac 770b7c 14a596 e9e765 7ca9fc"),
    (600, 500, "3e0925 988879 da56a5 e1516b 08ac93 53b432 7e40e8 e2c7e1"),
])  # fmt: skip
def test_what_is_learned_is_what_it_was_by_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, again: int, searched: int, hashes: str
) -> None:
    docs = [WAVE[60 * n : 60 * n + 90 * (n % 4)] for n in range(12)]
    for name, value in (("_FOLDED", 300), ("_AGAIN", again), ("_SEARCHED", searched)):
        monkeypatch.setattr(learn, name, value)
    found: list[str] = []
    for n, (kind, by) in enumerate(itertools.product(("levels", "differences", "both", "auto"), ("tokens", "bits"))):
        made: list[Any] = []
        for threads in (1, 3) if n == 4 else (2,):
            tok: Any = SignalTokenizer(60 + 8 * n, max_error=2, representation=kind, objective=by, n_threads=threads)  # type: ignore[arg-type]
            one = tok.fit(docs)._fitted()
            made.append(digest(one.tokens.kinds, one.tokens.lengths, one.tokens.arena, one.cost, one.counts)[:6])
        found += {*made}
    assert " ".join(found) == hashes
    tok = fitted("floats")
    assert tok.encode_batch(docs) == tok.encode_batch(docs, n_threads=3)


def test_recordings_in_every_form() -> None:
    tok = fitted("integers")
    x = np.rint(WAVE[:50]).astype(np.int32)
    ids = tok.encode(x)
    for form in (x.tolist(), x.astype(np.float32), x.astype(">i2"), memoryview(x), np.ma.masked_array(x)):
        assert np.array_equal(tok.encode(form), ids)
    two = tok.encode_batch([x, x[:10]])
    assert two == tok.encode_batch([x.tolist(), x[:10].tolist()]) == tok.encode_batch(Ragged.from_lists([x, x[:10]]))
    assert tok.encode_batch(np.stack([x, x])) == tok.encode_batch([x, x]) and len(tok.encode_batch([])) == 0
    assert [part.size for part in tok.decode_batch(two)] == [50, 10] and tok.encode([]).size == 0 == tok.decode([]).size
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert np.array_equal(tok.encode(pandas.Series(x)), ids) and np.array_equal(tok.encode(pyarrow.array(x)), ids)
    gap = pandas.Series([*x[:5].tolist(), None, 3], dtype="Int64")
    for given_ in (gap, np.ma.masked_array([*x[:5], np.nan, 3], [0, 0, 1, 0, 0, 0, 0])):
        gone = np.ma.getmaskarray(given_) if given_ is not gap else False
        assert np.isnan(tok.decode(tok.encode(given_))).tolist() == (gone | (np.arange(7) == 5)).tolist()
    assert tok.encode_batch(pyarrow.array([x.tolist(), x[:10].tolist()])) == two


def test_channels_have_a_scale_each_and_share_the_vocabulary() -> None:
    leads = np.stack([WAVE, 100 + 5 * WAVE[::-1]])
    tok = SignalTokenizer(100, max_error=[1.0, 5.0], channel_axis=0).fit(leads, channel_names=["I", "II"])
    ids = tok.encode(leads)
    back = tok.decode(ids)
    assert len(ids) == 2 and back.shape == leads.shape and tok.channel_names == ["I", "II"]
    assert (np.abs(back - leads).max(axis=1) <= tok.error_bound()).all() and (tok.error_bound() <= [1, 5]).all()
    both = tok.encode_batch([leads, leads[:, :100]])
    assert [part.shape for part in tok.decode_batch(both)] == [(2, 1200), (2, 100)]
    stream = tok.stream(channel=1)
    parts = [stream.push(part) for part in np.split(leads[1], 30)]
    assert np.array_equal(np.concatenate([*parts, last := stream.finish()]), ids[1]) and last.size < 9  # the others were certain


def test_samples_outside_of_the_scale_are_an_error_or_counted() -> None:
    tok = fitted("floats")
    refuses(ValueError, r"recordings: recording 0: position 1: expected a sample in -40..40, got 77", tok.encode, [0.0, 77])
    with pytest.warns(UserWarning, match="1 samples outside of the scale became its first or last level"):
        assert abs(tok.decode(tok.encode([0.0, 77], clip=True))[1] - 40) <= 1


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: SignalTokenizer(9).fit(WAVE), ValueError, "max_error: expected one of max_error and step"),
    (lambda: SignalTokenizer(9, step=-1).fit(WAVE), ValueError, "step: expected a number above 0"),
    (lambda: SignalTokenizer(9, step=1, tolerance=128).fit(WAVE), ValueError, "tolerance: expected 0..127 levels, got 128"),
    (lambda: SignalTokenizer(9, step=1, representation="x").fit(WAVE), ValueError, "representation: expected 'auto', "),  # type: ignore[arg-type]
    (lambda: SignalTokenizer(9, step=1, objective="x").fit(WAVE), ValueError, "objective: expected 'tokens' or 'bits'"),  # type: ignore[arg-type]
    (lambda: SignalTokenizer(9, step=1, channel_axis=2).fit(WAVE), ValueError, "channel_axis: expected an axis of two"),
    (lambda: SignalTokenizer(9, step=0.1).fit(WAVE), ValueError, "at least 147: one for every 3 of 433 levels, 1 for gaps, "),
    (lambda: SignalTokenizer(9, step=4e-6).fit(WAVE), ValueError, "step: expected fewer than 8388608 levels"),
    (lambda: SignalTokenizer(9, step=1).fit([np.nan]), ValueError, "expected at least one sample that is not missing"),
    (lambda: SignalTokenizer(9, step=1).fit([1.0, np.inf]), ValueError, "position 1: expected a finite number, or NaN"),
    (lambda: SignalTokenizer(9, step=1).fit(["a"]), TypeError, "recordings: expected integers or floats"),
    (lambda: SignalTokenizer(9, step=1).fit(pd.DataFrame({"a": WAVE})), TypeError, "a table of .a.; give a list of its columns"),
    (lambda: SignalTokenizer(9, step=1).fit(np.stack([WAVE, WAVE], 1)), UserWarning, "recordings of 2 samples; channel_axis=1"),
    (lambda: SignalTokenizer(9, step=1).fit([np.zeros((2, 2))]), ValueError, r"\[samples\]; channel_axis= is for more"),
    (lambda: SignalTokenizer(9, step=1).fit(WAVE, channel_names=["a", "b"]), ValueError, "channel_names: expected 1 names"),
    (lambda: SignalTokenizer(9, step=1).fit(WAVE, sampling_rate=0), ValueError, "sampling_rate: expected samples a second"),
    (lambda: SignalTokenizer(9, step=1).encode(WAVE), NotFittedError, "fit or load comes first"),
    (lambda: SignalTokenizer(9, vocab_size=1), TypeError, "unexpected keyword argument 'vocab_size'; here: n_tokens"),  # type: ignore[call-arg]
    (lambda: fitted("floats").encode([[1.0], [2.0]]), ValueError, "recording: expected one, .*encode_batch takes several"),
    (lambda: fitted("floats").decode([[1], [2]]), ValueError, "ids: expected those of one recording, got 2"),
    (lambda: fitted("floats").decode([60]), ValueError, "document 0, position 0: token id 60 is outside the vocabulary, 0..59"),
    (lambda: fitted("bits").decode([50]), ValueError, "position 0: token 50 is of differences, and no sample was decoded"),
]  # fmt: skip


@pytest.mark.parametrize("call, error, message", BAD)
def test_bad_input_is_refused_by_name(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    refuses(error, message, call)


def test_a_file_holds_everything(tmp_path: pathlib.Path) -> None:
    for name in NAMES:
        tok = fitted(name)
        tok.save(tmp_path / f"{name}.npz")
        again = SignalTokenizer.load(tmp_path / f"{name}.npz")
        refuses(ModelFormatError, "SignalTokenizer.load reads them", ubpe_numba.load, tmp_path / f"{name}.npz")
        x = np.rint(WAVE).astype(int)
        assert np.array_equal(again.encode(x), tok.encode(x)) and again.error_bound() == tok.error_bound()
        assert (again.unit, again.sampling_rate, repr(again)) == (tok.unit, tok.sampling_rate, repr(tok))


HOSTILE: list[tuple[str, Callable[[dict[str, np.ndarray], dict[str, Any]], Any], str]] = [
    ("float costs", lambda a, h: a.update(cost=a["cost"].astype(float)), "cost: unexpected dtype"),
    ("narrow costs", lambda a, h: a.update(cost=a["cost"].astype(np.int32)), "cost: expected int64"),
    ("short counts", lambda a, h: a.update(counts=a["counts"][1:]), "counts: expected int64 of one axis of"),
    ("rows", lambda a, h: a.update(arena=a["arena"][:, None]), "arena: expected int32 of one axis"),
    ("a kind", lambda a, h: a["kinds"].__setitem__(0, 2), "kinds: expected 0 or 1"),
    ("a length", lambda a, h: a["lengths"].__setitem__(0, -1), "lengths: expected numbers above 0 whose sum is"),
    ("a cost", lambda a, h: a["cost"].__setitem__(0, 0), "cost: expected 1.."),
    ("a symbol", lambda a, h: a["arena"].__setitem__(0, 1 << 30), "arena: expected values within"),
    ("a last symbol", lambda a, h: a["arena"].__setitem__(-1, a["arena"][-1] + 1), "last symbol is a multiple of 64"),
    ("a token twice", lambda a, h: a["arena"].__setitem__(0, a["arena"][1]), "tokens that are all different"),
    ("no level", lambda a, h: a["arena"].__setitem__(0, -6400), "a token for every level"),
    ("a parameter", lambda a, h: h["params"].update(tolerance=200), "params: tolerance: expected 0..127"),
    ("a field", lambda a, h: h.pop("unit"), "head: the field 'unit' is missing"),
    ("names", lambda a, h: h.update(channel_names=["a", 1]), "channel_names: expected a name for each channel"),
    ("a scale", lambda a, h: h["scale"].update(step=None, levels=3), "scale: expected steps"),
    ("a version", lambda a, h: h.update(version=2), "version 2; this library reads version 1"),
    ("another format", lambda a, h: h.update(format="x"), "not signal tokens of this library"),
]


@pytest.mark.parametrize("change, message", [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_a_hostile_file_is_refused_by_the_name_of_the_field(tmp_path: pathlib.Path, change: Any, message: str) -> None:
    fitted("floats").save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        arrays = {name[:-4]: np.load(io.BytesIO(archive.read(name))).copy() for name in archive.namelist()}
    head = json.loads(arrays.pop("head").tobytes())
    change(arrays, head)
    (tmp_path / "a.npz").write_bytes(npz_of({"head": np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays}))
    refuses(ModelFormatError, rf"a\.npz: .*{message}", lambda: SignalTokenizer.load(tmp_path / "a.npz"))
