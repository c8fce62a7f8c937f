"""`Scale` against its reference, sample by sample; bounds of errors in exact arithmetic; what is refused."""

import copy
import json
import pathlib
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st
from reference.quantize import level_by_step, level_of_equal, mean_of_level, position_by_mu
from tables import each, refuses

from ubpe_numba import Ragged, Scale
from ubpe_numba.documents import scale as scales
from ubpe_numba.documents.scale import mu_borders
from ubpe_numba.errors import ModelFormatError

FLOATS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)
INTEGERS = ("int8", "uint8", "int16", "int64", "uint64")


def quantize(signal: Any, **options: Any) -> tuple[Any, Scale]:
    """The symbols of a signal, and its scale."""
    scale = Scale(**options)
    return scale.fit_transform(signal), scale


def changed(scale: Scale, **fields: Any) -> Scale:
    """The scale with other fields."""
    return Scale.from_state({**scale.state(), **fields})


@st.composite
def integers(draw: st.DrawFn) -> np.ndarray:
    """Integers of any dtype, all over its range or near one another, where float64 does not tell them apart."""
    info = np.iinfo(draw(st.sampled_from(INTEGERS)))
    base = draw(st.integers(int(info.min), int(info.max) - 50))
    near = st.integers(base, base + 49)
    anywhere = st.integers(int(info.min), int(info.max)) | st.sampled_from([int(info.min), int(info.max)])
    return np.array(
        draw(st.lists(draw(st.sampled_from([near, anywhere])), min_size=1, max_size=30)), info.dtype
    )


def assert_within_bounds(signal: np.ndarray, symbols: np.ndarray, scale: Scale) -> None:
    """No sample is farther from its restored value than the bound says, without any rounding in the comparison."""
    assert symbols.dtype == np.int32 and symbols.min() >= 0 and symbols.max() < scale.n_symbols
    back = scale.inverse_transform(symbols)
    assert back.dtype == np.float64
    bound = Fraction(float(scale.max_error[0]))
    for x, restored in zip(signal.tolist(), back.tolist(), strict=True):
        assert abs(Fraction(x) - Fraction(restored)) <= bound


def assert_by_steps(signal: np.ndarray, step: Any) -> None:
    symbols, scale = quantize(signal, step=step)
    first = level_by_step(signal.min().item(), step, 0)
    assert symbols.tolist() == [level_by_step(x, step, first) for x in signal.tolist()]
    assert scale.n_symbols == max(symbols) + 1 and min(symbols) == 0
    assert_within_bounds(signal, symbols, scale)


@given(FLOATS, st.floats(1.0, 1e6))
@example([3.0, 9.0, -3.0, -9.0, 3.0000000000000004], 6.0)
@example([0.0], 5e-324)
@example([-1e300, 0.0, 1e300], 10**299)
def test_steps_of_floats(samples: list[float], step: float) -> None:
    assert_by_steps(np.array(samples), step)


@given(integers(), st.data())
@example(np.array([2**62, 2**62 + 1, 2**62 + 2]), None)
def test_integers_are_cut_exactly_by_integer_steps(signal: np.ndarray, data: st.DataObject | None) -> None:
    span = int(signal.max()) - int(signal.min())
    assert_by_steps(
        signal, 1 if data is None else data.draw(st.integers(max(1, span >> 30), max(2, span * 2)))
    )


@each("dtype", ["int64", "uint64"])
@each("step", [2**52 - 1, 2**52, 3 * 2**60, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1, 2**65])
def test_integers_and_steps_of_the_extremes(dtype: str, step: int) -> None:
    info, half = np.iinfo(dtype), step // 2
    places = [sign * (n * half + d) for sign in (1, -1) for n in (0, 1, 2, 3, 5) for d in (-1, 0, 1)] + [
        info.min,
        info.max,
    ]
    assert_by_steps(np.array([x for x in places if info.min <= x <= info.max], dtype), step)


@given(FLOATS.map(np.array) | integers(), st.integers(1, 400) | st.integers(1, 2**31 - 1))
@example(np.array([0.0, 5e-324]), 10)
@example(np.array([7.5]), 3)
@example(np.array([0.1, 0.3]), 3)
@example(np.array([-8e307, 0.0, 1e307, 8e307]), 40)  # whose product with 40 is no float64
@example(np.arange(50), 49)  # borders go to the upper level
def test_equal_levels(signal: np.ndarray, n: int) -> None:
    symbols, scale = quantize(signal, levels=n)
    low, high = signal.min().item(), signal.max().item()
    assert symbols.tolist() == [level_of_equal(x, low, high, n) for x in signal.tolist()]
    assert scale.n_symbols == n and (
        low < high or scale.inverse_transform(symbols).tolist() == [float(low)] * signal.size
    )
    assert_within_bounds(signal, symbols, scale)


@given(FLOATS, st.integers(1, 300), st.floats(1e-3, 1e5))
@example([0.0], 4, 255.0)
@example([0.0, 0.0], 5, 255.0)
@example([5e-324, -5e-324], 8, 255.0)
@example([7.5] * 3, 4, 255.0)
def test_mu_levels_of_floats(samples: list[float], n: int, mu: float) -> None:
    signal = np.array(samples)
    symbols, scale = quantize(signal, levels=n, law="mu", mu=mu)
    peak = max(map(abs, samples))
    assert scale.n_symbols == n and scale.low_ == (-scale.high_[0],)
    assert_within_bounds(signal, symbols, scale)
    if peak < 1e-300:
        return
    for x, symbol in zip(samples, symbols.tolist(), strict=True):
        # on a border the reference's rounding decides: both levels are right
        position = position_by_mu(x, peak, mu) * n
        assert symbol <= position + 1e-6 and (position - 1e-6 <= symbol + 1)


def test_mu_borders_are_symmetric_and_those_of_the_formula() -> None:
    for dtype in INTEGERS:
        info = np.iinfo(dtype)
        signal = np.array([info.min, info.min // 2, 0, 1, info.max // 2, info.max], dtype)
        symbols, scale = quantize(signal, law="mu")
        assert scale.n_symbols == 256 and (np.diff(symbols) >= 0).all()
        assert_within_bounds(signal, symbols, scale)
    for n in (1, 2, 3, 16, 255, 256, 65536):
        borders = mu_borders(n, 255.0)
        assert (
            borders.size == n + 1 and (np.diff(borders) > 0).all() and np.array_equal(borders, -borders[::-1])
        )
        y = np.linspace(-1, 1, n + 1)
        np.testing.assert_allclose(
            borders, np.sign(y) * np.expm1(np.abs(y) * np.log(256)) / 255, rtol=1e-9, atol=1e-12
        )
    ratio = np.diff(mu_borders(4096, 255.0))
    assert ratio.max() / ratio.min() == pytest.approx(256, rel=0.01)  # as the documentation says


@given(FLOATS, st.sampled_from(["step", "levels", "mu"]))
def test_order_is_kept_and_middles_are_cut_to_their_own_level(samples: list[float], way: str) -> None:
    options: dict[str, Any] = {
        "step": {"step": 1e4},
        "levels": {"levels": 77},
        "mu": {"law": "mu", "levels": 77},
    }[way]
    assume(max(samples) - min(samples) > 1.0)
    symbols, scale = quantize(sorted(samples), **options)
    assert (np.diff(symbols) >= 0).all()
    middles = scale.inverse_transform(np.arange(scale.n_symbols))
    assert (np.diff(middles) > 0).all() and changed(scale, clip=True).transform(middles).tolist() == list(
        range(scale.n_symbols)
    )


@given(st.lists(st.integers(-(2**52), 2**52), min_size=1, max_size=20), st.integers(2**24, 2**40))
def test_floats_and_integers_of_one_value_have_one_symbol(samples: list[int], step: int) -> None:
    symbols, scale = quantize(samples, step=step)
    assert scale.transform(np.array(samples, np.float64)).tolist() == symbols.tolist()
    small = np.array([1, 2], np.uint8)  # another type than the scale was learned on
    assert np.array_equal(
        changed(scale, clip=True).transform(small),
        changed(scale, clip=True).transform(small.astype(np.float32)),
    )


def test_blocks_of_a_long_signal_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    signal = np.random.default_rng(0).normal(size=(1000, 2)).cumsum(axis=0)
    whole, scale = quantize(signal, levels=50, channels="separate")
    monkeypatch.setattr(scales, "_CHUNK", 7)
    assert np.array_equal(scale.transform(signal), whole)
    signal[500, 1] = np.nan
    refuses(
        ValueError,
        "signal: channel 1, position 500: expected a finite number, got nan",
        scale.transform,
        signal,
    )


@each("dtype", ["<i2", ">i2", "<f4", ">f4", "<f8", ">f8", "f2", ">u8"])
def test_layouts_and_byte_orders(dtype: str) -> None:
    signal = np.arange(24).reshape(8, 3)
    symbols, scale = quantize(signal, step=2)
    assert symbols.shape == (8, 3) and scale.n_channels == 3
    for other in (
        signal.astype(dtype),
        np.asfortranarray(signal.astype(dtype)),
        np.repeat(signal, 2, axis=0).astype(dtype)[::2],
    ):
        before = other.copy()
        assert np.array_equal(scale.transform(other), symbols) and np.array_equal(other, before)
    assert np.array_equal(quantize(signal.tolist(), step=2)[0], symbols)


def test_channels_have_a_scale_each_and_may_have_a_step_and_a_range() -> None:
    signal = np.array([[0.0, 100], [1.0, 300], [0.5, 200]])
    for channels, expected in (("shared", [[0, 0], [3, 3], [2, 2]]), ("separate", [[0, 4], [3, 7], [2, 6]])):
        symbols, scale = quantize(signal, levels=4, channels=channels)  # type: ignore[arg-type]
        assert symbols.tolist() == expected and scale.n_symbols == (4 if channels == "shared" else 8)
        assert (np.abs(scale.inverse_transform(symbols) - signal) <= scale.max_error).all()
    symbols, scale = quantize([[0, 100], [10, 300]], step=[5, 100], channels="separate")
    assert symbols.tolist() == [[0, 3], [2, 5]] and scale.n_levels == (3, 3) and scale.first_symbols == (0, 3)
    symbols, scale = quantize([[0, 100], [10, 300]], levels=10, low=0, high=(10, 1000))
    assert symbols.tolist() == [[0, 1], [9, 3]] and scale.high_ == (10, 1000)
    assert quantize([[0, 100], [10, 300]], step=10)[1].n_levels == (2, 21)


def test_samples_outside_are_clipped_or_named() -> None:
    _, scale = quantize([0.0, 1.0], levels=4)
    assert changed(scale, clip=True).transform([-5.0, 0.3, 7.0]).tolist() == [0, 1, 3]
    _, two = quantize([[0, 0], [10, 20]], step=5)
    assert changed(two, clip=True).transform([[0, -3], [99, 20]]).tolist() == [[0, 0], [2, 4]]
    assert quantize([0, 2], levels=2, low=1, high=2, clip=True)[0].tolist() == [0, 1]
    for far in (1e308, -1e308, np.iinfo(np.int64).min, np.iinfo(np.uint64).max):
        for any_scale in (
            scale,
            quantize([0, 1], law="mu")[1],
            quantize([0.0, 1.0], step=1e-3)[1],
            quantize([0, 9], step=3)[1],
        ):
            assert changed(any_scale, clip=True).transform(np.array([far]))[0] == (
                any_scale.n_symbols - 1 if far > 0 else 0
            )


def test_either_end_of_a_mu_scale_says_both_and_signals_may_be_empty() -> None:
    for ends in ({"high": 2}, {"low": -2}, {"low": -2, "high": 2}):
        scale = Scale(law="mu", **ends).fit([0.5])
        assert (scale.low_, scale.high_) == ((-2,), (2,))
    for empty in ([], np.empty(0), np.empty(0, np.uint16)):
        symbols, scale = quantize(empty, levels=5, low=-1, high=1)
        assert symbols.shape == scale.inverse_transform(symbols).shape == (0,) and symbols.dtype == np.int32
    assert quantize(np.empty((0, 3)), step=1, low=0, high=1)[0].shape == (0, 3)


SCALES = [
    quantize([0.1, 0.7], step=0.1)[1],
    quantize([2**62, 2**62 + 9], step=3)[1],
    quantize([[0.1, 5], [0.3, 9]], levels=7, channels="separate")[1],
    quantize([[-0.3, 5], [0.1, 9]], law="mu", mu=100.5, gaps=True)[1],
    quantize([[-0.3, 5], [0.1, 9]], levels=3, channels="separate", restore="mean")[1],
]


@each("scale", SCALES)
def test_a_scale_is_kept_as_json(scale: Scale) -> None:
    again = Scale.from_state(json.loads(json.dumps(scale.state())))
    for other in (again, pickle.loads(pickle.dumps(scale)), copy.deepcopy(scale)):
        assert other.state() == scale.state() and np.array_equal(other.max_error, scale.max_error)


WAYS = ({"step": 0.7}, {"step": 3}, {"levels": 5}, {"law": "mu", "levels": 9})


@given(FLOATS | integers().map(np.ndarray.tolist), st.sampled_from(WAYS))
def test_levels_are_restored_to_means_within_the_bound(samples: list[Any], way: dict[str, Any]) -> None:
    """The mean of a level, its middle counted once more; nearer to the samples of the fit than the middle."""
    assume(max(samples) - min(samples) < 1e4)
    signal = np.array(samples)
    symbols, scale = quantize(signal, restore="mean", **way)
    _, by_middles = quantize(signal, **way)
    assert_within_bounds(signal, symbols, scale)
    levels = np.arange(scale.n_symbols)
    middles, means = by_middles.inverse_transform(levels), scale.inverse_transform(levels)
    mine = [signal[symbols == level].tolist() for level in levels]
    expected = [mean_of_level(part, middle) for part, middle in zip(mine, middles.tolist(), strict=True)]
    assert np.allclose(means, expected, rtol=1e-15, atol=scale.max_error[0] * 1e-6)
    errors = [np.square(restored[symbols] - signal.astype(float)).sum() for restored in (means, middles)]
    assert errors[0] <= errors[1] * (1 + 1e-6) + 1e-9


def test_means_of_recordings_channels_and_gaps() -> None:
    rng = np.random.default_rng(0)
    parts = [np.exp(rng.normal(0, 1, (n, 2))) for n in (400, 2, 300)]
    whole = np.concatenate(parts)
    for channels in ("shared", "separate", "one"):
        scale = Scale(levels=8, channels=channels, gaps=True, restore="mean").fit(parts)
        assert scale.state() == Scale(**scale.get_params()).fit(whole).state()
        gone = np.insert(whole, [5, 9], np.nan, axis=0)
        same = Scale(**scale.get_params()).fit(gone)
        assert same.state() == scale.state()
        back = same.inverse_transform(same.transform(gone))
        assert np.isnan(back[[5, 10]]).all() and np.isnan(back).sum() == 4
        assert (np.nanmax(np.abs(back - gone), axis=0) <= same.max_error.max()).all()
        middles = scale.set_params(restore="middle").fit(whole)
        rms = [
            np.sqrt(np.mean((s.inverse_transform(s.transform(whole)) - whole) ** 2)) for s in (same, middles)
        ]
        assert rms[0] < 0.9 * rms[1] and "restore" not in middles.state()


def test_samples_outside_do_not_pull_means_out_of_levels_and_a_fit_that_fails_changes_nothing() -> None:
    scale = Scale(levels=4, low=0, high=4, restore="mean", clip=True).fit([1.2, 1.4, 99.0, 98.0, 97.0])
    back = scale.inverse_transform([0, 1, 3])
    assert np.allclose(back[:2], [0.5, (1.2 + 1.4 + 1.5) / 3])
    assert 3.5 < back[2] <= 4 and scale.max_error[0] < 1.01
    before = scale.state()
    refuses(ValueError, "expected a sample in 0..4, got 99", scale.set_params(clip=False).fit, [99.0])
    assert scale.set_params(clip=True).state() == before
    refuses(
        ValueError, "restore: expected at most 65536 levels", quantize, [0, 10**6], step=1, restore="mean"
    )
    refuses(ValueError, "restore: expected 'middle' or 'mean', got 'median'", quantize, [0], restore="median")
    for shifts in (
        [[0.0] * 3],
        [[0.0] * 3 + [9.0]],
        [[0.0] * 3 + [np.nan]],
        [["0"] * 4],
        [],
        5,
        [[0, 0, 0, 0]],
    ):
        refuses(ModelFormatError, "scale: ", changed, scale, shifts=shifts)
    refuses(ModelFormatError, "unexpected field 'shifts'", changed, ONE, shifts=[[0.0] * ONE.n_symbols])


@each("n_channels", [0, 2])
def test_recordings_have_the_scale_of_all_together(n_channels: int) -> None:
    rng = np.random.default_rng(n_channels)
    recordings = [
        np.cumsum(rng.normal(size=(n, n_channels) if n_channels else n), axis=0) for n in (30, 50, 20)
    ]
    for options in ({"step": 0.5}, {"levels": 7}, {"law": "mu"}):
        symbols, scale = quantize(recordings, **options)
        whole, same = quantize(np.concatenate(recordings), **options)
        assert scale.state() == same.state() and np.array_equal(np.concatenate(symbols), whole)


def test_recordings_in_every_form(tmp_path: pathlib.Path) -> None:
    rows = [[0, 5, 9, 4], [2, 2], [7]]
    symbols, scale = quantize([np.array(row) for row in rows], step=3)
    expected = [part.tolist() for part in symbols]
    mapped = np.memmap(tmp_path / "a", np.int16, "w+", shape=7)
    mapped[:] = np.concatenate(rows)
    objects = np.empty(3, object)
    objects[:] = [np.array(row) for row in rows]
    forms: list[Any] = [
        rows,
        tuple(rows),
        Ragged.from_lists(rows),
        objects,
        [mapped[:4], mapped[4:6], mapped[6:]],
    ]
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    forms += [pandas.Series(rows), pyarrow.array(rows), pyarrow.chunked_array([rows[:1], rows[1:]])]
    for form in forms:
        assert (
            Scale(step=3).fit(form).state() == scale.state()
            and [part.tolist() for part in scale.transform(form)] == expected
        )
    for form in (mapped, pandas.Series(mapped), pyarrow.array(mapped)):
        assert scale.transform(form).tolist() == np.concatenate(expected).tolist()
    assert quantize(pandas.DataFrame({"a": [1, 2], "b": [5, 9]}), step=1)[0].tolist() == [[0, 0], [1, 4]]
    for gap in (pandas.Series([1, None]), pyarrow.array([1.0, None]), [1.0, np.nan]):
        refuses(
            ValueError,
            "position 1: expected a finite number, got nan; drop or fill .*: gaps=True",
            scale.transform,
            gap,
        )
    refuses(
        ValueError,
        "signal: recording 1: position 0: expected a finite number",
        scale.transform,
        [[1.0, 2.0], [np.nan]],
    )


@given(integers() | FLOATS.map(np.array), st.integers(0, 2**32))
@each("channels", ["shared", "separate"])
def test_gaps_have_the_last_symbol_and_are_nan_again(signal: np.ndarray, seed: int, channels: Any) -> None:
    """The scale and all other symbols are those of the samples that are there."""
    signal = np.resize(signal, max(2, signal.size))
    mask = np.random.default_rng(seed).random((signal.size, 2)) < 0.4
    mask[seed % signal.size] = False
    both = np.stack([signal, signal[::-1]], axis=1)
    there = [both[~mask[:, c], c] for c in (0, 1)]
    for form in [np.ma.array(both, mask=mask)] + [np.where(mask, np.nan, both)] * (both.dtype.kind == "f"):
        symbols, scale = quantize(form, levels=9, channels=channels, gaps=True)
        assert scale.low_ == tuple(x.min() for x in there) and scale.high_ == tuple(x.max() for x in there)
        assert scale.gap == scale.n_symbols - 1 == (9 if channels == "shared" else 18)
        without = changed(scale, gaps=False)
        assert without.gap is None
        assert np.array_equal(symbols, np.where(mask, scale.gap, changed(without, clip=True).transform(both)))
        back = without.inverse_transform(changed(without, clip=True).transform(both))
        assert np.array_equal(scale.inverse_transform(symbols), np.where(mask, np.nan, back), equal_nan=True)
        parts, one = quantize([form, form[::-1]], levels=9, channels=channels, gaps=True)
        assert (
            one.state() == scale.state()
            and np.array_equal(parts[0], symbols)
            and np.array_equal(parts[1], symbols[::-1])
        )


def test_rounding_is_that_of_the_largest_number_on_the_scale() -> None:
    """The middle of the last level may lie in the next binade, where numbers are twice as far apart."""
    assert Scale(step=1.0).fit([0.0, 1.6]).max_error[0] == 0.5 + 4 * np.spacing(2.0)
    assert Scale(step=1.0).fit([-1.6, 0.0]).max_error[0] == 0.5 + 4 * np.spacing(2.0)


ONE, TWO = quantize([0.0, 1.0], levels=4)[1], quantize([[0, 0], [10, 20]], step=5, channels="separate")[1]
STATE = SCALES[0].state()


def bad(at: tuple[int, int], value: float, dtype: str) -> np.ndarray:
    signal = np.zeros((4, 2), dtype)
    signal[at] = value
    return signal


# older ones
assert Scale.from_state({name: value for name, value in STATE.items() if name != "gaps"}).state() == STATE


def kept(**change: Any) -> Any:
    return Scale.from_state({**STATE, **change})


#: A call, and words of the message.
REFUSED: dict[type[Exception], list[tuple[Any, str]]] = {
    ValueError: [
        *[(lambda x=x, t=t: quantize(bad((3, 1), x, t), levels=4), f"signal: channel 1, position 3: expected a finite .* {x}")
          for x in (np.nan, np.inf, -np.inf) for t in ("f2", "f4", "f8")],
        (lambda: quantize(bad((3, 1), np.nan, "f4")[:, 1], step=1), "signal: position 3: expected a finite number, got nan"),
        (lambda: ONE.transform([0.0, 0.5, 7.0, -1.0]), r"signal: position 2: expected a sample in 0..1, got 7.0 \(clip=True"),
        (lambda: TWO.transform([[0, -3], [10, 20]]), "signal: channel 1, position 0: expected a sample in 0..20, got -3"),
        (lambda: quantize([0, 12], step=6)[1].transform([-3, 15, 16]), r"position 2: expected a sample in 0\.\.12, got 16"),
        (lambda: quantize([0.5], law="mu", low=-1, high=2), "low: expected -2, since mu levels lie around 0, got -1"),
        (lambda: quantize([], step=1), "signal: expected at least one sample to learn the range from, or low and high"),
        (lambda: quantize(np.ones((2, 0)), step=1), "signal: expected at least one channel"),
        (lambda: quantize(np.ones((2, 5)), step=1), r"signal: expected \[n, channels\], got 2 .* of 5 channels; signal.T"),
        (lambda: quantize(np.ones((2, 2, 2)), step=1), r"signal: expected the shape \[n\] or .* \(2, 2, 2\); numpy.moveaxis"),
        (lambda: quantize([np.ones(3), np.array([1, np.nan])], levels=2), "signal: recording 1: position 1: expected a finite"),
        (lambda: ONE.transform([np.zeros(3), np.array([7.0])]), "signal: recording 1: position 0: expected a sample in 0..1"),
        (lambda: quantize([np.ones(3), np.ones((3, 2))], levels=2), "signal: expected recordings of the same channels"),
        (lambda: quantize(np.ma.array([1, 2], mask=[0, 1]), levels=2), "signal: expected every sample, .*gaps=True"),
        (lambda: quantize(np.ma.array([1, 2], mask=True), levels=2, gaps=True), "signal: expected at least one sample to learn"),
        (lambda: quantize([1, np.inf], levels=2, gaps=True), "signal: position 1: expected a finite .* first$"),
        (lambda: quantize([1], step=1, levels=2), "levels: expected one of step and levels, got step=1, levels=2"),
        (lambda: quantize([1], step=1, law="mu"), "step: expected None with the law 'mu'"),
        (lambda: quantize([1], step=1, channels="both"), "channels: expected 'shared', 'separate' or 'one', got 'both'"),
        (lambda: quantize([1], step=-2.5), "step: expected more than 0, got -2.5"),
        (lambda: quantize([[1, 1]] * 2, step=[1, np.inf]), "step: channel 1: expected a finite number, got inf"),
        (lambda: quantize([[1, 1]] * 2, step=[1]), "step: expected one number, or one for each of 2 channels, got 1"),
        (lambda: quantize([[1, 2]] * 2, levels=2**30 + 1, channels="separate"), "levels: expected at most .* symbols, got 21"),
        (lambda: quantize([0, 2**31], step=1), "step: expected at most 2147483647 symbols, got 2147483649"),
        (lambda: quantize([-1.7e308, 1.7e308], levels=4), r"high: the levels of -1.7e\+308..1.7e\+308 exceed float64"),
        (lambda: quantize([[0, 1e300]] * 2, step=[1, 1e-300]), r"step: channel 1: the levels of 1e\+300..1e\+300 exceed float64"),
        (lambda: quantize([1], levels=2, low=3, high=2), "low: expected at most 2, which is high, got 3"),
        (lambda: quantize([1], levels=2, low=10**400), "low: expected a float64 number, got an integer of 1329 bits"),
        (lambda: quantize([1], law="mu", mu=0), "mu: expected 1e-6..1e9, got 0.0"),
        *[(lambda at=at, x=x: TWO.inverse_transform(np.where(np.arange(4).reshape(2, 2) == at, x, [0, 3])),
           rf"symbols: channel {at % 2}, position {at // 2}: expected a symbol in {('0..2', '3..7')[at % 2]}, got {x}")
          for at, x in ((2, 3), (1, 2), (3, 8), (0, -1))],
        (lambda: TWO.inverse_transform(np.array([0, 3])), r"symbols: expected the shape \[n, 2\], got .* shape \(2,\)"),
        (lambda: ONE.inverse_transform(np.array([2**64 - 1], np.uint64)), "position 0: expected a symbol in 0..3, got 18446744"),
    ],
    TypeError: [
        *[(lambda signal=signal: quantize(signal, step=1), "signal: expected integers or floats of at most 64 bits, got")
          for signal in (np.array([1j]), np.array([True]), np.array(["a"]), [None], np.array([1], object), "abc")],
        (lambda: quantize([1], step="a"), "step: expected a number, got str"),
        (lambda: quantize([1], levels=2.5), "levels: expected an int, got 2.5"),
        (lambda: ONE.inverse_transform(np.array([0.0])), "symbols: expected integers, got an array of float64"),
    ],
    ModelFormatError: [
        (lambda: kept(law="a"), "law: expected 'linear' or 'mu', got 'a'"),
        (lambda: kept(law=["a"]), "law: expected 'linear' or 'mu'"), (lambda: kept(ndim=3), "ndim: expected 1 or 2, .* got 3"),
        (lambda: kept(step=None), "expected 1 or 2, and levels or a step"),
        (lambda: kept(low=[0, 1]), "low: expected one number, or one for each of 1 channels, got 2"),
        (lambda: kept(step=[None]), "step: channel 0: expected a number, got None"),
        (lambda: kept(levels=4), "levels: expected one of step and levels"),
        (lambda: kept(gaps=1), "gaps: expected True or False, got 1"), (lambda: kept(other=1), "unexpected field 'other'"),
        (lambda: Scale.from_state([]), "scale: expected a dict, got list"),  # type: ignore[arg-type]
        *[(lambda name=name: Scale.from_state({k: v for k, v in STATE.items() if k != name}), f"field '{name}' is missing")
          for name in STATE if name != "gaps"],
    ],
}  # fmt: skip


@each("error, rows", REFUSED.items())
def test_what_is_refused(error: type[Exception], rows: list[tuple[Any, str]]) -> None:
    for call, words in rows:
        refuses(error, words, call)
    if np.dtype(np.longdouble).itemsize > 8:
        refuses(TypeError, "at most 64 bits", quantize, np.ones(2, np.longdouble), step=1)
    assert quantize(np.ma.array([1, 2]), levels=2)[0].tolist() == [0, 1]  # none of these is masked
    # halves go to even multiples
    assert quantize([0, 12], step=6)[1].transform([-3, -2, 14, 15]).tolist() == [0, 0, 2, 2]
