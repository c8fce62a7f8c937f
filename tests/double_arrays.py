"""Double-array tries as sentencepiece's models have them, made by hand for tests."""

import struct


def charsmap(rules: dict[str, str]) -> bytes:
    r"""The blob of a map of characters: a trie in blocks of 256 units, a block a node, and the replacements.

    >>> charsmap({"a": "b"})[-2:]
    b'b\x00'
    """
    texts, values = bytearray(), {}
    for key, text in rules.items():
        values[key.encode()] = len(texts)
        texts += text.encode() + b"\0"
    nodes = sorted({key[:n] for key in values for n in range(len(key) + 1)} | {b""})
    block = {node: 256 * (i + 1) for i, node in enumerate(nodes)}  # where a node's units are, at block ^ byte
    # the label 0xff: leads nowhere, since no UTF-8 has it
    units = [1 << 8 - 8 | 0xFF] * (256 * (len(nodes) + 1))

    def offset(at: int, to: int) -> int:
        return (at ^ to) >> 8 << 10 | 1 << 9  # the form for large offsets, in steps of 256

    units[0] = offset(0, block[b""])
    for node in nodes[1:]:
        at = block[node[:-1]] ^ node[-1]
        leaf = node in values
        to = block[node] ^ (at & 0xFF)  # the low byte stays that of the index: offsets are in steps of 256
        units[at] = offset(at, to) | leaf << 8 | node[-1]
        block[node] = to
        if leaf:
            units[to] = 1 << 31 | values[node]
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + bytes(texts)
