"""Unknown symbols: the rule as a model file holds it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ubpe_numba.vocabulary.unknown import Unknown


@pytest.mark.parametrize("rule", [Unknown(np.arange(3, 259, dtype=np.int32)), Unknown(None, 0), Unknown(None, 7, True)])
def test_a_rule_is_kept_as_json(rule: Unknown) -> None:
    again = Unknown.from_state(json.loads(json.dumps(rule.state())), 259)
    assert again[1:] == rule[1:] and np.array_equal(again.byte_ids, rule.byte_ids)  # type: ignore[arg-type]
