"""Numbers as the JSON reader of Hugging Face's libraries rounds them, and written so that it reads what is meant."""

import json

import numpy as np
import pytest

from ubpe_numba.formats.unigram import read_number, write_numbers

ODD = [
    "-1", "-0", "-0.0", "0", "1e5", "-1E-7", "5e+3", "123456789012345678901234567890.5",
    "-0." + "0" * 29 + "1234567890123456789012345", "1." + "0" * 37 + "1", "18446744073709551615", "18446744073709551616",
    "-9223372036854775808", "-9223372036854775809", "1844674407370955161599.1", "0.18446744073709551616",
    "0.99999999999999999999999", "1e-400", "5e-324", "2.2250738585072011e-308", "1e-308", "179e306", "-0.1e-330",
    "0." + "0" * 60 + "1e10",
]  # fmt: skip


def theirs(texts: list[str]) -> list[float]:
    """What tokenizers reads."""
    tokenizers = pytest.importorskip("tokenizers")
    vocab = ",".join(f'["p{i}",{text}]' for i, text in enumerate(texts))
    model = f'{{"type":"Unigram","unk_id":0,"vocab":[{vocab}],"byte_fallback":false}}'
    text = tokenizers.Tokenizer.from_str(f'{{"version":"1.0","added_tokens":[],"model":{model}}}').to_str()
    return [float(score) for _, score in json.loads(text)["model"]["vocab"]]


def test_numbers_are_read_as_tokenizers_reads_them() -> None:
    rng = np.random.default_rng(0)
    plain = -rng.exponential(5, 3000)
    many = [
        plain,
        plain.astype(np.float32),
        -rng.uniform(0, 1e6, 1000),
        10.0 ** rng.uniform(-300, 300, 1000),
        -np.arange(100.0),
    ]
    for values in many:
        texts = list(map(repr, values.tolist()))
        assert [read_number(text) for text in texts] == theirs(texts)
    assert [*map(read_number, ODD)] == theirs(ODD) and write_numbers(np.zeros(0)) == []
    assert read_number("1e999") == read_number("-1e999") == np.inf  # which is refused either way
    assert theirs(list(map(repr, plain.tolist()))) != plain.tolist()  # so it is worth the effort


def test_numbers_are_written_so_that_tokenizers_reads_them() -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [-rng.exponential(5, 3000), rng.uniform(-1e6, 1e6, 1000), [0.0, -10.0, 1e6, 5e-324, 1e-300]]
    )
    texts = write_numbers(values)
    found = np.array(theirs(texts))
    assert found.tolist() == [*map(read_number, texts)]
    differ = found != values
    assert differ.sum() < 24 and (np.abs(found - values) <= np.spacing(np.abs(values))).all()
    rounded = np.round(values, 9)
    assert (
        theirs(write_numbers(rounded)) == rounded.tolist() == [float(text) for text in write_numbers(rounded)]
    )
