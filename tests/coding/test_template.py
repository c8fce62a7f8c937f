"""What stands around a document: ids as they are, within int32."""

from __future__ import annotations

import pytest

from ubpe_numba.coding.model_inputs import FIRST, template_of


def test_any_id_of_int32() -> None:
    found = template_of([-(2**31), -1, "$A", 0, 2**31 - 1], {}).single
    assert found == ((-(2**31), 0), (-1, 0), (FIRST, 0), (0, 0), (2**31 - 1, 0))


@pytest.mark.parametrize("word", [-(2**31) - 1, 2**31, 2**40, -(3**31)])
def test_ids_beyond_int32_are_refused(word: int) -> None:
    with pytest.raises(ValueError, match=f"^template: expected an id that fits int32, got {word}"):
        template_of([word, "$A"], {})
