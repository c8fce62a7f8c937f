"""Steps as plain data, objects as Hugging Face writes them in a `tokenizer.json`: a `type`, and the fields of that type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe

__all__ = ["flat_steps", "with_fields"]

_MOST_DEPTH = 8  # of sequences of sequences


def flat_steps(steps: Any, name: str, inside: str, most: int) -> list[dict[str, Any]]:
    """The steps of an object, of a list, and of sequences in them, one after the other.

    A sequence has its steps in the field `inside`. `name` is for errors: TypeError for what is no step, ValueError for more than
    `most` or too deep ones.

    >>> flat_steps(["NFC", {"type": "Sequence", "normalizers": ["NFD"]}], "normalizer", "normalizers", 2)
    [{'type': 'NFC'}, {'type': 'NFD'}]
    """
    found = _flat(steps, name, inside, 0)
    if len(found) > most:
        raise ValueError(f"{name}: expected at most {most} steps, got {len(found)}")
    return found


def _flat(steps: Any, name: str, inside: str, depth: int) -> list[dict[str, Any]]:
    """The steps of a part that is `depth` sequences deep."""
    if isinstance(steps, str):
        steps = {"type": steps}
    if isinstance(steps, Mapping):
        if steps.get("type") != "Sequence":
            return [dict(steps)]
        steps = steps.get(inside)
    if isinstance(steps, (bytes, set, frozenset)) or not isinstance(steps, Iterable):
        raise TypeError(f"{name}: expected steps, got {describe(steps)}")
    if depth > _MOST_DEPTH:
        raise ValueError(f"{name}: more than {_MOST_DEPTH} sequences inside of one another")
    return [step for part in steps for step in _flat(part, name, inside, depth + 1)]


def with_fields(step: dict[str, Any], fields: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    """A step with all fields of its type; ValueError for an unknown type, a field that is missing or one too many."""
    kind = step.get("type")
    known = fields.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise ValueError(f"{name}: {quoted(kind)} is not supported; there are {', '.join(fields)} and Sequence")
    if odd := next((field for field in step if field != "type" and field not in known), None):
        raise ValueError(f"{name}: {kind}: unexpected field {quoted(odd)}")
    if lost := next((field for field, value in known.items() if value is ... and field not in step), None):
        raise ValueError(f"{name}: {kind}: the field {quoted(lost)} is missing")
    return {"type": kind, **{field: step.get(field, value) for field, value in known.items()}}
