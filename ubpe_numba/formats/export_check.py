"""The check of an export: a model under the names that other libraries use, and samples that must be encoded alike.

Every export is read back, and read by the other library if that is installed; each must give the same ids for some thousand
samples. Otherwise the export is refused with the first sample that differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.coding.plan import LIKELIHOOD, Plan, Tables, plan_by_path, plan_by_rank
from ubpe_numba.documents.read import as_documents, utf8_documents
from ubpe_numba.errors import quoted
from ubpe_numba.formats import export_samples
from ubpe_numba.formats.character_bytes import of_characters
from ubpe_numba.formats.pair_table import Pairs, Table, name_ids, names, symbol_character
from ubpe_numba.text.characters import names_of
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD, SpecialChoice, Word
from ubpe_numba.vocabulary.stretches import Stretches
from ubpe_numba.vocabulary.unknown import UnknownChoice, choice_of

#: Encodes documents of any kind, special tokens allowed, to lists of ids.
EncodeLists = Callable[[list[Any]], list[list[int]]]


class ExportCheck:
    """A model to export.

    Parameters
    ----------
    model : Model
        The model.
    encode : callable
        Encodes documents, special tokens allowed, as the exported tokenizer does.
    """

    def __init__(self, model: Model, encode: EncodeLists) -> None:
        model.alphabet.refuse_folded()
        lone = model.segmenter.lone
        if lone is not None and (model.segmenter.pretokenizer is not None or lone.held_by(model.alphabet, model.vocabulary)):
            raise ValueError(
                "break_tokens: other libraries have none; ids are the same only where text is not cut, and no token holds one"
            )
        self.model, self.encode = model, encode
        self._made: tuple[list[Any], list[list[int]]] | None = None

    # ---------------------------------------------------------------------------------------------- names

    def check_order(self) -> None:
        """ValueError unless parents precede children: otherwise other libraries merge in another order than `encode` does."""
        if not self.model.vocabulary.in_order_of_creation and not self.model.segmenter.one_by_one:
            raise ValueError("vocabulary: its pairs are not in order of creation; other libraries merge them differently")

    def ids(self) -> list[int]:
        """The id of every token except special tokens."""
        ids = self.model.segmenter.token_ids
        return list(range(len(self.model.vocabulary))) if ids is None else ids.tolist()

    def named(self) -> tuple[dict[str, int], Pairs]:
        """Names of tokens with their ids, and pairs of names. ValueError as `check_order`, or for symbols without a name."""
        self.check_order()
        if self.model.segmenter.unknown is not None:
            if self.model.alphabet.kind != "bytes":
                raise ValueError(
                    "alphabet: characters of which others are unknown, as models of sentencepiece have them, are not written"
                )
            return of_characters(self.model)
        alphabet, vocabulary, _ = self.model
        called = names(alphabet, vocabulary)
        assert vocabulary.merges is not None  # a pair table has merges
        lefts, rights = ([called[part] for part in side] for side in vocabulary.merges.T.tolist())
        return name_ids(called, self.ids()), (lefts, rights)

    def pattern(self) -> str | None:
        """The regular expression that splits text, None if text is not split."""
        cutter = self.model.segmenter.pretokenizer
        if isinstance(cutter, Splitter):
            raise ValueError("pretokenizer: it has several steps, and not a pattern")
        return None if cutter is None else cutter.pattern

    def table(self) -> Table:
        """A table without tokens, for writers that use only how text is treated."""
        none = np.zeros(0, np.int64)
        segmenter = self.model.segmenter
        splitter = segmenter.pretokenizer if isinstance(segmenter.pretokenizer, Splitter) else None
        return Table(
            self.model.alphabet.kind, [], none, none, {}, {}, None if splitter else self.pattern(), segmenter.whole_words,
            segmenter.one_by_one, splitter, segmenter.normalizer, segmenter.unknown, segmenter.decoding, self.flags(),
        )  # fmt: skip

    def check_plain(self, library: str) -> None:
        """ValueError if text is treated in a way that only Hugging Face's files can say."""
        segmenter = self.model.segmenter
        named: dict[str, Any] = {
            "normalizer": segmenter.normalizer,
            "unknown": segmenter.unknown,
            "whole_words": segmenter.whole_words or None,
        }
        named |= {"one_by_one": segmenter.one_by_one or None, "special_tokens: flags": self.flags() or None}
        if odd := next((name for name, value in named.items() if value is not None), None):
            raise ValueError(f"{odd}: {library} has no place for it; use to_huggingface")

    def flags(self) -> dict[Any, int]:
        """The flags of special tokens and known words that have some, but for those of `unheard`."""
        special = self.model.segmenter.special
        if special is None:
            return {}
        masks = (special.flags & (LSTRIP | RSTRIP | SINGLE_WORD | NORMALIZED)).tolist()
        return {word: mask for word, mask in zip(special.words, masks, strict=True) if mask}

    def words(self) -> tuple[dict[str, int], dict[str, int]]:
        """Special tokens and known words that texts may hold, as text, with their ids; ValueError for one that is not text."""
        found: tuple[dict[str, int], dict[str, int]] = {}, {}
        special = self.model.segmenter.special
        if special is None:
            return found
        words = zip(special.words, special.ids.tolist(), special.always.tolist(), special.found.tolist(), strict=True)
        for word, i, known in (word[:3] for word in words if word[3]):
            try:
                text = self.text_of(word)
                text.encode()
            except UnicodeError as error:
                raise ValueError(f"special_tokens: {quoted(word)} is not text") from error
            found[known][text] = i
        return found

    def text_of(self, word: Word) -> str:
        """A special token, or what could be one, as text; ValueError for integers outside the alphabet, UnicodeError."""
        return word if isinstance(word, str) else word.decode() if isinstance(word, bytes) else self._characters(word)

    def unheard(self, vocab: dict[str, int]) -> dict[str, int]:
        """The names of tokens that no text has, and their ids; in the characters of bytes, unless `vocab` has such a name."""
        special, kind = self.model.segmenter.special, self.model.alphabet.kind
        if special is None:
            return {}
        found: dict[str, int] = {}
        bytewise = kind == "bytes" and self.model.segmenter.unknown is None
        for i in np.flatnonzero(~special.found).tolist():
            word = special.words[i]
            if bytewise:
                data = word.encode() if isinstance(word, str) else bytes(word)
                name = names_of(data)
                name = data.decode("utf-8", "replace") if name in vocab else name
            else:
                name = self._characters(word) if isinstance(word, tuple) else str(word)
            found[name] = int(special.ids[i])
        return found

    def _characters(self, word: tuple[int, ...]) -> str:
        """Integers as the characters that name them; ValueError for one outside the alphabet."""
        fits = all(-(2**63) <= symbol < 2**63 for symbol in word)
        ids = self.model.alphabet.lookup(np.array(word if fits else [], np.int64))
        if not fits or (ids < 0).any():
            raise ValueError(f"special_tokens: {quoted(word)} holds integers outside the alphabet, which no character stands for")
        return "".join(symbol_character(i) for i in ids.tolist())

    # ---------------------------------------------------------------------------------------------- samples

    def same_as_model(self, other: Model) -> None:
        """ValueError, with the first sample that differs, if a model that was read back gives other ids."""
        docs, ids = self._samples()
        compare(docs, ids, encode_by_rank(other, docs), "what was written")

    def same_as_tokenizer(self, other: Model, params: dict[str, Any]) -> None:
        """The same for a model and the arguments of a constructor, of which `unknown` says what becomes of unknown symbols."""
        docs, ids = self._samples()
        chosen = choice_of(params.get("unknown", "skip"), other.alphabet, other.segmenter.special)
        compare(docs, ids, encode_by_rank(other, docs, chosen), "what was written")

    def same_as(self, library: str, encode: Callable[[list[str]], list[list[int]]]) -> None:
        """The same for another library, whose `encode` takes text; samples that are not text are left out."""
        docs, ids, texts = self.texts()
        compare(docs, ids, encode(texts), library)

    def texts(self) -> tuple[list[Any], list[list[int]], list[str]]:
        """The samples that are text: as users pass them, their ids, and the texts."""
        docs, ids, texts = [], [], []
        for doc, encoded in zip(*self._samples(), strict=True):
            try:
                if isinstance(doc, np.ndarray):
                    text = self._characters(tuple(doc.tolist()))
                else:
                    text = doc.decode() if isinstance(doc, bytes) else doc
            except UnicodeError:  # random bytes, or part of a character
                continue
            docs.append(doc)
            ids.append(encoded)
            texts.append(text)
        return docs, ids, texts

    def use(self, docs: list[Any]) -> None:
        """Take these documents as samples."""
        self._made = docs, self.encode(docs)

    def leave_out_unknown(self) -> None:
        """Keep only samples without unknown symbols: a normalizer may make some, as of ``c`` and an accent."""
        docs, ids = self._samples()
        kept = [i for i, odd in enumerate(holds_unknown(self.model, docs)) if not odd]
        self._made = [docs[i] for i in kept], [ids[i] for i in kept]

    def _samples(self) -> tuple[list[Any], list[list[int]]]:
        """Documents as users pass them, bytes, `str`, or arrays of integers, and their ids; made once."""
        if self._made is None:
            self.use(self.documents())
        assert self._made is not None
        return self._made

    def documents(self) -> list[Any]:
        """Documents to be samples."""
        alphabet, vocabulary, segmenter = self.model
        docs = [alphabet.to_symbols(np.array(ids, np.int32)) for ids in export_samples.documents(alphabet, vocabulary)]
        out: list[Any] = [alphabet.output(symbols) for symbols in docs]
        first, last = out[0], out[-1]
        for word in [] if segmenter.special is None else segmenter.special.words:
            if isinstance(word, tuple):
                between = [*docs[0].tolist(), *word, *docs[-1].tolist()]
                out.append(np.array(between, np.int64))
            else:
                word = word.encode() if isinstance(word, str) and alphabet.kind == "bytes" else word
                out.append(first + word + last)
        return out


def changed(model: Model, docs: list[Any]) -> Stretches:
    """Documents as they are encoded: without special tokens, normalised, and cut where that does more than cut."""
    segmenter, chosen = model.segmenter, SpecialChoice("all")
    given = as_documents(docs) if segmenter.encoding is None else utf8_documents(docs)
    return segmenter.rewritten(segmenter.stretches(given, "docs", chosen), chosen)


def holds_unknown(model: Model, docs: list[Any]) -> list[bool]:
    """Which documents hold symbols outside the alphabet when they are encoded.

    >>> from ubpe_numba import BPE
    >>> holds_unknown(BPE.from_merges([[0, 1]], "ab", special_tokens=["<x>"]).model_, ["ab", "a<x>", "", "ax"])
    [False, False, False, True]
    """
    pieces = changed(model, docs)
    at = np.flatnonzero(model.alphabet.lookup(pieces.values) < 0)
    found = np.zeros(len(docs), bool)
    found[np.searchsorted(pieces.cuts[pieces.first], at, side="right") - 1] = True
    return [bool(one) for one in found]


def encode_by_rank(model: Model, docs: list[Any], unknown: UnknownChoice = "skip") -> list[list[int]]:
    """The ids of documents by merge rank, special tokens allowed, unknown symbols left out unless something is to stand there."""
    return _encode(plan_by_rank(Tables(model)), docs, unknown)


def encode_by_path(model: Model, docs: list[Any], objective: str) -> list[list[int]]:
    """The same by the most probable path, with ties as `objective` says."""
    return _encode(plan_by_path(Tables(model), LIKELIHOOD, objective), docs)


def _encode(plan: Plan, docs: list[Any], unknown: UnknownChoice = "skip") -> list[list[int]]:
    segmenter = plan.model.segmenter
    given = as_documents(docs) if segmenter.encoding is None else utf8_documents(docs)
    if segmenter.unknown is not None and segmenter.encoding is None:
        unknown = "raise"  # a rule of the model
    found: list[list[int]] = plan.documents(given, unknown, SpecialChoice("all"), "docs")[0].to_lists()
    return found


def compare(docs: list[Any], mine: list[list[int]], theirs: list[list[int]], what: str) -> None:
    """ValueError with the first document whose ids differ; `what` names the origin of `theirs`."""
    for doc, a, b in zip(docs, mine, theirs, strict=True):
        if a != b:
            shown = doc.tolist() if isinstance(doc, np.ndarray) else doc
            raise ValueError(f"export refused: {quoted(shown, 200)} is {a!s:.200} here, but {b!s:.200} by {what}")
