"""Signals: floats to tokens to floats, each sample within an error bound.

>>> x = np.sin(np.arange(2000) / 9) + np.random.default_rng(0).normal(0, 0.02, 2000)
>>> tok = SignalTokenizer(64, max_error=0.1).fit(x)
>>> bool(np.abs(tok.decode(tok.encode(x)) - x).max() <= tok.error_bound())
True
"""

from ubpe_numba.signals.stream import SignalStream
from ubpe_numba.signals.tokenizer import SignalTokenizer
from ubpe_numba.signals.vocabulary import SignalVocabulary

__all__ = ["SignalStream", "SignalTokenizer", "SignalVocabulary"]
