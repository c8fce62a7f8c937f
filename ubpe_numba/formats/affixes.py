"""Models whose symbols differ at the end of a word (``</w>``, subword-nmt and CLIP), or inside of one (``##``).

There "a" at the end of a word is another symbol than "a" elsewhere. Here both are "a", and a mark stands behind the word, or
before each character inside of it; pairs with the mark come before all others, and make the symbols of the model::

    tokens "low", "e", "r</w>", "er</w>"; the word "lower", its mark ÿ
    text     l o w e r ÿ          pairs (r, ÿ), then (e, rÿ) and the others
    tokens   low | erÿ
"""

from __future__ import annotations

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.pair_table import Pairs

PREFIX, SUFFIX = "##", "</w>"  # as they are written, whatever they were in a file that was read


def with_marks(
    vocab: dict[str, int], merges: Pairs, prefix: str, suffix: str, marks: tuple[str, str]
) -> tuple[dict[str, int], Pairs]:
    """Names and pairs with marks, inside of words and at their ends, in place of a prefix and a suffix (``""`` for none).

    A mark that is no token gets an id behind all others; bytes that serve as marks are in no text, and of no other use here.
    ModelFormatError for a character that is no symbol in each of the forms.

    >>> with_marks({"a": 0, "b": 1, "a</w>": 2, "b</w>": 3, "ab</w>": 4}, (["a"], ["b</w>"]), "", "</w>", ("<", ">"))[0]
    {'a': 0, 'b': 1, 'a>': 2, 'b>': 3, 'ab>': 4, '>': 5}
    """
    inside, end = marks

    def marked(name: str) -> str:
        is_inside, is_end = bool(prefix) and name.startswith(prefix), bool(suffix) and name.endswith(suffix)
        name = name[len(prefix) * is_inside : len(name) - len(suffix) * is_end]
        if prefix:
            name = (inside * is_inside + inside.join(name)) if name else name
        return name + end * is_end

    out: dict[str, int] = {}
    for name, i in vocab.items():
        new = name if name in marks else marked(name)
        if new.strip(inside + end) or new in marks:
            if new in out:
                raise ModelFormatError(f"vocab: {quoted(name)}: without its prefix or suffix it is another token")
            out[new] = i
    letters = sorted({bare for bare in (name.strip(inside + end) for name in out) if len(bare) == 1})
    pairs: tuple[list[str], list[str]] = [], []
    forms = [(inside, c, inside + c) for c in letters] if prefix else []
    forms += [(c, end, c + end) for c in letters] if suffix else []
    forms += [(inside + c, end, inside + c + end) for c in letters] if prefix and suffix else []
    for left, right, made in forms:
        if made not in out:
            raise ModelFormatError(
                f"vocab: {quoted(made.strip(inside + end))}: a symbol at some places in a word only is not supported"
            )
        pairs[0].append(left)
        pairs[1].append(right)
    for mark in ([inside] if prefix else []) + ([end] if suffix else []):
        out.setdefault(mark, max(out.values()) + 1)
    left_names, right_names = ([marked(name) for name in side] for side in merges)
    return out, (pairs[0] + left_names, pairs[1] + right_names)


def without_marks(vocab: dict[str, int], merges: Pairs, marks: tuple[str, str]) -> tuple[dict[str, int], Pairs]:
    """Names and pairs with a prefix and a suffix in place of marks (``""`` for none): the inverse of `with_marks`.

    ValueError if two tokens get the same name.

    >>> without_marks({"a": 0, "b": 1, "a>": 2, "ab>": 3, ">": 4}, (["b", "a"], [">", "b>"]), ("", ">"))
    ({'a': 0, 'b': 1, 'a</w>': 2, 'ab</w>': 3, '>': 4}, (['a'], ['b</w>']))
    """
    inside, end = marks

    def plain(name: str) -> str:
        if name in marks:
            return name
        is_inside, is_end = bool(inside) and name.startswith(inside), bool(end) and name.endswith(end)
        bare = name[: len(name) - is_end]
        return PREFIX * is_inside + (bare.replace(inside, "") if inside else bare) + SUFFIX * is_end

    out: dict[str, int] = {}
    for name, i in vocab.items():
        if out.setdefault(new := plain(name), i) != i:
            raise ValueError(f"vocabulary: the tokens {out[new]} and {i} would both be {quoted(new)}")
    kept = [(left, right) for left, right in zip(*merges, strict=True) if left not in marks and right not in marks]
    return out, ([plain(left) for left, _ in kept], [plain(right) for _, right in kept])
