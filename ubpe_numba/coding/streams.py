"""Iterators of documents in bounded memory, and one document without end that comes in parts.

An iterator is read in groups of documents, and each group is encoded or decoded as a batch. The parts of a
text are pushed into an `EncoderStream`: tokens are emitted once no further input can change them, or per
fixed-size frame. Ids that a model draws are pushed into a `DecoderStream`, which gives whole characters.

Named patterns split a text from left to right, and ignore text before a segment: the rest after a split is
split like a document. Text added later may change the last two segments, however long they are. To find which
splits are certain, the end of the text is split with each of `_AHEAD` after it. Splits that all have in
common hold for any continuation::

    text       "it's ok  "      it | 's | _ok | __                 gpt2; _ is a space
    + "s"      "it's ok  s"     it | 's | _ok | _ | _s             certain: it | 's | _ok |
    + "1"      "it's ok  1"     it | 's | _ok | _ | _1
    + " "      "it's ok   "     it | 's | _ok | ___
"""

from __future__ import annotations

import codecs
import copy
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.decode import Decoder
from ubpe_numba.coding.kernels import incremental
from ubpe_numba.coding.pair_encoder import PairEncoder
from ubpe_numba.coding.plan import NOT_IN_FRAMES, Plan
from ubpe_numba.documents.ragged import Ragged, trusted
from ubpe_numba.documents.read import Documents, as_document, code_points, read_document, text_of
from ubpe_numba.errors import LocatedError, quoted
from ubpe_numba.runtime.arrays import describe, offsets_of, positive
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import UnknownChoice

if TYPE_CHECKING:
    from ubpe_numba.vocabulary.reserved import SpecialChoice


_NONE = np.zeros(0, np.int32)
_TRIES = 1 << 20  # of tokens, in a slice of a push: ~50 ms
# symbols: of text of which more waits, certain cuts are looked for only when there is twice as much
_LONG = 1 << 10
_UNSURE = 8  # segments at the end of a text, more than the two that may change
# a character that is not complete
_PARTIAL = re.compile(rb"(?:[\xc0-\xff]|[\xe0-\xff][\x80-\xbf]|[\xf0-\xff][\x80-\xbf]{2})\Z")
# In every text of four characters from the classes of the patterns, a split by these continuations alone is
# certain, with any three characters after it. The classes are: a capital, the last letters of 's 're 'll, a
# letter without case and CJK, a digit, white space, a newline, punctuation
_AHEAD = [sign.encode() for sign in "As1' el\n\u4e2d\u30fb"]
_STARTS = offsets_of(np.array([*map(len, _AHEAD)]))
Groups = Iterator[tuple[int, list[Any]]]


def groups_of(docs: Iterable[Any], batch: Any, name: str) -> Iterator[tuple[int, list[Any]]]:
    """Lists of documents of about `batch` symbols together, each with the number of its first one.

    TypeError or ValueError for a single document, or a `batch` other than a positive integer: at once, not
    with the first group.
    """
    size = positive(batch, "batch")
    refuse_one(docs, name)
    return _groups(iter(docs), size, name)


def _groups(docs: Iterator[Any], batch: int, name: str) -> Iterator[tuple[int, list[Any]]]:
    group: list[Any] = []
    first, size = 0, 0
    for i, doc in enumerate(docs):
        if not hasattr(doc, "__len__"):
            doc = as_document(doc, name=f"{name}: document {i}").values
        group.append(doc)
        size += len(doc)
        if size >= batch or len(group) >= batch:
            yield first, group
            group, first, size = [], i + 1, 0
    if group:
        yield first, group


def _through(
    groups: Groups, batch_of: Callable[..., Any], options: dict[str, Any]
) -> Iterator[tuple[int, Any]]:
    """Each group through `batch_of(group, **options)`.

    Errors give the document's number in the whole iterable.
    """
    for first, group in groups:
        try:
            part = batch_of(group, **options)
        except LocatedError as error:
            raise error.at(first + error.document) from None
        yield first, part


def through_iter(groups: Groups, batch_of: Callable[..., Any], options: dict[str, Any]) -> Iterator[Any]:
    """The ids, or the symbols, of each document in turn; arrays are copies that keep no group alive."""
    for _, part in _through(groups, batch_of, options):
        yield from (doc.copy() if isinstance(doc, np.ndarray) else doc for doc in part)


def encode_to(
    out: np.ndarray, groups: Groups, encode_batch: Callable[..., Ragged], options: dict[str, Any]
) -> np.ndarray:
    """Write the ids of all documents into `out`; returns int64 offsets of the documents.

    TypeError or ValueError unless `out` is a 1-D int32 array that can be written to and is long enough.
    """
    if not isinstance(out, np.ndarray) or out.dtype != np.int32:
        raise TypeError(f"out: expected an int32 array, got {describe(out)}")
    if out.ndim != 1 or not out.flags.writeable:
        raise ValueError(f"out: expected a 1-D array that can be written to, got {describe(out)}")
    sizes: list[np.ndarray] = []
    end = 0
    for first, part in _through(groups, encode_batch, options):
        room = out.size - end
        fits = int(np.searchsorted(part._offsets, room, side="right")) - 1
        whole = int(part._offsets[fits])
        out[end : end + whole] = part.values[:whole]
        if fits < len(part):
            raise ValueError(
                f"out: {out.size} ids are too few: document {first + fits}, of {part[fits].size} ids, has "
                f"no place from position {room - whole} on; the {first + fits} documents before it are "
                f"whole, in out[:{end + whole}]"
            )
        end += whole
        sizes.append(part.lengths)
    return offsets_of(np.concatenate([np.zeros(0, np.int64), *sizes]))


def check_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a stream.

    Those that depend on the number of a document, or give more than ids, are a TypeError.
    """
    if wrong := set(options) - {"unknown", "allowed_special", "disallowed_special"}:
        raise TypeError(
            f"unexpected argument {quoted(sorted(wrong)[0])}: expected batch, unknown, allowed_special or "
            "disallowed_special"
        )
    return options


def refuse_one(docs: Any, name: str) -> None:
    """TypeError for a single document, or an object that cannot be iterated."""
    one = isinstance(docs, (str, bytes, bytearray, memoryview)) or (
        isinstance(docs, np.ndarray) and docs.ndim < 2
    )
    if one or isinstance(docs, (Mapping, Set)) or not isinstance(docs, Iterable):
        raise TypeError(
            f"{name}: expected an iterable of several, got {describe(docs)}. Wrap a single one: [{name}]."
        )


def final_ids(encoder: PairEncoder, text: np.ndarray, ids: np.ndarray, before: int) -> int:
    """How many of the `ids` of `text` are final.

    `before` is the final token that ends at its start, -1 for none.

    Each token that ends at one of the last 4 L symbols is tried; L is the length of the longest token. If no
    boundary of `ids` there is common to all encodings of prefixes, four times as many symbols are used.
    Ctrl-C works between slices of `_TRIES`.
    """
    edges, states, longest = encoder.endings
    n = text.size
    if n <= longest:
        return 0
    reach = 4 * longest
    while True:
        near = ids[-reach - 1 :]
        skipped = ids.size - near.size
        starts = n - np.cumsum(encoder.lengths[near[::-1]])[::-1]
        # if the encodings of all these prefixes go through the start of this token, none of the text before
        # it matters
        i = max(0, int(np.searchsorted(starts, n - reach, side="right")) - 1)
        start = int(starts[i])
        last, place = np.empty(n - start + 1, np.int32), np.array([0, -1])
        previous = int(ids[skipped + i - 1]) if skipped + i else before
        while place[0] < n - start:
            incremental.last_tokens(
                text[start:], previous, encoder.tables, edges, states, _TRIES, place, last
            )
        first = n - longest + 1 - start
        end = int(incremental.common_ancestor(last, encoder.lengths, first, np.zeros(last.size, np.uint8)))
        if end >= 0:
            return skipped + int(np.searchsorted(starts, start + end))
        assert skipped + i, "where the text before is final, every prefix goes through it"
        reach *= 4


class EncoderStream(AbstractContextManager["EncoderStream"]):
    """Encodes one text that comes in chunks; made by `Tokenizer.stream`.

    Tokens are emitted once no further input can change them, or with a frame per so many symbols, each frame
    as a document. Put together, what `push` and `finish` return is what `over` gives for all chunks, wherever
    these end. As a context manager it calls `finish` at the end of the block; `rest` has the ids then.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
    >>> with tok.stream() as stream:
    ...     parts = [stream.push(chunk).tolist() for chunk in ["aba", "bab", "a"]]
    >>> parts, stream.rest.tolist(), tok.encode("abababa").tolist()
    ([[], [], []], [3, 2, 0], [3, 2, 0])
    """

    def __init__(
        self,
        plan: Plan,
        frame: int | None,
        unknown: UnknownChoice,
        encode: Any = None,
        special: SpecialChoice = ("none", "all"),
    ) -> None:
        """Encode alphabet ids by the plan, or text, with `special` tokens, by `encode`.

        `encode` is a function of a document that splits text.
        """
        self._model, self._encode, self._unknown, self._encoder = (
            plan.model,
            encode or plan.encode,
            unknown,
            plan.final,
        )
        self._frame, self._wanted = frame, frame or 0  # symbols that are waited for before any are encoded
        self._frames = plan.tables.frames  # what waits begins with one
        if self._frames is not None and unknown == "skip":
            raise ValueError(f"unknown: {NOT_IN_FRAMES}, got {quoted(unknown)}")
        # chunks, and the special tokens that are looked for, ascending
        self._waiting, self._words = list[Any](), list[Any]()
        self._n_waiting, self._n_done, self._before, self._n_chunks = 0, 0, -1, 0
        self._half = ""  # a first surrogate at the end of a chunk
        # text that is split is held as `str` or `bytes`, like this; None for alphabet ids
        self._empty: Any = None if encode is None else "" if plan.model.alphabet.kind == "str" else b""
        reserved = plan.model.segmenter.special
        if encode is not None and reserved is not None:
            self._active, _ = reserved.active(special)
            words = [word for word, active in zip(reserved.words, self._active, strict=True) if active]
            coded = [
                word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word for word in words
            ]
            self._words += sorted(words if isinstance(self._empty, str) else coded)
        #: What `finish` returned; None before.
        self.rest: NDArray[np.int32] | None = None

    def push(self, chunk: Any) -> NDArray[np.int32]:
        """Take the next part of the text.

        Parameters
        ----------
        chunk
            A part of the text, as a document is given to `Tokenizer.encode`; bytes may end within a
            character. Errors give its number as the document's number; for text that is split, the position
            in the whole text, as one document. An error leaves the stream unchanged. ValueError after
            `finish`.

        Returns
        -------
        ids
            int32[n]: the ids that are certain now, and were not before; often none.

        Notes
        -----
        At worst a push tries one token of every length at each waiting symbol, about ten million per second.
        Usually it tries one token per symbol, at as many symbols as four of the longest tokens have. Text
        with a pattern is split from the last certain split on, and its end, 4 KB at most, ten times more. If
        more than 1,024 symbols wait, as in a word without an end, this happens only when their number has
        doubled. Ctrl-C works meanwhile, and leaves the stream unchanged.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.from_merges([[0, 1]], alphabet="ab").stream(frame=2)
        >>> stream.push("aba").tolist(), stream.push("b").tolist()
        ([2], [2])
        """
        if self.rest is not None:
            raise ValueError("chunk: the stream is finished; make a new one")
        half = ""
        if isinstance(chunk, str) and "\ud800" <= (chunk := self._half + chunk)[-1:] < "\udc00":
            chunk, half = chunk[:-1], chunk[-1]  # the next one may begin with the rest of the pair
        text = self._read(chunk, f"chunks: chunk {self._n_chunks}")
        if self._n_waiting + len(text) < self._wanted:
            self._waiting.append(copy.copy(text))  # the caller may use the memory again
            self._n_waiting, self._half = self._n_waiting + len(text), half
            self._n_chunks += 1
            return _NONE
        rest, before, wanted = self._joined(text), self._before, self._frame or 0
        if self._empty is not None:
            # the end of the encoded text decides how the text before it is split
            done, end = self._certain(rest)
            ids = self._ids(rest[:end]) if done else _NONE
            ids = ids[: ids.size - self._ids(rest[done:end]).size] if done < end else ids
            wanted = 2 * (len(rest) - done) if len(rest) - done > _LONG else 0
        elif self._frame is not None:
            done = rest.size // self._frame * self._frame
            ids = self._ids(rest[:done], np.arange(0, done + 1, self._frame))
        else:
            assert self._encoder is not None  # `stream_of` has checked that
            frames, whole, symbols = self._frames, np.array([0, rest.size]), rest
            if frames is None:
                ids = self._ids(rest)
            else:
                symbols = frames.marked(trusted(rest, whole)).values
                ids = self._encoder.encode(trusted(symbols, whole), None).values
            n = final_ids(self._encoder, symbols, ids, before)
            if frames is not None:
                n = int(
                    np.flatnonzero(
                        np.append(0, np.cumsum(self._encoder.lengths[ids[:n]])) % frames.size == 0
                    )[-1]
                )
            done = rest.size - int(self._encoder.lengths[ids[n:]].sum())
            before = int(ids[n - 1]) if n else before
            ids = ids[:n].copy() if frames is None else frames.of[ids[:n]]
            # so that symbols that are encoded again add up to a constant factor
            wanted = 2 * (rest.size - done)
        # at the end: after an error the text is as it was before
        self._waiting, self._n_waiting, self._half = [rest[done:]], len(rest) - done, half
        self._before, self._wanted = before, wanted
        self._n_done += done
        self._n_chunks += 1
        return ids

    def _read(self, chunk: Any, name: str = "chunk") -> Any:
        """A chunk as it is stored: text for a pattern as `str` or `bytes`, else alphabet ids, int32[n]."""
        alphabet = self._model.alphabet
        document = read_document(chunk, self._model.segmenter.encoding, alphabet.names is not None, name)
        if self._empty is None:
            assert not isinstance(self._unknown, tuple)  # no special tokens exist
            try:
                return alphabet.to_ids(document, self._unknown, name=name).values
            except LocatedError as error:
                raise error.at(self._n_chunks) from None
        alphabet.check_kind(document, name=name)
        if document.kind == "int" and document.values.size:
            raise TypeError(
                f"{name}: a pretokenizer cuts text: expected str or bytes, got integers; ids are for decode"
            )
        return text_of(document.values) if isinstance(self._empty, str) else document.values.tobytes()

    def _joined(self, *more: Any) -> Any:
        """All that waits, and more."""
        parts = [*self._waiting, *more]
        return np.concatenate([_NONE, *parts]) if self._empty is None else self._empty.join(parts)

    def _ids(self, text: Any, cuts: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        """The ids of the text after the finished part, as one document, or as those between `cuts`."""
        if self._empty is None:
            ids: Ragged = self._encode(trusted(text, np.array([0, text.size]) if cuts is None else cuts))
            return ids.values
        try:
            result: Any = self._encode(text)
        except LocatedError as error:
            error.position += self._n_done
            raise error.at(0) from None
        return result  # type: ignore[no-any-return]

    def _certain(self, text: Any) -> tuple[int, int]:
        """The last certain split of a text (0 if none is known), and the end of the known text.

        A split is certain if it holds whatever follows.

        The known text ends before any incomplete special token or character. In it, the text is certainly
        split after the last special token, and at splits that the pattern makes with each of `_AHEAD`.
        O(symbols).
        """
        begin, end, is_bytes = 0, len(text), isinstance(text, bytes)
        segmenter: Any = self._model.segmenter
        if is_bytes and (partial := _PARTIAL.search(text, max(0, end - 3))):
            end = partial.start()
        if self._words:
            values, reserved = (
                np.frombuffer(text, np.uint8) if is_bytes else code_points(text),
                segmenter.special,
            )
            at, words = reserved.find(
                Documents(values, np.array([0, len(text)]), reserved.kind), self._active
            )
            ends = at + reserved.lengths[words]
            for i in range(max(0, len(text) - int(reserved.lengths.max()) + 1), end):
                longer = self._words[(n := bisect_right(self._words, text[i:])) : n + 1]
                if longer and longer[0].startswith(text[i:]) and not ((at < i) & (i < ends)).any():
                    end = i
                    break
            begin = int(ends[at < end].max(initial=0))
        if begin >= end:
            return begin, begin
        data = text[begin:end] if is_bytes else text[begin:end].encode("utf-8", "surrogatepass")
        split = segmenter.pretokenizer.split
        near = split(np.frombuffer(data, np.uint8), np.array([0, len(data)]))[-_UNSURE - 1 :]
        tail = data[near[0] :]
        if len(tail) <= 4 * _LONG:
            starts = _STARTS + len(tail) * np.arange(_STARTS.size)
            # of tail + ahead, for each
            cuts = split(np.frombuffer(tail.join([b"", *_AHEAD]), np.uint8), starts)
            wanted = starts[:-1, None] + (near - near[0])
            near = near[(cuts[np.searchsorted(cuts, wanted)] == wanted).all(axis=0)]
        else:
            near = near[:1]
        return begin + (
            int(near[-1]) if is_bytes else len(data[: near[-1]].decode("utf-8", "surrogatepass"))
        ), end

    @property
    def pending(self) -> NDArray[np.int32]:
        """The ids of the waiting symbols, int32[n], if the text ended here.

        They are provisional and follow the ids returned so far.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.for_text(260).fit(["low low lowest"])
        >>> stream = tok.stream()
        >>> stream.push("low lo").tolist(), tok.decode(stream.pending)  # a prompt that ends within a word
        ([257], ' lo')
        """
        return self._ids(self._joined(*map(self._read, filter(None, [self._half]))))

    def copy(self) -> Self:
        """Fork the stream: the copy continues separately from here, and shares all unchanging parts.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.from_merges([[0, 1]], alphabet="ab").stream()
        >>> _ = stream.push("a")
        >>> other = stream.copy()
        >>> [(one.push(more).tolist(), one.finish().tolist()) for one, more in ((stream, "b"), (other, "a"))]
        [([], [2]), ([], [0, 0])]
        """
        other = copy.copy(self)
        other._waiting = [*self._waiting]
        return other

    def finish(self) -> NDArray[np.int32]:
        """End the text.

        Returns
        -------
        ids
            int32[n]: those that were kept back, also as `rest`. A second call gives none.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.from_merges([[0, 1]], alphabet="ab").stream()
        >>> stream.push("ab").tolist(), stream.finish().tolist()
        ([], [2])
        """
        if self.rest is not None:
            return _NONE
        self.rest, self._waiting = self.pending, []
        return self.rest

    def over(self, chunks: Iterable[Any]) -> Iterator[NDArray[np.int32]]:
        """Push the chunks of an iterable, and finish.

        Parameters
        ----------
        chunks
            Parts of the text, each as a document is given to `encode`. TypeError for one document.

        Returns
        -------
        iterator
            Of int32 arrays, where ids have become certain. Errors are as for `push`.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> tok = BPE.from_merges([[0, 1], [2, 2]], alphabet="ab")
        >>> np.concatenate(list(tok.stream().over(["aba", "bab", "a"]))).tolist(), tok.encode("abababa").tolist()
        ([3, 2, 0], [3, 2, 0])
        """
        refuse_one(chunks, "chunks")
        return (
            ids
            for part in (map(self.push, chunks), (self.finish() for _ in range(1)))
            for ids in part
            if ids.size
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish, unless the block was left by an error."""
        if kind is None:
            self.finish()


def stream_of(
    plan: Plan, frame: Any, unknown: UnknownChoice, encode: Any, special: SpecialChoice
) -> EncoderStream:
    """A stream of whole encodings, of frames, or of text that a pattern splits.

    For whole encodings the plan must have a `final` encoder.

    `encode` is a function of a document, with its options; arguments as for `EncoderStream`. TypeError or
    ValueError for a `frame` other than a positive integer, and if the beginning of an encoding is never
    certain.
    """
    size = None if frame is None else positive(frame, "frame", "an int or None")
    if (of := plan.model.segmenter.frame) and size is not None and size % of:
        raise ValueError(f"frame: expected a multiple of {of}, the frame of the tokenizer, got {frame}")
    if plan.tables.is_plain and not isinstance(unknown, tuple):
        if size is None and plan.tables.mirror is not None:
            raise ValueError(
                "frame: expected a number of symbols, got None. A tokenizer with a mirror needs it."
            )
        if size is None and plan.final is None:
            raise ValueError(
                "frame: expected a number of symbols, got None: only encoding by rank, with merges in order "
                "of creation, makes the beginning of a text final before its end is known"
            )
        return EncoderStream(plan, size, unknown)
    segmenter = plan.model.segmenter
    cutter: Any = segmenter.pretokenizer
    for is_there, what in (
        (segmenter.normalizer is not None, "a normalizer"),
        (cutter is None, "special tokens, or ids of its own, but no pattern"),
        (cutter is not None and cutter.name is None, f"{quoted(cutter)}"),
        (segmenter.lone is not None, "break or stop tokens"),
        (
            segmenter.special is not None and segmenter.special.has_flags,
            "special tokens that take in what is beside them",
        ),
        (segmenter.unknown is not None or plan.encoder_for is None, "ids for what is unknown"),
    ):
        if is_there:
            from ubpe_numba.text.patterns import NAMED  # here only: integers need not wait for it

            raise ValueError(
                f"stream: a tokenizer with {what} may look at any text that follows: expected one whose "
                f"text is only cut, by a named pattern ({', '.join(NAMED)}); encode_iter takes documents, "
                "such as lines"
            )
    if size is not None:
        raise ValueError(
            "frame: expected None where a pattern cuts text: what is before its last cuts is certain"
        )
    return EncoderStream(plan, None, unknown, encode, special)


def part_of(decoder: Decoder, i: int) -> Any:
    """The text that an id adds after other text: bytes of UTF-8, or `str`.

    In `str`, a surrogate represents a part of a character.

    None for integers and for an id without a token. UnicodeDecodeError for several bytes that do not decode
    to text.
    """
    if (
        not 0 <= i < decoder.sizes.size
        or decoder.dtype.kind == "i"
        or (decoder.gaps is not None and decoder.gaps[i])
    ):
        return None
    data = decoder.arena[decoder.starts[i] : decoder.starts[i + 1]]
    if decoder.dtype == np.uint32:
        text = text_of(data.view(np.uint32))
    elif decoder.segmenter.restores or decoder.segmenter.has_bytes:
        text = data.tobytes().decode("utf-8", "surrogateescape" if data.size == 1 else "strict")
    else:
        return data.tobytes()
    return decoder.segmenter.restored(f"x{text}", "surrogateescape")[1:]


class DecoderStream(AbstractContextManager["DecoderStream"]):
    """Decodes the ids of a document in parts; made by `Tokenizer.decode_stream`.

    Put together, what `push` and `finish` return is what `decode` gives for all ids, wherever parts end.
    UTF-8 is returned in complete characters: the bytes of an incomplete character wait for the next part.

    Examples
    --------
    >>> from ubpe_numba import BPE
    >>> tok = BPE.for_text(256, pretokenizer=None).fit([""])
    >>> with tok.decode_stream() as stream:
    ...     parts = [stream.push([i]) for i in "né!".encode()]
    >>> parts, stream.rest
    (['n', '', 'é', '!'], '')
    """

    def __init__(
        self, model: Model, decoder: Any, gone: np.ndarray | None, errors: str,
        parts: dict[int, Any], find: Callable[[int], Any], whole: Callable[..., Any] | None = None,
        held: Set[int] | None = None,
    ) -> None:  # fmt: skip
        """Decode by `whole`, a function of all ids of a document, or id by id if it is None.

        `whole` is used at the end or, with `held`, as soon as its text is certain.

        `held` are the ids of bytes, which may form a character with later ids. `parts`, of all streams,
        caches the text that an id adds after other text, as `part_of` defines it. `find` computes it once.
        """
        self._model, self._decoder, self._gone = model, decoder, gone
        self._whole, self._held, self._context, self._pending = whole, held, list[int](), list[int]()
        self._parts, self._find, self._n_shown = parts, find, 0
        self._left = frozenset(() if gone is None else gone.tolist())
        self._none, self._characters = (
            "" if whole else decoder.alphabet.output(np.zeros(0, decoder.dtype)),
            None,
        )
        if whole is None and model.segmenter.encoding is not None:
            self._none, self._characters = "", codecs.getincrementaldecoder("utf-8")(errors)
        self._finished = False
        #: What `finish` returned; None before.
        self.rest: Any = None

    def push(self, ids: Any) -> Any:
        """Decode some more ids.

        Parameters
        ----------
        ids
            Ids as for `Tokenizer.decode`, or one id, also as a tensor without dimensions. Errors are the
            same, with the position in this part. ValueError after `finish`.

        Returns
        -------
        doc
            Their symbols: `str`, `bytes` or an integer array; it may be empty.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> BPE.from_merges([[0, 1]], alphabet="ab").decode_stream().push([2, 0])
        'aba'
        """
        if self._finished:
            raise ValueError("ids: the stream is finished; make a new one")
        if isinstance(ids, (int, np.integer)) and not isinstance(ids, bool):
            ids = [int(ids)]
        elif getattr(ids, "ndim", None) == 0:  # one that a model drew
            ids = ids.reshape(1)
        if (
            type(ids) is list
            and len(ids) == 1
            and type(ids[0]) is int
            and (part := self._next(ids[0])) is not None
        ):
            return part
        checked = self._decoder.ids(as_document(ids, name="ids"), self._gone, known=self._whole is not None)
        if self._whole is not None:
            self._pending += checked.values[checked.offsets[0] : checked.offsets[-1]].tolist()
            n = 0 if self._held is None else len(self._pending)
            while n and self._held and self._pending[n - 1] in self._held:
                n -= 1
            return self._certain(self._whole, n)
        symbols = self._decoder.decode(checked, 1)[0]
        if self._characters is None:
            return self._decoder.alphabet.output(symbols)
        return self._characters.decode(symbols.astype(np.uint8, copy=False).tobytes())

    def _next(self, i: int) -> Any:
        """The text of a further id, in the time of a look-up.

        None if the id is unused, or `push` has to consider other ids.
        """
        if i in self._left:
            return self._none
        try:
            if (part := self._parts.get(i)) is None and (part := self._find(i)) is not None:
                self._parts[i] = part
            if part is None or self._whole is None:
                return part if part is None or self._characters is None else self._characters.decode(part)
        except (KeyError, UnicodeDecodeError):
            return None
        if self._held is None or i in self._held:
            self._pending.append(i)
            return ""
        if not self._n_shown:
            return None
        if self._pending:
            run = "".join(self._parts.get(before) or self._find(before) for before in self._pending)
            try:
                # bytes, which others cannot change
                part = run.encode("utf-8", "surrogateescape").decode() + part
            except UnicodeDecodeError:
                return None
            self._pending.clear()
        return part

    def _certain(self, whole: Callable[..., Any], n: int) -> str:
        """The text of the first n waiting ids, decoded after text that they do not change."""
        ids, self._pending = self._pending[:n], self._pending[n:]
        if not ids:
            return ""
        text = whole(self._context + ids)[self._n_shown :]
        if not self._n_shown and self._held is not None:
            last = next((i for i in reversed(ids) if i not in self._held and whole([i])), None)
            self._context = self._context + ids if last is None else [last]
            self._n_shown = len(whole(self._context))
        return str(text)

    def finish(self) -> Any:
        r"""End the document.

        Returns
        -------
        doc
            The rest, also as `rest`: of UTF-8 that ends within a character what `errors` makes of it, as by
            `Tokenizer.decode`, else nothing. A second call gives nothing.

        Examples
        --------
        >>> from ubpe_numba import BPE
        >>> stream = BPE.for_text(256, pretokenizer=None).fit([""]).decode_stream()
        >>> stream.push("é".encode()[:1]), stream.finish()
        ('', '\ufffd')
        """
        if self._finished:
            return self._none
        self.rest = self._none if self._characters is None else self._characters.decode(b"", True)
        if self._whole is not None:
            self.rest = self._certain(self._whole, len(self._pending))
        self._finished = True
        return self.rest

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish, unless the block was left by an error."""
        if kind is None:
            self.finish()
