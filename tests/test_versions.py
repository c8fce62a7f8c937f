"""The same vocabularies and ids with every interpreter, NumPy and numba: a part of the table of digests."""

import json
import warnings

import pytest
from digests import TABLE, cases

NAMES = ("fits 2 smallest BPE", "fits 2 smallest classic", "words gpt2", "words o200k")


@pytest.mark.parametrize("name", NAMES)
def test_vocabularies_and_ids(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cases()[name]() == json.loads(TABLE.read_text())[name]
