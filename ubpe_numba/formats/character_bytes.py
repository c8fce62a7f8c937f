"""A model of characters as one over the bytes of UTF-8, so that no symbol is unknown and text is encoded as fast as by any other.

Before all merges of the model come those that make its characters of their bytes. No other merge can come between: these pairs
begin with the first bytes of a character and go on within it. So a text becomes the characters that the model knows, and bytes,
or the first bytes of some, where it does not know one::

    characters "é" (C3 A9) and "中" (E4 B8 AD), and the pair ("é", "中")
    symbols    0..255
    merges     256 = (C3, A9)    257 = (E4, B8)    258 = (257, AD)    259 = (256, 258)
"""

from __future__ import annotations

import itertools

import numpy as np

from ubpe_numba.formats.pair_table import Pairs, Table
from ubpe_numba.text.private_use import byte_name
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import Unknown


def over_bytes(table: Table, unknown: Unknown) -> Table:
    """The same model over 256 bytes; tokens that are no ids have the id -1.

    >>> from ubpe_numba.formats.pair_table import from_names
    >>> table = from_names({"é": 0, "中": 1, "é中": 2}, (["é"], ["中"]), "str", {}, {}, None)
    >>> made = over_bytes(table, Unknown(None, 9))
    >>> made.merges.tolist(), made.token_ids[254:].tolist()
    ([[195, 169], [228, 184], [257, 173], [256, 258]], [-1, -1, 0, -1, 1, 2])
    """
    ids = np.full(256, -1, np.int64) if unknown.byte_ids is None else unknown.byte_ids.astype(np.int64)
    data, lengths = _bytes_of(table.symbols)
    # the beginnings of characters, of two bytes and more, each as one number; the first of those that are equal makes a pair
    sizes = np.arange(2, 5)
    beginnings = np.stack([data[:, :size] @ (256 ** np.arange(size)[::-1]) for size in sizes], axis=1)
    is_one = sizes <= lengths[:, None]
    _, first, which = np.unique(beginnings[is_one], return_index=True, return_inverse=True)
    order = np.argsort(first)
    made = np.empty(order.size, np.int64)  # the token of each
    made[order] = 256 + np.arange(order.size)
    tokens = np.concatenate([data[:, :1], np.zeros(is_one.shape, np.int64)], axis=1)  # of every beginning, of one byte too
    tokens[:, 1:][is_one] = made[which]
    lefts, rights = tokens[:, :-1][is_one][first[order]], data[:, 1:][is_one][first[order]]
    number = tokens[np.arange(lengths.size), lengths - 1]  # of each symbol, here
    token_ids = np.concatenate([ids, np.full(order.size, -1)])
    token_ids[number] = table.token_ids[: number.size]
    numbers = np.concatenate([number, token_ids.size + np.arange(len(table.merges))])
    merges = np.concatenate([np.stack([lefts, rights], axis=1), numbers[table.merges].reshape(-1, 2)])
    token_ids = np.concatenate([token_ids, table.token_ids[number.size :]])
    return table._replace(
        kind="bytes", symbols=list(range(256)), merges=merges.astype(np.int32), token_ids=token_ids, unknown=unknown
    )


def _bytes_of(points: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of characters, int64[n, 4] with zeros behind them, and how many each has; U+DC80 to U+DCFF are one byte each."""
    given = np.array(points, np.int64)
    lengths = 1 + (given >= 0x80).astype(np.int64) + (given >= 0x800) + (given >= 0x10000)
    lengths[is_byte := (given >= 0xDC80) & (given < 0xDD00)] = 1
    data = np.zeros((given.size, 4), np.int64)
    for size in range(1, 5):
        rows = np.flatnonzero(lengths == size)
        for i in range(size):
            data[rows, i] = 0x80 | given[rows] >> 6 * (size - 1 - i) & 0x3F
        data[rows, 0] = (0, 0, 0xC0, 0xE0, 0xF0)[size] | given[rows] >> 6 * (size - 1)
    data[is_byte, 0] = given[is_byte] & 0xFF
    return data, lengths


def of_characters(model: Model) -> tuple[dict[str, int], Pairs]:
    """The ids of names and the pairs of names of a model that `over_bytes` made: its inverse.

    Marks, which are bytes that no text has (affixes.py), are U+DCFE and U+DCFF in names; pairs with a mark itself are left out.
    """
    alphabet, vocabulary, segmenter = model
    unknown, token_ids = segmenter.unknown, segmenter.token_ids
    assert unknown is not None  # as `over_bytes` made it
    assert token_ids is not None
    assert vocabulary.merges is not None
    data = alphabet.to_symbols(vocabulary.arena).tobytes()
    tokens = [data[a:b] for a, b in itertools.pairwise(vocabulary.offsets.tolist())]
    byte_ids = [] if unknown.byte_ids is None else unknown.byte_ids.tolist()
    of_bytes = {i: byte_name(byte) for byte, i in enumerate(byte_ids) if i != unknown.id}  # a byte without a token is unknown
    names = {
        t: of_bytes[i] if t < 256 and i in of_bytes else _with_marks(tokens[t]).decode("utf-8", "surrogatepass")
        for t, i in enumerate(token_ids.tolist())
        if i >= 0
    }
    vocab = {name: i for i, name in sorted((i, name) for i, name in of_bytes.items() if i >= 0)}
    vocab |= {name: int(token_ids[t]) for t, name in names.items()}
    made = [pair for t, pair in enumerate(vocabulary.merges.tolist(), 256) if len(names.get(t, "")) > 1]
    pairs = [(names[a], names[b]) for a, b in made if a != 0xFE and b != 0xFF]
    return vocab, ([a for a, _ in pairs], [b for _, b in pairs])


def _with_marks(token: bytes) -> bytes:
    """The same bytes with those that are marks as surrogates, U+DCFE and U+DCFF in three bytes each."""
    return token.replace(b"\xfe", b"\xed\xb3\xbe").replace(b"\xff", b"\xed\xb3\xbf")
