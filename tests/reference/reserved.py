"""Words that are kept whole: where they stand, what white space beside them is theirs, and symbols that stand alone."""

from collections.abc import Callable, Container, Sequence

WHITE_SPACE = [
    chr(c)
    for c in (
        *range(9, 14),
        32,
        0x85,
        0xA0,
        0x1680,
        *range(0x2000, 0x200B),
        0x2028,
        0x2029,
        0x202F,
        0x205F,
        0x3000,
    )
]
LSTRIP, RSTRIP, SINGLE_WORD = 1, 2, 4
Text = str | bytes


def find_words(
    document: Sequence[int], words: Sequence[Sequence[int]], active: Sequence[bool]
) -> list[tuple[int, int]]:
    """Return where words stand and which; those that are not `active` are not there.

    >>> find_words([0, 1, 0, 1, 2], [[0, 1], [0, 1, 2]], [True, True])
    [(0, 0), (2, 1)]
    """
    found: list[tuple[int, int]] = []
    position = 0
    while position < len(document):
        here = [
            (len(word), number)
            for number, word in enumerate(words)
            if active[number] and list(document[position : position + len(word)]) == list(word)
        ]
        if here:
            length, number = max(here)
            found.append((position, number))
            position += length
        else:
            position += 1
    return found


def parts_at(doc: Sequence[int], alone: Container[int]) -> list[list[int]]:
    """The parts of a document cut before and behind each symbol of `alone`.

    >>> parts_at([5, 6, 0, 0, 5], [0])
    [[5, 6], [0], [0], [5]]
    """
    parts: list[list[int]] = []
    before = True
    for symbol in doc:
        if before or symbol in alone:
            parts.append([])
        parts[-1].append(symbol)
        before = symbol in alone
    return parts


def n_spaces(text: Text, at_end: bool) -> int:
    r"""How many symbols of white space a text begins with, or ends with.

    >>> n_spaces("\t a ", False), n_spaces(b"a\xe3\x80\x80", True), n_spaces(b"\x80\x80", True)
    (2, 3, 0)
    """
    n, rest = 0, text
    while True:
        for space in WHITE_SPACE:
            one = space if isinstance(text, str) else space.encode()
            if rest.endswith(one) if at_end else rest.startswith(one):  # type: ignore[arg-type]
                rest = rest[: -len(one)] if at_end else rest[len(one) :]
                n += len(one)
                break
        else:
            return n


def within(
    document: Text,
    found: list[tuple[int, int]],
    sizes: list[int],
    flags: list[int],
    is_of_word: Callable[[str], bool],
) -> list[tuple[int, int, int]]:
    """Of words found in a document (where, which) those that their flags allow: where, which, how many symbols.

    >>> within("a <m> b", [(2, 0)], [3], [LSTRIP | RSTRIP], str.isalpha)
    [(1, 0, 5)]
    """
    out: list[tuple[int, int, int]] = []
    done = 0
    for start, word in found:
        stop = start + sizes[word]
        if flags[word] & SINGLE_WORD:
            before, after = (
                readable(document[max(0, start - 4) : start])[-1:],
                readable(document[stop : stop + 4])[:1],
            )
            if any(character and is_of_word(character) for character in (before, after)):
                continue
        if flags[word] & RSTRIP:
            stop += n_spaces(document[stop:], False)
        if flags[word] & LSTRIP:
            start = max(done, start - n_spaces(document[done:start], True))
        if start < stop:
            out.append((start, word, stop - start))
            done = stop
    return out


def readable(text: Text) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "ignore")
