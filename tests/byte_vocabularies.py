"""Random vocabularies over bytes and words over them, for tests of encoding text: characters, parts of them, askew tokens."""

from random import Random

CHARACTERS = [*"abc ", "é", "б", "ж", "中", "丸", "日", "本", "ࠀ", "\U0001f600", "\U0001f601"]  # noqa: RUF001
STRAY = [
    b"\xff",
    b"\x80",
    b"\xe4",
    b"\xe4\xb8",
    b"\xb8\xad",
    b"\xc0\x80",
    b"\xe0\x83\xa9",
    b"\xed\xa0\x80",
    b"\xad\xe4",
]


def vocabulary(rng: Random, byte_ids: list[int]) -> list[tuple[int, int]]:
    """Pairs in order of creation, most of them met in words, so that tokens are parts of characters, characters and words.

    Pairs come from other orders of merging too, so that some tokens do not encode to themselves, or two have
    the same bytes.
    """
    pairs: list[tuple[int, int]] = []
    known: set[tuple[int, int]] = set()
    words = [word(rng, rng.choice([4, 12])) for _ in range(rng.choice([2, 8, 20]))]
    texts = [[byte_ids[b] for b in text] for text in words if len(text) > 1] or [[byte_ids[97]] * 2]
    for _ in range(rng.choice([1, 8, 30, 80])):
        text = rng.choice(texts)
        if rng.random() < 0.1 and pairs:
            pair = rng.randrange(256, 256 + len(pairs)), rng.choice(byte_ids)
        elif len(text) > 1:
            i = rng.randrange(len(text) - 1)
            pair = text[i], text[i + 1]
            if rng.random() < 0.9:
                text[i : i + 2] = [256 + len(pairs)] if pair not in known else text[i : i + 2]
        else:
            text[:] = [byte_ids[b] for b in rng.choice(words)]
            continue
        if pair not in known:
            known.add(pair)
            pairs.append(pair)
    return pairs


def word(rng: Random, n: int) -> bytes:
    """Up to n characters or stray bytes, of few kinds."""
    some = rng.sample(CHARACTERS, rng.choice([1, 2, 4]))
    out = b""
    for _ in range(rng.randrange(1, n + 1)):
        out += rng.choice(STRAY) if rng.random() < 0.1 else rng.choice(some).encode()
    return out


def segments(rng: Random) -> list[bytes]:
    """Words of all sizes that encoding treats apart, some of them twice."""
    words = [word(rng, rng.choice([3, 6, 14, 30, 63, 64, 150])) for _ in range(rng.choice([1, 5, 20]))]
    return words + rng.choices(words, k=rng.choice([0, 5]))
