r"""Parts of long documents whose ids are those in the whole.

They are used to count in bounded memory, and to truncate documents to n ids.

By rank and by sums of weights, a run of neighboring tokens is the encoding of the symbols it covers. For
ranks the proof is in kernels/linear_bpe.py. For sums, a cheaper path of a part would make the whole cheaper,
and ties are decided token by token. Let L be the symbols of the longest token. One of the last L places of a
prefix is a boundary of the whole. So if the encodings up to each of them begin with the same n ids, the whole
does. With the suffixes that begin at the first L places, the same holds for the last n ids. A special token
is a token like any other.

An `EncoderStream` gives the certain ids of a prefix, for merges in order of creation and for text that a
pattern splits with a kernel. Looks find the splits of a text that are certain, whatever precedes them::

    "... ends here\nThen ..."          after a newline between a character of ASCII and a letter
    "... the cat ..."                  before a space between letters

No part may begin within a special token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ubpe_numba.coding.plan import BATCH, Plan
from ubpe_numba.coding.streams import EncoderStream, groups_of
from ubpe_numba.documents.ragged import Ragged
from ubpe_numba.documents.read import USED_UP, Documents, check_cuts
from ubpe_numba.errors import LocatedError
from ubpe_numba.runtime.arrays import offsets_of
from ubpe_numba.vocabulary.reserved import SpecialChoice
from ubpe_numba.vocabulary.unknown import choice_of

GROUP = BATCH  # symbols that are counted at a time
DOCUMENTS = 1 << 16  # of a list
# symbols of a document from which on a part of it is looked for: those of shorter ones are encoded as fast
LONG = 1 << 17
_FIRST = 1 << 10  # symbols of the first part, and so many more for each id
_PER_ID = 8
_SHARE = 4  # share of a document that is read before the whole is
_REACH = 1 << 16  # bytes in which a place is looked for
_TRIES = 16  # places
_PLACES = re.compile(rb"[!-~]\n(?=[A-Za-z])|[a-z](?= [a-z])")
_SLICED = (str, bytes, list, tuple, np.ndarray)

Encode = Callable[..., Any]  # `encode_batch` of a tokenizer


# ------------------------------------------------------------------------------------------- counts


def count(
    plan: Plan | None, encode: Encode, docs: Any, offsets: Any, options: Mapping[str, Any]
) -> NDArray[np.int64]:
    """The number of ids of each document, counted a group at a time.

    `encode`, an `encode_batch`, uses `plan`, if it has one.

    Errors are those for all documents, whichever group they are in: the whole is encoded then.
    """
    # other options depend on the numbers of documents
    if not options or options.keys() <= {"unknown", "allowed_special", "disallowed_special"}:
        if offsets is None and hasattr(docs, "__next__"):
            counts = []
            for first, group in groups_of(docs, GROUP, "docs"):
                try:
                    counts.append(count(plan, encode, group, None, options))
                except LocatedError as error:
                    raise error.at(first + error.document) from None
            if not counts:
                raise ValueError(f"docs: {USED_UP}")
            return np.concatenate(counts)
        try:
            if (in_parts := _count_parts(plan, encode, docs, offsets, options)) is not None:
                return in_parts
        except (TypeError, ValueError):
            pass
    lengths: NDArray[np.int64] = encode(docs, offsets, **options).lengths
    return lengths


def _count_parts(
    plan: Plan | None, encode: Encode, docs: Any, offsets: Any, options: Mapping[str, Any]
) -> NDArray[np.int64] | None:
    """The counts, group by group; None for documents in a form without slices, or of several types."""
    if plan is not None and plan.model.alphabet.names is not None:  # a column may be one document or many
        return None
    if (
        offsets is None
        and plan is not None
        and (isinstance(docs, (str, bytes)) or getattr(docs, "ndim", 0) == 1)
    ):
        docs = [docs]
    elif isinstance(docs, Ragged) and offsets is None:
        docs, offsets = docs.values[docs._offsets[0] : docs._offsets[-1]], docs._offsets - docs._offsets[0]
    if (
        isinstance(docs, (bytes, np.ndarray))
        and isinstance(offsets, np.ndarray)
        and offsets.dtype == np.int64
    ):
        check_cuts(offsets, len(docs))
        return _count_flat(plan, encode, docs, offsets, options)
    if offsets is not None or type(docs) not in (list, tuple):
        return None
    counts = []
    for a in range(0, len(docs), DOCUMENTS):
        some = docs[a : a + DOCUMENTS]
        if type(some[0]) is not type(docs[0]):
            return None
        if sum(map(len, some)) <= GROUP:  # one short document takes half as long so
            counts.append(encode(some, **options).lengths)
        else:
            counts.append(
                _count_flat(plan, encode, some, offsets_of(np.fromiter(map(len, some), np.int64)), options)
            )
    return np.concatenate(counts) if counts else None


def _count_flat(
    plan: Plan | None, encode: Encode, docs: Any, ends: NDArray[np.int64], options: Mapping[str, Any]
) -> NDArray[np.int64]:
    """The counts of documents in a list, or in one document divided at `ends`.

    A long document is counted in parts.
    """
    flat = not isinstance(docs, (list, tuple))
    counts: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    a = 0
    while a < ends.size - 1:
        b = max(a + 1, int(np.searchsorted(ends, ends[a] + GROUP, side="right")) - 1)
        stream = None
        if ends[b] - ends[a] > GROUP and plan is not None:
            doc = docs[ends[a] : ends[b]] if flat else docs[a]
            stream = _stream(plan, doc, options)
        if stream is not None:
            n = sum(stream.push(doc[i : i + GROUP]).size for i in range(0, len(doc), GROUP))
            counts.append(np.array([n + stream.finish().size]))
        elif flat:
            counts.append(encode(docs[ends[a] : ends[b]], ends[a : b + 1] - ends[a], **options).lengths)
        else:
            counts.append(encode(docs[a:b], **options).lengths)
        a = b
    return np.concatenate(counts)


def _stream(plan: Plan, doc: Any, options: Mapping[str, Any]) -> EncoderStream | None:
    """A stream for the parts of a document; None if nothing is certain before the end of a text is known."""
    unknown_option = options.get("unknown")
    unknown = choice_of(
        plan.unknown if unknown_option is None else unknown_option,
        plan.model.alphabet,
        plan.model.segmenter.special,
    )
    if (
        plan.final is not None
        and plan.tables.is_plain
        and isinstance(doc, _SLICED)
        and not isinstance(unknown, tuple)
    ):
        return EncoderStream(plan, None, unknown)
    if not _is_text(plan, doc):
        return None
    special = options.get("allowed_special", "none"), options.get("disallowed_special", "all")
    return EncoderStream(
        plan, None, unknown, partial(plan.one, return_offsets=False, options=options), special
    )


# --------------------------------------------------------------------------------------- truncation


def shortened(
    plan: Plan, encode: Encode, docs: Any, single: bool, n: int, left: bool, options: Mapping[str, Any]
) -> Any:
    """Documents, or the `single` one, with long ones replaced by parts with the same first n ids.

    With `left`, the last n ids.

    Long documents of other forms stay as they are, and so do those without a part that is known to be exact.
    """
    documents = [docs] if single else docs
    types = set(map(type, documents)) if type(documents) in (list, tuple) else set()
    if len(types) != 1 or not types.issubset(_SLICED):
        return docs
    try:
        parts = [
            doc if len(doc) < LONG else _part(plan, encode, doc, max(n, 1), left, options)
            for doc in documents
        ]
    except (TypeError, ValueError):  # the whole is encoded then, and has the message
        return docs
    return parts[0] if single else parts


def _part(plan: Plan, encode: Encode, doc: Any, n: int, left: bool, options: Mapping[str, Any]) -> Any:
    """A beginning or an end of a long document that surely has its first or last n ids.

    The document itself if none is known.
    """
    alphabet, vocabulary, segmenter = plan.model
    unknown = choice_of(plan.unknown, alphabet, segmenter.special)
    is_text, stream = _is_text(plan, doc), None if left else _stream(plan, doc, options)
    is_local = (
        plan.one_by_one and segmenter.pretokenizer is None and not segmenter.rewrites
        and not segmenter.whole_words
        and segmenter.unknown is None and unknown != "skip"
        and (segmenter.special is None or not segmenter.special.has_flags)
    )  # fmt: skip
    if not (is_text or is_local or stream):
        return doc
    longest = max(int(np.diff(vocabulary.offsets).max()), _longest_word(plan))
    size = _PER_ID * (n + longest) + _FIRST
    encodings = 1 if is_text or stream else longest
    while encodings * size <= len(doc) // _SHARE:
        part = doc[-size:] if left else doc[:size]
        if segmenter.encoding is not None and isinstance(part, str):
            part = part.encode("utf-8", "surrogatepass")
        if stream is not None:
            fork = stream.copy()
            certain = fork.push(part)
            if is_text:  # at its end a special token may have begun, or be longer
                part = part[: fork._n_done]
                certain = stream.copy().push(part)
            if certain.size >= n:
                return part
        elif is_text:
            place = _place(plan, part, (options["allowed_special"], options["disallowed_special"]))
            if place and encode([part[place:]], **options).values.size >= n:
                return part[place:]
        else:
            tries = [part[i:] if left else part[: len(part) - i] for i in range(longest)]
            first, *others = (ids[-n:] if left else ids[:n] for ids in encode(tries, **options))
            if first.size == n and all(np.array_equal(first, other) for other in others):
                return part
        size *= 4
    return doc


# ------------------------------------------------------------------------------------------------------------
# places in text


def _is_text(plan: Plan, doc: Any) -> bool:
    """Whether only a pattern with a kernel, and special tokens, split the document as it is."""
    segmenter = plan.model.segmenter
    special = segmenter.special
    return (
        (isinstance(doc, bytes) or (isinstance(doc, str) and segmenter.encoding is not None))
        and segmenter.kernel is not None and not segmenter.rewrites and segmenter.lone is None
        and segmenter.unknown is None
        and (special is None or not special.has_flags)
    )  # fmt: skip


def _longest_word(plan: Plan) -> int:
    """Symbols of the longest special token or known word; 1 if there are none."""
    special = plan.model.segmenter.special
    return 1 if special is None else int(special.lengths.max(initial=1))


def _place(plan: Plan, text: bytes, special: SpecialChoice) -> int:
    """The first place of a stretch of text at which the whole is certainly split; 0 if unknown."""
    word = _longest_word(plan)
    ends = (match.end() for match in _PLACES.finditer(text, word, max(word, min(_REACH, len(text) - word))))
    for place in islice(ends, _TRIES):
        near = np.frombuffer(text[place - word + 1 : place + word - 1], np.uint8)
        document = Documents(near, np.array([0, near.size]), "bytes")
        if word == 1 or not plan.model.segmenter.stretches(document, "docs", special).words.size:
            return place
    return 0
