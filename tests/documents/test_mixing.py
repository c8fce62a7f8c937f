"""Weights of languages against the shares that they are made for."""

from __future__ import annotations

import pytest

from ubpe_numba import BPE, Counts


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.7, 1.0])
def test_shares_are_powers_of_sizes(alpha: float) -> None:
    sizes = [1_870_000, 390_000, 100_000, 40_000, 1]
    weights = Counts.language_weights(sizes, alpha)
    assert min(weights) == weights[0] == 16 and all(type(weight) is int for weight in weights)
    shares = [weight * size for weight, size in zip(weights, sizes, strict=True)]
    for share, size in zip(shares, sizes, strict=True):
        assert share / shares[0] == pytest.approx((size / sizes[0]) ** alpha, rel=0.04)
    assert Counts.language_weights(iter(sizes), alpha) == weights
    assert Counts.language_weights([]) == []


def test_sizes_and_alpha_out_of_range() -> None:
    for size in (0, -1, 2**62, 10**400, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=r"sizes\[1\]: expected at least 1 and less than 2\*\*62, got"):
            Counts.language_weights([1, size])  # type: ignore[list-item]
    for sizes in ("ab", [True], [None]):
        with pytest.raises(TypeError, match=r"sizes\[0\]: expected a number"):
            Counts.language_weights(sizes)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="alpha: expected a number, got 'a'"):
        Counts.language_weights([1], "a")  # type: ignore[arg-type]
    for alpha in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match=r"alpha: expected 0..1"):
            Counts.language_weights([1], alpha)


def test_they_are_sample_weights() -> None:
    docs = ["aab"] * 40 + ["xyz"] * 30
    weights = Counts.language_weights([120, 90, 1], 0.0)
    assert BPE(6).fit(docs, progress=False).encode("xyz").size == 3
    tok = BPE(7).fit([*docs, "pq"], sample_weight=[weights[0]] * 40 + [weights[1]] * 30 + [weights[2]], progress=False)
    assert tok.encode("pq").size == 2  # seven symbols and no room for a token
    tok = BPE(8).fit([*docs, "pq"], sample_weight=[weights[0]] * 40 + [weights[1]] * 30 + [weights[2]], progress=False)
    assert tok.encode("pq").size == 1
