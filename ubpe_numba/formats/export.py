"""Models for other libraries: Hugging Face, tiktoken, sentencepiece, GPT-2's files.

Each export is checked on samples.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ubpe_numba.coding.model_inputs import FIRST, SECOND, Template, template_of
from ubpe_numba.coding.plan import LIKELIHOOD, Tables, plan_by_path, plan_by_rank
from ubpe_numba.documents.read import as_documents
from ubpe_numba.errors import listed, quoted, shortened
from ubpe_numba.formats import (
    huggingface,
    published_ubpe,
    readers,
    sentencepiece,
    tiktoken,
    unigram,
    vocab_merges,
    wordpiece,
)
from ubpe_numba.formats.export_check import (
    TEXTS,
    EncodeLists,
    Samples,
    check_model,
    check_order,
    check_plain,
    compare,
    encode_with,
    ids_of,
    named,
    pattern_of,
    samples_of,
    table_of,
    text_of,
    texts_of,
    unheard,
    without_unknown,
    word_samples,
    words_of,
)
from ubpe_numba.formats.pair_table import MOST_INTEGERS
from ubpe_numba.formats.tokenizer_config import config_of
from ubpe_numba.formats.wordpiece import Words
from ubpe_numba.runtime.arrays import describe
from ubpe_numba.runtime.lazy import require
from ubpe_numba.runtime.messages import warn
from ubpe_numba.text.characters import names_of
from ubpe_numba.text.steps import refusing
from ubpe_numba.vocabulary.alphabet import Alphabet
from ubpe_numba.vocabulary.model import Model
from ubpe_numba.vocabulary.unknown import choice_of, symbol_of
from ubpe_numba.vocabulary.weights import log_probabilities

_PAIRS = 100  # so many samples, and pairs of them, are tried with the tokens that a template puts around them
_SOME = "XNn0_.,;- \t\néÉß中語\U0001f600\u0301\ue000"  # of many kinds, for samples and messages
_OTHER_INTEGERS = 4  # so many integers outside an alphabet are part of samples


def _package(name: str) -> Any:
    """A package if it is installed, else None; a mere folder of its name on the path is none."""
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else import_module(name)


class Exported(NamedTuple):
    """A fitted tokenizer, as writers take it.

    `objective` is ``"rank"``, ``"batch"`` for the rule of the UBPE articles, or that of a `UBPE`.
    `encode(docs, **options)` gives lists of ids, with options as for `encode_batch`. `unknown` is the special
    token or symbol that replaces unknown symbols, or None. `load` is the function that reads a file, and
    returns an equal encoder.
    """

    model: Model | Words
    objective: str
    encode: Callable[..., list[list[int]]]
    unknown: Any
    load: Callable[[Any], Callable[..., list[list[int]]]]

    @property
    def by_pairs(self) -> bool:
        """Whether it merges pairs."""
        return self.objective in ("rank", "batch")

    def with_special(self, docs: list[Any]) -> list[list[int]]:
        """The ids of documents, special tokens allowed, that an export has to give too.

        Symbols that a normalizer or a pre-tokenizer adds may be unknown. Other libraries leave these out,
        except for the rule of a Unigram model.
        """
        by_rule = (
            not self.by_pairs and isinstance(self.model, Model) and self.model.segmenter.unknown is not None
        )
        return self.encode(docs, allowed_special="all", unknown="raise" if by_rule else "skip")

    def pairs(self, name: str) -> Model:
        """The model if it merges pairs; ValueError, with the name of the format, for another."""
        if isinstance(self.model, Words):
            raise ValueError(f"export refused: a WordPiece has no merges, which {name} needs")
        if not self.by_pairs:
            raise ValueError(
                f"export refused: a UBPE has no merges, which {name} needs; with_objective('rank') merges by rank"
            )
        return self.model

    def scored(self) -> Model:
        """The model of a `UBPE`, with log-probabilities: estimates, or else frequencies."""
        assert isinstance(self.model, Model)
        vocabulary = self.model.vocabulary
        if vocabulary.log_probabilities is not None:
            return self.model
        logs = log_probabilities(vocabulary)
        return self.model._replace(vocabulary=vocabulary.with_statistics(log_probabilities=logs))


# ---------------------------------------------------------------------------------------------------- Hugging
# Face


def tokenizer_json(tok: Exported, *, unk_token: Any = None, template: Any = None) -> str:
    """The `tokenizer.json` of Hugging Face; options and errors as of `tokenizers.export.export`."""
    if isinstance(tok.model, Words):
        if unk_token is not None:
            raise ValueError("unk_token: the unknown token of a WordPiece is its own")
        return _of_words(tok.model, tok, template)
    check_model(tok.model)
    unk_token = tok.unknown if unk_token is None else unk_token
    if tok.by_pairs:
        return _of_pairs(tok.model, tok.with_special, unk_token, template)
    if tok.objective != "tokenizers":
        hint = (
            ""
            if tok.objective in ("likelihood", "sentencepiece")
            else "reweight estimates probabilities, and then "
        )
        raise ValueError(
            f"objective: {quoted(tok.objective)} takes other paths than a Unigram model of tokenizers, at least "
            f"among those of equal weight; {hint}set_params(objective='tokenizers') takes the same"
        )
    return _of_unigrams(tok.scored(), tok.with_special, unk_token, template)


def _of_pairs(model: Model, encode: EncodeLists, unk_token: Any, template: Any) -> str:
    """The `tokenizer.json` of a model of pairs."""
    vocab, merges = named(model)
    special, known = words_of(model)
    if clash := next((word for word, i in {**special, **known}.items() if vocab.get(word, i) != i), None):
        raise ValueError(
            f"special_tokens: {quoted(clash)} is a token of the vocabulary too; Hugging Face allows one"
        )
    unknown = unk_token_of(model, unk_token)
    frame, post_processor = _frame(template, special, model.segmenter.file)
    text = huggingface.write(
        table_of(model), {**unheard(model, vocab), **vocab}, merges, special, known,
        unk_token=None if unknown is None else unknown.name,
        post_processor=post_processor,
    )  # fmt: skip
    kind = model.alphabet.kind
    symbols = None if kind != "int" else model.alphabet.symbols
    docs = samples_of(model)
    samples: Samples = docs, encode(docs)
    by_rule = kind == "str" and model.segmenter.unknown is not None
    _same_by_rank(readers.of_huggingface(text, None if by_rule else kind, symbols).model, samples)
    all_samples = [(model.alphabet, samples)]
    if unknown is not None and loss_of(model) is not None:
        samples = without_unknown(model, samples)
        wider, more = samples_with_unknown(model, unknown)
        all_samples = [(model.alphabet, samples), (wider, more)]
        if unknown.symbol is not None:
            content = readers.of_huggingface(text, None if kind == "str" else kind, symbols)
            _same_by_rank(content.model, more, content.params.get("unknown", "skip"))
        elif kind == "str":
            _same_by_rank(readers.of_huggingface(text, "bytes").model, more)
    _same_there(text, [texts_of(alphabet, one) for alphabet, one in all_samples], frame)
    if unknown is None and unk_token is not False and (loss := loss_of(model)) is not None:
        warn(loss)
    return text


def _same_there(
    text: str, samples: list[tuple[list[Any], list[list[int]], list[str]]], frame: Template | None
) -> None:
    """ValueError, with the first differing sample, if the package tokenizers gives other ids.

    Nothing is checked if it is not installed.

    `samples` are documents, their ids, and the texts, as of `texts_of`; the first are also tried with the
    template `frame`.
    """
    if (package := _package("tokenizers")) is None:
        return
    other = package.Tokenizer.from_str(text)
    other.no_truncation()  # that of a file is for its calls
    other.no_padding()
    for docs, ids, texts in samples:
        with refusing("export refused: the package tokenizers fails on a sample"):
            encodings = other.encode_batch(texts, add_special_tokens=False)
        compare(docs, ids, [e.ids for e in encodings], "tokenizers")
    if frame is not None:
        _check_template(other, frame, samples[0][2], samples[0][1])


def _same_by_rank(other: Model, samples: Samples, unknown: Any = "skip") -> None:
    """ValueError, with the first sample that differs, if a model that was read back gives other ids."""
    docs, ids = samples
    chosen = choice_of(unknown, other.alphabet, other.segmenter.special)
    compare(docs, ids, encode_with(plan_by_rank(Tables(other)), docs, chosen), "what was written")


def _of_unigrams(model: Model, encode: EncodeLists, unk_token: Any, template: Any) -> str:
    """The `tokenizer.json` of a model with log-probabilities."""
    if model.segmenter.whole_words:
        raise ValueError("whole_words: a Unigram model has no place for tokens that only whole words become")
    scores = model.vocabulary.log_probabilities
    assert scores is not None  # the caller has seen to that
    words = special, _ = words_of(model)
    unknown = unk_token_of(model, unk_token)
    if unknown is not None and unknown.symbol is not None:
        raise ValueError(
            f"unk_token: {quoted(unknown.name)} is a symbol, which is not searched for as one by a Unigram model"
        )
    if unknown is not None and model.alphabet.kind == "bytes":
        if loss_of(model) is not None:
            raise ValueError(
                "unk_token: a Unigram model over bytes has none unless it has all of them; give all 256 as alphabet"
            )
        unknown = None  # nothing is unknown
    frame, post_processor = _frame(template, special, model.segmenter.file)
    text = unigram.write(
        model, table_of(model), scores, *words,
        unk_id=None if unknown is None else unknown.id,
        post_processor=post_processor,
    )  # fmt: skip
    plan = plan_by_path(Tables(readers.of_unigram(text)), LIKELIHOOD, "tokenizers")
    docs = samples_of(model)
    samples: Samples = docs, encode(docs)
    if model.segmenter.unknown is None:  # which is an error there, or the unknown token
        samples = without_unknown(model, samples)
    docs, ids, texts = texts_of(model.alphabet, samples)
    compare(docs, ids, encode_with(plan, texts), "what was written")
    every = [(docs, ids, texts)]
    if unknown is not None:
        few = texts[-300:]  # with a character between two that may be unknown
        more = [*TEXTS, *(f"{one}{_SOME[i % len(_SOME)]}{few[-1 - i]}" for i, one in enumerate(few))]
        every.append((more, encode_with(plan, more), more))
    _same_there(text, every, frame)
    return text


def _of_words(words: Words, tok: Exported, template: Any) -> str:
    """The `tokenizer.json` of a WordPiece model."""
    frame, post_processor = _frame(template, words.special_tokens, words.file)
    text = wordpiece.write(words, post_processor)
    docs = word_samples(list(words.vocabulary), [*words.special_tokens, *words.known_words])
    ids = tok.encode(docs)
    compare(docs, ids, tok.load(text)(docs), "what was written")
    _same_there(text, [(docs, ids, docs)], frame)
    return text


def transformers_object(tok: Exported, *, unk_token: Any = None, template: Any = None, **params: Any) -> Any:
    """A `transformers.PreTrainedTokenizerFast`; options and errors as of `tokenizers.export.export`."""
    if isinstance(tok.model, Words):
        text = tokenizer_json(tok, template=template)
    else:
        unk_token = tok.unknown if unk_token is None else unk_token
        text = tokenizer_json(tok, unk_token=unk_token, template=template)
    own = tok.model.file if isinstance(tok.model, Words) else tok.model.segmenter.file
    config = dict((own or {}).get("config", {}))
    fast = require("transformers", "export to transformers", "hf").PreTrainedTokenizerFast
    tokenizer = require("tokenizers", "export to transformers", "hf").Tokenizer.from_str(text)
    file = json.loads(text)
    special = {token["content"] for token in file["added_tokens"] if token["special"]}
    unknown = file["model"].get("unk_token")
    config = {  # of the file that it is from, whose special tokens may be none here
        name: [word for word in value if word in special] if name.endswith("_tokens") else value
        for name, value in config.items()
        if name != "call" and (not name.endswith("_token") or value in special)
    }
    params = {**config, **({} if unk_token is None else {"unk_token": unk_token}), **params}
    asked = {name: value for name, value in params.items() if value is not None}
    # which would be taken out of every text
    is_symbol = unknown is not None and len(unknown) == 1 and unknown not in special
    if asked.get("unk_token") is False or is_symbol or ("unk_token" not in asked and unknown not in special):
        asked.pop("unk_token", None)
    else:
        asked.setdefault("unk_token", unknown)
    config_of(asked)  # which checks them
    for name, value in asked.items():
        many = value.values() if isinstance(value, dict) else value
        words = map(str, [value] if name.endswith("_token") else many if name.endswith("_tokens") else [])
        if odd := next(
            (word for word in words if word not in special and not (name == "unk_token" and word == unknown)),
            None,
        ):
            raise ValueError(
                f"{name}: {quoted(odd)} is not a special token of this tokenizer: {listed(sorted(special)) or 'none'}; "
                "transformers would add it with an id that no model knows"
            )
    return fast(tokenizer_object=tokenizer, **{"clean_up_tokenization_spaces": False, **asked})


# ----------------------------------------------------------------------------------------------------
# templates


def _frame(
    template: Any, special: Mapping[str, int], file: dict[str, Any] | None
) -> tuple[Template | None, dict[str, Any] | None]:
    """The requested template or that of the tokenizer's file, and the post-processor; or None."""
    own = (file or {}).get("post_processor")
    if template is None:
        return None if own is None else huggingface.processed(own), own
    requested, names = template_of(template, special), {i: word for word, i in special.items()}
    if odd := [i for parts in requested[:2] for i, _ in parts if i < FIRST and i not in names]:
        raise ValueError(
            f"template: {odd[0]} is not a special token of this tokenizer, which has {listed(special) or 'none'}"
        )
    documents = {FIRST: "A", SECOND: "B"}
    single, pair = (
        [
            {"Sequence": {"id": documents[i], "type_id": t}}
            if i in documents
            else {"SpecialToken": {"id": names[i], "type_id": t}}
            for i, t in parts
        ]
        for parts in requested[:2]
    )
    used = sorted({names[i] for parts in requested[:2] for i, _ in parts if i not in documents})
    words = {word: {"id": word, "ids": [special[word]], "tokens": [word]} for word in used}
    return requested, {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": words}


def _check_template(other: Any, template: Template, texts: list[str], ids: list[list[int]]) -> None:
    """ValueError if tokenizers puts other special tokens around some samples, or pairs of them."""
    for a in range(-min(len(texts), _PAIRS), 0):
        for parts, docs in ((template.single, [texts[a]]), (template.pair, [texts[a], texts[0]])):
            expected = [j for i, _ in parts for j in (ids[(a, 0)[i - FIRST]] if i >= FIRST else [i])]
            compare([docs], [expected], [other.encode(*docs).ids], "tokenizers")


# ---------------------------------------------------------------------------------------------------- the
# unknown token


class UnkToken(NamedTuple):
    """The unknown token for a file: its name and id there; for a symbol, its id in the alphabet."""

    name: str
    id: int
    symbol: int | None = None


def unk_token_of(model: Model, unk_token: Any) -> UnkToken | None:
    """The unknown token for a file; None for none, or if the model has its own rule.

    A model over characters, some bytes or integers has ids only for its symbols. Hugging Face silently leaves
    out others, unless the file names a token for them. `unk_token` is the user's special token or symbol
    (integers in a tuple), None or False. ValueError for one that is neither, or that differs from the model's
    own.
    """
    if unk_token is None or unk_token is False:
        return None
    if not isinstance(unk_token, (str, bytes, list, tuple, np.ndarray)):
        raise TypeError(f"unk_token: expected a special token, None or False, got {describe(unk_token)}")
    special, _ = words_of(model)
    name = text_of(
        model.alphabet, unk_token if isinstance(unk_token, (str, bytes)) else tuple(map(int, unk_token))
    )
    rule = model.segmenter.unknown
    if rule is not None and rule.byte_ids is not None:
        return None  # unknown characters become bytes
    if rule is not None:
        if {**unheard(model, special), **special}.get(name) != rule.id:
            raise ValueError(
                f"unk_token: unknown characters become the id {rule.id} in this model, which is not {quoted(name)}"
            )
        return None
    if name in special:
        return UnkToken(name, special[name])
    alphabet = model.alphabet
    symbol = symbol_of(unk_token if isinstance(unk_token, (str, bytes)) else tuple(unk_token), alphabet)
    if symbol is not None and symbol >= 0:
        if alphabet.kind == "bytes":
            name = names_of(bytes([int(alphabet.symbols[symbol])]))
        return UnkToken(name, ids_of(model)[symbol], symbol)
    known = listed(special) or "none"
    raise ValueError(
        f"unk_token: {quoted(name)} is neither a symbol nor a special token of this tokenizer: {known}"
    )


def loss_of(model: Model) -> str | None:
    """Message of what Hugging Face loses by a file without an unknown token; None if nothing.

    >>> from ubpe_numba import BPE
    >>> loss_of(BPE.for_text(256).fit(["a"], progress=False)._model) is None
    True
    """
    alphabet = model.alphabet
    if model.segmenter.unknown is not None:
        return None
    ways = "give unk_token= a special token"
    if alphabet.kind == "int":
        lost, of = "characters of no integer of the alphabet", f"{alphabet.size} integers"
        ways += " of several integers, or the tokenizer all integers that can occur as its alphabet"
    else:
        is_bytes = alphabet.kind == "bytes"
        every = (
            np.setdiff1d(range(256), [*huggingface.NEVER])
            if is_bytes
            else np.array([*map(ord, _SOME), *range(0x110000)])
        )
        if not (missing := every[alphabet.lookup(every) < 0]).size:
            return None
        first = quoted(bytes([missing[0]]) if is_bytes else chr(missing[0]))
        name = alphabet.kind if is_bytes else "characters"
        lost, of = f"{name} such as {first}", f"{alphabet.size} {name}"
        ways += ", or fit over bytes (BPE.for_text), of which none is unknown"
    return (
        f"alphabet: the exported tokenizer has {of} and no unk_token: tokenizers and transformers leave out {lost} "
        f"silently, so that ids no longer hold the whole text. Instead {ways}; unk_token=False says that this is meant"
    )


def samples_with_unknown(model: Model, unknown: UnkToken) -> tuple[Alphabet, Samples]:
    """Samples with unknown symbols, each encoded to one token, and an alphabet with these.

    For models of pairs.
    """
    kind, alphabet, words = model.alphabet.kind, model.alphabet, model.segmenter.special
    some: Any = range(256) if kind == "bytes" else sorted(map(ord, {*_SOME, *"".join(TEXTS)}))
    others = np.setdiff1d(
        range(alphabet.size + _OTHER_INTEGERS) if kind == "int" else some, alphabet.symbols
    ).tolist()
    if kind == "int":
        others = others[: min(_OTHER_INTEGERS, MOST_INTEGERS - alphabet.size)]
    if not others:
        return alphabet, ([], [])
    wider, size = Alphabet.from_symbols([*alphabet.symbols.tolist(), *others], kind), len(model.vocabulary)
    docs = []
    for i in range(min(size, 10 * _PAIRS)):
        tokens = [alphabet.to_symbols(model.vocabulary.sequence(t)) for t in (i, size - 1 - i)]
        docs.append(
            wider.output(
                np.concatenate([tokens[0], [others[i % len(others)]], tokens[1], [others[-i % len(others)]]])
            )
        )
    docs += [] if kind == "int" else [text.encode() if kind == "bytes" else text for text in TEXTS]
    choice: Any = unknown.symbol
    if choice is None:
        assert words is not None  # it is one of them
        at = int(np.flatnonzero(words.ids == unknown.id)[0])
        choice = at, words.words[at]
    return wider, (docs, encode_with(plan_by_rank(Tables(model)), docs, choice))


# ---------------------------------------------------------------------------------------------------- other
# files


def ranks(tok: Exported) -> bytes:
    """The `.tiktoken` file: a token in base64 and its rank per line.

    Options and errors as of `tokenizers.export.export`.
    """
    return tiktoken.write(_ranks(tok))


def _ranks(tok: Exported) -> dict[bytes, int]:
    """The tokens of a `.tiktoken` file and their ranks, as samples have shown; errors as of `ranks`."""
    model = tok.pairs("tiktoken")
    check_model(model)
    check_plain(model, "tiktoken")
    check_order(model)
    alphabet, vocabulary, _ = model
    if alphabet.kind != "bytes" or alphabet.size < 256:
        raise ValueError(
            "alphabet: tiktoken needs one of all 256 bytes, as of BPE.for_text; 'tokenizer.json' holds others"
        )
    special, known = words_of(model)
    if known:
        raise ValueError("known_words: tiktoken has none that are found in every text")
    symbols = alphabet.to_symbols(vocabulary.arena).tobytes()
    tokens = [symbols[a:b] for a, b in itertools.pairwise(vocabulary.offsets.tolist())]
    ids = ids_of(model)
    if sorted(ids[256:]) != ids[256:]:
        raise ValueError("token_ids: tiktoken merges by id, and these are not in order of the merges")
    by_token = dict(zip(tokens, ids, strict=True))
    if len(by_token) < len(tokens):
        raise ValueError("vocabulary: two tokens have the same bytes; tiktoken allows one")
    pattern = pattern_of(model)
    docs = samples_of(model)
    samples: Samples = docs, tok.with_special(docs)
    _same_by_rank(readers.of_ranks(tiktoken.write(by_token), pattern, special), samples)
    if (package := _package("tiktoken")) is not None:
        other = package.Encoding(
            "sample", pat_str=tiktoken.covering(pattern), mergeable_ranks=by_token, special_tokens=special
        )
        docs, expected, texts = texts_of(alphabet, samples)
        compare(docs, expected, [other.encode(doc, allowed_special="all") for doc in texts], "tiktoken")
    return by_token


def tiktoken_encoding(tok: Exported, *, name: str = "ubpe-numba") -> Any:
    """A `tiktoken.Encoding` with this name, with the pattern and the special tokens."""
    model = tok.pairs("tiktoken")
    lines = _ranks(tok)
    try:
        make = import_module("tiktoken").Encoding
    except ImportError as error:
        raise ImportError("export to tiktoken.Encoding needs tiktoken: pip install tiktoken") from error
    return make(
        name,
        pat_str=tiktoken.covering(pattern_of(model)),
        mergeable_ranks=lines,
        special_tokens=words_of(model)[0],
    )


def sentencepiece_model(tok: Exported) -> bytes:
    """The `.model` file of sentencepiece; errors as of `tokenizers.export.export`."""
    if isinstance(tok.model, Words):
        raise ValueError("export refused: sentencepiece has no WordPiece")
    unigram = not tok.by_pairs
    if unigram and tok.objective != "sentencepiece":
        raise ValueError(
            f"objective: expected 'sentencepiece', got {quoted(tok.objective)}; set_params changes it"
        )
    if tok.objective == "batch":
        raise ValueError("rules: sentencepiece merges by rank, not by the articles' batch rule")
    model = tok.scored() if unigram else tok.model
    data = sentencepiece.write(model, unigram)
    reserved = model.segmenter.reserved
    reserved = None if reserved is None else reserved.symbols_only()  # special tokens are in no text
    model = model._replace(segmenter=model.segmenter._replace(reserved=reserved))
    check_model(model)
    tables = Tables(sentencepiece.model_of(sentencepiece.read(data)))
    plan = plan_by_path(tables, LIKELIHOOD, "sentencepiece") if unigram else plan_by_rank(tables)
    samples = samples_of(model)
    docs, ids, texts = texts_of(model.alphabet, (samples, tok.encode(samples, disallowed_special="none")))
    encoded, _ = plan.documents(as_documents(texts), "raise", ("none", "none"), "docs")
    compare(docs, ids, encoded.to_lists(), "what was written")
    if (package := _package("sentencepiece")) is not None:
        try:
            peer = package.SentencePieceProcessor(model_proto=data)
        except RuntimeError as error:  # it reads no model without pieces for text
            raise ValueError(f"export refused: sentencepiece does not read it: {shortened(error)}") from error
        compare(docs, ids, peer.encode(texts), "sentencepiece")
    return data


def vocab_and_merges(tok: Exported) -> dict[str, str]:
    """The texts of `vocab.json` and `merges.txt`; errors as of `tokenizers.export.export`."""
    model = tok.pairs("a pair of files")
    check_model(model)
    check_plain(model, "a pair of files")
    kind = model.alphabet.kind
    if kind == "int":
        raise ValueError("alphabet: the files hold text; export to 'tokenizer.json' for integers")
    vocab, merges = named(model)
    special, known = words_of(model)
    if known or any(word in vocab for word in special):
        raise ValueError(
            "special_tokens: known words, or tokens that the vocabulary has too, cannot be written"
        )
    out = vocab_merges.write({**vocab, **special}, merges)
    docs = samples_of(model)
    samples: Samples = docs, tok.with_special(docs)
    _same_by_rank(readers.of_vocab_merges(*out, kind, pattern_of(model), special), samples)
    text = huggingface.write(table_of(model), vocab, merges, special, {})  # which says how text is cut, too
    _same_there(text, [texts_of(model.alphabet, samples)], None)
    return {"vocab.json": out[0], "merges.txt": out[1]}


def dump(tok: Exported) -> str:
    """The dump that ubpe 0.2 and 0.3 load (`loads`, with `token_type=str` for characters).

    Break and stop tokens, which 0.2 does not know, are written, as are known words and a pattern that came
    from a dump.
    """
    if isinstance(tok.model, Words):
        raise ValueError("export refused: ubpe has no WordPiece")
    return published_ubpe.write(tok.model, tok.by_pairs)


def vocab_txt(tok: Exported) -> str:
    """BERT's list of pieces, one per line; it cannot hold other arguments of a WordPiece."""
    if not isinstance(tok.model, Words):
        raise ValueError(
            "export refused: a vocab.txt has the pieces of a WordPiece, and this merges or searches"
        )
    return wordpiece.vocab_txt(tok.model.vocabulary)
