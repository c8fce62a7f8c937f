"""The check of an export: a model with other libraries' names, and samples.

Every export is read back here, and by the other library if it is installed. Each must give the same ids for
thousands of samples: tokens of the vocabulary, alone and in pairs, random symbols, and text of many kinds.
Otherwise the export is rejected with the first sample that differs.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ubpe_numba.coding.plan import Plan
from ubpe_numba.documents.read import as_documents, utf8_documents
from ubpe_numba.errors import quoted
from ubpe_numba.formats.character_bytes import of_characters
from ubpe_numba.formats.pair_table import Pairs, Table, name_ids, names, symbol_character
from ubpe_numba.formats.sentencepiece import as_huggingface, placeholder_names
from ubpe_numba.text.characters import names_of
from ubpe_numba.text.splitter import Splitter
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.reserved import LSTRIP, NORMALIZED, RSTRIP, SINGLE_WORD, Word
from ubpe_numba.vocabulary.stretches import Stretches
from ubpe_numba.vocabulary.unknown import UnknownChoice

#: Encodes documents of any kind, special tokens allowed, to lists of ids.
EncodeLists = Callable[[list[Any]], list[list[int]]]
#: Documents as users pass them, bytes, `str`, or arrays of integers, and their ids.
Samples = tuple[list[Any], list[list[int]]]

#: English, its contractions, German, Russian, Greek, Chinese, Japanese, Arabic, code, numbers, emoji, control
#: characters.
TEXTS = (
    "In the beginning God created the heaven and the earth. It's what we'll SAY: they'Ve, I'D, don't.",
    "Zwölf Boxkämpfer jagen Viktor; съешь ещё этих мягких французских булок, ΟΔΥΣΣΕΥΣ ὀδυσσεύς.",
    "我能吞下玻璃而不伤身体。いろはにほへと ちりぬるを、カタカナ混じり。العربية ١٢٣",
    "def f(x):\n\treturn {'a': x**2, \"b\": [1, 2.5e-10]}  # 12345678 µs\r\n\r\n    if not x:  \n\n  pass   ",
    "👩‍👩‍👧‍👦 🇯🇵 ½ ² ǅ e\u0301 \u00a0\u2028\u200b\x00\x01\x1c\x7f\x85 \t \v\f",
)
# at most so many tokens; so many pairs of tokens, and twice so many random documents
_TOKENS, _PAIRS, _RANDOM = 4000, 1000, 50


def check_model(model: Model) -> None:
    """ValueError for a model that other libraries lack: symbols that share ids, active break tokens."""
    model.alphabet.refuse_folded()
    lone = model.segmenter.lone
    if lone is not None and (
        model.segmenter.pretokenizer is not None or lone.held_by(model.alphabet, model.vocabulary)
    ):
        raise ValueError(
            "break_tokens: other libraries have none; ids are equal where text is not cut and no token holds one"
        )


def check_order(model: Model) -> None:
    """ValueError unless parents precede children: otherwise other libraries merge in another order."""
    if not model.vocabulary.in_order_of_creation and not model.segmenter.one_by_one:
        raise ValueError(
            "vocabulary: its pairs are not in order of creation; other libraries merge them differently"
        )


def check_plain(model: Model, library: str) -> None:
    """ValueError if text is treated in a way that only Hugging Face's files can say."""
    segmenter = model.segmenter
    named: dict[str, Any] = {"normalizer": segmenter.normalizer, "unknown": segmenter.unknown}
    named |= {"whole_words": segmenter.whole_words or None, "one_by_one": segmenter.one_by_one or None}
    named |= {"special_tokens: flags": flags_of(model) or None}
    if odd := next((name for name, value in named.items() if value is not None), None):
        raise ValueError(f"{odd}: {library} has no place for it; export to tokenizer.json")


def ids_of(model: Model) -> list[int]:
    """The id of every token except special tokens."""
    return list(model.segmenter.ids(len(model.vocabulary)).tolist())


def named(model: Model) -> tuple[dict[str, int], Pairs]:
    """Names of tokens with their ids, and pairs of names.

    ValueError as `check_order`, or for symbols without a name.
    """
    check_order(model)
    if model.segmenter.unknown is not None:  # characters over bytes
        if model.alphabet.kind == "bytes":
            return of_characters(model)
    alphabet, vocabulary, segmenter = model
    placeholders = placeholder_names(segmenter)
    called = [placeholders.get(name, name) for name in names(alphabet, vocabulary)]
    assert vocabulary.merges is not None  # a pair table has merges
    lefts, rights = ([called[part] for part in side] for side in vocabulary.merges.T.tolist())
    return name_ids(called, ids_of(model)), (lefts, rights)


def pattern_of(model: Model) -> str | None:
    """The regular expression that splits text, None if text is not split."""
    cutter = model.segmenter.pretokenizer
    if isinstance(cutter, Splitter):
        raise ValueError("pretokenizer: it has several steps, and not a pattern")
    return None if cutter is None else cutter.pattern


def table_of(model: Model) -> Table:
    """A table without tokens, for writers that need only the treatment of text."""
    none = np.zeros(0, np.int64)
    segmenter = model.segmenter
    splitter = segmenter.pretokenizer if isinstance(segmenter.pretokenizer, Splitter) else None
    steps = segmenter.normalizer, segmenter.unknown, segmenter.decoding
    if (
        steps[0] is not None
        and steps[0].steps[-1]["type"] == "StandIns"
        and steps[0].steps[0]["type"] == "SentencePiece"
    ):
        steps = as_huggingface(segmenter)
    return Table(
        model.alphabet.kind,
        [],
        none,
        none,
        {},
        {},
        None if splitter else pattern_of(model),
        segmenter.whole_words,
        segmenter.one_by_one,
        splitter,
        *steps,
        flags_of(model),
        file=segmenter.file,
    )


def flags_of(model: Model) -> dict[Any, int]:
    """The flags of special tokens and known words with flags, without those that no text has."""
    special = model.segmenter.special
    if special is None:
        return {}
    masks = (special.flags & (LSTRIP | RSTRIP | SINGLE_WORD | NORMALIZED)).tolist()
    return {word: mask for word, mask in zip(special.words, masks, strict=True) if mask}


def words_of(model: Model) -> tuple[dict[str, int], dict[str, int]]:
    """Special tokens and known words that texts may hold, or that are names, with ids.

    ValueError for a word that is not text.
    """
    by_kind: tuple[dict[str, int], dict[str, int]] = {}, {}
    special = model.segmenter.special
    if special is None:
        return by_kind
    written = (special.found | special.named).tolist()
    words = zip(special.words, special.ids.tolist(), special.always.tolist(), written, strict=True)
    for word, i, known in (word[:3] for word in words if word[3]):
        try:
            text = text_of(model.alphabet, word)
            text.encode()
        except UnicodeError as error:
            raise ValueError(f"special_tokens: {quoted(word)} is not text") from error
        by_kind[known][text] = i
    return by_kind


def text_of(alphabet: Alphabet, word: Word) -> str:
    """A special token, or a candidate, as text.

    ValueError for integers outside the alphabet, UnicodeError.
    """
    return (
        word
        if isinstance(word, str)
        else word.decode()
        if isinstance(word, bytes)
        else _characters(alphabet, word)
    )


def unheard(model: Model, vocab: dict[str, int]) -> dict[str, int]:
    """The names of tokens that no text has, and their ids.

    In the characters of bytes, unless `vocab` has the name.
    """
    special, kind = model.segmenter.special, model.alphabet.kind
    if special is None:
        return {}
    unheard_names: dict[str, int] = {}
    bytewise = kind == "bytes" and model.segmenter.unknown is None
    for i in np.flatnonzero(~special.found & ~special.named).tolist():
        word = special.words[i]
        if bytewise and not isinstance(word, str):
            name = names_of(data := bytes(word))
            name = data.decode("utf-8", "replace") if name in vocab else name
        else:
            name = _characters(model.alphabet, word) if isinstance(word, tuple) else str(word)
        unheard_names[name] = int(special.ids[i])
    return unheard_names


def _characters(alphabet: Alphabet, word: tuple[int, ...]) -> str:
    """Integers as the characters that name them; ValueError for one outside the alphabet."""
    fits = all(-(2**63) <= symbol < 2**63 for symbol in word)
    ids = alphabet.lookup(np.array(word if fits else [], np.int64))
    if not fits or (ids < 0).any():
        raise ValueError(
            f"special_tokens: {quoted(word)} holds integers outside the alphabet, which have no character"
        )
    return "".join(symbol_character(i) for i in ids.tolist())


def samples_of(model: Model) -> list[Any]:
    """Sample documents: tokens, pairs, random symbols, `TEXTS` without unknown symbols, special tokens.

    Deterministic. At most 5105 documents of at most 4096 symbols, and one per special token.
    """
    rng = random.Random(0)
    alphabet, vocabulary, segmenter = model
    size = len(vocabulary)
    tokens = range(size) if size <= _TOKENS else sorted(rng.sample(range(size), _TOKENS))
    out = [vocabulary.sequence(t)[:4096].tolist() for t in tokens]
    for _ in range(_PAIRS):
        out.append([s for t in rng.choices(range(size), k=2) for s in vocabulary.sequence(t)[:1024].tolist()])
    for _ in range(_RANDOM):
        out.append(rng.choices(range(alphabet.size), k=rng.randrange(200)))
        few = rng.sample(range(alphabet.size), min(3, alphabet.size))
        out.append(rng.choices(few, k=rng.randrange(60)))
    if alphabet.kind != "int":
        for text in TEXTS:
            symbols = list(text.encode()) if alphabet.kind == "bytes" else [ord(c) for c in text]
            ids = alphabet.lookup(np.array(symbols, np.int64))
            out.append(ids[ids >= 0].tolist())
    docs = [alphabet.to_symbols(np.array(ids, np.int32)) for ids in out]
    samples: list[Any] = [alphabet.output(symbols) for symbols in docs]
    first, last = samples[0], samples[-1]
    for word in [] if segmenter.special is None else segmenter.special.words:
        if alphabet.kind == "int" and isinstance(word, str):  # a name, which no document holds
            continue
        if isinstance(word, tuple):
            samples.append(np.array([*docs[0].tolist(), *word, *docs[-1].tolist()], np.int64))
        else:
            word = word.encode() if isinstance(word, str) and alphabet.kind == "bytes" else word
            samples.append(first + word + last)
    return samples


def texts_of(alphabet: Alphabet, samples: Samples) -> tuple[list[Any], list[list[int]], list[str]]:
    """The samples that are text: as users pass them, their ids, and the texts."""
    docs, every, texts = list[Any](), list[list[int]](), list[str]()
    for doc, ids in zip(*samples, strict=True):
        try:
            text = (
                _characters(alphabet, tuple(doc.tolist()))
                if isinstance(doc, np.ndarray)
                else text_of(alphabet, doc)
            )
        except UnicodeError:  # random bytes, or part of a character
            continue
        docs.append(doc)
        every.append(ids)
        texts.append(text)
    return docs, every, texts


def word_samples(pieces: list[str], special: list[str]) -> list[str]:
    """Texts for a model of words: pieces alone and several, `TEXTS` and special tokens among them.

    Deterministic.
    """
    rng = random.Random(0)
    out = [*TEXTS, *(pieces if len(pieces) <= _TOKENS else rng.sample(pieces, _TOKENS))]
    out += [rng.choice(["", " "]).join(rng.choices(pieces, k=rng.randrange(2, 6))) for _ in range(_PAIRS)]
    out += [f"{rng.choice(out)}{word}{rng.choice(out)}" for word in special]
    out += ["".join(rng.choices("".join(TEXTS), k=rng.randrange(60))) for _ in range(2 * _RANDOM)]
    return out


def changed(model: Model, docs: list[Any]) -> Stretches:
    """Documents as they are encoded: without special tokens, normalized.

    They are split if splitting changes text.
    """
    segmenter, chosen = model.segmenter, ("all", "all")
    documents = as_documents(docs) if segmenter.encoding is None else utf8_documents(docs)
    return segmenter.stretches(documents, "docs", chosen)


def without_unknown(model: Model, samples: Samples) -> Samples:
    """The samples without those whose encoding has unknown symbols.

    A normalizer may make some, as from ``c`` and an accent.

    >>> from ubpe_numba import BPE, Preprocessing
    >>> model = BPE.from_merges([[0, 1]], "ab", preprocessing=Preprocessing(special_tokens=["<x>"]))._model
    >>> without_unknown(model, (["ab", "a<x>", "", "ax"], [[2], [0, 3], [], [0]]))
    (['ab', 'a<x>', ''], [[2], [0, 3], []])
    """
    docs, ids = samples
    pieces = changed(model, docs)
    at = np.flatnonzero(model.alphabet.lookup(pieces.values) < 0)
    odd = set((np.searchsorted(pieces.cuts[pieces.first], at, side="right") - 1).tolist())
    usable = [i for i in range(len(docs)) if i not in odd]
    return [docs[i] for i in usable], [ids[i] for i in usable]


def encode_with(plan: Plan, docs: list[Any], unknown: UnknownChoice = "skip") -> list[list[int]]:
    """Ids of documents, special tokens allowed, unknown symbols left out unless one replaces them."""
    segmenter = plan.model.segmenter
    documents = as_documents(docs) if segmenter.encoding is None else utf8_documents(docs)
    if segmenter.unknown is not None and segmenter.encoding is None:
        unknown = "raise"  # a rule of the model
    ids: list[list[int]] = plan.documents(documents, unknown, ("all", "all"), "docs")[0].to_lists()
    return ids


def compare(docs: list[Any], mine: list[list[int]], theirs: list[list[int]], what: str) -> None:
    """ValueError with the first document whose ids differ; `what` names the origin of `theirs`."""
    for doc, a, b in zip(docs, mine, theirs, strict=True):
        if a != b:
            shown = doc.tolist() if isinstance(doc, np.ndarray) else doc
            raise ValueError(
                f"export refused: {quoted(shown, 200)} is {a!s:.200} here, but {b!s:.200} by {what}"
            )
