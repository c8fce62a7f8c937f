"""The errors of the library, each a subclass of a builtin exception."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any, TypeVar, cast

__all__ = ["LocatedError", "ModelFormatError", "NotFittedError", "SpecialTokenError", "UnknownSymbolError", "UnknownTokenError"]

Self = TypeVar("Self", bound="LocatedError")

_REPR = reprlib.Repr()
_REPR.maxstring, _REPR.maxother, _REPR.maxlong = 80, 1 << 16, 80
_REPR.maxlevel, _REPR.maxtuple, _REPR.maxlist, _REPR.maxdict, _REPR.maxset = 4, 20, 20, 20, 20


def quoted(value: object, most: int = 80) -> str:
    """What stands in a message for a value from a file or a user: its `repr`, of which at most `most` characters are shown.

    Every message that quotes such a value does so by this function, so that none is longer than a screen, whatever a file holds.

    >>> quoted("low"), quoted(["a", 1]), quoted("x" * 100, 12)
    ("'low'", "['a', 1]", "'xxxxxxxx...")
    """
    if isinstance(value, (str, bytes, bytearray)):
        return shortened(repr(value[: most + 1]), most)  # without making the `repr` of a gigabyte
    try:
        return shortened(_REPR.repr(value), most)
    except Exception:  # of a number of thousands of digits, or of a class of the user's
        return f"<{type(value).__name__[:most]}>"


def shortened(message: object, most: int = 200) -> str:
    """At most `most` characters of a text, or of the message of an error of another library; what is longer ends in dots.

    >>> shortened("abcdef", 5), shortened("abcde", 5)
    ('ab...', 'abcde')
    """
    text = str(message)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def listed(values: Iterable[object], most: int = 6) -> str:
    """What stands in a message for names from a file or a user: the first of them, each quoted, and dots where there are more.

    >>> listed(["a", "b"]), listed(range(9), 3), listed([])
    ("'a', 'b'", '0, 1, 2, ...', '')
    """
    shown = [quoted(value, 40) for _, value in zip(range(most + 1), values, strict=False)]
    return ", ".join([*shown[:most], *(["..."] if len(shown) > most else [])])


class NotFittedError(ValueError, AttributeError):
    """The tokenizer has no vocabulary yet: it was not fitted, loaded or made from merges.

    Notes
    -----
    A `ValueError` and an `AttributeError`, as in scikit-learn.
    """


class ModelFormatError(ValueError):
    """A model file or table is not valid; the message names the field and what is wrong with it."""


class LocatedError(ValueError):
    """Base of the errors at one position of a document.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    """

    document: int
    position: int

    def at(self: Self, document: int) -> Self:
        """The same error with another index of the document.

        Parameters
        ----------
        document : int
            The index.

        Returns
        -------
        LocatedError
            A new error, of the same class.
        """
        _, arguments, *_ = cast(tuple[Any, ...], self.__reduce__())
        return type(self)(document, *arguments[1:])


class UnknownSymbolError(LocatedError):
    """A document holds a symbol that is not in the alphabet.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    symbol : int or str
        The symbol; of text, a `str` of one character.
    """

    def __init__(self, document: int, position: int, symbol: int | str, hint: str = "") -> None:
        self.document = document
        self.position = position
        self.symbol = symbol
        self.hint = hint
        super().__init__(f"document {document}, position {position}: symbol {quoted(symbol)} is not in the alphabet{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, self.symbol, self.hint), {"args": self.args}


class UnknownTokenError(LocatedError):
    """A sequence to decode holds an id that is not in the vocabulary.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    token : int
        The id.
    """

    def __init__(self, document: int, position: int, token: int, size: int) -> None:
        self.document = document
        self.position = position
        self.token = token
        self.size = size
        super().__init__(f"document {document}, position {position}: token id {token} is outside the vocabulary, 0..{size - 1}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, self.token, self.size), {"args": self.args}


class SpecialTokenError(LocatedError):
    """A document holds a special token that the call does not allow, so that untrusted text cannot contain special tokens.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    token : str, bytes or tuple of int
        The special token, in the form in which it was given.
    """

    def __init__(self, document: int, position: int, token: object) -> None:
        self.document = document
        self.position = position
        self.token = token
        super().__init__(
            f"document {document}, position {position}: {quoted(token)} is a special token; allow it by "
            "allowed_special={...} or 'all', or take it for ordinary symbols by disallowed_special='none'"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, self.token), {"args": self.args}
