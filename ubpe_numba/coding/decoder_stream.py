"""Ids that come bit by bit, as a model draws them, become symbols as soon as these are certain."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np

from ubpe_numba.coding.decode import Decoder
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import Documents, as_document
from ubpe_numba.vocabulary.model import Model

__all__ = ["DecoderStream"]


class DecoderStream:
    """Decodes the ids of one document in parts; made by `Tokenizer.decode_stream`.

    Put together, what `push` and `finish` return is what `decode` gives for all ids, wherever parts end. Of UTF-8 only whole
    characters come out: the bytes of one that is not complete wait for the next part.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.for_text(256, pretokenizer=None).fit([""])
    >>> with tok.decode_stream() as stream:
    ...     parts = [stream.push([i]) for i in "né!".encode()]
    >>> parts, stream.rest
    (['n', '', 'é', '!'], '')
    """

    def __init__(self, model: Model, decoder: Decoder, read: Callable[[Documents], Ragged], errors: str) -> None:
        self._model, self._decoder, self._read = model, decoder, read
        self._characters = None
        if model.segmenter.encoding is not None:
            self._characters = codecs.getincrementaldecoder("utf-8")(errors)
        self._finished = False
        #: What `finish` returned; None before.
        self.rest: Any = None

    def push(self, ids: Any) -> Any:
        """Decode some more ids.

        Parameters
        ----------
        ids
            Ids as for `Tokenizer.decode`, or one id, also as a tensor without dimensions.

        Returns
        -------
        doc
            What they stand for: `str`, `bytes` or an integer array; it may be empty.

        Raises
        ------
        UnknownTokenError, TypeError, UnicodeDecodeError
            As `Tokenizer.decode`, the position in this part.
        ValueError
            After `finish`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_stream().push([2, 0])
        'aba'
        """
        if self._finished:
            raise ValueError("ids: the stream is finished; make a new one")
        if isinstance(ids, (int, np.integer)) and not isinstance(ids, bool):
            ids = [ids]
        elif getattr(ids, "ndim", None) == 0:  # one that a model drew
            ids = ids.reshape(1)
        checked = self._read(as_document(ids, name="ids"))
        symbols = self._decoder.decode(checked, 1)[0]
        if self._characters is None:
            return self._model.alphabet.output(symbols)
        return self._characters.decode(symbols.astype(np.uint8, copy=False).tobytes())

    def finish(self) -> Any:
        r"""End the document.

        Returns
        -------
        doc
            What was kept back: of UTF-8 that ends within a character what `errors` makes of it, otherwise nothing.

        Raises
        ------
        UnicodeDecodeError
            As `Tokenizer.decode`, by ``errors="strict"``.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.for_text(256, pretokenizer=None).fit([""]).decode_stream()
        >>> stream.push("é".encode()[:1]), stream.finish()
        ('', '\ufffd')
        """
        if not self._finished:
            none = self._model.alphabet.output(np.zeros(0, self._decoder.dtype))
            self.rest = none if self._characters is None else self._characters.decode(b"", True)
            self._finished = True
        return self.rest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Finish, unless the block was left by an error."""
        if kind is None:
            self.finish()
