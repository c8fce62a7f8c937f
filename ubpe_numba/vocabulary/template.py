"""What is put around the ids of a document: a template such as ``"[CLS] $A [SEP]"``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.errors import listed, quoted
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.vocabulary.reserved import Reserved

__all__ = ["Template"]

_DOCUMENT = "$A"


class Template(NamedTuple):
    """The ids before and behind those of a document."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    @classmethod
    def of(cls, template: Any, special: Reserved | None) -> Template:
        """Read the argument `template`: special tokens and ``$A``, divided by white space, or a sequence of them and of ids.

        TypeError for other things, ValueError for a word that is no special token, or where ``$A`` is not there once.

        >>> Template.of("[CLS] $A [SEP]", Reserved.from_user(["[CLS]", "[SEP]"], None, "str", 7))
        Template(before=(7,), after=(8,))
        """
        if template is None:
            return cls()
        if not isinstance(template, (str, Sequence)) or isinstance(template, (bytes, bytearray)):
            raise TypeError(f"template: expected a str such as '[CLS] $A [SEP]', or a list of words, got {describe(template)}")
        words = template.split() if isinstance(template, str) else list(template)
        ids: list[int | None] = [
            None if isinstance(word, str) and word == _DOCUMENT else id_of(word, special, "template") for word in words
        ]
        if ids.count(None) != 1:
            raise ValueError(f"template: expected {_DOCUMENT} once, which stands for the document, got {quoted(template)}")
        at = ids.index(None)
        return cls(tuple(i for i in ids[:at] if i is not None), tuple(i for i in ids[at:] if i is not None))


def id_of(word: Any, special: Reserved | None, name: str) -> int:
    """An id that fits int32, or that of a special token or known word; ValueError, naming the argument, for others."""
    if isinstance(word, (int, np.integer)) and not isinstance(word, bool):
        if not -(2**31) <= word < 2**31:
            raise ValueError(f"{name}: expected an id that fits int32, got {quoted(int(word))}")
        return int(word)
    key = tuple(word) if isinstance(word, list) else word
    index = None if special is None or not isinstance(key, (str, bytes, tuple)) else special.number.get(key)
    if special is None or index is None:
        known = "none" if special is None else listed(special.words, 8)
        raise ValueError(f"{name}: {quoted(word)} is not a special token of this tokenizer, which has {known}")
    return int(special.ids[index])
