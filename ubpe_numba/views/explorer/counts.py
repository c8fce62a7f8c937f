"""Data of a report: the plotted documents, tokens by id, segmentations and their counts, kinds of symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ubpe_numba.coding.occurrences import spans_of
from ubpe_numba.documents.flat import Named
from ubpe_numba.documents.ragged import own_offsets, trusted
from ubpe_numba.documents.read import Documents
from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import describe, offsets_of
from ubpe_numba.tokenizers.seam import gaps_of, is_learned, model_of, plan_of, tables_of, way_of_encoding
from ubpe_numba.vocabulary.reserved import SPECIAL as RESERVED_SPECIAL
from ubpe_numba.vocabulary.unknown import choice_of

if TYPE_CHECKING:
    from ubpe_numba.tokenizers.base import Tokenizer
    from ubpe_numba.tokenizers.token_table import TokenTable


def choose(lengths: np.ndarray, max_symbols: int) -> tuple[np.ndarray, int | None]:
    """Choose the plotted documents, evenly spaced, and the number of their symbols: None for all.

    `lengths` (int64[d]): the symbols of each document; `max_symbols`: at most this many symbols are plotted,
    at least 1. Returns all documents if they fit; if not even one does, the beginning of the first that has
    symbols.

    >>> choose(np.array([4, 4, 4, 4, 4]), 12)[0].tolist()
    [0, 2, 4]
    >>> choose(np.array([0, 50]), 12)
    (array([1]), 12)
    """
    total, n = int(lengths.sum()), lengths.size
    if total <= max_symbols:
        return np.arange(n), None
    k = max(1, n * max_symbols // total)
    while k:
        indices = np.round(np.linspace(0, n - 1, k)).astype(np.int64)
        size = int(lengths[indices].sum())
        if 0 < size <= max_symbols:
            return indices, None
        k = min(k - 1, k * max_symbols // size) if size else k - 1
    fits = np.flatnonzero((lengths > 0) & (lengths <= max_symbols))
    if fits.size:
        return fits[:1], None
    return np.flatnonzero(lengths)[:1], max_symbols


KINDS = ("signal", "text", "dna", "notes")
UNITS = {"signal": "sample", "text": "character", "dna": "base", "notes": "note"}
_LETTERS = "ACGTUNRYKMSWBDHVacgtunrykmswbdhv-*\n"
_SAMPLE = 1 << 16
_BINARY = 0.05  # beyond this many bytes other than text, the rest counts as chance
_EXACT = 1 << 53


class Symbols(NamedTuple):
    """How symbols are shown, if not as they are.

    `order` (int64[s]): the symbols, ascending; in the page a symbol is its index in this array. `labels`: the
    name of each. `levels` (float64[s] or None): the height of each, NaN for a rest. `base`: the offset of
    levels, for a label of the axis.
    """

    order: np.ndarray
    labels: list[str] | None = None
    levels: np.ndarray | None = None
    base: str = ""


def kind_of(kind: str, documents: Documents) -> str:
    """Kind of the documents.

    `kind` is ``"auto"`` or one of `KINDS`. For ``"auto"`` the beginning of the symbols of `documents`
    decides. `str` and bytes are ``"dna"`` if all letters are those of nucleotides, ``"signal"`` if bytes do
    not decode to text, else ``"text"``. Integers are ``"signal"``. Symbols with names are ``"text"`` only.
    Raises ValueError for other kinds.

    >>> from ubpe_numba.documents.read import as_documents
    >>> [kind_of("auto", as_documents(docs)) for docs in (["GATTACA"], ["a cat"], [[1, 2]])]
    ['dna', 'text', 'signal']
    """
    if isinstance(documents.kind, Named):
        if kind not in ("auto", "text"):
            raise ValueError(
                f"kind: symbols with names are shown as text, expected 'auto' or 'text', got {quoted(kind)}"
            )
        return "text"
    if kind != "auto":
        if kind not in KINDS:
            raise ValueError(f"kind: expected 'auto', 'signal', 'text', 'dna' or 'notes', got {quoted(kind)}")
        return kind
    if documents.kind == "int":
        return "signal"
    sample = documents.values[documents.offsets[0] : documents.offsets[-1]][:_SAMPLE]
    letters = set(np.unique(sample).tolist())
    if letters - {10} and letters <= set(map(ord, _LETTERS)):
        return "dna"
    if documents.kind == "bytes" and sample.size:
        text = sample.tobytes().decode("utf-8", "surrogateescape")
        strange = sum("\udc80" <= c <= "\udcff" or (c < " " and c not in "\t\n\r\f") for c in text)
        if strange > _BINARY * sample.size:
            return "signal"
    return "text"


def symbols_of(kind: str, used: np.ndarray, letters: Any = None, pitches: Any = None) -> Symbols | None:
    """The names and heights of symbols.

    `kind` is one of `KINDS`. `used` (int64[s]) are the distinct symbols of vocabulary and documents,
    ascending. `letters`, for text and DNA of integers, is the text of each symbol, by default ``"ACGTN"`` for
    DNA of the integers 0 to 4. `pitches`, for notes, is the MIDI pitch of each symbol, None for a rest, by
    default the symbol itself. Returns None if symbols are shown as they are. Raises ValueError if a symbol
    lacks its letter or pitch, a pitch is not within +-2**53, or the argument is not for this kind. Raises
    TypeError if letters are not `str`, pitches are not numbers, or the argument is of another type.

    >>> symbols_of("dna", np.arange(4)).labels
    ['A', 'C', 'G', 'T']
    """
    if letters is not None and kind not in ("text", "dna"):
        raise ValueError(f"letters: they are for kind='text' and 'dna', the kind is {quoted(kind)}")
    if pitches is not None and kind != "notes":
        raise ValueError(f"pitches: they are for kind='notes', the kind is {quoted(kind)}")
    if kind == "dna" and letters is None and used.size and used[0] >= 0 and used[-1] <= 4:
        letters = "ACGTN"
    if letters is not None:
        labels = [_looked_up(letters, symbol, "letters") for symbol in used.tolist()]
        if wrong := next((label for label in labels if not isinstance(label, str)), None):
            raise TypeError(f"letters: expected str for each symbol, got {quoted(wrong)}")
        return Symbols(used, labels)
    if pitches is not None:
        found = [_looked_up(pitches, symbol, "pitches") for symbol in used.tolist()]
        for symbol, pitch in zip(used.tolist(), found, strict=True):
            if pitch is not None and (
                isinstance(pitch, bool) or not isinstance(pitch, (int, float, np.integer, np.floating))
            ):
                raise TypeError(
                    f"pitches: expected a number or None for the symbol {symbol}, got {quoted(pitch)}"
                )
            if pitch is not None and abs(float(pitch)) > _EXACT:
                raise ValueError(
                    f"pitches: expected a number within +-2**53 for the symbol {symbol}, got {quoted(pitch)}"
                )
        heights = np.array([np.nan if pitch is None else float(pitch) for pitch in found])
        return Symbols(used, [str(symbol) for symbol in used.tolist()], heights)
    if used.size and max(-int(used[0]), int(used[-1])) > _EXACT:  # beyond the numbers of JavaScript
        base = int(used[0])
        levels = np.array([float(symbol - base) for symbol in used.tolist()])
        return Symbols(used, [str(symbol) for symbol in used.tolist()], levels, str(base))
    return None


def _looked_up(table: Any, symbol: int, name: str) -> Any:
    """Look a symbol up in a sequence or a mapping."""
    if not isinstance(table, (Mapping, Sequence, np.ndarray)):
        raise TypeError(f"{name}: expected a sequence or a mapping of symbols, got {type(table).__name__}")
    if symbol not in (table if isinstance(table, Mapping) else range(len(table))):
        raise ValueError(f"{name}: nothing for the symbol {symbol}")
    return table[symbol]


SYMBOL, LEARNED, SPECIAL, GAP = range(4)


def kinds_of(v: TokenTable) -> np.ndarray:
    """The kind of each id, uint8[V]: 0 a symbol, 1 a learned token, 2 a special token, 3 a gap.

    >>> from ubpe_numba import BPE, Preprocessing
    >>> tok = BPE.from_merges([[0, 1]], alphabet="ab", preprocessing=Preprocessing(special_tokens=["!"], special_first=True))
    >>> kinds_of(tok.vocabulary).tolist()
    [2, 0, 0, 1]
    """
    kinds = np.where(is_learned(v), LEARNED, SYMBOL).astype(np.uint8)
    kinds[list(v.special.values())] = SPECIAL
    if gaps_of(v) is not None:
        kinds[gaps_of(v)] = GAP
    return kinds


def typing_of(
    tok: Tokenizer, kind: str, symbols: Symbols | None
) -> tuple[dict[str, Any] | str, dict[str, np.ndarray]]:
    """How the page reads and splits typed text, or why it cannot; and the arrays that it needs.

    `kind`, `symbols`: as `kind_of` and `symbols_of` return them. The arrays are runs of code points with
    equal flags (bits 0 to 4 of text/kernels/utf8.py), if there is a pattern.
    """
    alphabet, _, segmenter = model_of(tok)
    words, cutter = segmenter.special, segmenter.pretokenizer
    is_text = alphabet.kind != "int" and kind not in ("signal", "notes")
    reads = "integers" if not is_text else "characters" if alphabet.kind == "str" else "bytes"
    if symbols is not None and symbols.labels and kind in ("text", "dna"):
        reads = "words" if isinstance(alphabet.kind, Named) else "letters"
        if reads == "letters" and max(map(len, symbols.labels)) > 1:
            return "letters of several characters are not read here", {}
    plain = words is None or not (words.flags & ~np.uint16(RESERVED_SPECIAL)).any()
    if segmenter.rewrites or segmenter.unknown is not None or alphabet.folded_ids.size:
        return "the model changes text before it encodes it", {}
    if segmenter.whole_words or segmenter.mirror is not None:
        return "whole words and mirrors are not looked up here", {}
    pattern = None
    if cutter is not None:
        # here only: integers need not wait for patterns and classes
        from ubpe_numba.text.patterns import NAMED
        from ubpe_numba.text.unicode_classes import VERSIONS, flags_of_code_points

        pattern = NAMED.get(getattr(cutter, "name", None) or "")
        has_classes = (
            pattern is not None
            and cutter.unicode in VERSIONS
            and not re.search(r"\\p\{(?:Han|P|S)\}", pattern)
        )
        if reads == "integers" or not has_classes:
            return "the pattern by which the model cuts text is not computed here", {}
    if (
        segmenter.lone is not None
        or not plain
        or (words is not None and reads in ("integers", "words", "letters"))
    ):
        return "the special tokens of the model are not found here", {}
    says = (
        f"The objective of the model, {way_of_encoding(tok)}, is not computed here: tokens are by merge rank."
    )
    record = {
        "reads": reads,
        "special": tok.vocabulary.special,
        "says": "" if way_of_encoding(tok) == "rank" else says,
        "pattern": pattern,
    }
    if cutter is None:
        return record, {}
    flags = flags_of_code_points(cutter.unicode) & 31
    bounds = np.flatnonzero(np.diff(flags, prepend=flags[0] + 1))
    runs = {"classruns": np.diff(bounds, append=flags.size), "classflags": flags[bounds]}
    return record, runs


AUTO = "auto"


def segmentations_of(tok: Tokenizer, segmentations: str | Sequence[str] = AUTO) -> dict[str, Tokenizer]:
    """Tokenizers of a vocabulary, by the names of their objectives.

    `segmentations`: ``"auto"``: the tokenizer's own, then ``"rank"`` if the vocabulary has pairs,
    ``"shortest"``, ``"tfidf"`` if it has idf, and ``"likelihood"`` if it has probabilities. Otherwise the
    names of objectives, as `with_objective` takes them. Returns at least one tokenizer. Raises ValueError for
    an objective that is not known, or that the vocabulary does not support; if the list is empty. Raises
    TypeError for names that are not `str`.
    """
    own, vocabulary = way_of_encoding(tok), model_of(tok).vocabulary
    if not isinstance(segmentations, (str, Sequence)):
        raise TypeError(
            f"segmentations: expected 'auto' or names of objectives, got {describe(segmentations)}"
        )
    names = [segmentations] if isinstance(segmentations, str) else list(dict.fromkeys(segmentations))
    if names == [AUTO]:
        possible = {
            own: True,
            "rank": vocabulary.merges is not None,
            "shortest": True,
            "tfidf": bool(vocabulary.weights.any()),
            "likelihood": vocabulary.log_probabilities is not None,
        }
        names = [name for name, is_possible in possible.items() if is_possible]
    if not names:
        raise ValueError("segmentations: expected 'auto' or at least one objective, got none")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"segmentations: expected names of objectives, got {quoted(name)}")
    try:
        return {name: tok if name == own else tok.with_objective(name) for name in names}
    except ValueError as error:
        raise ValueError(f"segmentations: {error}") from None


class Cut(NamedTuple):
    """A segmentation.

    `name` is the objective. `counts` and `document_frequencies` (int64[n]) are occurrences of each id in all
    documents, and documents that hold it. `n_tokens` is for all documents. `ids` (int32[k]) are the tokens of
    the plotted documents, and `per_document` (int64[d]) their number per document. `gaps` (int64[k] or None)
    are the symbols between the token before, or the beginning of the document, and each token; None if there
    are none. `widths` (int64[k] or None) are the symbols of the document that each token covers; None if they
    are those that it represents.
    """

    name: str
    counts: np.ndarray
    document_frequencies: np.ndarray
    n_tokens: int
    ids: np.ndarray
    per_document: np.ndarray
    gaps: np.ndarray | None = None
    widths: np.ndarray | None = None


def cut_of(
    name: str,
    tok: Tokenizer,
    documents: Documents,
    drawn: np.ndarray,
    limit: int | None,
    options: dict[str, Any],
) -> Cut:
    """Encode and count all documents; keep the tokens of the plotted documents.

    `name`: the name of the segmentation; `tok`: what cuts; `documents`: all documents; `drawn` and `limit`:
    as `choose` returns them; `options`: arguments of `encode_batch`. Returns the segmentation.
    """
    (alphabet, _, segmenter), plan = model_of(tok), plan_of(tok)
    unknown = choice_of(options["unknown"], alphabet, segmenter.special)
    how = unknown, (options["allowed_special"], options["disallowed_special"]), "docs"
    ids, _ = plan.documents(documents, *how)  # which are read and numbered: words need not be again
    usage = tok.usage(ids=ids)
    counts, frequencies, total = usage.counts, usage.document_frequencies, ids.total
    del ids
    part = documents.take(drawn)
    encoded, places = plan.documents(part, *how, trace=True)
    ends = None if tok.is_lossless and unknown == "raise" else np.diff(part.offsets)
    spans = spans_of(
        encoded, trusted(np.asarray(places)[0], own_offsets(encoded)), tables_of(tok).decoder.lengths, ends
    )
    values, starts, widths, owners = spans.ids, spans.starts, spans.lengths, spans.documents
    if limit is not None:
        stay = starts + widths <= limit
        values, starts, widths, owners = values[stay], starts[stay], widths[stay], owners[stay]
    per_document = np.bincount(owners, minlength=drawn.size)
    ends = starts + widths
    before = np.zeros_like(ends)
    before[1:] = ends[:-1]
    first = offsets_of(per_document)[:-1]
    before[first[per_document > 0]] = 0
    gaps = starts - before
    return Cut(name, counts, frequencies, total, values, per_document, gaps if gaps.any() else None, widths)
