"""`quantize`: a signal as symbols, in one call. What it learns and does is in `quantization.py`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ubpe_numba.documents.quantization import Quantization

__all__ = ["Quantization", "quantize"]


def quantize(
    signal: ArrayLike,
    *,
    step: Any = None,
    levels: int | None = None,
    law: Literal["linear", "mu"] = "linear",
    mu: float = 255,
    low: Any = None,
    high: Any = None,
    channels: Literal["shared", "separate"] = "shared",
    clip: bool = False,
) -> tuple[NDArray[np.int32], Quantization]:
    r"""Round a signal to levels, which are the symbols that a tokenizer is fitted on.

    What rounding takes away is the only loss: tokenizers give back the same symbols, and `Quantization.restore` gives each the
    middle of its level, at most `Quantization.max_error` away from the sample. Few levels make long tokens that come again; with
    many, noise differs from place to place and so do the symbols.

    Parameters
    ----------
    signal : int or float [n] or [n, channels]
        The samples, all finite. Integers of any type are cut exactly by an integer step.
    step : number, or one for each channel, optional
        Levels are the multiples of `step`: a sample goes to ``round(sample / step)``, halves to the even one. The lowest level
        that occurs, or that of `low`, is symbol 0.
    levels : int, optional
        The number of levels between the least and the greatest sample, or between `low` and `high`; a sample on the border of two
        goes to the upper one. Either `step` or `levels` is needed; of the law ``"mu"`` there are 256 by default, at most 65536.
    law : {"linear", "mu"}
        ``"linear"``: levels of one width. ``"mu"``: narrow levels near 0 and wide ones at the ends, for sound, and other signals
        that are small most of the time.
    mu : float
        How much narrower: the levels at the ends are about ``1 + mu`` times as wide as those near 0.
    low, high : number, or one for each channel, optional
        The range that the levels cover, by default that of the signal. The law ``"mu"`` covers ``-high..high``. Give them for a
        scale that does not depend on the data, such as -1 and 1 for audio, and for one scale of several channels.
    channels : {"shared", "separate"}
        The symbols of [n, channels]. ``"shared"``: those of each channel begin at 0, and a level means the same for tokens
        whatever its channel. For a document a channel: ``fit(symbols.T)``. ``"separate"``: each channel has symbols of its own,
        one range after the other. For one document in which the channels alternate: ``fit(symbols.ravel())``.
    clip : bool
        Whether samples outside of `low` and `high` go to the first or last level. Otherwise they are an error.

    Returns
    -------
    symbols : int32 of the shape of `signal`
        A level for each sample, 0..n_symbols - 1.
    quantization : Quantization
        The scale: `apply` cuts other signals by it, `restore` undoes it, `state` is what to keep of it.

    Raises
    ------
    TypeError
        If samples are not integers or floats of at most 64 bits, or another argument has a wrong type.
    ValueError
        For a sample that is not finite or outside of `low` and `high`, naming channel and position; for an empty signal without
        `low` and `high`; for arguments out of range or that exclude each other, and for more than 2**31 - 1 symbols.

    Notes
    -----
    The law ``"mu"`` cuts :math:`\operatorname{sign}(x)\ln(1+\mu|x|/h)/\ln(1+\mu)` into equal parts, where h is `high` [1]_. ITU-T
    G.711 approximates this curve, with mu = 255, by straight segments [2]_; its codes are not these symbols. As there, a level is
    restored as the middle between its borders. An odd number of levels has one around 0, an even number a border at it.

    The result is the same on any machine: only correctly rounded operations are used.

    References
    ----------
    .. [1] B. Smith, "Instantaneous companding of quantized signals", Bell System Technical Journal 36 (3), 653-709, 1957.
    .. [2] ITU-T Recommendation G.711, "Pulse code modulation (PCM) of voice frequencies", 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from ubpe_numba import BPE
    >>> signal = np.round(20 * np.sin(np.arange(400) * np.pi / 20))
    >>> symbols, scale = quantize(signal, step=5)
    >>> scale.n_symbols, symbols[:6].tolist()
    (9, [4, 5, 5, 6, 6, 7])
    >>> tok = BPE(40, alphabet=scale.n_symbols).fit(symbols)
    >>> back = scale.restore(tok.decode(tok.encode(symbols)))
    >>> bool((np.abs(back - signal) <= scale.max_error).all())
    True

    Two channels, each with its own scale and its own symbols, alternating in one document:

    >>> stereo = [[0.0, 100], [0.5, 300], [1.0, 200]]
    >>> symbols, scale = quantize(stereo, levels=4, channels="separate")
    >>> symbols.ravel().tolist(), scale.first_symbols
    ([0, 4, 2, 7, 3, 6], (0, 4))
    >>> scale.restore(symbols).tolist()
    [[0.125, 125.0], [0.625, 275.0], [0.875, 225.0]]
    """
    quantization = Quantization.learn(signal, step=step, levels=levels, law=law, mu=mu, low=low, high=high, channels=channels)
    return quantization.apply(signal, clip=clip), quantization
