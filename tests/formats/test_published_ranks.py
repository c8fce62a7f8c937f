"""What belongs to published files of ranks: ids behind the ranks, each once; the files themselves are not part of the tests."""

from __future__ import annotations

import pytest

from ubpe_numba.formats import tiktoken
from ubpe_numba.text.pretokenizer import Pretokenizer

#: Of every file the number of its ranks, and the first and the last special token.
FILES = [
    (50256, ("<|endoftext|>", 50256), ("<|endoftext|>", 50256)), (50256, ("<|endoftext|>", 50256), ("<|endoftext|>", 50256)),
    (100256, ("<|endoftext|>", 100257), ("<|endofprompt|>", 100276)),
    (199998, ("<|endoftext|>", 199999), ("<|endofprompt|>", 200018)),
    (128000, ("<|begin_of_text|>", 128000), ("<|reserved_special_token_245|>", 128255)),
    (200000, ("<|begin_of_text|>", 200000), ("<|reserved_special_token_903|>", 202047)),
    (151643, ("<|endoftext|>", 151643), ("<|extra_204|>", 151850)),
    (248044, ("<|endoftext|>", 248044), ("<|audio_pad|>", 248076)), (50257, ("<|endoftext|>", 50257), ("<|30.00|>", 51864)),
]  # fmt: skip


def test_special_tokens_of_published_ranks() -> None:
    assert len(tiktoken._KNOWN) == len(FILES)
    for (pattern, row), (n_ranks, first, last) in zip(tiktoken._KNOWN.values(), FILES, strict=True):
        ids = list(tiktoken.published_special(row).items())
        assert (ids[0], ids[-1]) == (first, last)
        assert len({i for _, i in ids}) == len(ids) and ids[0][1] >= n_ranks
        assert Pretokenizer(pattern).pattern
        if "llama" in row:
            assert [i for _, i in ids] == list(range(n_ranks, n_ranks + len(ids)))


def test_other_files_are_not_known() -> None:
    assert tiktoken.published(b"YQ== 0\n") is None


def test_ids_equal_those_of_the_package_of_llama() -> None:
    """Special tokens and a sample of text, for the file in `llama_models`."""
    pytest.importorskip("llama_models")
    from pathlib import Path

    import llama_models.llama3.tokenizer as theirs

    from ubpe_numba import load

    path = Path(theirs.__file__).parent / "tokenizer.model"
    tok, other = load(path), theirs.Tokenizer(path)
    assert tok.special_ids == other.special_tokens
    for text in ("Hello, world 12345", " it's\n\n  über 低い\t", "<|eot_id|>a"):
        assert tok.encode(text, allowed_special="all").tolist() == other.encode(text, bos=False, eos=False, allowed_special="all")
