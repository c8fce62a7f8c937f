"""Clusters of characters, as the package tokenizers forms them, and its way to apply a map of characters to each.

Clusters are Unicode's: every character has one of the kinds below, and what is kept of those before it is one of the states. It
joins the cluster before it, or begins another::

    text     "A"    U+0301  "B"    U+0600   "C"       of the kinds OTHER, EXTEND, OTHER, PREPEND, OTHER
    state    ANY    ANY     ANY    BEFORE   ANY
    joins           yes     no     no       yes

Flags of countries, which form pairs, are of no kind: a cluster of one and anything else has more than 5 bytes, as for pairs.
"""

from __future__ import annotations

import numpy as np

from ubpe_numba.runtime.compiler import helper, kernel
from ubpe_numba.text.kernels.sentencepiece import longest_rule, utf8_of

#: Kinds. CONTROL stands alone; the next five join what is before; PREPEND joins what is behind; parts of Hangul syllables; a
#: PICTURE joins one before a JOINER, a CONSONANT of Indic scripts one before a LINKER. A SPACING mark ends both rules, APART the
#: second one.
OTHER, CONTROL, SPACING, EXTEND, APART, LINKER, JOINER, PREPEND = range(8)
LEADING, VOWEL, TRAILING, OPEN_SYLLABLE, SYLLABLE, PICTURE, CONSONANT = range(8, 15)
#: States: after no character that matters, a CONTROL, a PREPEND, parts of syllables, a picture, it and a JOINER, a consonant, it
#: and a LINKER.
_ANY, _CONTROL, _BEFORE, _LEADING, _VOWEL, _TRAILING, _PICTURE, _PICTURE_JOINER, _CONSONANT, _LINKED = range(10)


@helper
def state_after(state, kind):
    """The state after a character of a kind. O(1).

    _PICTURE, JOINER -> _PICTURE_JOINER; _ANY, JOINER -> _ANY.
    """
    if EXTEND <= kind <= JOINER:
        if state == _PICTURE:
            return _PICTURE_JOINER if kind == JOINER else _PICTURE
        if state >= _CONSONANT and kind != APART:
            return _LINKED if kind == LINKER else state
        return _ANY
    if kind == CONTROL:
        return _CONTROL
    if kind == PREPEND:
        return _BEFORE
    if kind == LEADING:
        return _LEADING
    if kind in (VOWEL, OPEN_SYLLABLE):
        return _VOWEL
    if kind in (TRAILING, SYLLABLE):
        return _TRAILING
    if kind == PICTURE:
        return _PICTURE
    return _CONSONANT if kind == CONSONANT else _ANY


@helper
def joins(state, kind):
    """Whether a character of a kind belongs to the cluster before it. O(1).

    _VOWEL, TRAILING -> True; _TRAILING, VOWEL -> False.
    """
    if state == _CONTROL or kind == CONTROL:
        return False
    if SPACING <= kind <= JOINER or state == _BEFORE:
        return True
    if LEADING <= kind <= SYLLABLE:
        if state == _LEADING:
            return kind != TRAILING
        return (state == _VOWEL and kind <= TRAILING and kind != LEADING) or (state == _TRAILING and kind == TRAILING)
    return (state == _PICTURE_JOINER and kind == PICTURE) or (state == _LINKED and kind == CONSONANT)


@helper
def kind_of(kinds, point):
    """The kind of a code point; OTHER for what is none. O(1)."""
    return np.int64(kinds[point]) if point < kinds.size else np.int64(OTHER)


@kernel
def by_clusters(text, offsets, units, begins, replacements, kinds, out, origins, out_offsets):
    """Every document as tokenizers has it changed by a map; returns how many code points that takes.

    As for `normalize` of kernels/sentencepiece.py; kinds uint8[0x110000]: the kind of every code point. A cluster of fewer than 6
    bytes becomes what its shortest beginning is mapped to, even if that leaves marks out; otherwise each of its characters is
    replaced by itself. O(code points).

    "A" U+0300 of a map of "A" to "a": "a".
    """
    w = np.int64(0)
    room = out.size
    out_offsets[0] = 0
    for d in range(offsets.size - 1):
        i = np.int64(offsets[d])
        end = np.int64(offsets[d + 1])
        while i < end:
            _, n_bytes = utf8_of(np.int64(text[i]))
            stop = i + 1
            state = state_after(_ANY, kind_of(kinds, text[i]))
            while stop < end:
                kind = kind_of(kinds, text[stop])
                returns = text[stop - 1] == 13 and text[stop] == 10
                if not returns and not joins(state, kind):
                    break
                _, n = utf8_of(np.int64(text[stop]))
                n_bytes += n
                state = state_after(state, kind)
                stop += 1
            taken, at = np.int64(0), np.int64(0)
            if n_bytes < 6:
                for e in range(i + 1, stop + 1):
                    if taken == 0:
                        taken, at = longest_rule(text, i, e, units, begins)
                if taken > 0:
                    taken = stop - i
            while i < stop:
                if taken == 0:
                    size, at = longest_rule(text, i, i + 1, units, begins)
                else:
                    size = taken
                if size == 0:
                    if w < room:
                        out[w] = text[i]
                        origins[w] = i
                    w += 1
                    i += 1
                    continue
                while replacements[at] != 0:
                    if w < room:
                        out[w] = replacements[at]
                        origins[w] = i
                    w += 1
                    at += 1
                i += size
        out_offsets[d + 1] = w
    return w
