"""Arguments that change or split documents before learning and encoding, as one value."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from ubpe_numba.errors import quoted
from ubpe_numba.runtime.arrays import told
from ubpe_numba.runtime.schema import pickled
from ubpe_numba.vocabulary.segmenter import PLAIN, Segmenter

__all__ = ["Preprocessing"]

_RESERVED = ("special_tokens", "known_words", "break_tokens", "stop_tokens", "flags", "runs")
SHORT = reprlib.Repr()  # of arguments
SHORT.maxstring, SHORT.maxother, SHORT.maxlevel, SHORT.maxlist, SHORT.maxtuple, SHORT.maxdict = (
    60,
    80,
    4,
    8,
    8,
    6,
)


@told
@dataclasses.dataclass(frozen=True, repr=False)
class Preprocessing:
    """How documents are changed and split before learning and encoding, and reserved sequences.

    Parameters
    ----------
    pretokenizer
        How text is split into words: ``"gpt2"``, ``"cl100k"``, ``"o200k"``, ``"whitespace"``, ``"digits"``,
        ``"digits1"``, ``"digits3"``, or another name that `text.Pretokenizer` knows. Or a regular expression,
        a `text.Pretokenizer`, or a `text.Splitter`, its list of steps, or the name of a step, such as
        ``"BertPreTokenizer"``. None: not at all.
    special_tokens
        Words with ids of their own, never split and never merged: `str`, `bytes` or sequences of integers, as
        the documents. A list gives them the ids after the vocabulary, beyond `n_tokens`. A mapping sets their
        ids; before a `fit_more`, choose ids beyond the final size. See `encode`. The parts of a document
        between them count as documents.
    special_first
        Special tokens, given as a list, have the ids 0, 1, ..., and the tokens of the vocabulary follow, as
        in trainers of Hugging Face. `n_tokens` still counts only the tokens of the vocabulary. Known words
        stay at the end.
    known_words
        As `special_tokens`, for words that are found in every document, allowed or not.
    normalizer
        Changes text before it is split: a `text.Normalizer`, or its step or list of steps. Examples are
        ``"NFC"`` and ``["NFC", {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]``. None
        leaves text as it is. Positions refer to the original text, and `decode` returns the changed text
        (`is_lossless`).
    encoding
        ``"utf-8"``: `str` is encoded as UTF-8 bytes, and decoded to `str`, and `boundaries` count bytes.
        None: documents are as they are.
    break_tokens
        Symbols of the alphabet that are always single tokens, and that no token crosses, such as bar lines in
        music or control events: integers, characters, bytes or words. They act as `boundaries` before and
        after each of them, also when encoding; the documents stay whole. If text is split, break tokens come
        first.
    stop_tokens
        The same after text was split: the pattern sees them, and then the segments are split at them.
    runs
        Symbols of the alphabet with long runs, such as N in the gaps of a genome, zeros or rests: integers,
        characters or bytes. A run becomes tokens of 1, 2, 4, 8 ... symbols, as many as the documents of the
        fit need, and at most 2**20. No other token contains these symbols, so gaps use only a few ids. With a
        mirror they are their own mirrors.
    flags
        A mapping of special tokens and known words to names of flags. ``"lstrip"`` and ``"rstrip"`` include
        adjacent white space, ``"single_word"`` matches whole words only, ``"normalized"`` matches in the
        normalized text.
    mirror
        A mapping of symbols to their mirrors, such as ``{"A": "T", "C": "G"}``, valid in both directions. A
        symbol outside it is its own mirror; with ``{}`` all are. The mirror of a document is read backwards,
        with each symbol replaced: the other strand of DNA, or a sequence in reversed time. A fit counts each
        document together with its mirror, in all statistics. It merges a pair together with its mirror, so
        that the mirror of each token is a token (``vocabulary.mirror``). The encoding of a mirrored document
        is the mirrored encoding, unless a document is its own mirror. Not for text that is split or changed.

    Raises
    ------
    TypeError, ValueError
        For an argument that is not valid, when it is made; for words and symbols that do not suit the
        documents, in `fit`.

    Examples
    --------
    >>> from ubpe_numba import BPE, Preprocessing
    >>> lower = Preprocessing("whitespace", normalizer=["NFC", "Lowercase"])
    >>> lower
    Preprocessing(pretokenizer='whitespace', normalizer=Normalizer([{'type': 'NFC'}, {'type': 'Lowercase'}]))
    >>> tok = BPE(9, preprocessing=lower).fit(["Hug pug PUN bun hugs"])
    >>> tok.decode(tok.encode("HUG"))
    'hug'
    """

    pretokenizer: Any = None
    special_tokens: Any = None
    _: dataclasses.KW_ONLY
    special_first: bool = False
    known_words: Any = None
    normalizer: Any = None
    encoding: str | None = None
    break_tokens: Any = None
    stop_tokens: Any = None
    runs: Any = None
    flags: Mapping[Any, Iterable[str]] | None = None
    mirror: Mapping[Any, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.special_first, (bool, np.bool_)):
            raise TypeError(f"special_first: expected True or False, got {quoted(self.special_first)}")
        if self.encoding not in (None, "utf-8"):
            raise ValueError(f"encoding: expected None or 'utf-8', got {quoted(self.encoding)}")
        fields: dict[str, Any] = {"special_first": bool(self.special_first)}
        if self.pretokenizer is not None:
            # here, as below: integers do not use these steps
            from ubpe_numba.text.pretokenizer import Pretokenizer
            from ubpe_numba.text.splitter import Splitter
            from ubpe_numba.text.steps import PRE_TOKENIZERS

            cutter = self.pretokenizer
            is_steps = isinstance(cutter, (list, tuple, dict)) or (
                isinstance(cutter, str) and cutter in PRE_TOKENIZERS
            )
            fields["pretokenizer"] = (
                cutter
                if isinstance(cutter, Splitter)
                else (Splitter if is_steps else Pretokenizer.of)(cutter)
            )
        if self.normalizer is not None:
            from ubpe_numba.text.normalizer import Normalizer

            fields["normalizer"] = Normalizer.of(self.normalizer)
        arguments = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if any(arguments[name] is not None for name in _RESERVED):
            from ubpe_numba.vocabulary.reserved_arguments import checked as checked_words  # as above

            fields |= checked_words(**{name: arguments[name] for name in _RESERVED})
        if self.mirror is not None:
            from ubpe_numba.vocabulary.mirror import checked  # as above

            fields["mirror"] = checked(self.mirror)
            for name in ("pretokenizer", "normalizer", "known_words", "encoding", "stop_tokens"):
                if (arguments | fields)[name] is not None:
                    raise ValueError(
                        f"mirror: documents are whole and unchanged with it, and {name} cuts or changes them"
                    )
        if self.runs is not None and self.pretokenizer is not None:
            raise ValueError("runs: expected None where a pretokenizer cuts text, which cuts runs too")
        vars(self).update(fields)  # frozen for users

    def __repr__(self) -> str:
        shown = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "pretokenizer" and type(value).__name__ == "Pretokenizer":
                short = value.name or value.pattern
                value = short if type(value)(short) == value else value  # as it may be given
            if value != field.default:
                shown.append(f"{field.name}={' '.join(SHORT.repr(value).split())}")
        return f"Preprocessing({', '.join(shown)})"

    def __reduce__(self) -> tuple[object, ...]:
        return pickled(_remade, *(getattr(self, field.name) for field in dataclasses.fields(self)))

    @property
    def is_plain(self) -> bool:
        """Whether documents are left as they are.

        Examples
        --------
        >>> from ubpe_numba import Preprocessing
        >>> Preprocessing().is_plain, Preprocessing(break_tokens=[0]).is_plain
        (True, False)
        """
        return all(
            getattr(self, field.name) is None
            for field in dataclasses.fields(self)
            if field.name != "special_first"
        )

    def _segmenter(self, kind: str, size: int | None) -> Segmenter:
        """Make the segmenter of this preprocessing for documents of a kind.

        `size` is the number of ids of the vocabulary, None if not known yet.
        """
        if self.is_plain:
            return PLAIN  # so that callers can tell by identity that there is nothing to do
        if self.pretokenizer is not None and kind == "int":
            raise ValueError(
                "pretokenizer: it cuts text, and the tokenizer is one of integers; use boundaries"
            )
        if self.normalizer is not None and kind == "int":
            raise ValueError("normalizer: it changes text, and the tokenizer is one of integers")
        if self.encoding and kind != "bytes":
            raise ValueError(f"encoding: it makes bytes of text, and the alphabet is one of {kind}")
        # here only: few documents of integers have any
        from ubpe_numba.vocabulary.reserved import FLAGS, Reserved

        flags = {word: sum(map(FLAGS.__getitem__, names)) for word, names in (self.flags or {}).items()}
        words = self.special_tokens, self.known_words, kind, size, flags
        reserved = Reserved.from_user(
            *words, first=self.special_first, breaks=self.break_tokens, stops=self.stop_tokens
        )
        segmenter = Segmenter(
            self.pretokenizer,
            reserved,
            None,
            self.encoding,
            self.normalizer,
            mirror=self.mirror,  # type: ignore[arg-type]
            runs=self.runs,
        )
        if size is None:
            return segmenter
        n = int((~reserved.always).sum()) if reserved is not None and self.special_first else 0
        return segmenter.numbered(np.arange(n, n + size) if n else None, size)

    @classmethod
    def _of_segmenter(cls, segmenter: Segmenter, size: int) -> Self | None:
        """The arguments of a segmenter over a vocabulary of `size` ids; None for a plain one.

        Words are lists if that gives the same ids, else mappings.
        """
        reserved, n_first = segmenter.reserved, segmenter.n_first
        parts: list[Any] = [None, None]
        flags: dict[Any, tuple[str, ...]] = {}
        breaks = stops = None
        if reserved is not None:
            from ubpe_numba.vocabulary.reserved import FLAGS

            breaks, stops = reserved.symbol_arguments()
            rows = list(
                zip(
                    reserved.words,
                    reserved.ids.tolist(),
                    reserved.always.tolist(),
                    reserved.flags.tolist(),
                    strict=True,
                )
            )
            parts = [{word: i for word, i, always, _ in rows if always is known} for known in (False, True)]
            flags = {
                word: names
                for word, _, _, mask in rows
                if (names := tuple(n for n, bit in FLAGS.items() if mask & bit))
            }
            if n_first:
                after = list(range(n_first + size, size + len(rows)))
                parts = [list(parts[0]), list(parts[1]) if [*parts[1].values()] == after else parts[1]]
            elif [*parts[0].values(), *parts[1].values()] == list(range(size, size + len(rows))):
                parts = [list(part) for part in parts]
        preprocessing = cls(
            segmenter.pretokenizer, parts[0] or None, special_first=n_first > 0, known_words=parts[1] or None,
            normalizer=segmenter.normalizer, encoding=segmenter.encoding, break_tokens=breaks,
            stop_tokens=stops,
            flags=flags or None, mirror=segmenter.mirror, runs=segmenter.runs,
        )  # fmt: skip
        return None if preprocessing.is_plain else preprocessing


def _remade(*values: Any) -> Preprocessing:
    return Preprocessing(
        **dict(zip((field.name for field in dataclasses.fields(Preprocessing)), values, strict=True))
    )
