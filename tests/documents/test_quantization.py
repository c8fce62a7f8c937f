"""`quantize` against its reference, sample by sample; bounds of errors in exact arithmetic; what is refused."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from reference.quantize import level_by_step, level_of_equal, position_by_mu

from ubpe_numba.documents import quantization
from ubpe_numba.documents.quantization import Quantization, mu_borders, quantize
from ubpe_numba.errors import ModelFormatError

FLOATS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30)
INTEGERS = {
    dtype: st.lists(st.integers(np.iinfo(dtype).min, np.iinfo(dtype).max), min_size=1, max_size=30)
    for dtype in ("int8", "uint8", "int16", "int64", "uint64")
}


def assert_within_bounds(signal: np.ndarray, symbols: np.ndarray, scale: Quantization) -> None:
    """No sample is farther from its restored value than the bound says, without any rounding in the comparison."""
    assert symbols.dtype == np.int32
    assert symbols.min() >= 0 and symbols.max() < scale.n_symbols
    back = scale.restore(symbols)
    assert back.dtype == np.float64
    bound = Fraction(float(scale.max_error[0]))
    for x, restored in zip(signal.tolist(), back.tolist(), strict=True):
        assert abs(Fraction(x) - Fraction(restored)) <= bound


# ------------------------------------------------------------------------------------------------ levels


@given(FLOATS, st.floats(1.0, 1e6))
@example([3.0, 9.0, -3.0, -9.0, 3.0000000000000004], 6.0)
@example([0.0], 5e-324)
def test_steps_of_floats(samples: list[float], step: float) -> None:
    signal = np.array(samples)
    symbols, scale = quantize(signal, step=step)
    first = min(level_by_step(x, step, 0) for x in samples)
    assert symbols.tolist() == [level_by_step(x, step, first) for x in samples]
    assert scale.n_symbols == max(symbols) + 1 and min(symbols) == 0
    assert_within_bounds(signal, symbols, scale)


@given(st.data(), st.sampled_from(list(INTEGERS)))
def test_integers_are_cut_exactly_by_integer_steps(data: st.DataObject, dtype: str) -> None:
    signal = np.array(data.draw(INTEGERS[dtype]), dtype)
    span = int(signal.max()) - int(signal.min())
    step = data.draw(st.integers(max(1, span >> 30), max(2, span * 2)))
    symbols, scale = quantize(signal, step=step)
    first = level_by_step(int(signal.min()), step, 0)
    assert symbols.tolist() == [level_by_step(x, step, first) for x in signal.tolist()]
    assert_within_bounds(signal, symbols, scale)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("step", [2**52 - 1, 2**52, 3 * 2**60, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64, 2**64 + 1, 2**65])
def test_integers_and_steps_of_the_extremes(dtype: str, step: int) -> None:
    info, half = np.iinfo(dtype), step // 2
    places = [sign * (n * half + d) for sign in (1, -1) for n in (0, 1, 2, 3, 5) for d in (-1, 0, 1)] + [info.min, info.max]
    signal = np.array([x for x in places if info.min <= x <= info.max], dtype)
    symbols, scale = quantize(signal, step=step)
    first = level_by_step(int(signal.min()), step, 0)
    assert symbols.tolist() == [level_by_step(x, step, first) for x in signal.tolist()]
    assert_within_bounds(signal, symbols, scale)


@given(st.integers(-(2**63), 2**63 - 50), st.lists(st.integers(0, 49), min_size=1, max_size=20), st.integers(1, 9))
@example(2**62, [0, 1, 2], 1)
def test_integers_beyond_float64_are_still_told_apart(base: int, rest: list[int], step: int) -> None:
    signal = np.array([base + r for r in rest], np.int64)
    symbols, scale = quantize(signal, step=step)
    first = level_by_step(int(signal.min()), step, 0)
    assert symbols.tolist() == [level_by_step(x, step, first) for x in signal.tolist()]
    assert_within_bounds(signal, symbols, scale)


@given(FLOATS, st.integers(1, 400))
@example([0.0, 5e-324], 10)
@example([7.5], 3)
@example([0.1, 0.3], 3)
def test_equal_levels_of_floats(samples: list[float], n: int) -> None:
    signal = np.array(samples)
    symbols, scale = quantize(signal, levels=n)
    assert symbols.tolist() == [level_of_equal(x, min(samples), max(samples), n) for x in samples]
    assert scale.n_symbols == n
    assert_within_bounds(signal, symbols, scale)


@given(st.integers(-1000, 1000), st.integers(1, 300), st.integers(1, 300))
@example(0, 49, 1)
def test_integers_on_a_border_go_to_the_upper_level(low: int, n: int, width: int) -> None:
    borders = low + np.arange(n + 1) * width
    symbols, _ = quantize(borders, levels=n)
    assert symbols.tolist() == [*range(n), n - 1]


@given(st.data(), st.sampled_from(list(INTEGERS)), st.integers(1, 2**31 - 1))
def test_equal_levels_of_integers(data: st.DataObject, dtype: str, n: int) -> None:
    signal = np.array(data.draw(INTEGERS[dtype]), dtype)
    symbols, scale = quantize(signal, levels=n)
    low, high = int(signal.min()), int(signal.max())
    assert symbols.tolist() == [level_of_equal(x, low, high, n) for x in signal.tolist()]
    assert_within_bounds(signal, symbols, scale)


@given(FLOATS, st.integers(1, 300), st.floats(1e-3, 1e5))
@example([0.0], 4, 255.0)
@example([0.0, 0.0], 5, 255.0)
@example([5e-324, -5e-324], 8, 255.0)
def test_mu_levels_of_floats(samples: list[float], n: int, mu: float) -> None:
    signal = np.array(samples)
    symbols, scale = quantize(signal, levels=n, law="mu", mu=mu)
    peak = max(map(abs, samples))
    assert scale.n_symbols == n and scale.low == (-scale.high[0],)
    assert_within_bounds(signal, symbols, scale)
    if peak < 1e-300:
        return
    for x, symbol in zip(samples, symbols.tolist(), strict=True):
        position = position_by_mu(x, peak, mu) * n  # on a border the reference's rounding decides: both levels are right
        assert symbol <= position + 1e-6 and (position - 1e-6 <= symbol + 1)


def test_mu_levels_of_integers_of_every_range() -> None:
    for dtype in ("int8", "int16", "int64", "uint64"):
        info = np.iinfo(dtype)
        signal = np.array([info.min, info.min // 2, 0, 1, info.max // 2, info.max], dtype)
        symbols, scale = quantize(signal, law="mu")
        assert scale.n_symbols == 256 and (np.diff(symbols) >= 0).all()
        assert_within_bounds(signal, symbols, scale)


def test_mu_borders_are_symmetric_and_those_of_the_formula() -> None:
    for n in (1, 2, 3, 16, 255, 256, 65536):
        borders = mu_borders(n, 255.0)
        assert borders.size == n + 1 and (np.diff(borders) > 0).all() and np.array_equal(borders, -borders[::-1])
        y = np.linspace(-1, 1, n + 1)
        np.testing.assert_allclose(borders, np.sign(y) * np.expm1(np.abs(y) * np.log(256)) / 255, rtol=1e-9, atol=1e-12)
    ratio = np.diff(mu_borders(4096, 255.0))
    assert ratio.max() / ratio.min() == pytest.approx(256, rel=0.01)  # as the documentation says


@given(st.floats(-1e9, 1e9), st.integers(1, 50), st.sampled_from(["linear", "mu"]))
def test_a_constant_signal(value: float, n: int, law: Any) -> None:
    symbols, scale = quantize([value] * 3, levels=n, law=law)
    assert len(set(symbols.tolist())) == 1 and scale.n_symbols == n
    assert_within_bounds(np.array([value] * 3), symbols, scale)
    if law == "linear":
        assert scale.restore(symbols).tolist() == [value] * 3


@given(FLOATS, st.sampled_from(["step", "levels", "mu"]))
def test_order_is_kept_and_middles_are_cut_to_their_own_level(samples: list[float], way: str) -> None:
    options: dict[str, Any] = {"step": {"step": 1e4}, "levels": {"levels": 77}, "mu": {"law": "mu", "levels": 77}}[way]
    assume(max(samples) - min(samples) > 1.0)
    symbols, scale = quantize(sorted(samples), **options)
    assert (np.diff(symbols) >= 0).all()
    middles = scale.restore(np.arange(scale.n_symbols))
    assert (np.diff(middles) > 0).all()
    assert scale.apply(middles, clip=True).tolist() == list(range(scale.n_symbols))


def test_floats_by_steps_that_are_huge_integers() -> None:
    symbols, scale = quantize([-1e300, 0.0, 1e300], step=10**299)
    assert symbols.tolist() == [0, 10, 20] and scale.apply(np.array([1], np.uint8)).tolist() == [10]


@given(st.lists(st.integers(-(2**52), 2**52), min_size=1, max_size=20), st.integers(2**24, 2**40))
def test_floats_and_integers_of_one_value_have_one_symbol(samples: list[int], step: int) -> None:
    symbols, scale = quantize(samples, step=step)
    assert scale.apply(np.array(samples, np.float64)).tolist() == symbols.tolist()
    small = np.array([1, 2], np.uint8)  # another type than the scale was learned on
    assert np.array_equal(scale.apply(small, clip=True), scale.apply(small.astype(np.float32), clip=True))


def test_blocks_of_a_long_signal_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    signal = np.random.default_rng(0).normal(size=(1000, 2)).cumsum(axis=0)
    whole, scale = quantize(signal, levels=50, channels="separate")
    monkeypatch.setattr(quantization, "_CHUNK", 7)
    assert np.array_equal(scale.apply(signal), whole)
    signal[500, 1] = np.nan
    with pytest.raises(ValueError, match=re.escape("signal: channel 1, position 500: expected a finite number, got nan")):
        scale.apply(signal)


@pytest.mark.parametrize("dtype", ["<i2", ">i2", "<f4", ">f4", "<f8", ">f8", "f2", ">u8"])
def test_layouts_and_byte_orders(dtype: str) -> None:
    signal = np.arange(24).reshape(8, 3)
    symbols, scale = quantize(signal, step=2)
    assert symbols.shape == (8, 3) and scale.n_channels == 3
    for other in (signal.astype(dtype), np.asfortranarray(signal.astype(dtype)), np.repeat(signal, 2, axis=0).astype(dtype)[::2]):
        before = other.copy()
        assert np.array_equal(scale.apply(other), symbols) and np.array_equal(other, before)
    assert np.array_equal(quantize(signal.tolist(), step=2)[0], symbols)


# ------------------------------------------------------------------------------------------------ channels


def test_channels_have_a_scale_each() -> None:
    signal = np.array([[0.0, 100], [1.0, 300], [0.5, 200]])
    for channels, expected in (("shared", [[0, 0], [3, 3], [2, 2]]), ("separate", [[0, 4], [3, 7], [2, 6]])):
        symbols, scale = quantize(signal, levels=4, channels=channels)  # type: ignore[arg-type]
        assert symbols.tolist() == expected
        assert scale.n_symbols == (4 if channels == "shared" else 8)
        assert (np.abs(scale.restore(symbols) - signal) <= scale.max_error).all()
    one = [quantize(signal[:, c], levels=4)[0].tolist() for c in range(2)]
    assert one == [[0, 3, 2]] * 2


def test_a_step_and_a_range_for_each_channel() -> None:
    signal = [[0, 100], [10, 300]]
    symbols, scale = quantize(signal, step=[5, 100], channels="separate")
    assert symbols.tolist() == [[0, 3], [2, 5]] and scale.n_levels == (3, 3) and scale.first_symbols == (0, 3)
    symbols, scale = quantize(signal, levels=10, low=0, high=(10, 1000))
    assert symbols.tolist() == [[0, 1], [9, 3]] and scale.high == (10, 1000)
    shared = quantize(signal, step=10)[1]
    assert shared.n_levels == (2, 21) and shared.n_symbols == 21


# ------------------------------------------------------------------------------------------------ ranges


def test_samples_outside_are_clipped_or_named() -> None:
    _, scale = quantize([0.0, 1.0], levels=4)
    assert scale.apply([-5.0, 0.3, 7.0], clip=True).tolist() == [0, 1, 3]
    with pytest.raises(
        ValueError, match=re.escape("signal: position 2: expected a sample in 0..1, got 7.0 (clip=True takes the")
    ):
        scale.apply([0.0, 0.5, 7.0, -1.0])
    _, two = quantize([[0, 0], [10, 20]], step=5)
    expected = re.escape("signal: channel 1, position 0: expected a sample in 0..20, got -3 (clip=True takes the first level)")
    with pytest.raises(ValueError, match=expected):
        two.apply([[0, -3], [10, 20]])
    assert two.apply([[0, -3], [99, 20]], clip=True).tolist() == [[0, 0], [2, 4]]
    with pytest.raises(ValueError, match="signal: position 0: expected a sample in 1..2, got 0"):
        quantize([0, 2], levels=2, low=1, high=2)
    assert quantize([0, 2], levels=2, low=1, high=2, clip=True)[0].tolist() == [0, 1]
    for far in (1e308, -1e308, np.iinfo(np.int64).min, np.iinfo(np.uint64).max):
        for any_scale in (scale, quantize([0, 1], law="mu")[1], quantize([0.0, 1.0], step=1e-3)[1], quantize([0, 9], step=3)[1]):
            assert any_scale.apply(np.array([far]), clip=True)[0] == (any_scale.n_symbols - 1 if far > 0 else 0)


def test_half_a_step_beyond_the_range_is_still_on_the_scale() -> None:
    _, scale = quantize([0, 12], step=6)
    assert scale.apply([-3, -2, 14, 15]).tolist() == [0, 0, 2, 2]  # halves go to even multiples
    with pytest.raises(ValueError, match=r"position 1: expected a sample in 0\.\.12, got 16"):
        scale.apply([0, 16])


def test_either_end_of_a_mu_scale_says_both() -> None:
    for ends in ({"high": 2}, {"low": -2}, {"low": -2, "high": 2}):
        scale = Quantization.learn([0.5], law="mu", **ends)
        assert (scale.low, scale.high) == ((-2,), (2,))
    with pytest.raises(ValueError, match="low: expected -2, since mu levels lie around 0, got -1"):
        quantize([0.5], law="mu", low=-1, high=2)


def test_empty_signals() -> None:
    for empty in ([], np.empty(0), np.empty(0, np.uint16)):
        with pytest.raises(ValueError, match="signal: expected at least one sample to learn the range from, or low and high"):
            quantize(empty, step=1)
        symbols, scale = quantize(empty, levels=5, low=-1, high=1)
        assert symbols.shape == (0,) and symbols.dtype == np.int32
        assert scale.restore(symbols).shape == (0,) and scale.apply([0.0]).tolist() == [2]
    assert quantize(np.empty((0, 3)), step=1, low=0, high=1)[0].shape == (0, 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_samples_that_are_not_finite_are_named(bad: float, dtype: str) -> None:
    signal = np.zeros((4, 2), dtype)
    signal[3, 1] = bad
    with pytest.raises(ValueError, match=re.escape(f"signal: channel 1, position 3: expected a finite number, got {bad}")):
        quantize(signal, levels=4)
    with pytest.raises(ValueError, match=re.escape(f"signal: position 3: expected a finite number, got {bad}")):
        quantize(signal[:, 1], step=1)
    with pytest.raises(ValueError, match="channel 1, position 3"):
        quantize(signal, levels=4, low=-1, high=1, clip=True)


@pytest.mark.parametrize(
    "signal", [np.array([1j]), np.array([True]), np.array(["a"]), [None], np.array([1], object), np.ones(2, np.longdouble), "abc"]
)
def test_other_types_are_refused(signal: Any) -> None:
    if isinstance(signal, np.ndarray) and signal.dtype == np.longdouble and signal.dtype.itemsize == 8:
        pytest.skip("here it is float64")
    with pytest.raises(TypeError, match="signal: expected integers or floats of at most 64 bits, got"):
        quantize(signal, step=1)


@pytest.mark.parametrize(
    ("signal", "options", "message"),
    [
        (3, {"step": 1}, "signal: expected the shape [n] or [n, channels], got an array of int64, shape ()"),
        (np.ones((2, 2, 2)), {"step": 1}, "signal: expected the shape [n] or [n, channels], got an array of float64"),
        (np.ones((2, 0)), {"step": 1}, "signal: expected at least one channel"),
        (
            np.ones((2, 5)),
            {"step": 1},
            "signal: expected [n, channels], got 2 samples of 5 channels; signal.T",
        ),
        ([1], {}, "levels: expected one of step and levels, got step=None, levels=None"),
        ([1], {"step": 1, "levels": 2}, "levels: expected one of step and levels, got step=1, levels=2"),
        ([1], {"step": 1, "law": "mu"}, "step: expected None with the law 'mu'"),
        ([1], {"step": 1, "law": "log"}, "law: expected 'linear' or 'mu', got 'log'"),
        ([1], {"step": 1, "channels": "both"}, "channels: expected 'shared' or 'separate', got 'both'"),
        ([1], {"step": 0}, "step: expected more than 0, got 0"),
        ([1], {"step": -2.5}, "step: expected more than 0, got -2.5"),
        ([1], {"step": np.nan}, "step: expected a finite number, got nan"),
        ([[1, 1]] * 2, {"step": [1, np.inf]}, "step: channel 1: expected a finite number, got inf"),
        ([[1, 1]] * 2, {"step": [1, 0]}, "step: channel 1: expected more than 0, got 0"),
        ([[1, 1]] * 2, {"step": [1]}, "step: expected one number, or one for each of 2 channels, got 1"),
        ([1], {"levels": 0}, "levels: expected at least 1, got 0"),
        ([1], {"levels": 2**31}, "levels: expected 1..2147483647, got 2147483648"),
        ([1], {"levels": 2**16 + 1, "law": "mu"}, "levels: expected 1..65536, got 65537"),
        (
            [[1, 2]] * 2,
            {"levels": 2**30 + 1, "channels": "separate"},
            "levels: expected at most 2147483647 symbols, got 2147483650",
        ),
        ([0, 2**31], {"step": 1}, "step: expected at most 2147483647 symbols, got 2147483649"),
        ([0, 1e300], {"step": 1e-300}, "step: the levels of 0..1e+300 exceed float64"),
        ([-1.7e308, 1.7e308], {"levels": 4}, "high: the levels of -1.7e+308..1.7e+308 exceed float64"),
        ([[0, 1e300]] * 2, {"step": [1, 1e-300]}, "step: channel 1: the levels of 1e+300..1e+300 exceed float64"),
        ([1], {"levels": 2, "low": 3, "high": 2}, "low: expected at most 2, which is high, got 3"),
        ([1], {"levels": 2, "low": 10**400}, "low: expected a number that fits float64, got an integer of 1329 bits"),
        ([1], {"law": "mu", "mu": 0}, "mu: expected 1e-6..1e9, got 0.0"),
    ],
)
def test_arguments_that_are_refused(signal: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        quantize(signal, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "a"}, "step: expected a number, got str"),
        ({"step": True}, "step: expected a number, got True (bool)"),
        ({"step": [[1]]}, "step: channel 0: expected a number, got list"),
        ({"levels": 2.5}, "levels: expected an int, got 2.5"),
        ({"levels": True}, "levels: expected an int, got True"),
        ({"levels": 2, "high": None, "low": "x"}, "low: expected a number, got str"),
        ({"law": "mu", "mu": "x"}, "mu: expected a number, got str"),
    ],
)
def test_types_of_arguments_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        quantize([1], **options)


# ------------------------------------------------------------------------------------------------ restore, state


def test_symbols_that_are_not_there_are_named() -> None:
    symbols, scale = quantize([[0, 0], [5, 9]], step=1, channels="separate")
    assert scale.n_levels == (6, 10)
    for at, bad in (((1, 0), 6), ((0, 1), 5), ((1, 1), 16), ((0, 0), -1)):
        wrong = symbols.copy()
        wrong[at] = bad
        first, last = ((0, 5), (6, 15))[at[1]]
        expected = f"symbols: channel {at[1]}, position {at[0]}: expected a symbol in {first}..{last}, got {bad}"
        with pytest.raises(ValueError, match=re.escape(expected)):
            scale.restore(wrong)
    with pytest.raises(TypeError, match="symbols: expected integers, got an array of float64"):
        scale.restore(symbols * 1.0)
    with pytest.raises(ValueError, match=re.escape("symbols: expected the shape [n, 2], got an array of int32, shape (2,)")):
        scale.restore(symbols[0])
    with pytest.raises(ValueError, match=re.escape("signal: expected the shape [n, 2], got an array of float64, shape (3, 3)")):
        scale.apply(np.ones((3, 3)))
    with pytest.raises(ValueError, match=re.escape("signal: expected the shape [n], got an array of int64, shape (1, 1)")):
        quantize([1], step=1)[1].apply(np.array([[1]], np.int64))
    huge = np.array([2**64 - 1], np.uint64)
    with pytest.raises(ValueError, match="position 0: expected a symbol in 0..0, got 18446744073709551615"):
        quantize([1], step=1)[1].restore(huge)


SCALES = [
    quantize([0.1, 0.7], step=0.1)[1],
    quantize([2**62, 2**62 + 9], step=3)[1],
    quantize([[0.1, 5], [0.3, 9]], levels=7, channels="separate")[1],
    quantize([[-0.3, 5], [0.1, 9]], law="mu", mu=100.5)[1],
]


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_is_kept_as_json(scale: Quantization) -> None:
    again = Quantization.from_state(json.loads(json.dumps(scale.state())))
    for other in (again, pickle.loads(pickle.dumps(scale)), copy.deepcopy(scale)):
        assert other == scale and hash(other) == hash(scale)
        assert np.array_equal(other.max_error, scale.max_error) and other.n_symbols == scale.n_symbols
    with pytest.raises(dataclasses.FrozenInstanceError):
        scale.low = (0,)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"law": "a"}, "law: expected 'linear' or 'mu', got 'a'"),
        ({"law": ["a"]}, "law: expected 'linear' or 'mu'"),
        ({"ndim": 3}, "ndim: expected 1 or 2, got 3"),
        ({"low": 1}, "low: expected a tuple of one number a channel, got 1"),
        ({"low": []}, "low: expected a tuple of one number a channel, got ()"),
        ({"low": [0, 1]}, "low: expected a tuple of one number a channel, got (0, 1)"),
        ({"high": [1, 2]}, "high: expected one number, or one for each of 1 channels, got 2"),
        ({"high": ["1"]}, "high: channel 0: expected a number, got str"),
        ({"high": [float("nan")]}, "high: channel 0: expected a finite number, got nan"),
        ({"step": [None]}, "step: channel 0: expected a number, got None"),
        ({"levels": 4}, "levels: expected one of step and levels"),
        ({"mu": None}, "mu: expected a number, got None"),
        ({"other": 1}, "unexpected field 'other'"),
    ],
)
def test_states_that_are_refused(change: dict[str, Any], message: str) -> None:
    state = SCALES[0].state()
    with pytest.raises(ModelFormatError, match=re.escape(message)):
        Quantization.from_state({**state, **change})


def test_a_state_is_complete() -> None:
    state = SCALES[0].state()
    for name in state:
        with pytest.raises(ModelFormatError, match=f"quantization: the field '{name}' is missing"):
            Quantization.from_state({k: v for k, v in state.items() if k != name})
    with pytest.raises(ModelFormatError, match="quantization: expected a dict, got list"):
        Quantization.from_state([])  # type: ignore[arg-type]


def test_a_scale_needs_numpy_only() -> None:
    """No kernel is loaded, so the quarter of a second that numba takes is saved."""
    work = "from ubpe_numba.documents.quantization import quantize; quantize([1, 2], step=1)"
    code = f"import sys; {work}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_number_is_no_signal() -> None:
    for ndim, scale in ((1, quantize([1], step=1)[1]), (2, quantize([[1]], step=1)[1])):
        expected = "[n]" if ndim == 1 else "[n, 1]"
        with pytest.raises(
            ValueError, match=re.escape(f"signal: expected the shape {expected}, got an array of int64, shape ()")
        ):
            scale.apply(3)


def test_rows_of_different_lengths_and_masked_samples_are_named() -> None:
    with pytest.raises(ValueError, match="signal: expected an array, got list"):
        quantize([[1], [1, 2]], levels=2)
    with pytest.raises(ValueError, match="signal: expected every sample, got an array with masked ones"):
        quantize(np.ma.array([1, 2], mask=[False, True]), levels=2)
    assert quantize(np.ma.array([1, 2]), levels=2)[0].tolist() == [0, 1]


def test_the_first_symbols_of_very_many_channels() -> None:
    """In time that grows with the channels, not with their square."""
    signal = np.tile([[0], [1]], 20_000)
    symbols, scale = quantize(signal, levels=2, low=0, high=1, channels="separate")
    assert scale.first_symbols == tuple(range(0, 40_000, 2)) and symbols[1].tolist() == list(range(1, 40_000, 2))


def test_rounding_is_that_of_the_largest_number_on_the_scale() -> None:
    """The middle of the last level may lie in the next binade, where numbers are twice as far apart."""
    assert Quantization(step=(1.0,), low=(0.0,), high=(1.6,)).max_error[0] == 0.5 + 4 * np.spacing(2.0)
    assert Quantization(step=(1.0,), low=(-1.6,), high=(0.0,)).max_error[0] == 0.5 + 4 * np.spacing(2.0)
    assert Quantization(step=(1.0,), low=(0.0,), high=(1.4,)).max_error[0] == 0.5 + 4 * np.spacing(1.4)
