"""`SignalTokenizer`: every sample within the bound, recordings in every form, gaps, streams, channels, files."""

import functools
import io
import itertools
import json
import os
import pathlib
import pickle
import warnings
import zipfile
from collections.abc import Callable
from fractions import Fraction
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
    made = {
        "walk": np.cumsum(rng.normal(0, 2, n)),
        "wave": WAVE[:n],
        "noise": rng.uniform(-40, 40, n),
        "flat": np.full(n, 3.3),
    }
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
    spans = tok.spans(x)
    assert ids.max(initial=0) < tok.n_tokens and spans.lengths.sum() == n and np.array_equal(spans.ids, ids)
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
    waves = [
        40 * np.sin((np.arange(1200) + shift) / 9) ** 9 + rng.normal(0, 1, 1200) for shift in (0, 5, 11, 2)
    ]
    sizes = {}
    for representation in ("levels", "differences", "both", "auto"):
        tok = SignalTokenizer(64, max_error=3, representation=representation).fit(waves[:3], low=-60, high=60)
        sizes[representation] = tok.encode(waves[3]).size
    assert max(sizes["both"], sizes["auto"]) * 1.3 < min(sizes["levels"], sizes["differences"]), sizes


# samples up to which a fit does more; where others are meant, those shown
@pytest.mark.parametrize("again, searched, hashes", [
    (60_000, 120_000, "33c955 f05206 265c82 d6894b 770b7c 14a596 e9e765 7ca9fc"),
    (600, 500, "130c67 73d4c5 0a602e e1516b 08ac93 53b432 7e40e8 e2c7e1"),
])  # fmt: skip
def test_what_is_learned_is_what_it_was_by_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, again: int, searched: int, hashes: str
) -> None:
    docs = [WAVE[60 * n : 60 * n + 90 * (n % 4)] for n in range(12)]
    for name, value in (("_FOLDED", 300), ("_AGAIN", again), ("_SEARCHED", searched)):
        monkeypatch.setattr(learn, name, value)
    found: list[str] = []
    for n, (kind, by) in enumerate(
        itertools.product(("levels", "differences", "both", "auto"), ("tokens", "bits"))
    ):
        made: list[Any] = []
        for threads in (1, 3) if n == 4 else (2,):
            tok: Any = SignalTokenizer(
                60 + 8 * n, max_error=2, representation=kind, objective=by, n_threads=threads
            )  # type: ignore[arg-type]
            one = tok.fit(docs)._fitted()
            made.append(
                digest(one.tokens.kinds, one.tokens.lengths, one.tokens.arena, one.cost, one.counts)[:6]
            )
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
    assert (
        two
        == tok.encode_batch([x.tolist(), x[:10].tolist()])
        == tok.encode_batch(Ragged.from_lists([x, x[:10]]))
    )
    assert tok.encode_batch(np.stack([x, x])) == tok.encode_batch([x, x]) and len(tok.encode_batch([])) == 0
    assert [part.size for part in tok.decode_batch(two)] == [50, 10] and tok.encode(
        []
    ).size == 0 == tok.decode([]).size
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert np.array_equal(tok.encode(pandas.Series(x)), ids) and np.array_equal(
        tok.encode(pyarrow.array(x)), ids
    )
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
    assert (np.abs(back - leads).max(axis=1) <= tok.error_bound()).all() and (
        tok.error_bound() <= [1, 5]
    ).all()
    both = tok.encode_batch([leads, leads[:, :100]])
    assert [part.shape for part in tok.decode_batch(both)] == [(2, 1200), (2, 100)]
    stream = tok.stream(channel=1)
    parts = [stream.push(part) for part in np.split(leads[1], 30)]
    # the others were certain
    assert np.array_equal(np.concatenate([*parts, last := stream.finish()]), ids[1]) and last.size < 9


def test_samples_outside_of_the_scale_are_an_error_or_counted() -> None:
    tok = fitted("floats")
    refuses(
        ValueError,
        r"recordings: recording 0: position 1: expected a sample in -40..40, got 77",
        tok.encode,
        [0.0, 77],
    )
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
    (lambda: SignalTokenizer(9, step=1).fit([1.0, np.inf]), ValueError, "position 1: expected a finite number or NaN"),
    (lambda: SignalTokenizer(9, step=1).fit(["a"]), TypeError, "recordings: expected integers or floats"),
    (lambda: SignalTokenizer(9, step=1).fit(pd.DataFrame({"a": WAVE})), TypeError, "a table of .a.; give a list of its columns"),
    (lambda: SignalTokenizer(9, step=1).fit(np.stack([WAVE, WAVE], 1)), UserWarning, "recordings of 2 samples; channel_axis=1"),
    (lambda: SignalTokenizer(9, step=1).fit([np.zeros((2, 2))]), ValueError, r"\[samples\]; channel_axis= is for more"),
    (lambda: SignalTokenizer(9, step=1).fit(WAVE, channel_names=["a", "b"]), ValueError, "channel_names: expected a list of 1"),
    (lambda: SignalTokenizer(9, step=1).fit(WAVE, sampling_rate=0), ValueError, "sampling_rate: expected samples a second"),
    (lambda: SignalTokenizer(9, step=1).encode(WAVE), NotFittedError, "fit or load comes first"),
    (lambda: SignalTokenizer(9, vocab_size=1), TypeError, "unexpected keyword argument 'vocab_size'; here: n_tokens"),  # type: ignore[call-arg]
    (lambda: fitted("floats").encode([[1.0], [2.0]]), ValueError, "recording: expected one, .*encode_batch takes several"),
    (lambda: fitted("floats").decode([[1], [2]]), ValueError, "ids: expected those of one recording, got 2"),
    (lambda: fitted("floats").decode([60]), ValueError, "document 0, position 0: token id 60 is outside the vocabulary, 0..59"),
    (lambda: fitted("bits").decode([50]), ValueError, "position 0: token 50 is of differences, and is the first"),
]  # fmt: skip


@pytest.mark.parametrize("call, error, message", BAD)
def test_bad_input_is_refused_by_name(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    refuses(error, message, call)


def test_a_file_holds_everything(tmp_path: pathlib.Path) -> None:
    for name in NAMES:
        tok = fitted(name)
        tok.save(tmp_path / f"{name}.npz")
        again = SignalTokenizer.load(tmp_path / f"{name}.npz")
        refuses(
            ModelFormatError, "a SignalTokenizer, not a BPE", ubpe_numba.BPE.load, tmp_path / f"{name}.npz"
        )
        assert ubpe_numba.load(tmp_path / f"{name}.npz").fingerprint == tok.fingerprint == again.fingerprint
        x = np.rint(WAVE).astype(int)
        assert np.array_equal(again.encode(x), tok.encode(x)) and again.error_bound() == tok.error_bound()
        assert (again.unit, again.sampling_rate, repr(again)) == (tok.unit, tok.sampling_rate, repr(tok))


HOSTILE: list[tuple[str, Callable[[dict[str, np.ndarray], dict[str, Any]], Any], str]] = [
    ("float costs", lambda a, h: a.update(cost=a["cost"].astype(float)), "cost: unexpected dtype"),
    ("narrow costs", lambda a, h: a.update(cost=a["cost"].astype(np.int32)), "cost: expected int64"),
    ("short counts", lambda a, h: a.update(counts=a["counts"][1:]), "counts: expected int64 of one axis of"),
    ("rows", lambda a, h: a.update(arena=a["arena"][:, None]), "arena: expected int32 of one axis"),
    ("a kind", lambda a, h: a["kinds"].__setitem__(0, 2), "kinds: expected 0 or 1"),
    (
        "a length",
        lambda a, h: a["lengths"].__setitem__(0, -1),
        "lengths: expected numbers above 0 whose sum is",
    ),
    ("a cost", lambda a, h: a["cost"].__setitem__(0, 0), "cost: expected 1.."),
    ("a symbol", lambda a, h: a["arena"].__setitem__(0, 1 << 30), "arena: expected values within"),
    (
        "a last symbol",
        lambda a, h: a["arena"].__setitem__(-1, a["arena"][-1] + 1),
        "last symbol is a multiple of 64",
    ),
    ("a token twice", lambda a, h: a["arena"].__setitem__(0, a["arena"][1]), "tokens that are all different"),
    ("no level", lambda a, h: a["arena"].__setitem__(0, -6400), "a token for every level"),
    ("a parameter", lambda a, h: h["params"].update(tolerance=200), "params: tolerance: expected 0..127"),
    ("a field", lambda a, h: h.pop("unit"), "head: the field 'unit' is missing"),
    (
        "names",
        lambda a, h: h.update(channel_names=["a", 1]),
        "channel_names: expected a name for each channel",
    ),
    ("a scale", lambda a, h: h["scale"].update(step=None, levels=3), "scale: expected steps"),
    ("a version", lambda a, h: h.update(version=2), "version 2; this library reads version 1"),
    ("another format", lambda a, h: h.update(format="x"), "not a model of this library"),
    ("metadata", lambda a, h: h.update(metadata=[1]), "metadata: expected a dict"),
]


@pytest.mark.parametrize("change, message", [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_a_hostile_file_is_refused_by_the_name_of_the_field(
    tmp_path: pathlib.Path, change: Any, message: str
) -> None:
    fitted("floats").save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        arrays = {name[:-4]: np.load(io.BytesIO(archive.read(name))).copy() for name in archive.namelist()}
    head = json.loads(arrays.pop("head").tobytes())
    change(arrays, head)
    (tmp_path / "a.npz").write_bytes(
        npz_of({"head": np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays})
    )
    refuses(ModelFormatError, rf"a\.npz: .*{message}", lambda: SignalTokenizer.load(tmp_path / "a.npz"))


# ---------------------------------------------------------------------------------------------- the bound as
# a law


def exact_error(x: Any, y: Any) -> Fraction:
    """The largest difference of two lists of numbers, without rounding."""
    return max((abs(Fraction(a) - Fraction(b)) for a, b in zip(x, y, strict=True)), default=Fraction(0))


def check_the_law(rng: np.random.Generator) -> int:
    """Fit drawn samples of a drawn dtype, range, step and offset; the number of samples whose error was within the bound."""
    dtype = np.dtype(
        str(rng.choice(["i1", "i2", ">i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">f8"]))
    )
    n, tolerance = int(rng.integers(1, 60)), int(rng.choice([0, 1, 2, 5, 127]))
    spread = 10.0 ** rng.uniform(-3, 3)
    offset = rng.choice([0.0, 1.0]) * 10.0 ** rng.uniform(0, 19) * rng.choice([-1, 1])
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            x = (spread * rng.normal(size=n) + offset).astype(dtype)
        x = x[np.isfinite(x)]
    else:
        info = np.iinfo(dtype)
        middle = int(np.clip(offset, info.min + 1, info.max - 1)) if rng.integers(2) else 0
        x = np.array(
            [max(info.min, min(info.max, middle + d)) for d in rng.integers(-20, 21, n).tolist()], dtype
        )
    size = max(float(np.ptp(x.astype(np.float64))), 1e-3) if x.size else 1.0
    options: dict[str, Any] = {"max_error": size * 10.0 ** rng.uniform(-2, 0)} if rng.integers(2) else {}
    options = options or {
        "step": 1 if dtype.kind != "f" and rng.integers(2) else size * 10.0 ** rng.uniform(-2, 0)
    }
    tok = SignalTokenizer(2000, tolerance=tolerance, representation="levels", n_threads=1, **options)
    try:
        tok.fit(x)
    except ValueError as error:
        return (
            0
            if str(error).startswith(("max_error: ", "step: ", "n_tokens: ", "recordings: "))
            else pytest.fail(str(error))
        )
    given_: Any = x
    gone = rng.random(x.size) < 0.2
    if rng.integers(2) and not gone.all():
        given_ = np.ma.masked_array(x, gone)
    else:
        gone[:] = False
    given_.flags.writeable = False
    back = np.asarray(tok.decode(tok.encode(given_)))
    worst = exact_error(x[~gone].tolist(), back[~gone].tolist())
    assert worst <= Fraction(tok.error_bound()), (dtype, options, tolerance)
    assert tok.max_error is None or tok.error_bound() <= tok.max_error
    assert gone.any() or not np.isnan(back.astype(float)).any()
    return int(x.size)


@pytest.mark.parametrize("seed", range(int(os.environ.get("UBPE_BOUND_CASES", "40"))))
def test_the_bound_holds_in_exact_arithmetic(seed: int) -> None:
    check_the_law(np.random.default_rng(seed))


@pytest.mark.parametrize("x, options, message", [
    (np.arange(9) + 2**60, {"step": 1}, "step: expected more than .*; subtract an offset"),
    (np.arange(9, dtype=np.uint64) + np.uint64(2**63), {"step": 1}, "step: expected more than .*; subtract an offset"),
    (1.7e9 + np.arange(9) * 1e-3, {"max_error": 1e-6}, "max_error: expected more than .*float64 rounds"),
    (np.arange(9, dtype=np.longdouble), {"step": 1.0}, "recordings: expected integers or floats of at most 64 bits"),
], ids=["int64", "uint64", "seconds since 1970", "longdouble"])  # fmt: skip
def test_a_bound_that_float64_cannot_keep_is_refused(
    x: np.ndarray, options: dict[str, Any], message: str
) -> None:
    refuses((TypeError, ValueError), message, SignalTokenizer(64, **options).fit, x)


def test_a_tokenizer_of_integers_refuses_other_numbers() -> None:
    tok, x = fitted("integers"), np.array([1.0, 2.5])
    message = "position 1: expected a whole number, as in the fit, got 2.5"
    refuses(ValueError, message, tok.encode, x)
    refuses(ValueError, message, tok.stream().push, x)


# ---------------------------------------------------------------------------------------------- one fitted
# state


@pytest.mark.parametrize("name, value", [
    ("tolerance", 0), ("tolerance", 3), ("max_error", 9), ("channel_axis", 0), ("n_tokens", 9)
])  # fmt: skip
def test_parameters_act_at_the_next_fit(tmp_path: pathlib.Path, name: str, value: Any) -> None:
    tok = SignalTokenizer(60, max_error=1.0).fit(WAVE)
    ids, bound, mark = tok.encode(WAVE), tok.error_bound(), tok.fingerprint
    with pytest.raises(
        ValueError, match=rf"{name}: a fitted tokenizer .* set_params\({name}=...\) acts at the next fit"
    ):
        setattr(tok, name, value)
    tok.set_params(**{name: value})
    assert np.array_equal(tok.encode(WAVE), ids) and tok.error_bound() == bound and tok.fingerprint == mark
    tok.save(tmp_path / "a.npz")
    assert SignalTokenizer.load(tmp_path / "a.npz").fingerprint == mark


def test_a_refit_that_fails_leaves_what_was_fitted() -> None:
    tok = SignalTokenizer(60, max_error=1.0).fit(WAVE, unit="mV")
    ids = tok.encode(WAVE)
    refuses(ValueError, "n_tokens: expected at least", tok.set_params(max_error=1e-3).fit, WAVE, unit="uV")
    assert np.array_equal(tok.encode(WAVE), ids) and tok.unit == "mV"


def test_numpy_parameters_are_saved_as_numbers(tmp_path: pathlib.Path) -> None:
    tok = SignalTokenizer(np.int64(60), max_error=np.float32(1.0), tolerance=np.int8(1))  # type: ignore[arg-type]
    tok.fit(WAVE, sampling_rate=np.int64(360), channel_names=np.array(["I"]))  # type: ignore[arg-type]
    tok.save(tmp_path / "a.npz")
    again = SignalTokenizer.load(tmp_path / "a.npz")
    assert (again.n_tokens, again.tolerance, again.sampling_rate, again.channel_names) == (60, 1, 360, ["I"])
    refuses(ValueError, "channel_names: expected a list of 3 names, got 'abc'", SignalTokenizer(60, step=1, channel_axis=1).fit,
            np.arange(99).reshape(33, 3) % 9, channel_names="abc")  # fmt: skip


def test_costs_never_overflow(tmp_path: pathlib.Path) -> None:
    """With the highest costs that a file may have, in a document in which sums of them exceed 2**60; and of a sensor at rest."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 16, 1_200_000)
    SignalTokenizer(24, step=1, tolerance=0).fit(x[:3000]).save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as archive:
        arrays = dict(archive)
    arrays["cost"] = np.full_like(arrays["cost"], 1 << 40)
    (tmp_path / "a.npz").write_bytes(npz_of(arrays))
    tok = SignalTokenizer.load(tmp_path / "a.npz")
    assert np.array_equal(tok.decode(tok.encode(x)), x)
    rest = np.zeros(200_000, np.int64)
    rest[[70, 90]] = [1, 9]
    tok = SignalTokenizer(24, step=1, tolerance=0, objective="bits").fit(rest)
    tok.save(tmp_path / "rest.npz")
    busy = rng.integers(0, 10, 100_000)
    assert np.array_equal(SignalTokenizer.load(tmp_path / "rest.npz").decode(tok.encode(busy)), busy)


# ---------------------------------------------------------------------------------------------- layouts and
# outliers


@pytest.mark.parametrize("shape, axis, other", [
    ((3, 300), 1, 0), ((300, 3), 0, 1), ((2, 3, 300), 1, 0), ((2, 300, 3), -2, 1)
])  # fmt: skip
def test_the_other_axis_warns_by_name(shape: tuple[int, ...], axis: int, other: int) -> None:
    x = np.random.default_rng(0).integers(0, 9, shape)
    message = rf"channel_axis={axis} makes 300 channels of 3 samples; if these are 3 channels, give channel_axis={other}"
    with pytest.warns(UserWarning, match=message):
        SignalTokenizer(40, step=1, channel_axis=axis).fit(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SignalTokenizer(40, step=1, channel_axis=other).fit(x)


def test_outliers_are_left_out_by_the_way_that_the_message_names() -> None:
    x = WAVE.copy()
    x[700] = 1e5
    refuses(ValueError, r"n_tokens: expected at least .*, or fit\(..., clip=0.001\), which leaves outliers out",
            SignalTokenizer(60, max_error=1.0).fit, x)  # fmt: skip
    for options in ({"clip": 0.001}, {"low": -40, "high": 40, "clip": True}):
        with pytest.warns(UserWarning, match="samples outside of the scale"):
            tok = SignalTokenizer(60, max_error=1.0).fit(x, **options)
        inside = (x >= tok.scale_.low[0]) & (x <= tok.scale_.high[0])
        assert inside.sum() >= x.size - 4
        stream = tok.stream(clip=True)
        with pytest.warns(UserWarning, match="samples outside of the scale"):
            first = stream.push(x)
        ids = np.concatenate([first, stream.finish()])
        back = tok.decode(ids)
        assert np.abs(back - x)[inside].max() <= tok.error_bound()
    for wrong in ("no", 0.7, 1):
        refuses(
            TypeError,
            "clip: expected True, False or a share of outliers",
            SignalTokenizer(60, step=1).fit,
            x,
            clip=wrong,
        )
        refuses(TypeError, "clip: expected True, False", tok.encode, x, clip=wrong)
    refuses(TypeError, "n_threads: expected an int", tok.encode_batch, [x], n_threads="2", clip=True)


def test_a_dead_channel_is_a_gap() -> None:
    x = np.stack([WAVE, np.full(WAVE.size, np.nan)])
    with pytest.warns(UserWarning, match="channel 1: all samples are missing; recordings have a gap there"):
        tok = SignalTokenizer(60, max_error=1.0, channel_axis=0).fit(x)
    back = tok.decode(tok.encode(x))
    assert np.isnan(back[1]).all() and np.abs(back[0] - x[0]).max() <= tok.error_bound()[0]
    refuses(
        ValueError,
        "channel 1, position 0: expected a sample in 0..0",
        tok.encode,
        np.stack([WAVE, WAVE + 90]),
    )


def test_masked_samples_may_hold_anything() -> None:
    x = np.ma.masked_array([1.0, np.inf, np.nan, 2.0], [0, 1, 0, 0])
    assert np.isnan(fitted("floats").decode(fitted("floats").encode(x))).tolist() == [
        False,
        True,
        True,
        False,
    ]


# ---------------------------------------------------------------------------------------------- one of the
# family


def test_calls_for_models_counts_and_positions() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone

    tok = SignalTokenizer(60, max_error=1.0, special_tokens=["[PAD]", "[BOS]"]).fit(iter([WAVE, WAVE[:70]]))
    ids = tok.encode_batch(docs := [WAVE[:70], WAVE])
    pad, bos = tok.token_to_id("[PAD]"), tok.token_to_id("[BOS]")
    assert (pad, bos, tok.vocab_size, tok.token_to_id("x")) == (
        tok.vocab_size - 2,
        tok.vocab_size - 1,
        62,
        None,
    )
    inputs = tok(docs, padding=True, return_tensors="np", template="[BOS] $A")
    for row, mask, own in zip(inputs["input_ids"], inputs["attention_mask"], ids, strict=True):
        assert row[mask == 1].tolist() == [bos, *own.tolist()] and (row[mask == 0] == pad).all()
    assert tok(WAVE)["input_ids"].tolist() == ids[1].tolist()
    back = tok.decode_batch(inputs["input_ids"], skip_special_tokens=True)
    assert [part.size for part in back] == [70, 1200]
    refuses(ValueError, r"is '\[BOS\]', which has no samples; skip_special_tokens=True", tok.decode, [bos])
    refuses(TypeError, r"return_offsets: spans\(recordings\)", tok, docs, return_offsets=True)
    assert tok.count(docs).tolist() == ids.lengths.tolist()
    spans, index, usage = tok.spans(docs), tok.index(ids), tok.usage(docs)
    assert usage.counts.tolist() == index.counts.tolist() == np.bincount(ids.values, minlength=62).tolist()
    for token in (ids[0][0], ids[1][3]):
        mine = spans.ids == token
        assert index[int(token)].starts.tolist() == spans.starts[mine].tolist()
        assert index[int(token)].documents.tolist() == spans.documents[mine].tolist()
    v, whole = tok.vocabulary, tok.decode(ids[1])
    starts = spans.starts[spans.documents == 1].tolist()
    bases = [whole[a - 1] if v.is_relative[t] else 0 for t, a in zip(ids[1], starts, strict=True)]
    parts = [v[t] + base for t, base in zip(ids[1].tolist(), bases, strict=True)]
    assert np.allclose(np.concatenate(parts), whole, atol=1e-9)
    assert (
        len(v) == 62
        and v.is_gap.sum() == 1
        and v[61].size == 0
        and np.isnan(v[59]).all()
        and len(list(v)) == 62
    )
    again, copy = pickle.loads(pickle.dumps(tok)), clone(tok)
    assert again.fingerprint == tok.fingerprint and copy.get_params() == tok.get_params()
    refuses(NotFittedError, "fit or load comes first", lambda: copy.vocab_size)
    refuses(ValueError, "x: not a parameter of SignalTokenizer", tok.set_params, x=1)
    refuses(AttributeError, "load makes a new tokenizer", getattr, tok, "load")


def test_ids_that_go_on_are_decoded_after_those_before() -> None:
    leads = np.stack([WAVE, 100 + 5 * WAVE[::-1]])
    for axis in (0, 1):
        x = leads if axis == 0 else leads.T
        tok = SignalTokenizer(100, max_error=[1.0, 5.0], channel_axis=axis, representation="differences").fit(
            x
        )
        ids = tok.encode(x)
        # a level each, so channels stay of one length
        assert not tok.vocabulary.is_relative[[ids[0][0], ids[1][0]]].any()
        part = tok.decode([one[1:] for one in ids], after=[one[:1] for one in ids])
        rest = tok.decode(ids)[:, 1:] if axis == 0 else tok.decode(ids)[1:]
        assert np.array_equal(part, rest)
        last = tok.decode([one[:1] for one in ids])
        assert np.array_equal(tok.decode([one[1:] for one in ids], after=last.ravel()), rest)
        refuses(ValueError, r"after: expected the shape \[n, 2\]", tok.decode, ids, after=[1.0])


@pytest.mark.parametrize("name", NAMES)
def test_ids_along_the_mask_are_decoded_and_need_only_the_sample_before_them(name: str) -> None:
    """Random ids, too; where samples are limited at an end of the scale, the one before does not say all."""
    tok, rng, n_same = fitted(name), np.random.default_rng(0), 0
    is_relative, gap = tok.vocabulary.is_relative, int(np.flatnonzero(tok.vocabulary.is_gap)[0])
    for _ in range(60):
        ids = [int(rng.choice(np.flatnonzero(tok.followers())))]
        while len(ids) < 12:
            ids.append(int(rng.choice(np.flatnonzero(tok.followers(ids[-1])))))
        whole, cut = tok.decode(ids), int(rng.integers(1, 12))
        before = tok.decode(ids[:cut])
        part = tok.decode(ids[cut:], after=before[-1])
        if not np.nanmax(np.abs(before), initial=0) > 39:
            n_same += 1
            assert np.array_equal(part, whole[before.size :], equal_nan=True)
    assert n_same > 3
    for t in np.flatnonzero(is_relative).tolist():
        assert not tok.followers()[t] and not tok.followers([[gap]])[0, 0, t] and tok.followers(t).all()
        for wrong, after in (([t], None), ([t], np.nan), ([gap, t], 0), ([gap, t], [0])):
            refuses(ValueError, "is of differences", tok.decode, wrong, after=after)
    assert is_relative.any() == (name != "exact")
    assert tok.followers([]).shape == (0, tok.vocab_size)
    refuses(ValueError, "token id 999 is outside", tok.followers, [999])
    refuses(ValueError, "after: .*expected a sample in", tok.decode, [0], after=10**6)


def test_metadata_stays_with_the_file(tmp_path: pathlib.Path) -> None:
    tok = SignalTokenizer(60, max_error=1.0, special_tokens=["[PAD]"]).fit(WAVE)
    tok.save(tmp_path / "a.npz", metadata={"device": 3})
    again = ubpe_numba.load(tmp_path / "a.npz")
    again.save(tmp_path / "b.npz")
    assert (
        SignalTokenizer.load(tmp_path / "b.npz").metadata_ == {"device": 3}
        and again.token_to_id("[PAD]") == 60
    )
    refuses(
        TypeError, "metadata: 'a': expected a JSON value", tok.save, tmp_path / "c.npz", metadata={"a": (1,)}
    )


def test_a_file_of_before_loads() -> None:
    """Written by the version without metadata and special tokens."""
    tok = SignalTokenizer.load(pathlib.Path(__file__).parents[1] / "files" / "signals.npz")
    x = np.round(20 * np.sin(np.arange(60) / 7), 3)
    assert np.abs(tok.decode(tok.encode(x)) - x).max() <= tok.error_bound() <= 1.0 and tok.unit == "mV"
    assert digest(tok.encode(x))[:6] == "4e1142"
