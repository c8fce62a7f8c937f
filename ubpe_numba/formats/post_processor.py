"""What stands around a document in other libraries: a template such as ``"[CLS] $A [SEP]"``, as Hugging Face writes it.

Here `encode` never adds anything; an export says it in the post-processor of its file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ubpe_numba.errors import listed, quoted

__all__ = ["PostProcessor"]

_PART = re.compile(r"(.+?)(?::([0-9]+))?", re.DOTALL)


class Part(NamedTuple):
    """A part of a template: ``"$A"``, ``"$B"`` or a special token, and its type id."""

    name: str
    type_id: int

    @property
    def is_document(self) -> bool:
        """Whether a document stands here."""
        return self.name in ("$A", "$B")


class PostProcessor(NamedTuple):
    """What stands around one document, and around and between two."""

    single: tuple[Part, ...]
    pair: tuple[Part, ...]

    @classmethod
    def of(cls, template: str | Sequence[str], special: Mapping[str, int]) -> PostProcessor:
        """Read the argument `template` of a tokenizer with these special tokens.

        Parts are separated by spaces: ``$A``, ``$B`` for the second document of a pair, or a special token; behind each may stand
        its type id, as in ``$B:1``. Without a template for pairs, what stands behind ``$A`` also stands behind ``$B``, both with
        the type id 1, as BERT has it. TypeError for another type, ValueError naming what is wrong.

        >>> PostProcessor.of("[CLS] $A [SEP]", {"[CLS]": 0, "[SEP]": 1}).pair[3:]
        (Part(name='$B', type_id=1), Part(name='[SEP]', type_id=1))
        """
        both = (template,) if isinstance(template, str) else tuple(template) if isinstance(template, Sequence) else ()
        if not 1 <= len(both) <= 2 or not all(isinstance(one, str) for one in both):
            raise TypeError(f"template: expected str, or two of them, for one document and for a pair, got {quoted(template)}")
        single = _read(both[0], special, ("$A",))
        if len(both) == 2:
            return cls(single, _read(both[1], special, ("$A", "$B")))
        behind = single[[part.name for part in single].index("$A") + 1 :]
        return cls(single, (*single, Part("$B", 1), *(part._replace(type_id=1) for part in behind)))

    def state(self, special: Mapping[str, int]) -> dict[str, Any]:
        """The object of a tokenizer.json that says the same."""
        used = sorted({part.name for part in (*self.single, *self.pair) if not part.is_document})
        return {
            "type": "TemplateProcessing",
            "single": [_object(part) for part in self.single],
            "pair": [_object(part) for part in self.pair],
            "special_tokens": {word: {"id": word, "ids": [special[word]], "tokens": [word]} for word in used},
        }

    def around(self, special: Mapping[str, int], first: list[int], second: list[int] | None = None) -> list[int]:
        """The ids of a document, or of a pair, with what stands around them.

        >>> special = {"[CLS]": 0, "[SEP]": 1}
        >>> PostProcessor.of("[CLS] $A [SEP]", special).around(special, [7, 8], [9])
        [0, 7, 8, 1, 9, 1]
        """
        documents = {"$A": first, "$B": second or []}
        parts = self.single if second is None else self.pair
        return [i for part in parts for i in (documents[part.name] if part.is_document else [special[part.name]])]


def _object(part: Part) -> dict[str, Any]:
    kind, name = ("Sequence", part.name[1:]) if part.is_document else ("SpecialToken", part.name)
    return {kind: {"id": name, "type_id": part.type_id}}


def _read(template: str, special: Mapping[str, int], documents: tuple[str, ...]) -> tuple[Part, ...]:
    """The parts of a template in which each of these documents stands once."""
    parts = tuple(_part(word, special) for word in template.split())
    for name in ("$A", "$B"):
        n, expected = sum(part.name == name for part in parts), int(name in documents)
        if n != expected:
            raise ValueError(
                f"template: expected {name} {('not at all', 'once')[expected]} in {quoted(template)}, found it {n} times"
            )
    if odd := next((part.name for part in parts if not part.is_document and part.name not in special), None):
        known = listed(special) or "none"
        raise ValueError(
            f"template: {quoted(odd)} in {quoted(template)} is neither $A nor a special token of this tokenizer: {known}"
        )
    return parts


def _part(word: str, special: Mapping[str, int]) -> Part:
    found = _PART.fullmatch(word)
    assert found is not None  # a word is not empty
    return Part(word, 0) if word in special else Part(found[1], int(found[2] or 0))
