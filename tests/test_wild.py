"""Tokenizers of other libraries, as packages of the registries ship them, give the ids that their libraries give."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from wild_files import FILES, Wild, by_constructor, located, original
from wild_texts import mixed, of_tokens, with_words

import ubpe_numba
from ubpe_numba.text.unicode_classes import VERSIONS, flags_of_code_points


@pytest.fixture(autouse=True)
def _warnings_of_others() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def test_texts() -> None:
    texts = mixed()
    assert sum(len(text.encode()) for text in texts) >= 4_000_000
    assert max(map(max, filter(None, texts))) > "\U00100000"


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.name} of {file.package}")
def test_ids(file: Wild, tmp_path: pathlib.Path) -> None:
    path = located(file, tmp_path)
    if path is None:
        pytest.skip(f"NOT RUN: {file.package} is not there: {'set UBPE_WILD' if file.is_npm else 'pip install ubpe-numba[wild]'}")
    loaded = ubpe_numba.load(path)
    tokens = _tokens(loaded)
    texts = [*mixed(), *of_tokens(tokens), *(with_words(list(loaded.special_ids)) if file.kind != "sentencepiece" else [])]
    theirs = original(file, path)(texts)
    for tok in (loaded, by_constructor(file, path)):
        ours = _encoded(tok, file, texts)
        other = [i for i, (one, two) in enumerate(zip(ours, theirs, strict=True)) if one != two]
        assert not [texts[i] for i in other if not _by_unicode(tok, file, path, texts[i])]


def _tokens(tok: Any) -> list[str]:
    """Every seventh token that is whole characters."""
    special = set(tok.special_ids.values())
    found = []
    for i in range(0, len(tok.vocabulary), 7):
        try:
            text = "" if i in special else tok.decode([i])
        except ubpe_numba.UnknownTokenError:  # ids are not without gaps
            continue
        found += [text] if text and "\ufffd" not in text else []
    return found


def _encoded(tok: Any, file: Wild, texts: list[str]) -> list[list[int]]:
    if file.kind in ("sentencepiece", "tekken"):  # they know no special tokens in text
        return tok.encode_batch(texts, disallowed_special="none").to_lists()
    return tok.encode_batch(texts, allowed_special="all").to_lists()


def _by_unicode(tok: Any, file: Wild, path: pathlib.Path, text: str) -> bool:
    """Whether ids differ because the library has another version of Unicode: without characters that changed they are equal."""
    changed = flags_of_code_points(VERSIONS[0]) != flags_of_code_points(VERSIONS[-1])
    without = "".join(c for c in text if not changed[ord(c)])
    return without != text and _encoded(tok, file, [without]) == original(file, path)([without])
