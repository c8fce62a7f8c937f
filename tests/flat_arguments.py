"""Arguments as tables of cases list them and strategies draw them: those of `Preprocessing` and the longest token among them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ubpe_numba import FitRules, Preprocessing

_PARTS = [field.name for field in dataclasses.fields(Preprocessing)]


def arguments_of(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor."""
    made = {name: value for name, value in flat.items() if name not in (*_PARTS, "max_token_length")}
    if parts := {name: flat[name] for name in _PARTS if name in flat}:
        made["preprocessing"] = Preprocessing(**parts)
    if "max_token_length" in flat:
        made["rules"] = (flat.get("rules") or FitRules()).replace(max_token_length=flat["max_token_length"])
    return made
