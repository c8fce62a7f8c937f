"""The errors of the library, each a subclass of a builtin exception."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import TypeVar

__all__ = [
    "LocatedError",
    "ModelFormatError",
    "NotFittedError",
    "SpecialTokenError",
    "UnknownSymbolError",
    "UnknownTokenError",
]

Self = TypeVar("Self", bound="LocatedError")

_REPR = reprlib.Repr()
_REPR.maxstring, _REPR.maxother, _REPR.maxlong = 80, 1 << 16, 80
_REPR.maxlevel, _REPR.maxtuple, _REPR.maxlist, _REPR.maxdict, _REPR.maxset = 4, 20, 20, 20, 20


def quoted(value: object, most: int = 80) -> str:
    """The `repr` of a value from a file or a user for a message, truncated to `most` characters.

    Every message quotes values by this function, so that none is longer than a screen, whatever a file holds.

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
    """A text, or another library's error message, truncated to `most` characters, with dots.

    >>> shortened("abcdef", 5), shortened("abcde", 5)
    ('ab...', 'abcde')
    """
    text = str(message)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def listed(values: Iterable[object], most: int = 6) -> str:
    """Names from a file or a user for a message: the first of them, each quoted, and dots if there are more.

    >>> listed(["a", "b"]), listed(range(9), 3), listed([])
    ("'a', 'b'", '0, 1, 2, ...', '')
    """
    shown = [quoted(value, 40) for _, value in zip(range(most + 1), values, strict=False)]
    return ", ".join([*shown[:most], *(["..."] if len(shown) > most else [])])


class NotFittedError(ValueError, AttributeError):
    """The tokenizer does not have a vocabulary yet: it was not fitted, loaded or made from merges.

    Notes
    -----
    A `ValueError` and an `AttributeError`, as in scikit-learn.
    """


class ModelFormatError(ValueError):
    """A model file or table is not valid; the message names the field and the fault."""


class LocatedError(ValueError):
    """Base of the errors at one position of a document.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    """

    def __init__(self, document: int, position: int, message: str, *rest: object) -> None:
        """An error at a place; `rest` are further arguments of the subclass, for `at` and pickle."""
        self.document, self.position, self._rest = document, position, rest
        super().__init__(f"document {document}, position {position}: {message}")

    def at(self: Self, document: int) -> Self:
        """Make the error of the same class at the same position of another document.

        Parameters
        ----------
        document : int
            The index of the document.

        Returns
        -------
        LocatedError
            A new error.
        """
        return type(self)(document, self.position, *self._rest)  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, *self._rest), {"args": self.args}


class UnknownSymbolError(LocatedError):
    """A document holds a symbol that is not in the alphabet.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    symbol : int or str
        The symbol; for text, a character.
    """

    def __init__(self, document: int, position: int, symbol: int | str, hint: str = "") -> None:
        self.symbol, self.hint = symbol, hint
        super().__init__(
            document, position, f"symbol {quoted(symbol)} is not in the alphabet{hint}", symbol, hint
        )


class UnknownTokenError(LocatedError):
    """A sequence to decode holds an id that is not in the vocabulary.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    token : int
        The id.
    """

    def __init__(self, document: int, position: int, token: int, size: int, name: str = "") -> None:
        self.token, self.size, self.name = token, size, name
        way = f"decode(..., skip={token}) leaves it out" + (", such as padding" if token < 0 else "")
        message = f"token id {token} is outside the vocabulary, 0..{size - 1}; {way}"
        if name:
            message = f"token id {token} is {quoted(name)}, without symbols. Use skip_special_tokens=True."
        super().__init__(document, position, message, token, size, name)


class SpecialTokenError(LocatedError):
    """A document holds a special token that the call does not allow.

    So untrusted text cannot contain special tokens.

    Attributes
    ----------
    document, position : int
        The index of the document, and the position inside it.
    token : str, bytes or tuple of int
        The special token, as in the constructor.
    """

    def __init__(self, document: int, position: int, token: object) -> None:
        self.token = token
        allow = (
            "allow it with allowed_special={...} or 'all', or read it as text with disallowed_special='none'"
        )
        super().__init__(document, position, f"{quoted(token)} is a special token; {allow}", token)
