"""Reordering a table of learned tokens by weight, and cutting it to size.

A table is given as `sequences`, a tuple of ids a token in order of creation: the token at index i has the
id `alphabet_size + i`. In a pair table the two ids may be learned ones, in a flat table all are symbols.
"""

from __future__ import annotations

Sequence = tuple[int, ...]


def holders(index: int, sequences: list[Sequence], alphabet_size: int) -> list[int]:
    """Indices of the tokens whose sequence holds the token at `index`, in order of creation.

    >>> holders(0, [(0, 1), (2, 0), (3, 2)], alphabet_size=2)
    [1, 2]
    """
    return [other for other, sequence in enumerate(sequences) if alphabet_size + index in sequence]


def deletions_closed(sequences: list[Sequence], ascending: list[int], quantity: int, alphabet_size: int) -> list[int]:
    """From the lowest weight up, delete a token and all that is built on it, however far.

    Token 3 is built on 2, and 4 on 3, so all three go at once although one was asked for:

    >>> deletions_closed([(0, 1), (2, 0), (3, 1), (1, 1)], [0, 1, 2, 3], quantity=1, alphabet_size=2)
    [0, 1, 2]
    """
    deleted: list[int] = []
    for index in ascending:
        if len(deleted) >= quantity:
            break
        pending = [index]
        while pending:
            victim = pending.pop(0)
            if victim not in deleted:
                deleted.append(victim)
                pending.extend(holders(victim, sequences, alphabet_size))
    return deleted


def deletions_one_level(sequences: list[Sequence], ascending: list[int], quantity: int, alphabet_size: int) -> list[int]:
    """From the lowest weight up, delete a token and those of higher weight that hold it themselves.

    Token 4, built on 3, stays and dangles:

    >>> deletions_one_level([(0, 1), (2, 0), (3, 1), (1, 1)], [0, 1, 2, 3], quantity=1, alphabet_size=2)
    [0, 1]

    A holder is listed again for every part of it that goes, and counts each time. Here token 4 holds
    both 2 and 3, is listed twice, and four entries are reached after three tokens:

    >>> deletions_one_level([(0, 1), (1, 0), (2, 3), (1, 1)], [0, 1, 2, 3], quantity=4, alphabet_size=2)
    [0, 2, 1, 2]
    """
    deleted: list[int] = []
    for place, index in enumerate(ascending):
        if index in deleted:
            continue
        if len(deleted) >= quantity:
            break
        deleted.append(index)
        holding = holders(index, sequences, alphabet_size)
        deleted.extend(other for other in ascending[place + 1 :] if other in holding)
    return deleted


def deletions_with_stack(sequences: list[Sequence], ascending: list[int], quantity: int, alphabet_size: int) -> list[int]:
    """From the lowest weight up, delete a token and all that is built on it, by a last-in-first-out stack.

    A token is stacked unless it is listed already, so one that waits in the stack may be stacked once
    more; it is then listed twice, and counts twice. Token 4 holds 2 and 3, and 3 holds 2:

    >>> deletions_with_stack([(0, 1), (2, 0), (3, 2)], [0, 1, 2], quantity=1, alphabet_size=2)
    [0, 2, 1]
    >>> deletions_with_stack([(0, 1), (2, 0), (3, 2)], [0, 2, 1], quantity=1, alphabet_size=2)
    [0, 1, 2, 2]
    """
    deleted: list[int] = []
    for index in ascending:
        if index in deleted:
            continue
        if len(deleted) >= quantity:
            break
        stack = [index]
        while stack:
            victim = stack.pop()
            deleted.append(victim)
            holding = holders(victim, sequences, alphabet_size)
            stack.extend(other for other in ascending if other in holding and other not in deleted)
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
    if trim == "closed":
        deleted = deletions_closed(sequences, ascending, quantity, alphabet_size)
    elif trim in ("one_level", "published_0_2"):
        deleted = deletions_one_level(sequences, ascending, quantity, alphabet_size)
    else:
        deleted = deletions_with_stack(sequences, ascending, quantity, alphabet_size)

    staying = [index for index in reversed(ascending) if index not in deleted]
    if trim.startswith("published"):
        staying = staying[: max(0, len(sequences) - len(deleted))]

    new_ids = {alphabet_size + index: alphabet_size + place for place, index in enumerate(staying)}
    return [(tuple(new_ids.get(token, token) for token in sequences[index]), weights[index]) for index in staying]


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
