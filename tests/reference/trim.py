"""Reordering a table of learned tokens by weight, and cutting it to size.

A table is given as `sequences`, a tuple of ids a token in order of creation: the token at index i has the
id `alphabet_size + i`. In a pair table the two ids may be learned ones, in a flat table all are symbols.
"""

Sequence = tuple[int, ...]


def deletions(
    sequences: list[Sequence], ascending: list[int], quantity: int, alphabet_size: int, trim: str
) -> list[int]:
    """Indices of tokens that go, from the lowest weight up, with those that hold them; some may be listed twice, and count twice.

    Here 3 is built on 2, and 4 on 3, so that 4 dangles if holders of holders stay:

    >>> [deletions([(0, 1), (2, 0), (3, 1), (1, 1)], [0, 1, 2, 3], 1, 2, trim) for trim in ("closed", "one_level")]
    [[0, 1, 2], [0, 1]]

    Here 4 holds both 2 and 3: once for each, or once more while it waits in a stack, it is listed twice.

    >>> deletions([(0, 1), (1, 0), (2, 3), (1, 1)], [0, 1, 2, 3], 4, 2, "one_level")
    [0, 2, 1, 2]
    >>> deletions([(0, 1), (2, 0), (3, 2)], [0, 2, 1], 1, 2, "published_0_3")
    [0, 1, 2, 2]
    """

    def holders(index: int) -> list[int]:
        return [other for other in ascending if alphabet_size + index in sequences[other]]

    deleted: list[int] = []
    for place, index in enumerate(ascending):
        if index in deleted:
            continue
        if len(deleted) >= quantity:
            break
        if trim in ("one_level", "published_0_2"):
            deleted += [index, *(other for other in holders(index) if other in ascending[place + 1 :])]
            continue
        stack = [index]
        while stack:
            victim = stack.pop()
            if trim != "closed" or victim not in deleted:
                deleted.append(victim)
                stack += [other for other in holders(victim) if other not in deleted]
    return deleted


def rearrange(
    sequences: list[Sequence], weights: list[float], alphabet_size: int, n_tokens: int, trim: str
) -> list[tuple[Sequence, float]]:
    """The new table, (sequence, weight) by new id: the highest weight first, cut to `n_tokens` ids or fewer.

    Of equal weights the one created later comes first. An id inside a sequence whose token is gone keeps
    its old number, which breaks the table. The variants of `trim`:

    - "closed": what is built on a deleted token goes too, transitively; each deletion counts once.
    - "one_level": only direct holders of higher weight go too, and may be counted several times.
    - "published_0_2": as "one_level", then as many of what stays are dropped from the low end as there
      were repeated entries.
    - "published_0_3": transitive by a stack that may list a token twice; the repeated ones cost what
      stays as in "published_0_2".

    In a flat table nothing holds a learned token, so all variants agree there.

    >>> rearrange([(0, 1), (2, 0), (1, 1)], [1.0, 2.0, 3.0], alphabet_size=2, n_tokens=5, trim="closed")
    [((1, 1), 3.0), ((4, 0), 2.0), ((0, 1), 1.0)]
    >>> rearrange([(0, 1), (2, 0), (1, 1)], [1.0, 2.0, 3.0], alphabet_size=2, n_tokens=4, trim="closed")
    [((1, 1), 3.0)]
    >>> rearrange([(0, 1), (2, 0), (3, 1)], [1.0, 2.0, 3.0], alphabet_size=2, n_tokens=4, trim="one_level")
    [((3, 1), 3.0)]
    """
    quantity = len(sequences) - n_tokens + alphabet_size
    ascending = sorted(range(len(weights)), key=lambda index: weights[index])
    deleted = deletions(sequences, ascending, quantity, alphabet_size, trim)
    staying = [index for index in reversed(ascending) if index not in deleted]
    if trim.startswith("published"):
        staying = staying[: max(0, len(sequences) - len(deleted))]

    new_ids = {alphabet_size + index: alphabet_size + place for place, index in enumerate(staying)}
    return [
        (tuple(new_ids.get(token, token) for token in sequences[index]), weights[index]) for index in staying
    ]


def is_closed(table: list[tuple[Sequence, float]], alphabet_size: int) -> bool:
    """Whether every token of a table (as `rearrange` returns it) comes down to symbols.

    >>> is_closed([((0, 3), 2.0), ((1, 1), 1.0)], alphabet_size=2)
    True
    >>> is_closed([((0, 9), 2.0), ((1, 1), 1.0)], alphabet_size=2)  # there is no 9
    False
    >>> is_closed([((0, 3), 2.0), ((1, 2), 1.0)], alphabet_size=2)  # 2 holds 3 holds 2
    False
    """
    known = set(range(alphabet_size))
    grew = True
    while grew:
        grew = False
        for token, (sequence, _) in enumerate(table, start=alphabet_size):
            if token not in known and all(part in known for part in sequence):
                known.add(token)
                grew = True
    return len(known) == alphabet_size + len(table)
