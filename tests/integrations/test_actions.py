"""Robot actions as tokens: exact lengths, no chunk that is lost, samplers that end where a chunk does, files that are checked."""

import json
import math
import pathlib
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from integrations.conftest import needed
from tables import each, refuses

from ubpe_numba import BPE, UBPE, FitRules, Preprocessing, Ragged, UBPEClassic, load
from ubpe_numba.actions import ActionTokenizer
from ubpe_numba.errors import ModelFormatError, NotFittedError, UnknownTokenError

fft = needed("scipy.fft")

STEPS, DIMENSIONS = 20, 3
SIZE = STEPS * DIMENSIONS


def movements(n: int, seed: int = 0, *, steps: int = STEPS, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Smooth movements between -1 and 1 with some noise; the last dimension is a gripper, open or closed."""
    rng = np.random.default_rng(seed)
    begin, end = rng.uniform(-1, 1, (2, n, 1, dimensions))
    s = np.linspace(0, 1, steps)[:, None]
    chunks = begin + (end - begin) * (3 * s**2 - 2 * s**3) + rng.normal(0, 0.01, (n, steps, dimensions))
    chunks[:, :, -1] = np.sign(chunks[:, :, -1])
    return np.asarray(chunks)


CHUNKS = movements(80)
PLAIN = ActionTokenizer.fit(CHUNKS, vocab_size=256, progress=False)
BARRED = ActionTokenizer.fit(CHUNKS, vocab_size=256, frequency_barriers=True, progress=False)
BOTH = [PLAIN, BARRED]
TOKENS = PLAIN(CHUNKS[:4])
SETTINGS: dict[str, Any] = {"scale": 10, "time_horizon": STEPS, "action_dim": DIMENSIONS}


def rounded(chunk: np.ndarray) -> np.ndarray:
    """The coefficients of a chunk by the definition of the transform, a sum of cosines: frequency by frequency."""
    steps = len(chunk)
    k, t = np.arange(steps)[:, None], np.arange(steps)
    basis = np.sqrt(np.where(k == 0, 1, 2) / steps) * np.cos(np.pi * k * (t + 0.5) / steps)
    return np.asarray(np.rint(10 * (basis @ chunk)), np.int64)


def test_the_ids_are_those_of_a_tokenizer_of_the_coefficients() -> None:
    coefficients = np.stack([rounded(chunk).ravel() for chunk in CHUNKS])
    assert (PLAIN.min_token, PLAIN.max_token) == (coefficients.min(), coefficients.max())
    bpe = BPE(256, alphabet=range(PLAIN.min_token, PLAIN.max_token + 1)).fit(coefficients)
    assert PLAIN(CHUNKS) == bpe.encode_batch(coefficients).to_lists()
    assert ActionTokenizer(bpe, **SETTINGS).fingerprint == PLAIN.fingerprint


def test_with_barriers_a_chunk_is_its_frequencies_one_after_the_other() -> None:
    back = [
        BARRED.tokenizer.decode_batch(Ragged.from_lists([[i] for i in ids])) for ids in BARRED(CHUNKS[:9])
    ]
    for chunk, tokens in zip(CHUNKS, back, strict=False):
        assert set(range(DIMENSIONS, SIZE + 1, DIMENSIONS)) <= set(np.cumsum(tokens.lengths).tolist())
        assert np.array_equal(tokens.values, rounded(chunk).ravel())
    assert BARRED.allowed_lengths().max() == DIMENSIONS


def test_other_tokenizers_their_arguments_and_their_files(tmp_path: pathlib.Path) -> None:
    for tokenizer in (
        BPE(rules=FitRules(max_token_length=4)),
        UBPEClassic(),
        UBPE(),
        UBPE(objective="shortest"),
    ):
        tok = ActionTokenizer.fit(
            CHUNKS, vocab_size=200, tokenizer=tokenizer, out_of_range="raise", progress=False
        )
        assert (
            type(tok.tokenizer) is type(tokenizer)
            and tok.max_token - tok.min_token + 1 < tok.vocab_size <= 200
        )
        assert np.abs(tok.decode(tok(CHUNKS)) - CHUNKS).max() <= tok.error_bound()
        if tokenizer.rules and tokenizer.rules.max_token_length:
            assert tok.allowed_lengths().max() == 4
        refuses(NotFittedError, "", tokenizer.encode, [0])  # the one that was passed is as it was
        tok.save(tmp_path / "actions.npz")
        again = ActionTokenizer.load(tmp_path / "actions.npz")
        assert (again.fingerprint, again.out_of_range, again(CHUNKS)) == (
            tok.fingerprint,
            "raise",
            tok(CHUNKS),
        )


def test_chunks_of_different_lengths_need_theirs() -> None:
    tok = ActionTokenizer.fit(
        [movements(1, i, steps=5 + i % 4)[0] for i in range(30)], vocab_size=200, progress=False
    )
    assert (tok.time_horizon, tok.action_dim) == (None, DIMENSIONS)
    for call in (lambda: tok.decode([[0]]), tok.error_bound):
        refuses(
            ValueError, "time_horizon: expected an int, since the chunks of the fit had different ones", call
        )


@st.composite
def sets_of_chunks(draw: Any) -> tuple[list[np.ndarray], float]:
    dimensions, scale = draw(st.integers(1, 4)), draw(st.sampled_from([0.5, 1, 3.7, 10, 25]))
    value = st.one_of(st.just(0.0), st.sampled_from([-1.0, 1.0, 0.5]), st.floats(-3, 3, width=32))
    steps = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    return [
        np.array(draw(st.lists(value, min_size=n * dimensions, max_size=n * dimensions))).reshape(n, -1)
        for n in steps
    ], scale


@given(sets_of_chunks(), st.booleans(), st.integers(0, 40))
def test_every_chunk_of_a_fit_comes_back(
    given_: tuple[list[np.ndarray], float], barriers: bool, more: int
) -> None:
    chunks, scale = given_
    coefficients = [np.rint(fft.dct(chunk, axis=0, norm="ortho") * scale) for chunk in chunks]
    least = int(max(c.max() for c in coefficients) - min(c.min() for c in coefficients)) + 1
    tok = ActionTokenizer.fit(chunks, scale, least + more, frequency_barriers=barriers, progress=False)
    assert least <= tok.vocab_size <= least + more and tok.in_range(chunks).all()
    for chunk, found, ids in zip(chunks, coefficients, tok(chunks), strict=True):
        assert tok.allowed_lengths()[ids].sum() == chunk.size and tok(chunk) == [ids]
        back = tok.decode([ids], time_horizon=len(chunk))
        assert back.shape == (1, *chunk.shape) and back.dtype == np.float64
        np.testing.assert_allclose(back[0], fft.idct(found / scale, axis=0, norm="ortho"), rtol=0, atol=1e-12)
        assert np.abs(back[0] - chunk).max() <= tok.error_bound(len(chunk))


@given(st.lists(st.lists(st.integers(0, 255), max_size=30), max_size=5), st.integers(1, 7), st.integers(1, 5))
def test_any_ids_make_chunks_of_the_shape(tokens: list[list[int]], steps: int, dimensions: int) -> None:
    """With on_length="fit" nothing is refused; what is there is kept, then 0 follows.

    Otherwise only exact chunks pass.
    """
    found = PLAIN.decode(tokens, time_horizon=steps, action_dim=dimensions, on_length="fit")
    size = steps * dimensions
    assert found.shape == (len(tokens), steps, dimensions)
    for chunk, ids in zip(found, tokens, strict=True):
        known = np.concatenate([np.zeros(0), *(PLAIN.tokenizer.decode([i]) for i in ids)])[:size]
        expected = np.pad(known, (0, size - known.size)).reshape(steps, dimensions)
        np.testing.assert_allclose(fft.dct(chunk, axis=0, norm="ortho") * 10, expected, rtol=0, atol=1e-9)
    lengths = [int(PLAIN.allowed_lengths()[ids].sum()) for ids in tokens]
    wrong = next((i for i, length in enumerate(lengths) if length != size), None)
    if wrong is None:
        assert np.array_equal(PLAIN.decode(tokens, time_horizon=steps, action_dim=dimensions), found)
        return
    with pytest.raises(ValueError) as error:
        PLAIN.decode(tokens, time_horizon=steps, action_dim=dimensions)
    assert str(error.value) == (
        f"tokens: chunk {wrong}: ids for {lengths[wrong]} coefficients, not {size} ({steps} steps of {dimensions} dimensions); "
        f"on_length='fit' {'cuts' if lengths[wrong] > size else 'fills with 0'}"
    )


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_the_bound_is_reached_and_not_passed(steps: int, seed: int) -> None:
    """The bound is a sum over coefficients that are all half a level off, in the direction that hurts most."""
    tok = ActionTokenizer(BPE.from_merges([], alphabet=range(-60, 61)), 10)
    basis = fft.idct(np.eye(steps), axis=0, norm="ortho")
    worst = np.abs(basis).sum(axis=1).argmax()
    chunk = (basis @ (0.4999999 / 10 * np.sign(basis[worst])))[:, None]
    assert not tok.decode(tok(chunk), time_horizon=steps, action_dim=1).any()
    assert 0.999999 * tok.error_bound(steps) <= np.abs(chunk).max() <= tok.error_bound(steps)
    drawn = np.random.default_rng(seed).uniform(-0.5, 0.5, (4, steps, 2))
    off = np.abs(tok.decode(tok(drawn), time_horizon=steps, action_dim=2) - drawn)
    assert (
        off.max() <= tok.error_bound(steps)
        and np.sqrt((off**2).mean(axis=1)).max() <= 0.5 / tok.scale + 1e-12
    )
    asked = ActionTokenizer.fit(drawn, vocab_size=4000, max_error=0.07, progress=False)
    assert (
        np.abs(asked.decode(asked(drawn)) - drawn).max()
        <= asked.error_bound()
        <= 0.07
        <= 1.00001 * asked.error_bound()
    )


@each("tok", BOTH)
def test_a_sampler_with_the_mask_ends_on_a_whole_chunk(tok: ActionTokenizer) -> None:
    """A policy that knows nothing writes many chunks at once; all end where the chunk does, and none is refused."""
    rng, lengths = np.random.default_rng(0), tok.allowed_lengths()
    left = np.full(160, SIZE)
    written: list[list[int]] = [[] for _ in left]
    while left.any():
        allowed = tok.allowed_tokens(left)
        assert np.array_equal(allowed.any(axis=1), left > 0)
        scores = np.where(allowed, rng.gumbel(size=allowed.shape), -np.inf)
        for i in np.flatnonzero(left):
            written[i].append(int(scores[i].argmax()))
            left[i] -= lengths[written[i][-1]]
    assert tok.decode(written).shape == (160, STEPS, DIMENSIONS)
    for ids in written:
        assert not tok.frequency_barriers or set(range(0, SIZE + 1, DIMENSIONS)) <= {
            0,
            *np.cumsum(lengths[ids]).tolist(),
        }


def test_the_mask_allows_what_is_left() -> None:
    for tok in BOTH:
        for left in range(SIZE + 1):
            most = (left - 1) % DIMENSIONS + 1 if tok.frequency_barriers and left else left
            assert np.array_equal(tok.allowed_tokens(left), tok.allowed_lengths() <= most)
    assert (
        PLAIN.allowed_tokens([]).shape == (0, PLAIN.vocab_size)
        and PLAIN.allowed_tokens(np.array([2**63], np.uint64)).all()
    )
    for wrong, kind, message in (
        (1.0, TypeError, "expected integers, got an array of float64"),
        (True, TypeError, "expected integers, got an array of bool"),
        (-1, ValueError, "expected 0 or more, got -1"),
        ([[1]], ValueError, "in one dimension"),
    ):
        refuses(kind, f"length_left: .*{message}", PLAIN.allowed_tokens, wrong)
    PLAIN.allowed_lengths()[:] = 0  # a copy
    assert PLAIN.allowed_lengths().min() == 1


def test_forms_of_chunks() -> None:
    chunks = CHUNKS[:4].copy()
    chunks.flags.writeable = False
    for form in (
        chunks,
        list(chunks),
        iter(chunks),
        chunks.tolist(),
        np.asfortranarray(chunks),
        chunks.astype(">f8"),
    ):
        assert PLAIN(form) == TOKENS
    assert PLAIN(CHUNKS[3]) == PLAIN([CHUNKS[3]]) == [TOKENS[3]]
    whole = np.sign(CHUNKS[:4]).astype(np.int8)
    assert PLAIN(whole) == PLAIN(whole.astype(float)) and PLAIN([]) == PLAIN(CHUNKS[:0]) == []
    assert PLAIN.in_range([]).shape == (0,)


def test_forms_of_ids() -> None:
    expected = PLAIN.decode(TOKENS)
    longest = max(map(len, TOKENS))
    for form, skip in (
        (PLAIN.encode_batch(CHUNKS[:4]), ()),
        ([np.array(ids, np.uint16) for ids in TOKENS], ()),
        (np.array([ids + [-1] * (longest - len(ids)) for ids in TOKENS]), -1),
        ([[1000, *ids, 1001] for ids in TOKENS], (1000, 1001)),
    ):
        assert np.array_equal(PLAIN.decode(form, skip=skip), expected)
    assert PLAIN.decode([]).shape == PLAIN.decode(np.zeros((0, 7), np.int64)).shape == (0, STEPS, DIMENSIONS)


def test_tensors_are_encoded_as_arrays() -> None:
    torch = needed("torch")
    for dtype in ("float64", "float32", "bfloat16", "float16"):
        chunks = torch.tensor(CHUNKS[:4], dtype=getattr(torch, dtype), requires_grad=True)
        expected = PLAIN(chunks.detach().double().numpy())
        assert PLAIN(chunks) == PLAIN(list(chunks)) == PLAIN(torch.nn.Parameter(chunks)) == expected
        assert (
            PLAIN(chunks[0]) == [expected[0]]
            and PLAIN(chunks.transpose(1, 2).contiguous().transpose(1, 2)) == expected
        )
    ids = [torch.tensor(row) for row in TOKENS]
    assert np.array_equal(PLAIN.decode(ids), PLAIN.decode(TOKENS))
    matrix = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=-100)
    assert np.array_equal(PLAIN.decode(matrix, skip=-100), PLAIN.decode(TOKENS))
    assert np.array_equal(PLAIN.allowed_tokens(torch.tensor([5, 1])), PLAIN.allowed_tokens([5, 1]))
    chunks = torch.tensor(CHUNKS[:4])
    assert PLAIN((-chunks)._neg_view()) == PLAIN(chunks)  # a view whose sign is a bit of the tensor
    parts = [CHUNKS[0], CHUNKS[1][:5]]
    for layout in (torch.strided, torch.jagged):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, that nested tensors are a prototype
            nested = torch.nested.nested_tensor([torch.tensor(part) for part in parts], layout=layout)
        assert PLAIN(nested) == PLAIN(parts)
    refuses(TypeError, "a tensor of the device meta", lambda: PLAIN(chunks.to("meta")))


def spoilt(place: tuple[int, ...], change: Callable[[Any], Any]) -> np.ndarray:
    """The first chunks with another value at a place."""
    chunks = CHUNKS[:9].copy()
    chunks[place] = change(chunks[place])
    return chunks


@each("wrong, kind, message", [
    (np.zeros(5), ValueError, r"chunks: expected \[steps, dimensions\].*, got an array of float64, shape \(5,\)"),
    ([[0.0, 1.0]], ValueError, r"chunks: chunk 0: expected \[steps, dimensions\]"),
    ([CHUNKS[0], [[1.0], [1.0, 2.0]]], ValueError, r"chunks: chunk 1: expected \[steps, dimensions\], got list"),
    (CHUNKS[:2].astype(complex), TypeError, "chunks: expected floats or integers, got an array of complex128"),
    ("abc", TypeError, "chunks: expected .*, got str"),
    ({"a": CHUNKS[0]}, TypeError, "chunks: expected .*, got dict"),
    (None, TypeError, "chunks: expected .*, got None"),
    (np.zeros((2, 0, 3)), ValueError, "chunks: chunk 0: expected steps and dimensions"),
    ([CHUNKS[0], CHUNKS[1][:, :2]], ValueError, "chunks: chunk 1: expected 3 dimensions, action_dim, got 2"),
    (np.ma.masked_less(CHUNKS[:2], 0), ValueError, "chunks: expected every number, got an array with masked ones"),
    (spoilt((7, 11, 2), lambda _: np.nan), ValueError, "chunk 7, step 11, dimension 2: expected a finite number, got nan"),
    (list(spoilt((7, 11, 2), lambda _: -np.inf)), ValueError, "chunk 7, step 11, dimension 2: expected a .*, got -inf"),
    (spoilt((1,), lambda c: c * 1e308), ValueError, "chunks: chunk 1: numbers too large for a scale of 10"),
])  # fmt: skip
def test_other_chunks_are_refused(wrong: Any, kind: type[Exception], message: str) -> None:
    for call in (PLAIN, PLAIN.in_range):
        refuses(kind, message, call, wrong)


@each("tokens, options, kind, message", [
    ([[0], [0, 256]], {}, UnknownTokenError, r"document 1, position 1: token id 256 is outside the vocabulary, 0\.\.255"),
    ([[7, 2**40]], {"skip": 7}, UnknownTokenError, f"position 1: token id {2**40}"),
    ([0, 1], {}, TypeError, "tokens: expected documents, got a flat list of integers"),
    ([[0.5]], {}, TypeError, "tokens: document 0, position 0: expected an integer"),
    (["ab"], {}, TypeError, "tokens: expected integers, got str"),
    ([[0]], {"on_length": "pad"}, ValueError, "on_length: expected 'raise' or 'fit', got 'pad'"),
    ([[0]], {"time_horizon": 0}, ValueError, "time_horizon: expected at least 1"),
    ([[0]], {"action_dim": 2.0}, TypeError, "action_dim: expected an int"),
    ([[0]], {"time_horizon": 2**13, "action_dim": 2**13}, ValueError, "time_horizon, action_dim: expected at most"),
    ([[0]], {"skip": 1.5}, TypeError, "skip: expected an integer"),
])  # fmt: skip
def test_other_ids_are_refused(tokens: Any, options: Any, kind: type[Exception], message: str) -> None:
    refuses(kind, message, PLAIN.decode, tokens, **options)
    with pytest.raises(ValueError, match="action_dim: expected 3, that of the frequency barriers, got 6"):
        BARRED.decode(BARRED(CHUNKS), time_horizon=10, action_dim=6)


@each("tok", BOTH)
def test_coefficients_that_are_not_known_are_the_nearest_one(tok: ActionTokenizer) -> None:
    chunks = CHUNKS[:6].copy()
    chunks[2, :, 0] += 5  # frequency 0 alone
    chunks[4, :, 1] -= 9
    assert (
        tok.in_range(chunks).tolist()
        == tok.in_range(list(chunks)).tolist()
        == [True, True, False, True, False, True]
    )
    expected = np.clip(np.stack([rounded(chunk) for chunk in chunks]), tok.min_token, tok.max_token)
    first = f"chunk 2, frequency 0, dimension 0: {rounded(chunks[2])[0, 0]}"
    with pytest.warns(UserWarning, match="the nearest was taken") as caught:
        tokens = tok(chunks)
    assert str(caught[0].message) == (
        f"chunks: 2 coefficients of 2 of 6 chunks are outside of {tok.min_token}..{tok.max_token}, that of the fit, and the "
        f"nearest was taken; the first is {first}"
    )
    assert len(caught) == 1 and caught[0].filename == __file__
    back = fft.dct(tok.decode(tokens), axis=1, norm="ortho") * tok.scale
    np.testing.assert_allclose(back, expected, rtol=0, atol=1e-9)
    options = {**SETTINGS, "frequency_barriers": tok.frequency_barriers}
    clip, refuse = (ActionTokenizer(tok.tokenizer, **options, out_of_range=way) for way in ("clip", "raise"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clip(chunks) == tokens and refuse(CHUNKS) == tok(CHUNKS)
    for given_ in (chunks, list(chunks)):
        refuses(ValueError, f"chunks: {first} is not one of the coefficients", refuse, given_)


def test_arguments_of_a_fit() -> None:
    mixed = [CHUNKS[0], CHUNKS[1][:, :2]]
    for chunks, options, kind, message in (
        (
            CHUNKS,
            {"vocab_size": 20},
            ValueError,
            r"20 ids are too few for the coefficients -\d+\.\.\d+; take more, or a lower",
        ),
        (
            np.full((1, 4, 2), 1e300),
            {"vocab_size": 9},
            ValueError,
            r"coefficients -?[0-9.e+]+\.\.-?[0-9.e+]+; take more",
        ),
        (CHUNKS, {"vocab_size": 0}, ValueError, "vocab_size: expected at least 1"),
        (CHUNKS, {"vocab_size": 1e3}, TypeError, "vocab_size: expected an int"),
        (CHUNKS, {"scale": math.nan}, ValueError, "scale: expected a number above 0"),
        (CHUNKS, {"max_error": 0}, ValueError, "max_error: expected a number above 0"),
        (
            CHUNKS,
            {"max_error": 0.1, "scale": 5},
            ValueError,
            "max_error: expected one of scale and max_error, got 5 and 0.1",
        ),
        (CHUNKS, {"action_dim": 4}, ValueError, "chunks: chunk 0: expected 4 dimensions, action_dim, got 3"),
        (
            CHUNKS,
            {"out_of_range": "ignore"},
            ValueError,
            "out_of_range: expected 'warn', 'clip', 'raise', got 'ignore'",
        ),
        (
            CHUNKS,
            {"tokenizer": "BPE"},
            TypeError,
            "tokenizer: expected BPE, UBPE, UBPEClassic or None, got str",
        ),
        (CHUNKS, {"tokenizer": BPE(alphabet=3)}, ValueError, "tokenizer: expected one without an alphabet"),
        (
            CHUNKS,
            {"tokenizer": BPE(preprocessing=Preprocessing(special_tokens=[[900]]))},
            (TypeError, ValueError),
            "special",
        ),
        (CHUNKS[:0], {}, ValueError, "chunks: expected at least one chunk"),
        (
            np.zeros((40, 3)),
            {},
            ValueError,
            r"chunks: expected \[chunks, steps, dimensions\], got .*, shape \(40, 3\)",
        ),
        (
            mixed,
            {"frequency_barriers": True},
            ValueError,
            "frequency_barriers: expected chunks of one number of dimensions",
        ),
    ):
        refuses(kind, message, ActionTokenizer.fit, chunks, **{"progress": False, **options})
    assert ActionTokenizer.fit(mixed, vocab_size=100, progress=False).action_dim is None
    for scale in (np.float32(10), np.int8(10)):  # 1e100, the limit, is no float32 and no int8
        tok = ActionTokenizer.fit(CHUNKS[:20], scale, PLAIN.vocab_size, progress=False)
        assert type(tok.scale) is float and tok.scale == 10
    with pytest.warns(UserWarning, match=r"the fit ended at \d+ tokens of 5000"):
        ActionTokenizer.fit(CHUNKS[:2], vocab_size=5000, progress=False)


def test_tokenizers_that_are_no_tokenizers_of_coefficients() -> None:
    for tokenizer, kind, message in (
        (BPE(), NotFittedError, "no vocabulary"),
        (3, TypeError, "tokenizer: expected a fitted BPE, UBPE, UBPEClassic, got 3"),
        (BPE(30).fit(["abab", "abc"]), ValueError, "an alphabet of integers, got one of str"),
        (BPE.from_merges([[0, 1]], alphabet=[0, 2, 4]), ValueError, "consecutive integers, ascending"),
        (BPE.from_merges([[0, 1]], alphabet=[1, 0]), ValueError, "consecutive integers, ascending"),
        (BPE.from_merges([[0, 1]], alphabet=range(2**31, 2**31 + 2)), ValueError, "that fit int32"),
    ):
        refuses(kind, message, ActionTokenizer, tokenizer)


def test_the_fingerprint_is_of_all_that_decides() -> None:
    others = [
        ActionTokenizer(PLAIN.tokenizer, **{**SETTINGS, **change})
        for change in (
            {},
            {"scale": 11},
            {"time_horizon": 21},
            {"action_dim": None},
            {"frequency_barriers": True},
        )
    ]
    assert (
        others[0].fingerprint == PLAIN.fingerprint
        and len({tok.fingerprint for tok in [*others, BARRED]}) == 6
    )


def test_one_file_holds_everything(suffix: str, tmp_path: pathlib.Path) -> None:
    for tok in BOTH:
        path = tmp_path / f"actions{suffix}"
        tok.save(path)
        for again in (ActionTokenizer.load(path), pickle.loads(pickle.dumps(tok))):
            assert (again.fingerprint, repr(again), again.out_of_range) == (
                tok.fingerprint,
                repr(tok),
                tok.out_of_range,
            )
            assert again(CHUNKS) == tok(CHUNKS)
        ActionTokenizer.load(path).save(tmp_path / f"again{suffix}")
        assert (tmp_path / f"again{suffix}").read_bytes() == path.read_bytes()
        for read in (load, BPE.load):  # the tokenizer of coefficients
            assert read(path).fingerprint == tok.tokenizer.fingerprint
    assert repr(BARRED) == (
        f"ActionTokenizer(scale=10.0, time_horizon=20, action_dim=3, frequency_barriers=True): {BARRED.vocab_size} tokens, "
        f"coefficients {BARRED.min_token}..{BARRED.max_token}"
    )


LIES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda d: d.pop("actions"), "a BPE without the settings of actions: use BPE.load"),
    (lambda d: d.update(actions=[1]), "actions: expected an object"),
    (lambda d: d["actions"].pop("scale"), "actions: the field 'scale' is missing"),
    (lambda d: d["actions"].update(more=1), "actions: unexpected field 'more'"),
    (lambda d: d["actions"].update(scale=0), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale=10**400), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale=1e-320), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale="10"), "scale: expected a number, got str"),
    (lambda d: d["actions"].update(scale=True), "scale: expected a number, got True"),
    (lambda d: d["actions"].update(scale=math.nan), "JSON: the number NaN is not allowed"),
    (lambda d: d["actions"].update(time_horizon=0), "time_horizon: expected at least 1"),
    (lambda d: d["actions"].update(time_horizon=True), "time_horizon: expected an int"),
    (lambda d: d["actions"].update(time_horizon=20.0), "time_horizon: expected an int"),
    (lambda d: d["actions"].update(time_horizon=2**60), "time_horizon, action_dim: expected at most"),
    (lambda d: d["actions"].update(action_dim=[3]), "action_dim: expected an int"),
    (
        lambda d: d["actions"].update(action_dim=None, frequency_barriers=True),
        "frequency_barriers: they need action_dim",
    ),
    (lambda d: d["actions"].update(frequency_barriers=1), "frequency_barriers: expected True or False"),
    (lambda d: d["actions"].update(out_of_range=["clip"]), "out_of_range: expected 'warn'"),
    (lambda d: d.update(tokenizer="Pickle"), "there is no tokenizer 'Pickle'"),
    (lambda d: d.update(tokenizer="UBPE"), "model.npz: |model.json: "),
]


@each("change, message", LIES)
def test_files_that_lie_are_refused(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: pathlib.Path
) -> None:
    """In the document of JSON, and in the head of npz."""
    for path in (tmp_path / "model.json", tmp_path / "model.npz"):
        PLAIN.save(path)
        members = {} if path.suffix == ".json" else dict(np.load(path))
        document = json.loads(members["head"].tobytes() if members else path.read_text())
        change(document)
        if members:
            np.savez(path, **{**members, "head": np.frombuffer(json.dumps(document).encode(), np.uint8)})
        else:
            path.write_text(json.dumps(document))
        with pytest.raises(ModelFormatError, match=message) as error:
            ActionTokenizer.load(path)
        assert path.name in str(error.value)
    (tmp_path / "model.json").write_text("[1]")
    refuses(ModelFormatError, "not a valid npz file", lambda: ActionTokenizer.load(tmp_path / "model.json"))
