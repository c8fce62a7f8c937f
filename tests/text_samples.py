"""Texts of many scripts, strings of code points drawn at random, and their bytes, for the tests of text."""

import functools

import numpy as np
import pytest
from hypothesis import strategies as st
from unicode_tables import flags_by_regex

from ubpe_numba.text import unicode_classes as code_points

TEXT = [
    "the cat sat on the mat, the cat that sat", "it's 12345 and it's 678", "低い 低い 高い the", "", "the end<|end|>of it<|end|>",
]  # fmt: skip
END = "<|end|>"


def cut(pattern: str, documents: list[str]) -> list[list[str]]:
    """The segments of every document, without any of the code under test but the pattern."""
    engine = pytest.importorskip("regex")
    out = []
    for document in documents:
        ends = sorted(
            {0, len(document), *(at for match in engine.finditer(pattern, document) for at in match.span())}
        )
        out.append([document[a:b] for a, b in zip(ends, ends[1:], strict=False)])
    return out


@functools.cache
def known() -> np.ndarray:
    """The code points of which `regex` and the committed table say the same: all, if they know the same Unicode."""
    return np.flatnonzero(flags_by_regex() == code_points.flags_of_code_points())


def text_of(*documents: bytes) -> tuple[np.ndarray, np.ndarray]:
    lengths = [len(document) for document in documents]
    return np.frombuffer(b"".join(documents), np.uint8), np.concatenate(
        [[0], np.cumsum(lengths, dtype=np.int64)]
    )


SAMPLES = """\
It's what she'd've said: they'LL, we'Re, I'M, 'tis 'Sblood, 'ſo, xx'ſ, YOU'RE 'veal 'dare 'll'l
The year 1234567 was ½ of ⅷⅸ, ٠١٢٣٤٥, १२३ and 𝟘𝟙𝟚𝟛.
Der Fuß, ÜBER Maß; naïve café, e\u0301te\u0301, ÉTÉ; ǅ ǈ ǋ; İstanbul, ıııı; ﬁﬂ; ΣΑΣ ς; КАТЮША и Маша
中文和English混在一起AB中C，中Ab中A。ひらがなカタカナーABCカ 한국어 문장 THE한END
עברית, العَرَبِيَّة ١٢٣, हिन्दी में, ไทยไทย, ქართული ᲥᲐᲠᲗᲣᲚᲘ, ꭰꮳꮃ ᏣᎳᎩ, 𐐷𐐏𐐏𐐷
👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ ☺ ¿¡«»… -- --- //// /\n/ ///x a/b /* */ \r\n\r\n \t\tdef f(x):\r\n        return  x  \n\n\n   \n
a\x1cb\x1d \x1e\x1f \x85\xa0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000x \u200b\ufeff \u180e \x0b\x0c\x00\x7f
か\u3099・ー゛中1中 、龥龦\u3040\x01か\x02!abcé (def)ghi\u0301 +x中 \x7f\u200bа 中  12  中\n 中 。\n
snake_case CamelCase HTTPServer XMLHttpRequest iPhone mRNA 3D x86_64 0xFF 1e-10 $12,345.67 #tag @user a.b@c.de http://x.y/z?q=1
\u0300\u0301 \u0300ABC \u0300abc '\u0300s !\u0300A !Ab !AB's ABC'sDEF'S \u02b0A\u02b0 中'S中's \t'll \n's \u3000's
"""
POINTS = [*"aAzZbS sStTdDlLvVrReEmM''''15٣ \n\r\t  //_-.\u00a0\u3000\x1c\x85"]
POINTS += [*"・ーか龥龦\x01\u200béÉß\u017fǅʰ中日\u0301\u0300\U00010428\U00010400😀½\ud800\udc80"]


def spoken() -> st.SearchStrategy[bytes]:
    points = st.one_of(
        st.sampled_from(POINTS), st.integers(0, 2**31).map(lambda i: chr(known()[i % known().size]))
    )
    return st.lists(points, max_size=40).map(lambda points: "".join(points).encode("utf-8", "surrogatepass"))
