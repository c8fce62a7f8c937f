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
    pairs: list[tuple[int, int]] = []
    made: dict[bytes, int] = {}
    of_characters: list[int] = []
    number = np.empty(len(table.symbols), np.int64)  # of each symbol, here
    for i, (point, token_id) in enumerate(zip(table.symbols, table.token_ids[: number.size].tolist(), strict=True)):
        data = chr(point).encode("utf-8", "surrogateescape" if 0xDC80 <= point < 0xDD00 else "surrogatepass")
        token = data[0]
        for end in range(2, len(data) + 1):
            if (known := made.get(data[:end])) is None:
                pairs.append((token, data[end - 1]))
                known = made[data[:end]] = 255 + len(pairs)
                of_characters.append(-1)
            token = known
        number[i] = token
        if token < 256:
            ids[token] = token_id
        else:
            of_characters[token - 256] = token_id
    first = 256 + len(pairs)
    numbers = np.concatenate([number, first + np.arange(len(table.merges))])
    merges = np.concatenate([np.array(pairs, np.int64).reshape(-1, 2), numbers[table.merges].reshape(-1, 2)])
    token_ids = np.concatenate([ids, np.array(of_characters, np.int64), table.token_ids[number.size :]])
    return table._replace(
        kind="bytes", symbols=list(range(256)), merges=merges.astype(np.int32), token_ids=token_ids, unknown=unknown
    )


def of_characters(model: Model) -> tuple[dict[str, int], Pairs]:
    """The ids of names and the pairs of names of a model that `over_bytes` made: its inverse."""
    alphabet, vocabulary, segmenter = model
    unknown, token_ids = segmenter.unknown, segmenter.token_ids
    assert unknown is not None  # as `over_bytes` made it
    assert token_ids is not None
    assert vocabulary.merges is not None
    data = alphabet.to_symbols(vocabulary.arena).tobytes()
    tokens = [data[a:b] for a, b in itertools.pairwise(vocabulary.offsets.tolist())]
    of_bytes = {} if unknown.byte_ids is None else {i: f"<0x{byte:02X}>" for byte, i in enumerate(unknown.byte_ids.tolist())}
    names = {
        t: of_bytes[i] if t < 256 and i in of_bytes else tokens[t].decode("utf-8", "surrogatepass")
        for t, i in enumerate(token_ids.tolist())
        if i >= 0
    }
    vocab = {name: i for i, name in sorted((i, name) for i, name in of_bytes.items() if i >= 0)}
    vocab |= {name: int(token_ids[t]) for t, name in names.items()}
    pairs = [(names[a], names[b]) for t, (a, b) in enumerate(vocabulary.merges.tolist(), 256) if len(names.get(t, "")) > 1]
    return vocab, ([a for a, _ in pairs], [b for _, b in pairs])
