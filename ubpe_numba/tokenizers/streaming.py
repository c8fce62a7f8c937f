"""Encoding and decoding without all documents in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding import streams
from ubpe_numba.coding.decode import ids_to_skip
from ubpe_numba.coding.streams import DecoderStream, EncoderStream, stream_of
from ubpe_numba.tokenizers.decoding import Decoding
from ubpe_numba.tokenizers.encoding import Encoding


class Streaming(Encoding, Decoding):
    """Iterators and streams."""

    def encode_iter(self, docs: Iterable[Any], *, batch: int = streams.BATCH, **options: Any) -> Iterator[NDArray[np.int32]]:
        """Encode the documents of an iterable one after the other, int32 ids each, in bounded memory.

        Documents are read until they have `batch` symbols together, encoded on all threads, and given out in order; what was
        read is forgotten then. The result does not depend on `batch`.

        Parameters
        ----------
        docs
            An iterable of documents.
        batch
            Symbols that are encoded at a time.
        **options
            `unknown`, `allowed_special` and `disallowed_special`, as for `encode`.

        Returns
        -------
        iterator
            Of int32 arrays, one for each document.

        Raises
        ------
        TypeError
            For a single document.
        UnknownSymbolError
            With the number of the document in the whole iterable, once the documents before its batch were given out.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet="ab")
        >>> [ids.tolist() for ids in tok.encode_iter(iter(["ab", "", "bab"]))]
        [[2], [], [1, 2]]
        """
        self._fitted()
        return streams.encode_iter(streams.groups_of(docs, batch, "docs"), self.encode_batch, streams.check_options(options))

    def decode_iter(
        self,
        batches: Iterable[Any],
        *,
        batch: int = streams.BATCH,
        errors: str = "replace",
        skip_special_tokens: bool = False,
        skip: Any = None,
    ) -> Iterator[Any]:
        """Decode the documents of an iterable one after the other, as `decode` does, in bounded memory.

        Parameters
        ----------
        batches
            An iterable of documents of ids.
        batch
            Ids that are decoded at a time, on all threads.
        errors, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        iterator
            Of documents as `decode` gives them.

        Raises
        ------
        UnknownTokenError
            With the number of the document in the whole iterable.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> list(BPE.from_merges([[0, 1]], alphabet="ab").decode_iter(iter([[2], [], [1, 2]])))
        ['ab', '', 'bab']
        """
        self._fitted()
        options = {"errors": errors, "skip_special_tokens": skip_special_tokens, "skip": skip}
        return streams.decode_iter(streams.groups_of(batches, batch, "batches"), self.decode_batch, options)

    def encode_to(self, out: np.ndarray, docs: Iterable[Any], *, batch: int = streams.BATCH, **options: Any) -> NDArray[np.int64]:
        """Encode the documents of an iterable into an array, such as a memory map.

        Parameters
        ----------
        out
            A one-dimensional, writable int32 array of native byte order. Document i becomes ``out[offsets[i]:offsets[i + 1]]``;
            behind the last document `out` is left as it is.
        docs, batch, **options
            As for `encode_iter`.

        Returns
        -------
        offsets
            int64[d + 1] of the documents.

        Raises
        ------
        ValueError
            If `out` is too small, naming the document and the position of its first id without a place, and how many whole
            documents stand before it in `out`; nothing of the one that does not fit is written.
        TypeError
            For another `out`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> out = np.zeros(4, np.int32)
        >>> BPE.from_merges([[0, 1]], alphabet="ab").encode_to(out, ["ab", "", "bab"]), out
        (array([0, 1, 1, 3]), array([2, 1, 2, 0], dtype=int32))
        """
        self._fitted()
        streams.check_buffer(out)
        return streams.encode_to(out, streams.groups_of(docs, batch, "docs"), self.encode_batch, streams.check_options(options))

    def encode_stream(
        self, chunks: Iterable[Any], *, frame: int | None = None, unknown: Any = None
    ) -> Iterator[NDArray[np.int32]]:
        """Encode one text without end that comes in chunks, and give out int32 ids as soon as they are certain.

        `stream` does the same where chunks are pushed.

        Parameters
        ----------
        chunks
            An iterable of parts of the text, each as a document is given to `encode`.
        frame
            None: what comes out is, put together, exactly the encoding of all chunks put together. Otherwise the text is cut
            after every `frame` symbols, wherever chunks end, and each frame is encoded as a document of its own.
        unknown
            As for `encode`.

        Returns
        -------
        iterator
            Of int32 arrays; where chunks end has no influence on the ids.

        Raises
        ------
        ValueError
            Without `frame` where the beginning of an encoding never becomes final; where documents are changed or cut, or have
            special tokens.
        UnknownSymbolError
            With the number of the chunk as its document.

        Notes
        -----
        Without `frame` there has to be a rule by which the beginning of an encoding becomes final. With merges in order of
        creation and encoding by rank, ids are final up to the last boundary that the encodings of all prefixes that end within
        one token's length of the end have in common (proof in ``coding/kernels/incremental.py``); usually that keeps back a few
        tokens. No other encoder has such a rule: `UBPE` searches from the end, and by the articles' batch rule a merge depends on
        what else a pass finds anywhere.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
        >>> np.concatenate(list(tok.encode_stream(["aba", "bab", "a"]))).tolist(), tok.encode("abababa").tolist()
        ([3, 2, 0], [3, 2, 0])
        """
        stream = self.stream(frame=frame, unknown=unknown)
        streams.refuse_one(chunks, "chunks")
        return streams.through(stream, chunks)

    def stream(self, *, frame: int | None = None, unknown: Any = None) -> EncoderStream:
        """Encode one text without end whose chunks are pushed as they come: `encode_stream` for callbacks and loops.

        Parameters
        ----------
        frame, unknown
            As for `encode_stream`.

        Returns
        -------
        stream
            An `EncoderStream`: ``push(chunk)`` and ``finish()`` return the ids that have become certain.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1]], alphabet=3)
        >>> stream = tok.stream()
        >>> stream.push([0, 1, 2, 0]).tolist(), stream.push([1]).tolist(), stream.finish().tolist()
        ([3, 2], [], [3])
        """
        return stream_of(self._plan(), frame, self._unknown(unknown))

    def decode_stream(self, *, errors: str = "replace", skip_special_tokens: bool = False, skip: Any = None) -> DecoderStream:
        """Decode the ids of one document bit by bit, as a model draws them; of UTF-8 only whole characters come out.

        Parameters
        ----------
        errors, skip_special_tokens, skip
            As for `decode`.

        Returns
        -------
        stream
            A `DecoderStream`: ``push(ids)`` and ``finish()`` return what has become certain.

        Raises
        ------
        ValueError
            Where a text is changed back as a whole, as for some tokenizers from elsewhere.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(256, special_tokens=["<end>"]).fit(["lé lé"])
        >>> stream = tok.decode_stream(skip_special_tokens=True)
        >>> [stream.push(i) for i in tok.encode("lé<end>", allowed_special="all")]
        ['l', '', 'é', '']
        """
        segmenter = self._fitted().segmenter
        if segmenter.restores or (segmenter.decoding is not None and segmenter.decoding.n):
            raise ValueError("decode_stream: a text of this tokenizer is changed back as a whole: use decode")
        gone = ids_to_skip(skip, skip_special_tokens, segmenter.special)
        return DecoderStream(self._fitted(), self._tables.decoder, gone, errors)
