"""Robot actions as tokens: exact lengths, no chunk that is lost, samplers that end where a chunk does, files that are checked."""

from __future__ import annotations

import io
import json
import math
import pathlib
import pickle
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from integrations.conftest import needed
from tables import each

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
BOTH = pytest.mark.parametrize("tok", [PLAIN, BARRED], ids=["plain", "barriers"])


def rounded(chunk: np.ndarray, scale: float = 10) -> np.ndarray:
    """The coefficients of a chunk by the definition of the transform, a sum of cosines: frequency by frequency."""
    steps = len(chunk)
    k, t = np.arange(steps)[:, None], np.arange(steps)
    basis = np.sqrt(np.where(k == 0, 1, 2) / steps) * np.cos(np.pi * k * (t + 0.5) / steps)
    return np.asarray(np.rint(scale * (basis @ chunk)), np.int64)


# ---------------------------------------------------------------------------------------------------- there and back


@BOTH
def test_a_chunk_comes_back_with_its_shape_and_within_the_bound(tok: ActionTokenizer) -> None:
    unseen = movements(200, 1)
    tokens = tok(np.clip(unseen, -1, 1) * 0.8)
    back = tok.decode(tokens)
    assert back.shape == unseen.shape
    assert back.dtype == np.float64
    assert tok.in_range(np.clip(unseen, -1, 1) * 0.8).all()
    assert np.abs(back - np.clip(unseen, -1, 1) * 0.8).max() <= tok.error_bound()
    assert all(tok.allowed_lengths()[ids].sum() == SIZE for ids in tokens)


def test_symbols_are_the_coefficients_low_frequencies_first() -> None:
    back = PLAIN.tokenizer.decode_batch(PLAIN.encode_batch(CHUNKS))
    for chunk, found in zip(CHUNKS, back, strict=True):
        assert np.array_equal(found, rounded(chunk).ravel())
    all_of_them = np.stack([rounded(chunk) for chunk in CHUNKS])
    assert (PLAIN.min_token, PLAIN.max_token) == (all_of_them.min(), all_of_them.max())


def test_the_ids_are_those_of_a_tokenizer_of_the_coefficients() -> None:
    coefficients = [rounded(chunk).ravel().tolist() for chunk in CHUNKS]
    bpe = BPE(256, alphabet=range(PLAIN.min_token, PLAIN.max_token + 1)).fit(coefficients)
    assert PLAIN(CHUNKS) == bpe.encode_batch(coefficients).to_lists()
    assert bpe.fingerprint == PLAIN.tokenizer.fingerprint
    again = ActionTokenizer(bpe, time_horizon=STEPS, action_dim=DIMENSIONS)
    assert again.fingerprint == PLAIN.fingerprint


def test_with_barriers_a_chunk_is_its_frequencies_one_after_the_other() -> None:
    back = [BARRED.tokenizer.decode_batch(Ragged.from_lists([[i] for i in ids])) for ids in BARRED(CHUNKS[:9])]
    for chunk, tokens in zip(CHUNKS, back, strict=False):
        ends = np.cumsum(tokens.lengths)
        assert set(range(DIMENSIONS, SIZE + 1, DIMENSIONS)) <= set(ends.tolist())
        assert np.array_equal(tokens.values, rounded(chunk).ravel())
    assert BARRED.allowed_lengths().max() == DIMENSIONS


@pytest.mark.parametrize(
    "tokenizer", [BPE(rules=FitRules(max_token_length=4)), UBPEClassic(), UBPE(), UBPE(objective="shortest")], ids=repr
)
def test_other_tokenizers_and_their_arguments(tokenizer: Any) -> None:
    tok = ActionTokenizer.fit(CHUNKS, vocab_size=200, tokenizer=tokenizer, progress=False)
    assert type(tok.tokenizer) is type(tokenizer)
    assert tok.max_token - tok.min_token + 1 < tok.vocab_size <= 200
    assert np.abs(tok.decode(tok(CHUNKS)) - CHUNKS).max() <= tok.error_bound()
    if tokenizer.rules and tokenizer.rules.max_token_length:
        assert tok.allowed_lengths().max() == 4
    with pytest.raises(NotFittedError):
        tokenizer.encode([0])  # the one that was passed is as it was


def test_chunks_of_different_lengths_keep_their_order() -> None:
    chunks = [movements(1, i, steps=5 + i % 4)[0] for i in range(30)]
    tok = ActionTokenizer.fit(chunks, vocab_size=200, progress=False)
    assert (tok.time_horizon, tok.action_dim) == (None, DIMENSIONS)
    tokens = tok(chunks)
    for chunk, ids in zip(chunks, tokens, strict=True):
        assert tok(chunk) == [ids]
        back = tok.decode([ids], time_horizon=len(chunk))[0]
        assert np.abs(back - chunk).max() <= tok.error_bound(len(chunk))
    for call in (lambda: tok.decode(tokens), tok.error_bound):
        with pytest.raises(ValueError, match="time_horizon: expected an int, since the chunks of the fit had different ones"):
            call()
    barred = ActionTokenizer.fit(chunks, vocab_size=200, frequency_barriers=True, progress=False)
    assert [barred.allowed_lengths()[ids].sum() for ids in barred(chunks)] == [chunk.size for chunk in chunks]


@st.composite
def sets_of_chunks(draw: Any) -> tuple[list[np.ndarray], float]:
    dimensions, scale = draw(st.integers(1, 4)), draw(st.sampled_from([0.5, 1, 3.7, 10, 25]))
    value = st.one_of(st.just(0.0), st.sampled_from([-1.0, 1.0, 0.5]), st.floats(-3, 3, width=32))
    steps = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    return [
        np.array(draw(st.lists(value, min_size=n * dimensions, max_size=n * dimensions))).reshape(n, -1) for n in steps
    ], scale


@given(sets_of_chunks(), st.booleans(), st.integers(0, 40))
def test_every_chunk_of_a_fit_comes_back(given_: tuple[list[np.ndarray], float], barriers: bool, more: int) -> None:
    chunks, scale = given_
    coefficients = [np.rint(fft.dct(chunk, axis=0, norm="ortho") * scale) for chunk in chunks]
    least = int(max(c.max() for c in coefficients) - min(c.min() for c in coefficients)) + 1
    tok = ActionTokenizer.fit(chunks, scale, least + more, frequency_barriers=barriers, progress=False)
    assert least <= tok.vocab_size <= least + more
    assert tok.in_range(chunks).all()
    for chunk, found, ids in zip(chunks, coefficients, tok(chunks), strict=True):
        assert tok.allowed_lengths()[ids].sum() == chunk.size
        back = tok.decode([ids], time_horizon=len(chunk))
        assert back.shape == (1, *chunk.shape)
        np.testing.assert_allclose(back[0], fft.idct(found / scale, axis=0, norm="ortho"), rtol=0, atol=1e-12)
        assert np.abs(back[0] - chunk).max() <= tok.error_bound(len(chunk))


@given(st.lists(st.lists(st.integers(0, 255), max_size=30), max_size=5), st.integers(1, 7), st.integers(1, 5))
def test_any_ids_make_chunks_of_the_shape(tokens: list[list[int]], steps: int, dimensions: int) -> None:
    """With on_length="fit" nothing is refused; what is there is kept, and 0 is behind it. Otherwise only exact chunks pass."""
    found = PLAIN.decode(tokens, time_horizon=steps, action_dim=dimensions, on_length="fit")
    assert found.shape == (len(tokens), steps, dimensions)
    for chunk, ids in zip(found, tokens, strict=True):
        known = np.concatenate([np.zeros(0), *(PLAIN.tokenizer.decode([i]) for i in ids)])[: steps * dimensions]
        expected = np.pad(known, (0, steps * dimensions - known.size)).reshape(steps, dimensions)
        np.testing.assert_allclose(fft.dct(chunk, axis=0, norm="ortho") * 10, expected, rtol=0, atol=1e-9)
    lengths = [int(PLAIN.allowed_lengths()[ids].sum()) for ids in tokens]
    if all(length == steps * dimensions for length in lengths):
        assert np.array_equal(PLAIN.decode(tokens, time_horizon=steps, action_dim=dimensions), found)
    else:
        wrong = next(i for i, length in enumerate(lengths) if length != steps * dimensions)
        with pytest.raises(ValueError, match=rf"tokens: chunk {wrong}: ids for {lengths[wrong]} coefficients, not "):
            PLAIN.decode(tokens, time_horizon=steps, action_dim=dimensions)


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
    assert off.max() <= tok.error_bound(steps)
    assert np.sqrt((off**2).mean(axis=1)).max() <= 0.5 / tok.scale + 1e-12


# ---------------------------------------------------------------------------------------------------- samplers


@BOTH
@each("seed", range(20))
def test_a_sampler_with_the_mask_ends_on_a_whole_chunk(tok: ActionTokenizer, seed: int) -> None:
    """A policy that knows nothing writes many chunks at once; all end where the chunk does, and none is refused."""
    rng, lengths = np.random.default_rng(seed), tok.allowed_lengths()
    left = np.full(8, SIZE)
    written: list[list[int]] = [[] for _ in left]
    while left.any():
        allowed = tok.allowed_tokens(left)
        assert np.array_equal(allowed.any(axis=1), left > 0)
        scores = np.where(allowed, rng.gumbel(size=allowed.shape), -np.inf)
        for i in np.flatnonzero(left):
            written[i].append(int(scores[i].argmax()))
            left[i] -= lengths[written[i][-1]]
    assert tok.decode(written).shape == (8, STEPS, DIMENSIONS)
    for ids in written:
        assert not tok.frequency_barriers or set(range(0, SIZE + 1, DIMENSIONS)) <= {0, *np.cumsum(lengths[ids]).tolist()}


@BOTH
def test_a_model_of_transformers_writes_whole_chunks(tok: ActionTokenizer) -> None:
    """`generate` of a model that knows nothing, with the mask as a processor and a mark of the end after the vocabulary."""
    torch, transformers = needed("torch"), needed("transformers")
    end, lengths = tok.vocab_size, np.append(tok.allowed_lengths(), 0)

    class WholeChunks(transformers.LogitsProcessor):  # type: ignore[misc, name-defined]
        def __call__(self, ids: Any, scores: Any) -> Any:
            left = SIZE - lengths[ids.numpy()].sum(axis=1)
            allowed = np.concatenate([tok.allowed_tokens(left), (left == 0)[:, None]], axis=1)
            return scores.masked_fill(~torch.from_numpy(allowed), -torch.inf)

    torch.manual_seed(0)
    ends = {"bos_token_id": end, "eos_token_id": end, "pad_token_id": end}
    policy = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(vocab_size=end + 1, n_layer=1, n_head=2, n_embd=16, n_positions=SIZE + 2, **ends)
    )
    start = torch.full((16, 1), end)
    written = policy.eval().generate(
        start,
        attention_mask=torch.ones_like(start),
        do_sample=True,
        max_new_tokens=SIZE + 1,
        logits_processor=transformers.LogitsProcessorList([WholeChunks()]),
    )
    assert tok.decode(written, skip=end).shape == (16, STEPS, DIMENSIONS)
    assert len({tuple(ids) for ids in written.tolist()}) == 16


@BOTH
def test_the_mask_allows_what_encoding_gives_and_nothing_too_long(tok: ActionTokenizer) -> None:
    lengths = tok.allowed_lengths()
    for ids in tok(CHUNKS):
        left = SIZE - np.concatenate([[0], np.cumsum(lengths[ids])])
        assert tok.allowed_tokens(left[:-1])[np.arange(len(ids)), ids].all()
        assert not tok.allowed_tokens(int(left[-1])).any()
    for left in range(1, SIZE + 1):
        most = (left - 1) % DIMENSIONS + 1 if tok.frequency_barriers else left
        assert np.array_equal(tok.allowed_tokens(left), lengths <= most)


def test_arguments_of_the_mask() -> None:
    assert PLAIN.allowed_tokens([]).shape == (0, PLAIN.vocab_size)
    assert PLAIN.allowed_tokens(np.array([2**63], np.uint64)).all()
    assert np.array_equal(PLAIN.allowed_tokens(np.int8(7)), PLAIN.allowed_tokens(7))
    for wrong, kind, message in (
        (1.0, TypeError, "expected integers, got an array of float64"),
        (True, TypeError, "expected integers, got an array of bool"),
        (-1, ValueError, "expected 0 or more, got -1"),
        ([[1]], ValueError, "in one dimension"),
    ):
        with pytest.raises(kind, match=f"length_left: .*{message}"):
            PLAIN.allowed_tokens(wrong)
    PLAIN.allowed_lengths()[:] = 0  # a copy
    assert PLAIN.allowed_lengths().min() == 1


@BOTH
def test_one_wrong_id_is_seen_or_changes_little(tok: ActionTokenizer) -> None:
    """A reply of another length is refused as such; with "fit" the other chunks of the batch are what they were."""
    tokens = tok(CHUNKS[:10])
    lengths = tok.allowed_lengths()
    ids = tokens[4]
    longer = next(i for i in range(tok.vocab_size) if lengths[i] != lengths[ids[1]])
    wrong = [*tokens[:4], [ids[0], longer, *ids[2:]], *tokens[5:]]
    size = SIZE + lengths[longer] - lengths[ids[1]]
    hint = "cuts" if size > SIZE else "fills with 0"
    with pytest.raises(ValueError) as error:
        tok.decode(wrong)
    assert str(error.value) == (
        f"tokens: chunk 4: ids for {size} coefficients, not {SIZE} ({STEPS} steps of {DIMENSIONS} dimensions); "
        f"on_length='fit' {hint}"
    )
    found, expected = tok.decode(wrong, on_length="fit"), tok.decode(tokens)
    assert np.array_equal(np.delete(found, 4, 0), np.delete(expected, 4, 0))
    assert np.isfinite(found).all()


# ---------------------------------------------------------------------------------------------------- what is passed


def test_forms_of_chunks() -> None:
    expected = PLAIN(CHUNKS[:4])
    assert PLAIN(list(CHUNKS[:4])) == PLAIN(iter(CHUNKS[:4])) == PLAIN(CHUNKS[:4].tolist()) == expected
    assert PLAIN(CHUNKS[3]) == PLAIN([CHUNKS[3]]) == [expected[3]]
    assert PLAIN(np.asfortranarray(CHUNKS[:4])) == PLAIN(CHUNKS[:4].astype(">f8")) == expected
    assert PLAIN.encode_batch(CHUNKS[:4]).to_lists() == expected
    whole = np.sign(CHUNKS[:4]).astype(np.int8)
    assert PLAIN(whole) == PLAIN(whole.astype(float))
    assert PLAIN([]) == PLAIN(CHUNKS[:0]) == []
    assert PLAIN.in_range([]).shape == (0,)
    read_only = CHUNKS[:4].copy()
    read_only.flags.writeable = False
    assert PLAIN(read_only) == expected


def test_forms_of_ids() -> None:
    tokens = PLAIN(CHUNKS[:4])
    expected = PLAIN.decode(tokens)
    assert np.array_equal(PLAIN.decode(PLAIN.encode_batch(CHUNKS[:4])), expected)
    assert np.array_equal(PLAIN.decode([np.array(ids, np.uint16) for ids in tokens]), expected)
    assert PLAIN.decode([]).shape == PLAIN.decode(np.zeros((0, 7), np.int64)).shape == (0, STEPS, DIMENSIONS)
    longest = max(map(len, tokens))
    padded = np.array([ids + [-1] * (longest - len(ids)) for ids in tokens])
    assert np.array_equal(PLAIN.decode(padded, skip=-1), expected)
    marked = [[1000, *ids, 1001] for ids in tokens]
    assert np.array_equal(PLAIN.decode(marked, skip=(1000, 1001)), expected)
    assert np.array_equal(PLAIN.decode(tokens, time_horizon=6, action_dim=10)[0].ravel().shape, (SIZE,))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_tensors_are_encoded_as_arrays(dtype: str) -> None:
    torch = needed("torch")
    chunks = torch.tensor(CHUNKS[:4], dtype=getattr(torch, dtype), requires_grad=True)
    plain = chunks.detach().double().numpy()
    expected = PLAIN(plain)
    assert PLAIN(chunks) == PLAIN(list(chunks)) == PLAIN(torch.nn.Parameter(chunks)) == expected
    assert PLAIN(chunks[0]) == [expected[0]]
    assert PLAIN(chunks.transpose(1, 2).contiguous().transpose(1, 2)) == expected
    fitted = ActionTokenizer.fit(chunks, vocab_size=200, progress=False)
    assert fitted.fingerprint == ActionTokenizer.fit(plain, vocab_size=200, progress=False).fingerprint
    ids = [torch.tensor(row) for row in expected]
    assert np.array_equal(PLAIN.decode(ids), PLAIN.decode(expected))
    matrix = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=-100)
    assert np.array_equal(PLAIN.decode(matrix, skip=-100), PLAIN.decode(expected))
    assert np.array_equal(PLAIN.allowed_tokens(torch.tensor([5, 1])), PLAIN.allowed_tokens([5, 1]))


@each(
    "wrong, kind, message",
    [
        (np.zeros(5), ValueError, r"chunks: expected \[steps, dimensions\].*, got an array of float64, shape \(5,\)"),
        (np.zeros((1, 2, 3, 4)), ValueError, r"chunks: .*shape \(1, 2, 3, 4\)"),
        ([[0.0, 1.0]], ValueError, r"chunks: chunk 0: expected \[steps, dimensions\]"),
        ([CHUNKS[0], [[1.0], [1.0, 2.0]]], ValueError, r"chunks: chunk 1: expected \[steps, dimensions\], got list"),
        (CHUNKS[:2].astype(complex), TypeError, "chunks: expected floats or integers, got an array of complex128"),
        (CHUNKS[:2] > 0, TypeError, "chunks: expected floats or integers, got an array of bool"),
        ("abc", TypeError, "chunks: expected .*, got str"),
        ({"a": CHUNKS[0]}, TypeError, "chunks: expected .*, got dict"),
        (None, TypeError, "chunks: expected .*, got None"),
        (np.zeros((2, 0, 3)), ValueError, "chunks: chunk 0: expected at least one step and one dimension"),
        ([CHUNKS[0], CHUNKS[1][:, :2]], ValueError, "chunks: chunk 1: expected 3 dimensions, action_dim, got 2"),
        (np.ma.masked_less(CHUNKS[:2], 0), ValueError, "chunks: expected every number, got an array with masked ones"),
    ],
)
def test_other_chunks_are_refused(wrong: Any, kind: type[Exception], message: str) -> None:
    for call in (PLAIN, PLAIN.encode_batch, PLAIN.in_range):
        with pytest.raises(kind, match=message):
            call(wrong)


@each("value", [np.nan, np.inf, -np.inf])
@each("many", [np.asarray, list])
def test_numbers_that_are_not_finite_are_refused(value: float, many: Callable[[Any], Any]) -> None:
    chunks = CHUNKS.copy()
    chunks[7, 11, 2] = value
    for call in (PLAIN, lambda c: ActionTokenizer.fit(c, progress=False)):
        with pytest.raises(ValueError, match=f"chunks: chunk 7, step 11, dimension 2: expected a finite number, got {value}"):
            call(many(chunks))


def test_numbers_beyond_floats_are_refused_without_a_warning() -> None:
    chunks = CHUNKS[:3].copy()
    chunks[1] *= 1e308
    for call in (PLAIN, PLAIN.in_range, lambda c: ActionTokenizer.fit(c, progress=False)):
        with pytest.raises(ValueError, match="chunks: chunk 1: numbers too large for a scale of 10"):
            call(chunks)


@each(
    "tokens, kind, message",
    [
        ([[0], [0, 256]], UnknownTokenError, r"document 1, position 1: token id 256 is outside the vocabulary, 0\.\.255"),
        ([[0, -1]], UnknownTokenError, "document 0, position 1: token id -1"),
        ([[2**40]], UnknownTokenError, f"token id {2**40}"),
        ([[7, 2**40]], UnknownTokenError, f"position 1: token id {2**40}"),
        ([0, 1], TypeError, "tokens: expected documents, got a flat list of integers"),
        ([[0.5]], TypeError, "tokens: document 0, position 0: expected an integer"),
        (["ab"], TypeError, "tokens: expected integers, got str"),
        ([[True]], TypeError, "tokens: document 0, position 0: expected an integer"),
    ],
)
def test_other_ids_are_refused(tokens: Any, kind: type[Exception], message: str) -> None:
    for on_length in ("raise", "fit"):
        with pytest.raises(kind, match=message):
            PLAIN.decode(tokens, on_length=on_length, skip=7)  # type: ignore[arg-type]


def test_other_arguments_of_decode_are_refused() -> None:
    for options, kind, message in (
        ({"on_length": "pad"}, ValueError, "on_length: expected 'raise' or 'fit', got 'pad'"),
        ({"time_horizon": 0}, ValueError, "time_horizon: expected at least 1"),
        ({"action_dim": 2.0}, TypeError, "action_dim: expected an int"),
        ({"time_horizon": 2**13, "action_dim": 2**13}, ValueError, "time_horizon, action_dim: expected at most"),
        ({"skip": 1.5}, TypeError, "skip: expected an integer"),
    ):
        with pytest.raises(kind, match=message):
            PLAIN.decode([[0]], **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="action_dim: expected 3, that of the frequency barriers, got 6"):
        BARRED.decode(BARRED(CHUNKS), time_horizon=10, action_dim=6)


# ---------------------------------------------------------------------------------------------------- out of range


def outliers() -> np.ndarray:
    chunks = CHUNKS[:6].copy()
    chunks[2, :, 0] += 5  # frequency 0 alone
    chunks[4, :, 1] -= 9
    return chunks


@BOTH
def test_coefficients_that_are_not_known_are_the_nearest_one(tok: ActionTokenizer) -> None:
    chunks = outliers()
    assert tok.in_range(chunks).tolist() == tok.in_range(list(chunks)).tolist() == [True, True, False, True, False, True]
    expected = np.clip(np.stack([rounded(chunk) for chunk in chunks]), tok.min_token, tok.max_token)
    first = f"chunk 2, frequency 0, dimension 0: {rounded(chunks[2])[0, 0]}"
    with pytest.warns(UserWarning, match="the nearest was taken") as caught:
        tokens = tok(chunks)
    assert str(caught[0].message) == (
        f"chunks: 2 coefficients of 2 of 6 chunks are outside of {tok.min_token}..{tok.max_token}, that of the fit, and the "
        f"nearest was taken; the first is {first}"
    )
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.array_equal(np.stack([tok.tokenizer.decode(ids).reshape(STEPS, DIMENSIONS) for ids in tokens]), expected)
    back = fft.dct(tok.decode(tokens), axis=1, norm="ortho") * tok.scale
    np.testing.assert_allclose(back, expected, rtol=0, atol=1e-9)
    options: dict[str, Any] = {n: getattr(tok, n) for n in ("scale", "time_horizon", "action_dim", "frequency_barriers")}
    clip, refuse = (ActionTokenizer(tok.tokenizer, **options, out_of_range=way) for way in ("clip", "raise"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert clip(chunks) == tokens
        assert refuse(CHUNKS) == tok(CHUNKS)
    for given_ in (chunks, list(chunks)):
        with pytest.raises(ValueError, match=f"chunks: {first} is not one of the coefficients"):
            refuse(given_)


# ---------------------------------------------------------------------------------------------------- fits


def test_arguments_of_a_fit() -> None:
    for options, kind, message in (
        (
            {"vocab_size": 20},
            ValueError,
            r"vocab_size: 20 ids are too few for the coefficients -\d+\.\.\d+; take more, or a lower",
        ),
        ({"vocab_size": 0}, ValueError, "vocab_size: expected at least 1"),
        ({"vocab_size": 1e3}, TypeError, "vocab_size: expected an int"),
        ({"scale": 0}, ValueError, "scale: expected a number above 0"),
        ({"scale": math.nan}, ValueError, "scale: expected a number above 0"),
        ({"scale": math.inf}, ValueError, "scale: expected a number above 0"),
        ({"scale": 10**400}, ValueError, "scale: expected a number above 0"),
        ({"scale": "10"}, TypeError, "scale: expected a number, got str"),
        ({"scale": True}, TypeError, "scale: expected a number"),
        ({"action_dim": 4}, ValueError, "chunks: chunk 0: expected 4 dimensions, action_dim, got 3"),
        ({"time_horizon": -1}, ValueError, "time_horizon: expected at least 1"),
        ({"out_of_range": "ignore"}, ValueError, "out_of_range: expected 'warn', 'clip', 'raise', got 'ignore'"),
        ({"frequency_barriers": 1}, TypeError, "frequency_barriers: expected True or False"),
        ({"tokenizer": "BPE"}, TypeError, "tokenizer: expected BPE, UBPE, UBPEClassic or None, got str"),
        ({"tokenizer": BPE(alphabet=3)}, ValueError, "tokenizer: expected one without an alphabet"),
        ({"tokenizer": BPE(preprocessing=Preprocessing(special_tokens=[[900]]))}, (TypeError, ValueError), "special"),
    ):
        with pytest.raises(kind, match=message):
            ActionTokenizer.fit(CHUNKS, **{"progress": False, **options})  # type: ignore[arg-type]
    for nothing in ([], CHUNKS[:0]):
        with pytest.raises(ValueError, match="chunks: expected at least one chunk"):
            ActionTokenizer.fit(nothing)
    mixed = [CHUNKS[0], CHUNKS[1][:, :2]]
    assert ActionTokenizer.fit(mixed, vocab_size=100, progress=False).action_dim is None
    with pytest.raises(ValueError, match="frequency_barriers: expected chunks of one number of dimensions"):
        ActionTokenizer.fit(mixed, frequency_barriers=True)


def test_tokenizers_that_are_no_tokenizers_of_coefficients() -> None:
    for tokenizer, kind, message in (
        (BPE(), NotFittedError, "no vocabulary"),
        (3, TypeError, "tokenizer: expected a fitted BPE, UBPE, UBPEClassic, got 3"),
        (BPE(30).fit(["abab", "abc"]), ValueError, "an alphabet of integers, got one of str"),
        (BPE.from_merges([[0, 1]], alphabet=[0, 2, 4]), ValueError, "consecutive integers, ascending"),
        (BPE.from_merges([[0, 1]], alphabet=[1, 0]), ValueError, "consecutive integers, ascending"),
        (BPE.from_merges([[0, 1]], alphabet=range(2**31, 2**31 + 2)), ValueError, "that fit int32"),
    ):
        with pytest.raises(kind, match=message):
            ActionTokenizer(tokenizer)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="frequency_barriers: they need action_dim"):
        ActionTokenizer(PLAIN.tokenizer, frequency_barriers=True)


def test_chunks_of_zeros_are_one_coefficient() -> None:
    tok = ActionTokenizer.fit(np.zeros((3, 8, 2)), vocab_size=5, progress=False)
    assert (tok.min_token, tok.max_token, tok(np.zeros((8, 2)))) == (0, 0, [[4]])
    assert not tok.decode([[4]]).any()


def test_a_fit_of_too_few_chunks_warns() -> None:
    with pytest.warns(UserWarning, match=r"the fit ended at \d+ tokens of 5000"):
        tok = ActionTokenizer.fit(np.random.default_rng(0).normal(size=(2, 8, 2)), vocab_size=5000, progress=False)
    assert tok.vocab_size < 100


def test_the_scale_trades_error_for_tokens() -> None:
    coarse, fine = (ActionTokenizer.fit(CHUNKS, scale, 1024, progress=False) for scale in (5, 20))
    assert fine.error_bound() == pytest.approx(coarse.error_bound() / 4)
    assert coarse.encode_batch(CHUNKS).total < fine.encode_batch(CHUNKS).total
    assert np.abs(fine.decode(fine(CHUNKS)) - CHUNKS).max() < np.abs(coarse.decode(coarse(CHUNKS)) - CHUNKS).max()


def test_threads_and_pickles_give_the_same() -> None:
    expected = PLAIN(CHUNKS)
    copy = pickle.loads(pickle.dumps(PLAIN))
    assert (copy(CHUNKS), copy.fingerprint, repr(copy)) == (expected, PLAIN.fingerprint, repr(PLAIN))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(PLAIN, [CHUNKS] * 8)) == [expected] * 8
    assert repr(BARRED) == (
        f"ActionTokenizer(scale=10.0, time_horizon=20, action_dim=3, frequency_barriers=True): {BARRED.vocab_size} tokens, "
        f"coefficients {BARRED.min_token}..{BARRED.max_token}"
    )


def test_the_fingerprint_is_of_all_that_decides() -> None:
    others = [
        ActionTokenizer(PLAIN.tokenizer, **{"scale": 10, "time_horizon": STEPS, "action_dim": DIMENSIONS, **change})
        for change in ({}, {"scale": 11}, {"time_horizon": 21}, {"action_dim": None}, {"frequency_barriers": True})
    ]
    assert others[0].fingerprint == PLAIN.fingerprint
    assert len({tok.fingerprint for tok in [*others, BARRED]}) == 6


# ---------------------------------------------------------------------------------------------------- files


@BOTH
@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_one_file_holds_everything(tok: ActionTokenizer, suffix: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / f"actions{suffix}"
    tok.save(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    again = ActionTokenizer.load(path)
    assert (again.fingerprint, repr(again), again.out_of_range) == (tok.fingerprint, repr(tok), tok.out_of_range)
    assert again(CHUNKS) == tok(CHUNKS)
    assert np.array_equal(again.decode(again(CHUNKS)), tok.decode(tok(CHUNKS)))
    again.save(tmp_path / f"again{suffix}")
    assert (tmp_path / f"again{suffix}").read_bytes() == path.read_bytes()
    for read in (load, BPE.load):  # the tokenizer of coefficients
        assert read(path).fingerprint == tok.tokenizer.fingerprint


@pytest.mark.parametrize("tokenizer", [UBPE(), UBPEClassic(), UBPE(objective="shortest")], ids=repr)
def test_files_of_other_tokenizers(tokenizer: Any, tmp_path: pathlib.Path) -> None:
    tok = ActionTokenizer.fit(CHUNKS, vocab_size=200, tokenizer=tokenizer, out_of_range="raise", progress=False)
    tok.save(tmp_path / "actions.npz")
    again = ActionTokenizer.load(tmp_path / "actions.npz")
    assert (again.fingerprint, again.out_of_range, again(CHUNKS)) == (tok.fingerprint, "raise", tok(CHUNKS))


def test_a_save_that_fails_leaves_the_old_file(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "actions.json"
    PLAIN.save(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        BARRED.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    with pytest.raises(ValueError, match=r"\.json"):
        PLAIN.save(tmp_path / "actions.pickle")


def changed(path: pathlib.Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A model file with its settings changed: the document of JSON, the head of npz."""
    if path.suffix == ".json":
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
        return
    with np.load(path) as file:
        members = dict(file)
    document = json.loads(members["head"].tobytes())
    change(document)
    np.savez(path, **{**members, "head": np.frombuffer(json.dumps(document).encode(), np.uint8)})


LIES: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda d: d.pop("actions"), "a BPE without the settings of actions: use BPE.load"),
    (lambda d: d.update(actions=None), "actions: expected an object"),
    (lambda d: d.update(actions=[1]), "actions: expected an object"),
    (lambda d: d["actions"].pop("scale"), "actions: the field 'scale' is missing"),
    (lambda d: d["actions"].update(more=1), "actions: unexpected field 'more'"),
    (lambda d: d["actions"].update(scale=0), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale=-10.0), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale=10**400), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale=1e-320), "scale: expected a number above 0"),
    (lambda d: d["actions"].update(scale="10"), "scale: expected a number, got str"),
    (lambda d: d["actions"].update(scale=True), "scale: expected a number, got True"),
    (lambda d: d["actions"].update(scale=None), "scale: expected a number, got None"),
    (lambda d: d["actions"].update(scale=math.nan), "JSON: the number NaN is not allowed"),
    (lambda d: d["actions"].update(time_horizon=0), "time_horizon: expected at least 1"),
    (lambda d: d["actions"].update(time_horizon=True), "time_horizon: expected an int"),
    (lambda d: d["actions"].update(time_horizon=20.0), "time_horizon: expected an int"),
    (lambda d: d["actions"].update(time_horizon=2**60), "time_horizon, action_dim: expected at most"),
    (lambda d: d["actions"].update(action_dim=[3]), "action_dim: expected an int"),
    (lambda d: d["actions"].update(action_dim=None, frequency_barriers=True), "frequency_barriers: they need action_dim"),
    (lambda d: d["actions"].update(frequency_barriers=1), "frequency_barriers: expected True or False"),
    (lambda d: d["actions"].update(out_of_range=["clip"]), "out_of_range: expected 'warn'"),
    (lambda d: d["actions"].update(out_of_range={}), "out_of_range: expected 'warn'"),
    (lambda d: d.update(tokenizer="Pickle"), "there is no tokenizer 'Pickle'"),
    (lambda d: d.update(tokenizer="UBPE"), "model.npz: |model.json: "),
    (lambda d: d["alphabet"].update(kind="str"), "alphabet|tokenizer: expected an alphabet of integers"),
    (lambda d: d["vocabulary"].update(n_alphabet=7), "vocabulary|alphabet|merge"),
    (lambda d: d.update(format="other"), "not a model of this library"),
]


@each("suffix", [".json", ".npz"])
@each("lie", range(len(LIES)))
def test_files_that_lie_are_refused(lie: int, suffix: str, tmp_path: pathlib.Path) -> None:
    change, message = LIES[lie]
    path = tmp_path / f"model{suffix}"
    PLAIN.save(path)
    changed(path, change)
    with pytest.raises(ModelFormatError, match=message) as error:
        ActionTokenizer.load(path)
    assert path.name in str(error.value)


def test_a_file_of_coefficients_with_gaps_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "model.json"
    PLAIN.save(path)
    actions = json.loads(path.read_text())["actions"]
    BPE.from_merges([[0, 1]], alphabet=[0, 2, 4]).save(path)
    changed(path, lambda d: d.update(actions=actions))
    with pytest.raises(ModelFormatError, match=r"model\.json: tokenizer: expected an alphabet of consecutive integers"):
        ActionTokenizer.load(path)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@settings(max_examples=40)
@given(data=st.data())
def test_damaged_files_are_refused_or_read(suffix: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever one byte or a cut does to a file, it is ModelFormatError, or a tokenizer that works."""
    path = tmp_path_factory.mktemp("damaged") / f"model{suffix}"
    ActionTokenizer.fit(CHUNKS[:5], 1, 20, progress=False).save(path)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        del content[at:]
    else:
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        tok = ActionTokenizer.load(path)
    except ModelFormatError:
        return
    tokens = [[0]]
    steps, dimensions = tok.time_horizon or 2, tok.action_dim or 2
    assert tok.decode(tokens, time_horizon=steps, action_dim=dimensions, on_length="fit").shape == (1, steps, dimensions)


def test_an_array_among_the_settings_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "model.npz"
    PLAIN.save(path)
    member = io.BytesIO()
    np.save(member, np.array([10.0]))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("actions.scale.npy", member.getvalue())
    with pytest.raises(ModelFormatError, match=r"actions\.scale"):
        ActionTokenizer.load(path)


# ---------------------------------------------------------------------------------------------------- packages


def test_without_scipy_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['scipy'] = sys.modules['scipy.fft'] = None\n"
        "import numpy as np\nfrom ubpe_numba.actions import ActionTokenizer\n"
        "try:\n    ActionTokenizer.fit(np.zeros((2, 4, 1)))\nexcept ImportError as error:\n    print(error)\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["ActionTokenizer needs scipy: pip install 'ubpe-numba[actions]'", "False"]


def test_tensors_that_numpy_cannot_have() -> None:
    torch = needed("torch")
    chunks = torch.tensor(CHUNKS[:3])
    assert PLAIN((-chunks)._neg_view()) == PLAIN(chunks)  # a view whose sign is a bit of the tensor
    parts = [CHUNKS[0], CHUNKS[1][:5]]
    for layout in (torch.strided, torch.jagged):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, that nested tensors are a prototype
            nested = torch.nested.nested_tensor([torch.tensor(part) for part in parts], layout=layout)
        assert PLAIN(nested) == PLAIN(parts)
    with pytest.raises(TypeError, match="a tensor of the device meta"):
        PLAIN(chunks.to("meta"))


def test_scales_of_numpy_are_numbers() -> None:
    for scale in (np.float32(10), np.int8(10), np.float64(10)):  # 1e100, the limit, is no float32 and no int8
        tok = ActionTokenizer.fit(CHUNKS[:20], scale, PLAIN.vocab_size, progress=False)
        assert type(tok.scale) is float and tok.scale == 10
    with pytest.raises(ValueError, match=r"coefficients -?[0-9.e+]+\.\.-?[0-9.e+]+; take more"):
        ActionTokenizer.fit(np.full((1, 4, 2), 1e300), vocab_size=10)


def test_a_column_of_steps_is_not_taken_for_a_chunk() -> None:
    with pytest.raises(
        ValueError, match=r"chunks: expected \[chunks, steps, dimensions\], got an array of float64, shape \(40, 3\)"
    ):
        ActionTokenizer.fit(np.zeros((40, 3)))
