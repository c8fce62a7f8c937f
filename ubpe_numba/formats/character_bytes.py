"""Models of characters over the bytes of UTF-8, and symbols that differ by place in a word.

**Characters.** No symbol is unknown over bytes, and text is encoded as fast as by any other model. The first
merges make the characters of the model from their bytes. No other merge can come between: these pairs begin
with the first bytes of a character and continue within it. So a text becomes known characters, and for
unknown characters bytes, or tokens of their first bytes::

    characters "é" (C3 A9) and "中" (E4 B8 AD), and the pair ("é", "中")
    symbols    0..255
    merges     256 = (C3, A9)    257 = (E4, B8)    258 = (257, AD)    259 = (256, 258)

**Affixes.** With ``</w>`` at the end of a word (subword-nmt, CLIP), or ``##`` inside one, "a" at the end of a
word differs from "a" elsewhere. Here both are "a", and a mark follows the word, or precedes each character
inside it. Pairs with the mark come before all others, and make the symbols of the model::

    tokens "low", "e", "r</w>", "er</w>"; the word "lower", its mark ÿ
    text     l o w e r ÿ          pairs (r, ÿ), then (e, rÿ) and the others
    tokens   low | erÿ
"""

from __future__ import annotations

import itertools

import numpy as np

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.formats.pair_table import Pairs, Table
from ubpe_numba.text.sentencepiece import byte_name
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import Unknown

PREFIX, SUFFIX = "##", "</w>"  # as they are written, whatever they were in a file that was read


def over_bytes(table: Table, unknown: Unknown) -> Table:
    """A table over 256 bytes from a table over characters; tokens without ids have the id -1.

    >>> from ubpe_numba.formats.pair_table import from_names
    >>> table = from_names({"é": 0, "中": 1, "é中": 2}, (["é"], ["中"]), "str", {}, {}, None)
    >>> made = over_bytes(table, Unknown(None, 9))
    >>> made.merges.tolist(), made.token_ids[254:].tolist()
    ([[195, 169], [228, 184], [257, 173], [256, 258]], [-1, -1, 0, -1, 1, 2])
    """
    ids = np.full(256, -1, np.int64) if unknown.byte_ids is None else unknown.byte_ids.astype(np.int64)
    tokens = {bytes([byte]): byte for byte in range(256)}  # the token of the beginning of a character
    pairs, number = list[tuple[int, int]](), np.empty(len(table.symbols), np.int64)  # of each symbol, here
    for i, point in enumerate(table.symbols):  # U+DC80 to U+DCFF are one byte each
        data = (
            bytes([point & 0xFF]) if 0xDC80 <= point < 0xDD00 else chr(point).encode("utf-8", "surrogatepass")
        )
        for size in range(1, len(data)):
            if tokens.setdefault(data[: size + 1], 256 + len(pairs)) == 256 + len(pairs):
                pairs.append((tokens[data[:size]], data[size]))
        number[i] = tokens[data]
    token_ids = np.concatenate([ids, np.full(len(pairs), -1)])
    token_ids[number] = table.token_ids[: number.size]
    numbers = np.concatenate([number, token_ids.size + np.arange(len(table.merges))])
    merges = np.concatenate([np.array(pairs, np.int64).reshape(-1, 2), numbers[table.merges].reshape(-1, 2)])
    token_ids = np.concatenate([token_ids, table.token_ids[number.size :]])
    return table._replace(
        kind="bytes",
        symbols=list(range(256)),
        merges=merges.astype(np.int32),
        token_ids=token_ids,
        unknown=unknown,
    )


def of_characters(model: Model) -> tuple[dict[str, int], Pairs]:
    """The ids of names and the pairs of names of a model that `over_bytes` made: its inverse.

    Marks are bytes that no text has, and U+DCFE and U+DCFF in names; pairs with a mark itself are left out.
    """
    alphabet, vocabulary, segmenter = model
    unknown, token_ids = segmenter.unknown, segmenter.token_ids
    assert unknown is not None  # as `over_bytes` made it
    assert token_ids is not None
    assert vocabulary.merges is not None
    data = alphabet.to_symbols(vocabulary.arena).tobytes()
    tokens = [  # marks as surrogates, of three bytes each
        data[a:b].replace(b"\xfe", b"\xed\xb3\xbe").replace(b"\xff", b"\xed\xb3\xbf")
        for a, b in itertools.pairwise(vocabulary.offsets.tolist())
    ]
    byte_ids = [] if unknown.byte_ids is None else unknown.byte_ids.tolist()
    # a byte without a token is unknown
    of_bytes = {i: byte_name(byte) for byte, i in enumerate(byte_ids) if i != unknown.id}
    names = {
        t: of_bytes[i] if t < 256 and i in of_bytes else tokens[t].decode("utf-8", "surrogatepass")
        for t, i in enumerate(token_ids.tolist())
        if i >= 0
    }
    vocab = {name: i for i, name in sorted((i, name) for i, name in of_bytes.items() if i >= 0)}
    vocab |= {name: int(token_ids[t]) for t, name in names.items()}
    merged = [pair for t, pair in enumerate(vocabulary.merges.tolist(), 256) if len(names.get(t, "")) > 1]
    pairs = [(names[a], names[b]) for a, b in merged if a != 0xFE and b != 0xFF]
    return vocab, ([a for a, _ in pairs], [b for _, b in pairs])


def with_marks(
    vocab: dict[str, int], merges: Pairs, prefix: str, suffix: str, marks: tuple[str, str]
) -> tuple[dict[str, int], Pairs]:
    """Names and pairs with marks, inside words and at their ends, for a prefix and a suffix.

    A prefix or a suffix is ``""`` for none.

    A mark without a token gets an id after all others. Bytes that serve as marks occur in no text, and have
    this use only. ModelFormatError for a character that is missing in one of the forms.

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
                raise ModelFormatError(
                    f"vocab: {quoted(name)}: without its prefix or suffix it is another token"
                )
            out[new] = i
    letters = sorted({bare for bare in (name.strip(inside + end) for name in out) if len(bare) == 1})
    pairs: tuple[list[str], list[str]] = [], []
    forms = [(inside, c, inside + c) for c in letters] if prefix else []
    forms += [(c, end, c + end) for c in letters] if suffix else []
    forms += [(inside + c, end, inside + c + end) for c in letters] if prefix and suffix else []
    for left, right, joined in forms:
        if joined not in out:
            raise ModelFormatError(
                f"vocab: {quoted(joined.strip(inside + end))}: a symbol at some places of a word only: not supported"
            )
        pairs[0].append(left)
        pairs[1].append(right)
    for mark in ([inside] if prefix else []) + ([end] if suffix else []):
        out.setdefault(mark, max(out.values()) + 1)
    left_names, right_names = ([marked(name) for name in side] for side in merges)
    return out, (pairs[0] + left_names, pairs[1] + right_names)


def without_marks(
    vocab: dict[str, int], merges: Pairs, marks: tuple[str, str]
) -> tuple[dict[str, int], Pairs]:
    """Names and pairs with a prefix and a suffix for marks (``""`` for none).

    The inverse of `with_marks`.

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
    others = [
        (left, right) for left, right in zip(*merges, strict=True) if left not in marks and right not in marks
    ]
    return out, ([plain(left) for left, _ in others], [plain(right) for _, right in others])
