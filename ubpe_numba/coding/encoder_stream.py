"""One text without end, whose chunks are pushed as they come."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.certain_ids import CertainIds, Encode, FramedIds
from ubpe_numba.coding.coder import Coder
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.documents.read import Documents, as_document, utf8_document
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.vocabulary.unknown_choice import Stand, UnknownChoice

__all__ = ["EncoderStream"]


class EncoderStream:
    """Encodes one text that comes in chunks; made by `Tokenizer.stream`.

    Put together, what `push` and `finish` return is what `Tokenizer.encode_stream` gives, wherever chunks end. As a context
    manager it calls `finish` at the end of the block; `rest` has the ids then.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
    >>> with tok.stream() as stream:
    ...     parts = [stream.push(chunk).tolist() for chunk in ["aba", "bab", "a"]]
    >>> parts, stream.rest.tolist(), tok.encode("abababa").tolist()
    ([[], [], []], [3, 2, 0], [3, 2, 0])
    """

    def __init__(self, coder: Coder, ids: CertainIds | FramedIds, unknown: UnknownChoice) -> None:
        self._model, self._ids, self._unknown = coder.model, ids, unknown
        self._n_chunks = 0
        #: What `finish` returned; None before.
        self.rest: NDArray[np.int32] | None = None

    def push(self, chunk: Any) -> NDArray[np.int32]:
        """Take the next part of the text.

        Parameters
        ----------
        chunk
            A part of the text, as a document is given to `Tokenizer.encode`.

        Returns
        -------
        ids
            int32[n]: the ids that are certain now, and were not before; often none.

        Raises
        ------
        UnknownSymbolError
            With the number of the chunk as its document. After this and other errors the stream is as it was before.
        TypeError
            For a chunk of another kind than was fitted.
        ValueError
            After `finish`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.from_merges([[0, 1]], alphabet="ab").stream(frame=2)
        >>> stream.push("aba").tolist(), stream.push("b").tolist()
        ([2], [2])
        """
        if self.rest is not None:
            raise ValueError("chunk: the stream is finished; make a new one")
        assert not isinstance(self._unknown, Stand)  # there are no special tokens
        name = f"chunks: chunk {self._n_chunks}"
        given: Documents = (as_document if self._model.segmenter.encoding is None else utf8_document)(chunk, name=name)
        try:
            ids = self._model.alphabet.to_ids(given, self._unknown, name=name)
        except LocatedError as error:
            raise error.at(self._n_chunks) from None
        found = self._ids.push(ids.values)
        self._n_chunks += 1
        return found

    def finish(self) -> NDArray[np.int32]:
        """End the text.

        Returns
        -------
        ids
            int32[n]: those that were kept back. A second call returns the same.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.from_merges([[0, 1]], alphabet="ab").stream()
        >>> stream.push("ab").tolist(), stream.finish().tolist()
        ([], [2])
        """
        if self.rest is None:
            self.rest = self._ids.finish()
        return self.rest

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Finish, unless the block was left by an error."""
        if kind is None:
            self.finish()


def stream_of(coder: Coder, encode: Encode, final: PairEncoder | None, frame: Any, unknown: UnknownChoice) -> EncoderStream:
    """A stream of whole encodings, for which there has to be a `final` encoder, or of frames.

    TypeError or ValueError for a `frame` that is no positive integer, and where the beginning of an encoding is never final.
    """
    if frame is not None:
        if isinstance(frame, bool) or not isinstance(frame, (int, np.integer)):
            raise TypeError(f"frame: expected an int or None, got {quoted(frame)}")
        if frame < 1:
            raise ValueError(f"frame: expected at least 1, got {frame}")
    elif final is None:
        raise ValueError(
            "frame: expected a number of symbols, got None: only encoding by rank, with merges in order of creation, "
            "makes the beginning of a text final before its end is known"
        )
    if not coder.is_plain:
        raise ValueError("encode_stream: text that is changed or cut, or has special tokens, needs documents: use encode_iter")
    if frame is not None:
        return EncoderStream(coder, FramedIds(int(frame), encode), unknown)
    assert final is not None  # else refused above
    return EncoderStream(coder, CertainIds(final, encode), unknown)
