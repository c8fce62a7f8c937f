"""BERT's `vocab.txt`: a piece a line, in UTF-8, whose id is the number of the line, from 0 on.

White space at the end of a line is no part of the piece, as the package ``tokenizers`` has it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ubpe_numba.errors import ModelFormatError, quoted
from ubpe_numba.runtime.files import naming, open_regular, write_atomically
from ubpe_numba.text.characters import WHITE_SPACE


def read(path: str | os.PathLike[str]) -> dict[str, int]:
    """The ids of pieces. Of equal lines the last one counts, as for BERT. ModelFormatError for what is not UTF-8, or no lines."""
    with open_regular(path) as f, naming(path):
        return parse(f.read())


def parse(data: bytes) -> dict[str, int]:
    r"""The same of the content of a file.

    >>> parse(b"[UNK]\nun\n##able\n")
    {'[UNK]': 0, 'un': 1, '##able': 2}
    """
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    try:
        text = b"\n".join(lines).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ModelFormatError(f"line {line}: not UTF-8") from error
    if not lines:
        raise ModelFormatError("no pieces")
    return {line.rstrip(WHITE_SPACE): i for i, line in enumerate(text.split("\n"))}


def write(path: str | os.PathLike[str], pieces: Mapping[str, int]) -> None:
    """Write pieces whose ids are 0, 1, ...; ValueError for other ids, and for pieces that could not be read again."""
    listed = sorted(pieces, key=pieces.__getitem__)
    if pieces[listed[-1]] != len(listed) - 1:
        raise ValueError(
            f"path: the ids of a vocab.txt are 0..{len(listed) - 1}, this vocabulary goes up to {pieces[listed[-1]]}"
        )
    for piece in listed:
        if "\n" in piece or piece != piece.rstrip(WHITE_SPACE):
            raise ValueError(f"path: a vocab.txt cannot hold the line break, or white space at the end, in {quoted(piece)}")
        if not piece.isascii() and any("\ud800" <= c <= "\udfff" for c in piece):
            raise ValueError(f"path: a vocab.txt is UTF-8, which cannot hold the surrogate in {quoted(piece)}")
    write_atomically(path, "".join(f"{piece}\n" for piece in listed).encode())
