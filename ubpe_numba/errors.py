"""The errors of the library, each a subclass of the builtin that it specialises."""

from __future__ import annotations

from typing import Any, TypeVar, cast

__all__ = ["LocatedError", "ModelFormatError", "NotFittedError", "SpecialTokenError", "UnknownSymbolError", "UnknownTokenError"]

Self = TypeVar("Self", bound="LocatedError")


class NotFittedError(ValueError, AttributeError):
    """The tokenizer was used before `fit`, `load` or another way of giving it a vocabulary.

    A `ValueError` and an `AttributeError`, as in scikit-learn.
    """


class ModelFormatError(ValueError):
    """A model file or table that is not valid: the message names the field and what is wrong with it."""


class LocatedError(ValueError):
    """Base of the errors below, each of a place in a document: the index of the document, and the position inside it."""

    document: int
    position: int

    def at(self: Self, document: int) -> Self:
        """The same error, in a document of another number."""
        _, arguments, *_ = cast(tuple[Any, ...], self.__reduce__())
        return type(self)(document, *arguments[1:])


class UnknownSymbolError(LocatedError):
    """A document holds a symbol that the alphabet does not.

    Attributes
    ----------
    document, position
        Where: the index of the document, and the position inside it.
    symbol
        What: an `int`, or a one-character `str`.
    """

    def __init__(self, document: int, position: int, symbol: int | str, hint: str = "") -> None:
        self.document = document
        self.position = position
        self.symbol = symbol
        self.hint = hint
        super().__init__(f"document {document}, position {position}: symbol {symbol!r} is not in the alphabet{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, self.symbol, self.hint)


class UnknownTokenError(LocatedError):
    """A sequence to decode holds an id that the vocabulary does not.

    Attributes
    ----------
    document, position
        Where: the index of the document, and the position inside it.
    token
        The id.
    """

    def __init__(self, document: int, position: int, token: int, size: int) -> None:
        self.document = document
        self.position = position
        self.token = token
        self.size = size
        super().__init__(f"document {document}, position {position}: token id {token} is outside the vocabulary, 0..{size - 1}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.document, self.position, self.token, self.size)


class SpecialTokenError(LocatedError):
    """A document holds a special token that is not allowed there, lest text from outside smuggle one in.

    Attributes
    ----------
    document, position
        Where: the index of the document, and the position inside it.
    token
        The special token, of the kind that it was given as.
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
        return type(self), (self.document, self.position, self.token)
