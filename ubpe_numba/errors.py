"""The errors of the library, each a subclass of a builtin exception."""

from __future__ import annotations

from typing import Any, TypeVar, cast

__all__ = ["LocatedError", "ModelFormatError", "NotFittedError", "SpecialTokenError", "UnknownSymbolError", "UnknownTokenError"]

Self = TypeVar("Self", bound="LocatedError")


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
        super().__init__(f"document {document}, position {position}: symbol {symbol!r} is not in the alphabet{hint}")

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
            f"document {document}, position {position}: {token!r} is a special token; allow it by allowed_special={{...}} or "
            "'all', or take it for ordinary symbols by disallowed_special='none'"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, self.token), {"args": self.args}
