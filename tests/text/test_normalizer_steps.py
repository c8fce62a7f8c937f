"""Where the parts of a text begin that a normal form changes independently of each other."""

from __future__ import annotations

import unicodedata

from ubpe_numba.text.normalizer_steps import starts_part


def test_no_character_is_joined_with_one_before_it_unseen() -> None:
    """`starts_part` knows all characters that a normal form joins with the one before: checked against all compositions."""
    for point in range(0x110000):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            assert not starts_part(chr(int(parts[1], 16))), parts
