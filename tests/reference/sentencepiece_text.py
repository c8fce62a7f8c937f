"""What sentencepiece does to a text before it encodes it, with a map of characters as a dict."""

from __future__ import annotations


def normalized(
    text: str, rules: dict[str, str], words: list[str], *, prefix: bool, suffix: bool, remove: bool, escape: bool
) -> tuple[str, list[int]]:
    """The text changed, and for each of its characters the index of the one that it comes from.

    >>> normalized(" ab  c ", {"ab": "x"}, [], prefix=True, suffix=False, remove=True, escape=True)
    ('▁x▁c', [1, 1, 3, 5])
    """
    blank = "▁" if escape else " "
    out: list[tuple[str, int]] = []
    after_space, started, i = remove, False, 0
    while i < len(text):
        word = max((word for word in words if text.startswith(word, i)), key=len, default="")
        rule = max((rule for rule in rules if text.startswith(rule, i)), key=len, default="")
        size = len(word or rule) or 1
        part = word or (rules[rule] if rule else text[i])
        if not started and remove and part == " ":
            i += size
            continue
        if not started and prefix and not suffix:
            out.append((blank, i))
        started = True
        if after_space:
            part = part.lstrip(" ")
        for c in part:
            out.append((blank if c == " " else "\ufffd" if "\ud800" <= c < "\ue000" else c, i))
        if part:
            after_space = remove and part.endswith(" ")
        i += size
    while remove and out and out[-1][0] == blank:
        out.pop()
    if started and prefix and suffix:
        out.append((blank, len(text) - 1))
    return "".join(c for c, _ in out), [at for _, at in out]
