"""Tokens to show: the most telling and different ones, their contexts, and labels."""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.tokenizers.seam import alphabet_of_table, is_learned

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.token_table import TokenTable


def evenly(n: int, most: int) -> NDArray[np.int64]:
    """At most `most` of 0..n - 1, evenly spaced, the first and the last among them.

    >>> evenly(9, 3).tolist(), evenly(2, 3).tolist()
    ([0, 4, 8], [0, 1])
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.int64)


def contexts_of(
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    starts: NDArray[np.int64],
    length: int,
    side: int,
) -> NDArray[np.float64]:
    """The values of occurrences and of `side` symbols on either side; NaN outside the document.

    `values` (float64[n_values]): documents, one after the other. `offsets` (int64[d + 1]): where each begins.
    `documents`, `starts` (int64[k]): the document of each occurrence, and its first symbol, counted from the
    beginning of the document. `length`: symbols of the motif. `side`: symbols before and after it. Returns
    float64[k, side + length + side]: a row for each occurrence.

    >>> contexts_of(np.array([1.0, 2, 3, 4]), np.array([0, 3, 4]), np.array([0]), np.array([1]), length=2, side=1)
    array([[ 1.,  2.,  3., nan]])
    """
    begins, ends = offsets[documents], offsets[documents + 1]
    at = (begins + starts)[:, None] + np.arange(-side, length + side)
    inside = (at >= begins[:, None]) & (at < ends[:, None])
    return np.where(inside, values[np.clip(at, 0, values.size - 1)], np.nan)


def choose_apart(strings: list[Any], n: int) -> list[int]:
    """The first `n` indices of strings, or of lists of names, of which none is a part of another.

    >>> choose_apart(["the ", "he", "cat", ["go", "on"], ["on"]], 3)
    [0, 2, 3]
    """
    chosen: list[tuple[int, Any]] = []
    for i, shape in enumerate(strings):
        string: Any = " ".join(map(str, shape)) if isinstance(shape, list) else shape
        if len(chosen) < n and not any(string in other or other in string for _, other in chosen):
            chosen.append((i, string))
    return [i for i, _ in chosen]


_CANDIDATES = 24  # times as many motifs as requested are compared: the others score too low
_POINTS = 256  # of a shape that is compared


def says_most(
    ranges: NDArray[np.float64], counts: NDArray[np.int64], lengths: NDArray[np.int64], least: int = 2
) -> NDArray[np.float64]:
    """The score of each motif: its range of values times its savings, ``counts * (lengths - 1)``.

    Tokens with fewer than `least` occurrences are left out: a motif occurs more than once.

    >>> says_most(np.array([2.0, 9.0, 0.0]), np.array([3, 1, 50]), np.array([4, 9, 8])).tolist()
    [18.0, 0.0, 0.0]
    """
    return ranges * np.where(counts >= least, counts * (lengths - 1), 0)


def likeness(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """How alike two shapes are, 0 to 1, wherever they are in time and value: 1 for the same one.

    Their steps, smoothed a little, are laid over one another at every shift; ``2 a.b / (a.a + b.b)`` at the
    best one. Flat parts do not count, so a shape is similar to itself with a longer rest before it. A shape
    of half the height is less similar.

    >>> beat, later = np.array([0.0, 0, 8, 2, 0]), np.array([1.0, 1, 1, 1, 9, 3, 1])
    >>> likeness(beat, later), round(likeness(beat, beat / 2), 2), likeness(beat, np.zeros(4))
    (1.0, 0.8, 0.0)
    """
    steps = [np.convolve(np.diff(np.asarray(shape, np.float64)), (0.25, 0.5, 0.25)) for shape in (a, b)]
    energy = float(steps[0] @ steps[0] + steps[1] @ steps[1])
    if energy == 0.0:
        return 1.0  # both are level
    return max(0.0, 2 * float(np.correlate(steps[0], steps[1], "full").max()) / energy)


def choose_diverse(shapes: list[NDArray[np.float64]], scores: NDArray[np.float64], n: int) -> list[int]:
    """At most `n` indices of shapes, chosen by score and by dissimilarity to those chosen before.

    The product of both decides. The order is that of the scores, so that a gallery begins with the best.

    >>> beat, wave = np.array([0.0, 9, 0]), np.array([0.0, 1, 2, 3, 3])
    >>> choose_diverse([beat, beat + 1, wave], np.array([9.0, 8, 2]), 2)
    [0, 2]
    """
    left = np.array(scores, np.float64)
    unlike = np.ones(left.size)
    chosen: list[int] = []
    while (
        len(chosen) < n
        and left.size
        and (best := int(np.argmax(left * unlike))) not in chosen
        and left[best] * unlike[best] > 0
    ):
        chosen.append(best)
        unlike = np.minimum(unlike, [1 - likeness(shapes[best], shape) for shape in shapes])
    return sorted(chosen, key=lambda i: -left[i])


def is_signal(v: TokenTable) -> bool:
    """Whether tokens are plotted as curves: integers without names; others are written."""
    alphabet = alphabet_of_table(v)
    return alphabet.kind == "int" and alphabet.names is None


def say_most(v: TokenTable, counts: NDArray[np.int64], n: int, least: int = 2) -> NDArray[np.int64]:
    """The tokens to show: at most `n` of the best, none a variation or a part of another.

    `counts` (int64[V]): how often each occurs, and `least` how often one must; if nothing is known, 0 of all,
    lengths decide. Tokens that are written say as much as they save. O(vocabulary).
    """
    learned = np.flatnonzero(is_learned(v))
    lengths, known = v.lengths[learned], bool(counts.any())
    ranges = np.ones(learned.size)
    if is_signal(v) and learned.size:  # as floats: the difference of two 64-bit integers may overflow
        ends = np.stack([v.offsets[learned], v.offsets[learned + 1]], axis=1).ravel()
        values = np.append(v.arena, v.arena[:1]).astype(float)
        ranges = (np.maximum.reduceat(values, ends) - np.minimum.reduceat(values, ends))[::2]
    scores = says_most(
        ranges, counts[learned] if known else np.ones_like(lengths), lengths, least if known else 1
    )
    best = np.argsort(-scores, kind="stable")[: _CANDIDATES * n]
    best = best[scores[best] > 0]
    parts: list[Any] = [v[token] for token in learned[best].tolist()]
    if not is_signal(v):
        return learned[best[choose_apart(parts, n)]]
    shapes = [part[evenly(part.size, _POINTS)].astype(float) for part in parts]
    return learned[best[choose_diverse(shapes, scores[best], n)]]


def sides_of(
    v: TokenTable,
    symbols: NDArray[Any],
    offsets: NDArray[np.int64],
    documents: NDArray[np.int64],
    starts: NDArray[np.int64],
    length: int,
    side: int,
) -> list[tuple[str, str]]:
    """The text before and after occurrences, by `contexts_of`, in whole characters or names."""
    sides = []
    for document, start in zip(documents.tolist(), starts.tolist(), strict=True):
        low, high = offsets[document : document + 2].tolist()
        a = low + start
        ends: list[Any] = [alphabet_of_table(v).output(symbols[max(low, a - side) : a])]
        ends.append(alphabet_of_table(v).output(symbols[a + length : min(high, a + length + side)]))
        if isinstance(ends[0], bytes):
            ends = [end.decode("utf-8", "replace").strip("\ufffd") for end in ends]
        gap = " " if isinstance(ends[0], list) else ""
        before, after = (line_of(end, 99 * side) for end in ends)
        before, after = before[:-1].replace("␣", " ") + before[-1:], after[:1] + after[1:].replace("␣", " ")
        sides.append((before + gap, gap + after))  # a blank that is next to the token is seen
    return sides


def visible(string: str | bytes) -> list[str]:
    """The characters of a string: spaces as ␣, others that do not show as escapes."""
    text = string.decode("utf-8", "backslashreplace") if isinstance(string, bytes) else string
    return ["␣" if c == " " else c if c.isprintable() else c.encode("unicode_escape").decode() for c in text]


def cells_of(text: str) -> int:
    """Cells of a fixed width that a text takes.

    >>> cells_of("ab"), cells_of("\u4e2d")
    (2, 2)
    """
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def line_of(value: Any, most: int = 34) -> str:
    r"""A token in a line of at most `most` cells and an ellipsis: text, bytes, or names, with visible spaces.

    >>> line_of(b"low\xff"), line_of("a b\n"), line_of(["go on", "x"]), line_of("x" * 40, 5)
    ('low\\xff', 'a␣b\\n', 'go on x', 'xxxxx…')
    """
    names = isinstance(value, list)
    shown, room = "", most
    for character in visible(" ".join(map(str, value[: most + 1])) if names else value[: 4 * most + 4]):
        part = " " if names and character == "␣" else character
        room -= cells_of(part)
        if room < 0:
            return shown + "…"
        shown += part
    return shown


def labels_of(alphabet: Any, known: NDArray[Any], leaves: NDArray[np.void], table: Any) -> list[str | None]:
    """Name each symbol of a document of text, bytes or names, to write it below the symbol.

    Special tokens have their names.

    `known`: the number of each symbol in the alphabet, -1 of a special token; `leaves`: their blocks, in
    order.
    """
    labels: list[str | None] = []
    for special, group in itertools.groupby(
        zip(known.tolist(), leaves, strict=True), key=lambda pair: pair[0] < 0
    ):
        some = list(group)
        if special:
            for _, leaf in some:
                labels += [str(table[int(leaf["token"])]), *[None] * int(leaf["stop"] - leaf["start"] - 1)]
            continue
        symbols = alphabet.output(alphabet.to_symbols(np.array([number for number, _ in some], np.int32)))
        if isinstance(symbols, bytes):
            for character in symbols.decode("utf-8", "surrogateescape"):
                n = 1 if "\udc80" <= character <= "\udcff" else len(character.encode())
                text = (
                    f"{ord(character) - 0xDC00:02x}"
                    if "\udc80" <= character <= "\udcff"
                    else visible(character)[0]
                )
                labels += [text, *[None] * (n - 1)]
        elif isinstance(symbols, str):
            labels += visible(symbols)
        else:
            labels += ["".join(visible(str(symbol))).replace("␣", " ") for symbol in symbols]
    return labels
