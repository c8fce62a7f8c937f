"""The n largest of many sums as shares of 0 to 1 that sum to n, a little smoothed.

x = (smooth - lambda) / (scale * count), cut to 0..1, makes the sum of x * smooth - scale * count * x * x / 2 the largest. Of the
sums 4, 3 and 1 with counts of 1, scale 1 and n = 1: lambda = 3, x = 1 0 0. With scale 2, lambda = 2.5: x = 0.75 0.25 0.
"""

from __future__ import annotations

from ubpe_numba.runtime.compiler import kernel

_STEPS = 60  # of the search for lambda: by Newton four to eight


@kernel
def share_out(sums, smooth, counts, scale, n, threshold, shares, found):
    """The shares of candidates.

    sums, smooth float64[T] (kernels/symbol_prices.py), counts float64[T], above 0; scale > 0; n float64; threshold: where the
    search for lambda, at least 0, begins; shares float64[T] gets them; found float64[2] gets the smooth value of the mixture, and
    a number that the sum of the n largest `sums` is not above: n lambda + sum of max(0, sums - lambda). The caller allocates all.
    Returns lambda. O(T) a step.
    """
    low = 0.0
    high = 0.0
    for t in range(smooth.size):
        high = max(high, smooth[t])
    lam = min(threshold, high)
    for _ in range(_STEPS):
        total = 0.0
        slope = 0.0
        for t in range(smooth.size):
            if smooth[t] > lam:
                c = 1.0 / (scale * counts[t])
                x = (smooth[t] - lam) * c
                if x < 1.0:
                    slope += c
                    total += x
                else:
                    total += 1.0
        if abs(total - n) <= 1e-9 * n or (lam == 0.0 and total <= n):
            break
        if total > n:
            low = lam
        else:
            high = lam
        new = lam + (total - n) / slope if slope > 0.0 else high
        if low == 0.0 and new <= 0.0:
            new = 0.0
        elif not low < new < high:
            new = 0.5 * (low + high)
        lam = new
    value = 0.0
    above = n * lam
    for t in range(smooth.size):
        x = 0.0
        if smooth[t] > lam:
            c = scale * counts[t]
            x = min(1.0, (smooth[t] - lam) / c)
            value += x * (smooth[t] - 0.5 * c * x)
        if sums[t] > lam:
            above += sums[t] - lam
        shares[t] = x
    found[0] = value
    found[1] = above
    return lam
